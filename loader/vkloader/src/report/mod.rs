//! What there is to say about one run: what the program got, what was left out and why, and what to do about it.

mod build;
mod calls;
pub(crate) mod codes;
mod culprit;
mod decided;
mod devices;
mod ended;
mod layers;
pub(crate) mod other;
pub(crate) mod rank;

pub(crate) use build::{Received, build};
pub(crate) use culprit::{Retried, Switch, retried};
pub(crate) use ended::how_ended;
pub(crate) use layers::has_chain;

use serde::Serialize;
use std::fmt;

/// All of it, in the order in which it is told.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Report {
    /// The number of what `docs/explain.schema.json` describes.
    pub(crate) schema: Schema,
    pub(crate) verdict: Verdict,
    pub(crate) loader: Option<Loader>,
    /// The loader that programs get, where that is not the library that was asked.
    pub(crate) other_loader: Option<OtherLoader>,
    /// What programs of the other word size get, where a program for that is installed.
    pub(crate) other_word_size: Option<OtherWordSize>,
    /// How the program ended.
    pub(crate) ending: Ended,
    /// The same in words, where that was not by itself with success.
    pub(crate) ended: Option<String>,
    /// The crash that ended the program, or a process that it started.
    pub(crate) crash: Option<culprit::Crashed>,
    /// What the program received, above all layers and filters.
    pub(crate) devices: Vec<Device>,
    /// Devices that the library listed and the program did not receive.
    pub(crate) hidden: Vec<Hidden>,
    pub(crate) dropped: Vec<Dropped>,
    /// The graphics hardware that the system shows.
    pub(crate) hardware: Vec<Card>,
    /// What the program runs in, such as `flatpak`, `docker`, `wsl` or `virtual-machine`.
    pub(crate) surroundings: Vec<String>,
    /// Calls that failed.
    pub(crate) failed: Vec<Call>,
    /// Errors of the log that are not about something that was left out.
    pub(crate) errors: Vec<String>,
    /// What was printed on standard error, where that is not the program's own.
    pub(crate) printed: Vec<Printed>,
    pub(crate) layers: Vec<ActiveLayer>,
    pub(crate) inactive: Vec<InactiveLayer>,
    pub(crate) slow: Vec<Slow>,
    pub(crate) drivers: Vec<Driver>,
    pub(crate) catalogue: Vec<Catalogued>,
}

/// The number of the form of the report. It grows when a reader of the older one would misunderstand something.
#[derive(Debug, Serialize)]
pub(crate) struct Schema(u32);

impl Default for Schema {
    fn default() -> Self {
        Self(1)
    }
}

/// What a program can use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Verdict {
    /// A device of hardware.
    Hardware,
    /// Devices of software only.
    SoftwareOnly,
    /// No device.
    #[default]
    Nothing,
}

/// A driver of the driver catalogue.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Catalogued {
    pub(crate) library: String,
    /// What became of its entry, as one sentence.
    pub(crate) what: String,
}

/// How a process ended.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Ended {
    /// `status`, `signal`, or `too-long`.
    pub(crate) by: &'static str,
    /// The status or the signal.
    pub(crate) number: Option<i32>,
}

/// The library that the program got.
#[derive(Debug, Serialize)]
pub(crate) struct Loader {
    pub(crate) version: String,
    pub(crate) path: Option<String>,
    /// The package that the file belongs to, if any.
    pub(crate) owner: Option<String>,
    pub(crate) word_size: u32,
    pub(crate) executable: Option<String>,
}

/// The loader that programs get, where that is not the library that was asked.
#[derive(Debug, Serialize)]
pub(crate) struct OtherLoader {
    pub(crate) version: Option<String>,
    pub(crate) path: Option<String>,
    /// The name of whoever put it there.
    pub(crate) owner: Option<String>,
    /// How the process ended that asked it.
    pub(crate) ending: Ended,
    /// `true` if both were asked the same. A program runs under one of them alone.
    pub(crate) is_compared: bool,
    pub(crate) differences: Vec<Difference>,
}

