//! The report of one run: the devices that the program received, dropped objects with the reasons, and remedies.

mod blamed;
mod build;
mod calls;
mod card;
mod catalogued;
pub(crate) mod codes;
mod compared;
mod culprit;
mod decided;
mod devices;
mod ended;
mod fact;
mod failed;
mod layers;
mod only_here;
pub(crate) mod other;
pub(crate) mod rank;
mod requests;
mod sent;
mod settings;
mod stood;
mod surroundings;
mod unasked;
mod unneeded;
mod unread;
mod verdict;
mod view;

pub(crate) use blamed::{READ, add_switch, one_after_the_other, suspect_for_abort, tells_failure};
pub(crate) use build::{Received, build, explain_short, for_result, is_of_state, without_driver};
pub(crate) use card::Card;
pub(crate) use compared::{Difference, FirstCause, OtherLoader, OtherWordSize};
pub(crate) use culprit::{Again, Crashed, NEWER_ONLY_DRIVERS, ONLY_DRIVERS, Switch, TO_TELL, created_with, retried};
pub(crate) use decided::busiest;
#[cfg(test)]
pub(crate) use devices::of_other;
pub(crate) use ended::{OR_STOP, UNTIL_THEN, how_ended, is_opening, leave_out, with_runtime};
pub(crate) use fact::{Fact, Facts, Kind};
pub(crate) use failed::TO_UPDATE;
pub(crate) use layers::{
    DISCRETE, MESAS as MESAS_LAYER, WITHOUT as WITHOUT_LAYERS, controlling_in, has_chain, obstructed,
};
pub(crate) use sent::cut_short;
pub(crate) use surroundings::CONTAINERS;

use crate::causes::{Limits, Snap};
use crate::inside::Inside;
use crate::variables::Variables;
use serde::Serialize;
use std::fmt;
use std::sync::Arc;

/// The report. The members are in the order of the printed text.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Report {
    /// Version of the format that `docs/explain.schema.json` describes.
    pub(crate) schema: Schema,
    pub(crate) verdict: Verdict,
    pub(crate) loader: Option<Loader>,
    /// The loader that programs use, if it is not the examined library.
    pub(crate) other_loader: Option<OtherLoader>,
    /// The devices of programs with the other word size, if `vkloader` for that word size is installed.
    pub(crate) other_word_size: Option<OtherWordSize>,
    pub(crate) ending: Ended,
    /// A sentence about the end of the program; `None` if the program ended successfully.
    pub(crate) ended: Option<String>,
    /// `true` if the program created an instance and did not ask for devices. The devices are then those of a process that imitated the program.
    #[serde(skip)]
    pub(crate) is_unasked: bool,
    /// `true` if the devices of a program that did not ask for devices come from a process that imitated the program.
    #[serde(skip)]
    pub(crate) has_devices_of_probe: bool,
    /// The crash that ended the program or one of its descendants.
    pub(crate) crash: Option<culprit::Crashed>,
    /// The devices that the program received, after all layers and filters.
    pub(crate) devices: Vec<Device>,
    /// Devices that the library listed but the program did not receive.
    pub(crate) hidden: Vec<Hidden>,
    pub(crate) dropped: Vec<Dropped>,
    /// Graphics hardware in the operating system's lists.
    pub(crate) hardware: Vec<Card>,
    /// Environments around the program, for example `flatpak`, `docker`, `wsl` or `virtual-machine`.
    pub(crate) surroundings: Vec<String>,
    pub(crate) failed: Vec<Call>,
    /// Errors in the loader's log, without errors that explain a finding.
    pub(crate) errors: Vec<String>,
    /// Lines that libraries printed on standard error.
    pub(crate) printed: Vec<Printed>,
    pub(crate) layers: Vec<ActiveLayer>,
    pub(crate) inactive: Vec<InactiveLayer>,
    pub(crate) slow: Vec<Slow>,
    pub(crate) drivers: Vec<Driver>,
    pub(crate) catalogue: Vec<Catalogued>,
    /// Folders that the library searched for drivers.
    #[serde(skip)]
    pub(crate) searched: Vec<String>,
    /// Driver manifests and drivers that the library kept. If the program received no instance, it used none of these drivers.
    #[serde(skip)]
    pub(crate) kept: Vec<String>,
    /// The variables of the program.
    #[serde(skip)]
    pub(crate) variables: Variables,
    /// Version of Vulkan that the program asked for when it created its last instance.
    #[serde(skip)]
    pub(crate) asked_version: Option<String>,
    #[serde(skip)]
    pub(crate) limits: Limits,
    /// The files of the program, if they may differ from those of this process.
    #[serde(skip)]
    pub(crate) inside: Option<Arc<Inside>>,
    /// Paths of the programs that were executed, among them the one that made a sandbox.
    #[serde(skip)]
    pub(crate) executed: Vec<String>,
    /// The snap whose variables the program has.
    #[serde(skip)]
    pub(crate) snap: Option<Snap>,
}

