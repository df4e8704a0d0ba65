//! The records of a trace (docs/trace.md). Unknown records and members are ignored, because a newer library may write more of them.

use serde::Deserialize;

#[derive(Debug, Deserialize)]
pub(crate) struct Record {
    /// Process that wrote the record.
    pub(crate) process: u32,
    /// Thread that wrote the record.
    #[serde(default)]
    pub(crate) thread: String,
    /// The event that the record describes.
    #[serde(flatten)]
    pub(crate) event: Event,
}

/// An event of the library.
#[derive(Debug, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub(crate) enum Event {
    /// The library was loaded.
    Loaded(Loaded),
    /// A step began.
    Begin(Step),
    /// A step ended.
    End(Step),
    /// A folder was searched.
    Searched(Searched),
    /// The library decided to keep or drop an object.
    Decision(TracedDecision),
    /// An implicit layer is inactive.
    Layer(InactiveLayer),
    /// A declaration moved a layer in the chain of an instance.
    Order(Moved),
    /// The program requested a layer that does not exist.
    Refused(Refused),
    /// The library built the call chain of an instance or device.
    Chain(Chain),
    /// The driver catalogue replaced a query of a driver, or the driver's entry was not used.
    Catalogue(Catalogued),
    /// A driver listed its instance extensions.
    Offers(Offers),
    /// A driver created an instance or failed.
    Driver(Driver),
    /// The library determined the position of a physical device.
    Device(Device),
    /// A look-up of the program returned NULL.
    NotFound(NotFound),
    /// A device lacks a feature that the last request for a device asked for.
    Lacks(Lacking),
    /// The library logged a message that is not about a decision.
    Message(Message),
    /// A line on standard error between two records, if standard error is redirected to the trace.
    #[serde(skip)]
    Printed(String),
    /// An event that this program does not know.
    #[serde(other)]
    Unknown,
}

/// The library and its process.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Loaded {
    pub(crate) version: String,
    #[serde(rename = "word-size")]
    pub(crate) word_size: u32,
    pub(crate) library: Option<String>,
    pub(crate) executable: Option<String>,
    /// Name by which the program opened the library, if `vkloader` gave the program a link with that name.
    #[serde(skip)]
    pub(crate) opened_as: Option<String>,
    #[serde(default)]
    pub(crate) variables: Vec<Variable>,
}

/// A variable that is set and that the library reads.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) value: String,
}

/// A call of the program, the opening of a library, or a call of a driver's function.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Step {
    /// Kind of the step: `call`, `open`, `driver` or `chain`.
    pub(crate) step: String,
    /// Name of the command, or path of the library.
    pub(crate) name: String,
    /// Library of the driver whose function is called.
    pub(crate) library: Option<String>,
    /// Duration of the step in nanoseconds.
    pub(crate) nanoseconds: Option<u64>,
    /// `VkResult` of the command, at the end of the step.
    pub(crate) result: Option<i32>,
    /// Number of devices that a driver reported in this step.
    pub(crate) devices: Option<u64>,
    /// `true` if a queue family can show images on a surface, according to the answer in this step.
    pub(crate) supported: Option<bool>,
}

/// A feature that a device lacks.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Lacking {
    /// Number of the type of the structure.
    pub(crate) structure: i32,
    /// Place of the member in the structure.
    pub(crate) word: usize,
}

/// A function that the program looked up and did not get.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct NotFound {
    /// Name of the function that returned NULL.
    pub(crate) by: String,
    pub(crate) name: String,
}

impl Step {
    /// Returns the result if the command failed. For a command that creates an instance or device, a positive result is also a failure.
    pub(crate) fn failure(&self) -> Option<i32> {
        let creates = matches!(self.name.as_str(), "vkCreateInstance" | "vkCreateDevice");
        self.result.filter(|&code| code < 0 || creates && code != 0)
    }

    /// Returns the library whose code runs during this step.
    pub(crate) fn runs(&self) -> Option<&str> {
        match self.step.as_str() {
            "open" => Some(&self.name),
            _ => self.library.as_deref(),
        }
    }
}

