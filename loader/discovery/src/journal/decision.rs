//! A decision: what was kept or dropped, why, and where it came from.

use super::bits::LogBits;
use super::reason::Reason;
use crate::env::Variable;
use crate::text::Text;
use core::fmt;
use os::Show;

/// What kind of thing was decided about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The JSON file of a driver; named by its path.
    DriverManifest,
    /// The library of a driver; named by its path, or by a stand-in for a direct driver (DRV-85).
    DriverLibrary,
    /// A driver's own instance; named by the driver's library.
    DriverInstance,
    /// The JSON file of one or more layers; named by its path.
    LayerManifest,
    /// One layer; named by `layerName`.
    Layer,
    /// The library of a layer; named by `layerName`.
    LayerLibrary,
    /// A physical device; named by `deviceName`.
    PhysicalDevice,
    /// The loader settings file; named by its path.
    SettingsFile,
    /// A service that hands out drivers; named by its socket.
    Service,
    /// A driver catalogue; named by its path.
    Catalogue,
}

/// Where the loader learned of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A variable of the environment named it, or named the folder it lies in.
    Variable(Variable),
    /// It lies in a folder fixed when the loader was built.
    BuildTime,
    /// The registry of the system lists it.
    Registry,
    /// It lies in the bundle of the application.
    Bundle,
    /// A service of the system lists it.
    Service,
    /// The override paths of the override layer.
    OverrideLayer,
    /// The loader settings file.
    Settings,
    /// The application itself, through an API call.
    Application,
    /// A driver reported it.
    Driver,
}

/// What became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is used.
    Kept,
    /// It is left out.
    Dropped(Reason),
}

/// One decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The kind of thing.
    pub subject: Subject,
    /// What identifies it; see [`Subject`].
    pub name: Text,
    /// The manifest or library it comes from. Empty where the name is that path, or there is none.
    pub path: Text,
    /// The outcome.
    pub verdict: Verdict,
    /// Where it came from.
    pub source: Source,
}

impl Decision {
    /// The log line that tells about this decision; `None` for decisions that users are not told about.
    #[cfg(test)]
    pub(super) fn message(&self) -> Option<(LogBits, Vec<u8>)> {
        Some((self.bits()?, os::render(format_args!("{}", self.text()))))
    }

    /// Level and category of the log line about this decision; `None` for decisions that users are not told about.
    pub fn bits(&self) -> Option<LogBits> {
        match &self.verdict {
            Verdict::Kept => None,
            Verdict::Dropped(reason) => reason.bits(),
        }
    }

    /// The text of that line; empty where there is none.
    pub fn text(&self) -> impl fmt::Display + '_ {
        Show(|out: &mut fmt::Formatter<'_>| match &self.verdict {
            Verdict::Kept => Ok(()),
            Verdict::Dropped(reason) => fmt::Display::fmt(&reason.text(&self.name, &self.path), out),
        })
    }
}