/// Version of the report's format. The version increases with each change that an older reader would misunderstand.
#[derive(Debug, Serialize)]
pub(crate) struct Schema(u32);

impl Default for Schema {
    fn default() -> Self {
        Self(1)
    }
}

/// The best kind of device that a program can use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Verdict {
    Hardware,
    /// Only software devices are usable.
    SoftwareOnly,
    #[default]
    Nothing,
}

/// A driver with an entry in the driver catalogue.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Catalogued {
    pub(crate) library: String,
    /// A sentence with the reason why the entry was used or not used.
    pub(crate) what: String,
}

#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Ended {
    /// The way in which the process ended: `status`, `signal`, or `too-long`.
    pub(crate) by: &'static str,
    /// The exit status or the number of the signal.
    pub(crate) number: Option<i32>,
}

/// The library that the program used.
#[derive(Debug, Serialize)]
pub(crate) struct Loader {
    pub(crate) version: String,
    pub(crate) path: Option<String>,
    /// Package that contains the file, if a package does.
    pub(crate) owner: Option<String>,
    pub(crate) word_size: u32,
    pub(crate) executable: Option<String>,
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
    /// PCI domain, bus, device and function.
    pub(crate) pci: Option<String>,
    /// Name that the driver reports.
    pub(crate) driver_name: Option<String>,
    /// Path of the driver's library; empty for a device that a layer added.
    pub(crate) driver: String,
    /// Path of the manifest that names the driver.
    pub(crate) manifest: Option<String>,
    /// Name in the trace of the rule that determined the position of the device.
    pub(crate) rule: String,
    /// The rule in words, as one sentence.
    pub(crate) order: String,
    /// The layer that moved the device, if a layer did.
    pub(crate) moved_by: Option<String>,
    /// Result of `vkCreateDevice` for the device, if this command was called.
    pub(crate) created: Option<i32>,
    /// `false` if `vkCreateDevice` fails or crashes the process.
    pub(crate) is_usable: bool,
}

impl Device {
    /// Returns `true` for a device that runs on the processor.
    pub(crate) fn is_software(&self) -> bool {
        self.kind == "cpu"
    }
}

/// A device that the library listed but the program did not receive.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Hidden {
    pub(crate) name: String,
    pub(crate) kind: String,
    /// Path of the driver's library.
    pub(crate) driver: String,
    /// Kind of the object that hides the device: `variable`, `layer` or `loader`.
    pub(crate) by_what: String,
    /// Name of the variable, layer or loader that hides the device; empty if it may be one of several layers.
    pub(crate) by: String,
}

/// A Vulkan call that returned an error code.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Call {
    pub(crate) name: String,
    /// Library of the driver that was called; `None` for a call of the program.
    pub(crate) library: Option<String>,
    pub(crate) code: i32,
    /// Name of the result code.
    pub(crate) result: String,
}

/// A line on standard error.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Printed {
    /// The library that was running when the line was printed.
    pub(crate) library: Option<String>,
    pub(crate) text: String,
}