/// The origin of a folder or file.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct TracedSource {
    pub(crate) kind: String,
    pub(crate) variable: Option<String>,
}

impl TracedSource {
    /// Returns a description of the origin.
    pub(crate) fn words(&self) -> String {
        match (self.kind.as_str(), &self.variable) {
            ("variable", Some(variable)) => format!("the variable {variable}"),
            ("build", _) => "the usual folders of the system".into(),
            ("registry", _) => "the registry".into(),
            ("bundle", _) => "the program's bundle".into(),
            ("service", _) => "a service of the system".into(),
            ("override-layer", _) => "the override layer".into(),
            ("settings", _) => "the settings file".into(),
            ("application", _) => "the program itself".into(),
            ("driver", _) => "the driver".into(),
            (other, _) => other.into(),
        }
    }
}

/// A folder that was searched.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Searched {
    /// Kind of manifests in the folder: driver, implicit layer or explicit layer.
    #[serde(rename = "for")]
    pub(crate) wanted: String,
    pub(crate) folder: String,
    pub(crate) source: TracedSource,
    pub(crate) manifests: u64,
    /// Message of the operating system, if the folder could not be opened.
    pub(crate) system: Option<String>,
}

/// A message in the log.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Message {
    #[serde(default)]
    pub(crate) kinds: Vec<Kind>,
    pub(crate) text: String,
}

/// The level or category of a message.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Kind {
    pub(crate) kind: String,
}

impl Message {
    pub(crate) fn is_error(&self) -> bool {
        self.kinds.iter().any(|kind| kind.kind == "ERROR")
    }
}

/// The library's decision to keep or drop an object.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct TracedDecision {
    pub(crate) subject: String,
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) path: String,
    pub(crate) source: TracedSource,
    pub(crate) verdict: String,
    pub(crate) code: Option<String>,
    pub(crate) text: Option<String>,
    #[serde(default)]
    pub(crate) details: serde_json::Map<String, serde_json::Value>,
}

impl TracedDecision {
    pub(crate) fn is_kept(&self) -> bool {
        self.verdict == "kept"
    }
}

/// An inactive implicit layer.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct InactiveLayer {
    pub(crate) name: String,
    pub(crate) code: String,
    pub(crate) variable: Option<String>,
}

/// A layer that a declaration moved below another layer.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Moved {
    pub(crate) layer: String,
    pub(crate) below: String,
    /// Origin of the declaration: a kind such as `settings` or `manifest`, or the name of a variable.
    pub(crate) by: String,
    /// Path of the file that contains the declaration.
    pub(crate) path: Option<String>,
    /// Text of the declaration.
    pub(crate) declared: Option<String>,
}

/// A layer that a program requested and that does not exist.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Refused {
    pub(crate) name: String,
}

/// The layers of a call chain, starting at the application.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Chain {
    pub(crate) call: String,
    pub(crate) layers: Vec<ChainLayer>,
}

/// A layer of a chain.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct ChainLayer {
    pub(crate) name: String,
    pub(crate) implicit: bool,
    #[serde(rename = "enabled-by")]
    pub(crate) enabled_by: String,
    pub(crate) manifest: String,
    pub(crate) library: String,
}

/// A query that the driver catalogue answered, or the reason why the catalogue did not answer.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Catalogued {
    pub(crate) library: String,
    /// Query that the catalogue answered; `none` if it answered no query.
    #[serde(rename = "use")]
    pub(crate) used: String,
    /// Reason why the entry was not used.
    pub(crate) doubt: Option<String>,
    /// Reason why the driver was opened although a policy keeps drivers closed.
    pub(crate) opened: Option<String>,
    /// File, variable or structure that `opened` is about.
    pub(crate) name: Option<String>,
}

/// Instance extensions of a driver.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Offers {
    pub(crate) library: String,
    #[serde(rename = "interface-version")]
    pub(crate) interface_version: u32,
    pub(crate) extensions: Vec<Extension>,
}

/// An instance extension.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Extension {
    pub(crate) name: String,
    pub(crate) version: u32,
}