/// A difference between two loaders.
#[derive(Debug, Serialize)]
pub(crate) struct Difference {
    /// `variable`, `call`, `device`, `order`, `driver`, `layer`, or `extension`.
    pub(crate) what: &'static str,
    pub(crate) name: String,
    /// The one that has it: `asked`, or `other` for the one that programs get. `None` where both have it, and it differs.
    pub(crate) only: Option<&'static str>,
    /// The difference as one sentence.
    pub(crate) text: String,
    /// Why, by the decisions of the library that was asked.
    pub(crate) because: Option<String>,
}

/// Devices that programs of another word size get.
#[derive(Debug, Serialize)]
pub(crate) struct OtherWordSize {
    pub(crate) word_size: u32,
    /// The word of the verdict.
    pub(crate) verdict: String,
    /// The names of the devices.
    pub(crate) devices: Vec<String>,
    pub(crate) first_cause: Option<FirstCause>,
}

/// What stands in the way of programs of another word size.
#[derive(Debug, Serialize)]
pub(crate) struct FirstCause {
    pub(crate) code: String,
    pub(crate) name: String,
    pub(crate) reason: String,
    pub(crate) advice: String,
}

/// A device that the program received.
#[derive(Debug, Serialize)]
pub(crate) struct Device {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) vendor: u32,
    pub(crate) device: u32,
    pub(crate) api_version: String,
    pub(crate) uuid: Option<String>,
    /// Domain, bus, device and function.
    pub(crate) pci: Option<String>,
    /// What the driver calls itself.
    pub(crate) driver_name: Option<String>,
    /// The path of the driver's library; empty where a layer made the device up.
    pub(crate) driver: String,
    /// The manifest that names the driver.
    pub(crate) manifest: Option<String>,
    /// The word of the trace for what put it there.
    pub(crate) rule: String,
    /// Why it stands where it stands, for people.
    pub(crate) order: String,
    /// The layer that moved it.
    pub(crate) moved_by: Option<String>,
    /// What `vkCreateDevice` gave for it, where that is known.
    pub(crate) created: Option<i32>,
    /// `false` where `vkCreateDevice` fails or ends the process.
    pub(crate) is_usable: bool,
}

impl Device {
    /// Whether it is software that stands for a graphics card.
    pub(crate) fn is_software(&self) -> bool {
        self.kind == "cpu"
    }
}

/// A device that the library listed and the program did not receive.
#[derive(Debug, Serialize)]
pub(crate) struct Hidden {
    pub(crate) name: String,
    pub(crate) kind: String,
    /// The path of the driver's library.
    pub(crate) driver: String,
    /// `variable`, `layer` or `loader`.
    pub(crate) by_what: String,
    /// The variable, layer or loader that hides it; empty where several layers may.
    pub(crate) by: String,
}

/// A graphics card, or a GPU of the platform.
#[derive(Debug, Serialize)]
pub(crate) struct Card {
    /// Its place on the bus.
    pub(crate) place: String,
    pub(crate) vendor: u32,
    pub(crate) device: u32,
    pub(crate) kernel_driver: Option<String>,
    /// Its render node, whether or not that is there.
    pub(crate) node: Option<String>,
}

impl fmt::Display for Card {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let driver = self.kernel_driver.as_deref().unwrap_or("no kernel driver");
        match self.vendor {
            0 => write!(out, "{} ({driver})", self.place),
            vendor => write!(out, "{} ({vendor:04x}:{:04x}, {driver})", self.place, self.device),
        }
    }
}

/// A call that failed.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Call {
    /// The command.
    pub(crate) name: String,
    /// The library of the driver that was called; the program's own call has none.
    pub(crate) library: Option<String>,
    pub(crate) code: i32,
    /// The name of the code.
    pub(crate) result: String,
}

