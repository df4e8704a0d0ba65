//! What there is to say about one run: what the program got, what was left out and why, and what to do about it.

mod build;
pub(crate) mod rank;

pub(crate) use build::{build, how_ended};

use serde::Serialize;

/// All of it, in the order in which it is told.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Report {
    pub(crate) loader: Option<Loader>,
    /// How the program ended, where that was not by itself with success.
    pub(crate) ended: Option<String>,
    pub(crate) devices: Vec<Device>,
    pub(crate) dropped: Vec<Dropped>,
    pub(crate) layers: Vec<ActiveLayer>,
    pub(crate) inactive: Vec<InactiveLayer>,
    pub(crate) slow: Vec<Slow>,
    pub(crate) drivers: Vec<Driver>,
    pub(crate) catalogue: Vec<Catalogued>,
}

/// A driver of the driver catalogue.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Catalogued {
    pub(crate) library: String,
    /// What became of its entry, as one sentence.
    pub(crate) what: String,
}

/// The library that the program got.
#[derive(Debug, Serialize)]
pub(crate) struct Loader {
    pub(crate) version: String,
    pub(crate) path: Option<String>,
    /// Who put it there.
    pub(crate) owner: Option<String>,
    pub(crate) word_size: u32,
    pub(crate) executable: Option<String>,
}

/// A device that the program gets.
#[derive(Debug, Serialize)]
pub(crate) struct Device {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) vendor: u32,
    pub(crate) device: u32,
    pub(crate) api_version: String,
    /// The path of the driver's library.
    pub(crate) driver: String,
    /// The manifest that names the driver.
    pub(crate) manifest: Option<String>,
    /// Why it stands where it stands.
    pub(crate) order: String,
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
    /// What named that file.
    pub(crate) named_by: Option<String>,
    /// What happened, as one sentence.
    pub(crate) reason: String,
    /// What was found out beside that: the system's words, what is missing.
    pub(crate) findings: Vec<String>,
    /// What to do; empty where nothing is wrong.
    pub(crate) advice: String,
    /// How likely it is that this is what a user looks for; the smallest number first.
    #[serde(skip)]
    pub(crate) rank: u8,
}

/// A layer in the chain.
#[derive(Debug, Serialize)]
pub(crate) struct ActiveLayer {
    pub(crate) name: String,
    pub(crate) enabled_by: String,
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
    /// What was done with it.
    pub(crate) doing: String,
    pub(crate) milliseconds: f64,
}

impl Report {
    /// Whether a program can use a device.
    pub(crate) fn is_usable(&self) -> bool {
        !self.devices.is_empty()
    }
}
