//! A decision to keep or drop something, with its reason and origin.

use super::bits::LogBits;
use super::reason::Reason;
use crate::env::Variable;
use crate::text::Text;
use core::fmt;
use os::Show;

/// Kind of object that a decision is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// JSON file of a driver; identified by its path.
    DriverManifest,
    /// Library of a driver; identified by its path. A direct driver (DRV-85) has no path, and is identified by a substitute name.
    DriverLibrary,
    /// The instance of a driver; identified by the driver's library.
    DriverInstance,
    /// JSON file of one or more layers; identified by its path.
    LayerManifest,
    /// A layer; identified by `layerName`.
    Layer,
    /// Library of a layer; identified by `layerName`.
    LayerLibrary,
    /// A physical device; identified by `deviceName`.
    PhysicalDevice,
    /// The loader settings file; identified by its path.
    SettingsFile,
    /// A service that supplies drivers; identified by its socket.
    Service,
    /// A driver catalogue; identified by its path.
    Catalogue,
}

/// Origin of a file, library, layer or device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// An environment variable that names the object or its folder.
    Variable(Variable),
    /// A folder that was chosen when the loader was built.
    BuildTime,
    /// The registry of the system.
    Registry,
    /// The bundle of the application.
    Bundle,
    /// A service that supplies drivers: the driver service, or a service of the operating system.
    Service,
    /// The override paths of the override layer.
    OverrideLayer,
    /// The loader settings file.
    Settings,
    /// The application, through an API call.
    Application,
    /// A driver.
    Driver,
}

/// Outcome of a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The object is used.
    Kept,
    /// The object is not used, for this reason.
    Dropped(Reason),
}

/// A decision about one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Kind of the object.
    pub subject: Subject,
    /// Identification of the object; see [`Subject`].
    pub name: Text,
    /// Path of the object's manifest or library. Empty if `name` is already this path, or if there is no file.
    pub path: Text,
    /// Outcome of the decision.
    pub verdict: Verdict,
    /// Origin of the object.
    pub source: Source,
}

impl Decision {
    /// Returns the level and category of the log line about this decision; `None` for decisions that are not logged.
    pub fn bits(&self) -> Option<LogBits> {
        match &self.verdict {
            Verdict::Kept => None,
            Verdict::Dropped(reason) => reason.bits(),
        }
    }

    /// Returns the text of the log line about this decision; empty if the decision is not logged.
    pub fn text(&self) -> impl fmt::Display + '_ {
        Show(|out: &mut fmt::Formatter<'_>| match &self.verdict {
            Verdict::Kept => Ok(()),
            Verdict::Dropped(reason) => fmt::Display::fmt(&reason.text(&self.name, &self.path), out),
        })
    }
}