/// A line on standard error.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Printed {
    /// The library that ran when it was printed.
    pub(crate) library: Option<String>,
    pub(crate) text: String,
}

/// A driver that was opened.
#[derive(Debug, Serialize)]
pub(crate) struct Driver {
    pub(crate) library: String,
    pub(crate) manifest: Option<String>,
    pub(crate) api_version: Option<String>,
    pub(crate) interface_version: Option<u32>,
    pub(crate) extensions: Option<u64>,
}

/// Something that was left out, or that stands in the way.
#[derive(Debug, Serialize)]
pub(crate) struct Dropped {
    /// What kind of thing.
    pub(crate) subject: String,
    /// The code of the reason, which stays the same in every version.
    pub(crate) code: String,
    /// Its name.
    pub(crate) name: String,
    /// The file that it comes from.
    pub(crate) file: Option<String>,
    /// What named that file, as the word of the trace.
    pub(crate) source: Option<String>,
    /// What named that file, for people.
    pub(crate) named_by: Option<String>,
    /// What happened, as one sentence.
    pub(crate) reason: String,
    /// What was found out beside that: the system's words, what is missing.
    pub(crate) findings: Vec<String>,
    /// What to do; empty where nothing is wrong.
    pub(crate) advice: String,
    /// The variable, and the word to add to it, with which a program goes without what stands in the way.
    #[serde(skip)]
    pub(crate) set: Option<(String, String)>,
    /// How likely it is that this is what a user looks for; the smallest number first.
    #[serde(skip)]
    pub(crate) rank: u8,
}

impl Dropped {
    /// Whether one line is enough for it: a driver without hardware is as it should be on most machines.
    pub(crate) fn is_noise(&self) -> bool {
        self.code == "driver.no-devices"
    }

    /// The finding as one line.
    pub(crate) fn in_short(&self) -> String {
        let why = self.findings.first().map_or(self.reason.as_str(), String::as_str);
        format!("{}: {why} [{}]", self.name, self.code)
    }
}

/// A layer in the chain.
#[derive(Debug, Serialize)]
pub(crate) struct ActiveLayer {
    pub(crate) name: String,
    /// The word of the trace for what made it active.
    pub(crate) enabled_by: String,
    /// The same for people.
    pub(crate) because: String,
    /// The layer below which a declaration moved it, and who says so; empty if none did.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) order: String,
    /// Whether the program asked for it by its name.
    #[serde(skip)]
    pub(crate) is_asked_for: bool,
    pub(crate) manifest: String,
    pub(crate) library: String,
}

/// A layer that is installed and not in the chain.
#[derive(Debug, Serialize)]
pub(crate) struct InactiveLayer {
    pub(crate) name: String,
    pub(crate) manifest: String,
    pub(crate) code: String,
    pub(crate) reason: String,
    pub(crate) advice: String,
}

/// A library that took long.
#[derive(Debug, Serialize)]
pub(crate) struct Slow {
    pub(crate) library: String,
    /// What was done with it: `open` or `call`.
    pub(crate) doing: &'static str,
    pub(crate) milliseconds: f64,
}

impl fmt::Display for Slow {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let doing = if self.doing == "open" {
            "to open"
        } else {
            "in its functions"
        };
        write!(out, "{:.0} ms {doing}", self.milliseconds)
    }
}