/// Result of `vkCreateInstance` in a driver.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Driver {
    pub(crate) library: String,
    #[serde(rename = "interface-version")]
    pub(crate) interface_version: u32,
    #[serde(rename = "api-version")]
    pub(crate) api_version: String,
    pub(crate) extensions: u64,
    pub(crate) result: i32,
}

/// A physical device and its position in the list.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Device {
    pub(crate) place: usize,
    pub(crate) name: String,
    pub(crate) driver: String,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) vendor: u32,
    pub(crate) device: u32,
    #[serde(rename = "api-version")]
    pub(crate) api_version: String,
    /// UUID in 32 hexadecimal digits, if the driver reports one.
    #[serde(rename = "device-uuid")]
    pub(crate) uuid: Option<String>,
    #[serde(rename = "driver-uuid")]
    pub(crate) driver_uuid: Option<String>,
    pub(crate) rule: String,
}

/// Text before the API version in the log message about the application.
const ASKED_VERSION: &str = ", apiVersion: ";

impl Record {
    /// Returns the version of Vulkan that the application asks for, if the record has the log message about the application.
    pub(crate) fn asked_version(&self) -> Option<&str> {
        match &self.event {
            Event::Message(message) => Some(message.text.rsplit_once(ASKED_VERSION)?.1.trim()),
            _ => None,
        }
    }
}

/// Beginning of every record.
const BEGINNING: &str = "{\"event\":";

/// Part of the path of a settings file as loaders write it, and the same part with a single slash.
const SETTINGS: [&str; 2] = ["/vulkan//loader_settings.d/", "/vulkan/loader_settings.d/"];

/// Returns the records of a trace in order. All lines that are not records were printed by the process. A crash may have truncated the last
/// record.
pub(crate) fn parse(bytes: &[u8]) -> Vec<Record> {
    let text = String::from_utf8_lossy(bytes);
    let mut records: Vec<Record> = Vec::new();
    for line in text.lines() {
        // If a process prints text without a newline at its end, the next record follows on the same line.
        let (printed, record) = line.split_at(line.find(BEGINNING).unwrap_or(line.len()));
        if !printed.trim().is_empty() && !printed.starts_with("[Vulkan Loader]") {
            let (process, thread) = records
                .last()
                .map_or((0, String::new()), |last| (last.process, last.thread.clone()));
            let event = Event::Printed(printed.trim_end().into());
            records.push(Record { process, thread, event });
        }
        records.extend(serde_json::from_str::<Record>(&record.replace(SETTINGS[0], SETTINGS[1])).ok());
    }
    records
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_print_between_records_is_kept_apart() {
        let records = parse(
            b"first\n{\"event\":\"later\",\"process\":7}\nMESA: no end{\"event\":\"later\",\"process\":7}\n[Vulkan Loader] ERROR: x\n",
        );
        let printed: Vec<Option<&str>> = records
            .iter()
            .map(|record| match &record.event {
                Event::Printed(text) => Some(text.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(printed, [Some("first"), None, Some("MESA: no end"), None]);
        assert_eq!(records[2].process, 7);
    }

    #[test]
    fn the_path_of_a_settings_file_has_single_slashes() {
        let records = parse(
            b"{\"event\":\"begin\",\"process\":1,\"step\":\"open\",\"name\":\"/home/ann/vulkan//loader_settings.d/x.json\"}\n",
        );
        assert!(
            matches!(&records[0].event, Event::Begin(step) if step.name == "/home/ann/vulkan/loader_settings.d/x.json")
        );
    }

    #[test]
    fn unknown_events_members_and_broken_lines_are_passed_over() {
        let records = parse(
            b"{\"event\":\"later\",\"process\":1,\"new\":[]}\n\
              {\"event\":\"begin\",\"process\":1,\"step\":\"call\",\"name\":\"words\",\"new\":1}\n\
              {\"event\":\"begin\",\"proc",
        );
        assert!(matches!(records[0].event, Event::Unknown));
        assert!(matches!(&records[1].event, Event::Begin(step) if step.name == "words"));
        assert_eq!(records.len(), 2);
    }
}
