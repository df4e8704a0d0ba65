//! The records of a trace (docs/trace.md). What this program does not know is passed over, so newer libraries may say more.

use serde::Deserialize;

/// One record.
#[derive(Debug, Deserialize)]
pub(crate) struct Record {
    /// The process that wrote it.
    pub(crate) process: u32,
    /// The thread that wrote it.
    #[serde(default)]
    pub(crate) thread: String,
    /// What happened.
    #[serde(flatten)]
    pub(crate) event: Event,
}

/// What happened.
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
    /// Something was kept or dropped.
    Decision(Decision),
    /// A layer that is implicit and not active.
    Layer(InactiveLayer),
    /// A declaration moved a layer in the chain of an instance.
    Order(Moved),
    /// The layers of an instance or device.
    Chain(Chain),
    /// The driver catalogue answered for a driver, or does not count for it.
    Catalogue(Catalogued),
    /// A driver listed its instance extensions.
    Offers(Offers),
    /// A driver made an instance, or failed to.
    Driver(Driver),
    /// A physical device has its place.
    Device(Device),
    /// What the log would say beside decisions.
    Message(Message),
    /// What was printed on standard error between two records, where that goes to the trace.
    #[serde(skip)]
    Printed(String),
    /// What this program does not know.
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
    #[serde(default)]
    pub(crate) variables: Vec<Variable>,
}

/// A variable that counts, and its value.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) value: String,
}

/// A call of the program, a library that is opened, or a function of a driver.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Step {
    /// `call`, `open`, `driver` or `chain`.
    pub(crate) step: String,
    /// What is called or opened.
    pub(crate) name: String,
    /// The driver whose function it is.
    pub(crate) library: Option<String>,
    /// How long it took.
    pub(crate) nanoseconds: Option<u64>,
    /// Its `VkResult`, at its end.
    pub(crate) result: Option<i32>,
    /// The devices that a driver reported in it.
    pub(crate) devices: Option<u64>,
}

impl Step {
    /// The library that runs in this step.
    pub(crate) fn runs(&self) -> Option<&str> {
        match self.step.as_str() {
            "open" => Some(&self.name),
            _ => self.library.as_deref(),
        }
    }
}

/// What named a folder or file.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Source {
    pub(crate) kind: String,
    pub(crate) variable: Option<String>,
}

impl Source {
    /// For people.
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
    /// What for: driver, implicit layer, explicit layer.
    #[serde(rename = "for")]
    pub(crate) wanted: String,
    pub(crate) folder: String,
    pub(crate) source: Source,
    pub(crate) manifests: u64,
    /// The system's words where the folder did not open.
    pub(crate) system: Option<String>,
}

/// A message.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Message {
    #[serde(default)]
    pub(crate) kinds: Vec<Kind>,
    pub(crate) text: String,
}

/// A level or category of a message.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Kind {
    pub(crate) kind: String,
}

impl Message {
    pub(crate) fn is_error(&self) -> bool {
        self.kinds.iter().any(|kind| kind.kind == "ERROR")
    }
}

/// What became of something.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Decision {
    pub(crate) subject: String,
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) path: String,
    pub(crate) source: Source,
    pub(crate) verdict: String,
    pub(crate) code: Option<String>,
    pub(crate) text: Option<String>,
    #[serde(default)]
    pub(crate) details: serde_json::Map<String, serde_json::Value>,
}

impl Decision {
    pub(crate) fn is_kept(&self) -> bool {
        self.verdict == "kept"
    }
}

/// An implicit layer that is not active.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct InactiveLayer {
    pub(crate) name: String,
    pub(crate) code: String,
    pub(crate) variable: Option<String>,
}

/// A layer that a declaration moved below another.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Moved {
    pub(crate) layer: String,
    pub(crate) below: String,
    /// The author of the declaration.
    pub(crate) by: String,
    /// The file in which it stands.
    pub(crate) path: Option<String>,
    /// Its words.
    pub(crate) declared: Option<String>,
}

/// The layers of a call, from the application down.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Chain {
    pub(crate) call: String,
    pub(crate) layers: Vec<ChainLayer>,
}

/// One of them.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct ChainLayer {
    pub(crate) name: String,
    pub(crate) implicit: bool,
    #[serde(rename = "enabled-by")]
    pub(crate) enabled_by: String,
    pub(crate) manifest: String,
    pub(crate) library: String,
}

/// What the driver catalogue had to do with a driver.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Catalogued {
    pub(crate) library: String,
    /// What it answered, or `none`.
    #[serde(rename = "use")]
    pub(crate) used: String,
    /// Why it does not count.
    pub(crate) doubt: Option<String>,
}

/// What a driver offers.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Offers {
    pub(crate) library: String,
    #[serde(rename = "interface-version")]
    pub(crate) interface_version: u32,
    pub(crate) extensions: Vec<Extension>,
}

/// One of its instance extensions.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Extension {
    pub(crate) name: String,
    pub(crate) version: u32,
}

/// What a driver answered.
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

/// A physical device in its place.
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
    /// Thirty-two hexadecimal digits, where the driver tells them.
    #[serde(rename = "device-uuid")]
    pub(crate) uuid: Option<String>,
    #[serde(rename = "driver-uuid")]
    pub(crate) driver_uuid: Option<String>,
    pub(crate) rule: String,
}

/// How every record begins.
const BEGINNING: &str = "{\"event\":";

/// The records in a trace, in their order. Lines that are no records are what others printed; the last one may be a record that was
/// cut.
pub(crate) fn parse(bytes: &[u8]) -> Vec<Record> {
    let text = String::from_utf8_lossy(bytes);
    let mut records: Vec<Record> = Vec::new();
    for line in text.lines() {
        // What is printed without an end of the line has the next record behind it.
        let (printed, record) = line.split_at(line.find(BEGINNING).unwrap_or(line.len()));
        if !printed.trim().is_empty() && !printed.starts_with("[Vulkan Loader]") {
            let (process, thread) = records
                .last()
                .map_or((0, String::new()), |last| (last.process, last.thread.clone()));
            let event = Event::Printed(printed.trim_end().into());
            records.push(Record { process, thread, event });
        }
        records.extend(serde_json::from_str::<Record>(record).ok());
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
