//! Reasons for dropping something: one closed enum per subsystem. Each variant has the data for its message.
//!
//! Every enum has the same two functions. `bits` returns the severity of the message, or `None` for no message; `write` writes the
//! message's text. Users and tools already search for these texts.

mod catalogue;
mod device;
mod driver_library;
mod driver_manifest;
mod file;
mod layer_library;
mod layer_list;
mod layer_manifest;
#[cfg_attr(not(all(feature = "service", target_os = "linux")), path = "no_service.rs")]
mod service;
mod settings;

pub use catalogue::{Asked, CatalogueReason};
pub use device::DeviceReason;
pub use driver_library::DriverLibraryReason;
pub use driver_manifest::DriverManifestReason;
pub use file::{FileKind, FileReason};
pub use layer_library::{LayerLibraryProblem, LayerLibraryReason};
pub use layer_list::LayerListReason;
pub use layer_manifest::{LayerManifestReason, LayerReason};
pub use service::ServiceReason;
pub use settings::SettingsReason;

use core::fmt;

use super::bits::LogBits;
use crate::text::Text;
use reasons::Code;

const DRIVER_ERROR: LogBits = LogBits::ERROR.with(LogBits::DRIVER);
const DRIVER_WARN: LogBits = LogBits::WARN.with(LogBits::DRIVER);
const DRIVER_INFO: LogBits = LogBits::INFO.with(LogBits::DRIVER);
const LAYER_ERROR: LogBits = LogBits::ERROR.with(LogBits::LAYER);
const LAYER_WARN: LogBits = LogBits::WARN.with(LogBits::LAYER);
const LAYER_INFO: LogBits = LogBits::INFO.with(LogBits::LAYER);

macro_rules! reasons {
    ($($(#[$meta:meta])* $variant:ident($reason:ty);)+) => {
        /// Reason why something was dropped.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum Reason {
            $($(#[$meta])* $variant($reason),)+
        }

        impl Reason {
            /// Returns the code of the reason, which stays the same even if the message changes.
            pub fn code(&self) -> Code {
                match self {
                    $(Self::$variant(reason) => reason.code(),)+
                }
            }

            /// Returns the level and category of the message; `None` if there is no message for users.
            pub fn bits(&self) -> Option<LogBits> {
                match self {
                    $(Self::$variant(reason) => reason.bits(),)+
                }
            }

            fn write(&self, out: &mut fmt::Formatter<'_>, name: &Text, path: &Text) -> fmt::Result {
                match self {
                    $(Self::$variant(reason) => reason.write(out, name, path),)+
                }
            }
        }

        $(impl From<$reason> for Reason {
            fn from(reason: $reason) -> Self {
                Self::$variant(reason)
            }
        })+
    };
}

reasons! {
    /// A JSON file could not be read at all.
    File(FileReason);
    /// The content of the loader settings file.
    Settings(SettingsReason);
    /// The content of a driver manifest.
    DriverManifest(DriverManifestReason);
    /// The library of a driver, or the driver in it.
    DriverLibrary(DriverLibraryReason);
    /// A driver catalogue, or its statement about a driver.
    Catalogue(CatalogueReason);
    /// A service that supplies drivers, or data from the service.
    Service(ServiceReason);
    /// A layer manifest as a whole.
    LayerManifest(LayerManifestReason);
    /// A layer of a manifest.
    Layer(LayerReason);
    /// A well-formed layer that is not wanted, or not usable beside other layers.
    DiscoveredLayers(LayerListReason);
    /// The library of a layer.
    LayerLibrary(LayerLibraryReason);
    /// A physical device.
    Device(DeviceReason);
}

impl Reason {
    /// Returns the text of the message about the object called `name`, which comes from `path`.
    pub fn text<'a>(&'a self, name: &'a Text, path: &'a Text) -> impl fmt::Display + 'a {
        Line {
            reason: self,
            name,
            path,
        }
    }
}

struct Line<'a> {
    reason: &'a Reason,
    name: &'a Text,
    path: &'a Text,
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reason.write(out, self.name, self.path)
    }
}