/// A driver that the loader opened.
#[derive(Debug, Serialize)]
pub(crate) struct Driver {
    pub(crate) library: String,
    pub(crate) manifest: Option<String>,
    pub(crate) api_version: Option<String>,
    pub(crate) interface_version: Option<u32>,
    pub(crate) extensions: Option<u64>,
}

/// Result of the search for a library that is missing under the path in its manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Absent {
    /// No folder has a library of this name.
    Everywhere,
    /// Another folder has a library of this name.
    Elsewhere,
}

/// A finding about a dropped object, or about an obstacle to the use of a device.
#[derive(Debug, Serialize)]
pub(crate) struct Dropped {
    /// Kind of the finding's subject, for example `driver` or `layer`.
    pub(crate) subject: String,
    /// Code of the reason, which never changes between versions.
    pub(crate) code: String,
    pub(crate) name: String,
    /// File that defines the subject.
    pub(crate) file: Option<String>,
    /// Origin of the file in `file`, as the word that stands for this origin in a trace.
    pub(crate) source: Option<String>,
    /// Description of the origin of the file in `file`.
    pub(crate) named_by: Option<String>,
    /// The finding, as one sentence.
    pub(crate) reason: String,
    /// Further facts, for example a message of the operating system or the name of a missing library.
    pub(crate) findings: Facts,
    /// Remedy; empty if the finding is harmless.
    pub(crate) advice: String,
    /// A variable, and a word for its value, that disable the subject of the finding for a program.
    #[serde(skip)]
    pub(crate) set: Option<(String, String)>,
    /// A variable of the program that causes the finding, so that the remedy is to unset it.
    #[serde(skip)]
    pub(crate) variable: Option<String>,
    /// Result of the search for a library that is missing under the path in its manifest; `None` if the finding is not about a missing
    /// library.
    #[serde(skip)]
    pub(crate) absent: Option<Absent>,
    /// `true` if `name` stands for a general subject, such as `the program` or `all drivers`.
    #[serde(skip)]
    pub(crate) is_general: bool,
    /// `true` if the findings name a missing or broken file that the subject could not open, or a variable that it asks for.
    #[serde(skip)]
    pub(crate) names_file: bool,
    /// Rank of the finding. The finding that most likely explains a missing device has the smallest rank.
    #[serde(skip)]
    pub(crate) rank: u8,
}

impl Dropped {
    /// Returns `true` if one line suffices for the finding, because the situation is normal: most machines have drivers without matching
    /// hardware, and layers that are older than the program.
    pub(crate) fn is_noise(&self) -> bool {
        let is_harmless = self.code == codes::LAYER_OLDER.name && self.advice.is_empty();
        self.code == "driver.no-devices" && !self.names_file || is_harmless
    }

    /// Returns the finding as one line.
    pub(crate) fn in_short(&self) -> String {
        let why = self.findings.first().map_or(self.reason.as_str(), |fact| fact);
        format!("{}: {why} [{}]", self.name, self.code)
    }
}

/// A layer in the chain.
#[derive(Debug, Serialize)]
pub(crate) struct ActiveLayer {
    pub(crate) name: String,
    /// Reason why the layer is active, as the word that stands for this reason in a trace.
    pub(crate) enabled_by: String,
    /// Description of the reason why the layer is active.
    pub(crate) because: String,
    /// The layer below which a declaration moved this layer, and the origin of the declaration; empty if the layer was not moved.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) order: String,
    /// `true` if the program named the layer in `VkInstanceCreateInfo`.
    #[serde(skip)]
    pub(crate) is_asked_for: bool,
    pub(crate) manifest: String,
    pub(crate) library: String,
}

/// A layer that is installed but is not in a chain.
#[derive(Debug, Serialize)]
pub(crate) struct InactiveLayer {
    pub(crate) name: String,
    pub(crate) manifest: String,
    pub(crate) code: String,
    pub(crate) reason: String,
    pub(crate) advice: String,
}

/// A library that took a long time to open or to answer.
#[derive(Debug, Serialize)]
pub(crate) struct Slow {
    pub(crate) library: String,
    /// Slow activity: `open` for opening the library, `call` for calling its functions.
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