impl OtherLoader {
    /// Returns the title of the part about the loader that programs get.
    pub(crate) fn title(&self) -> &'static str {
        match &self.path {
            Some(_) => "Programs on this machine get another loader",
            None => "Programs on this machine find no Vulkan loader",
        }
    }

    /// The loader as one line; empty where there is none.
    pub(crate) fn line(&self) -> String {
        let Some(path) = self.path.as_deref() else {
            return String::new();
        };
        let version = self.version.as_deref().unwrap_or("of an unknown version");
        let owner = self.owner.as_deref().unwrap_or("no package");
        format!("Vulkan loader {version}, {path} ({owner})")
    }

    /// The differences, one line each; those that are alike and have no cause of their own share a line.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for one in self.differences.iter().filter(|one| !one.is_bare()) {
            lines.push(match &one.because {
                Some(because) => format!("{} ({because})", one.text),
                None => one.text.clone(),
            });
        }
        for (only, who) in [
            ("asked", "Only the library asked here"),
            ("other", "Only the loader that programs get"),
        ] {
            for what in ["layer", "extension"] {
                let bare = self.differences.iter().filter(|one| one.is_bare());
                let names: Vec<&str> = bare
                    .filter(|one| (one.what, one.only) == (what, Some(only)))
                    .map(|one| one.name.as_str())
                    .collect();
                if !names.is_empty() {
                    lines.push(format!("{who} lists the {what}s {}.", names.join(", ")));
                }
            }
        }
        lines
    }

    /// What there is to say where no difference is listed.
    pub(crate) fn agreement(&self) -> Option<&'static str> {
        match (self.is_compared, self.differences.is_empty()) {
            (true, true) if self.version.is_some() => {
                Some("It gives programs the same devices, layers and extensions as the library asked here.")
            }
            (false, _) => Some(
                "The program ran under the library that vkloader brings, and not under this loader; without a program \
                 vkloader explain compares the two.",
            ),
            _ => None,
        }
    }
}

impl Difference {
    /// Returns `true` if it is one of a list, about which there is nothing more to say.
    fn is_bare(&self) -> bool {
        matches!(self.what, "layer" | "extension") && self.only.is_some() && self.because.is_none()
    }
}

impl OtherWordSize {
    /// Returns one line with the devices that these programs get.
    pub(crate) fn line(&self) -> String {
        let bits = self.word_size;
        match (self.devices.is_empty(), &self.first_cause) {
            (false, _) => format!("Programs of {bits} bits get: {}.", self.devices.join(", ")),
            (true, Some(first)) => format!(
                "Programs of {bits} bits get no device: {}: {}",
                first.name, first.reason
            ),
            (true, None) => format!("Programs of {bits} bits get no device."),
        }
    }
}

impl Report {
    /// Whether a program can use a device.
    pub(crate) fn is_usable(&self) -> bool {
        self.verdict != Verdict::Nothing
    }

    /// The verdict, as one sentence.
    pub(crate) fn headline(&self) -> String {
        let count = self.devices.iter().filter(|device| device.is_usable).count();
        match (self.verdict, self.devices.is_empty()) {
            (Verdict::Nothing, true) => "No device can be used.".into(),
            (Verdict::Nothing, false) => "No device can be used: devices are listed, and none can be created.".into(),
            (Verdict::SoftwareOnly, _) => {
                let first = self.devices.iter().find(|device| device.is_usable);
                let name = first.map_or("", |device| device.name.as_str());
                format!("Only software draws here ({name}): no graphics card can be used.")
            }
            (Verdict::Hardware, _) if count == 1 => "1 device can be used.".into(),
            (Verdict::Hardware, _) => format!("{count} devices can be used."),
        }
    }

    /// Whether a layer changed the list of devices.
    pub(crate) fn is_changed_by_layer(&self) -> bool {
        self.hidden.iter().any(|hidden| hidden.by_what == "layer")
            || self.devices.iter().any(|device| device.moved_by.is_some())
    }

    /// Whether the same layers are active as in another report, in the same order.
    pub(crate) fn has_layers_of(&self, other: &Self) -> bool {
        let names = |report: &Self| -> Vec<String> { report.layers.iter().map(|layer| layer.name.clone()).collect() };
        names(self) == names(other)
    }

    /// The first thing in the way that somebody can do something about.
    pub(crate) fn first_cause(&self) -> Option<&Dropped> {
        self.dropped.iter().find(|dropped| !dropped.advice.is_empty())
    }
}
