//! Reasons for dropping an object: one closed enum per subsystem. Each variant has the data for its message.
//!
//! Every enum has the same two functions. `bits` returns the severity of the message, or `None` for no message; `write` writes the
//! message's text. Users and tools search logs for these texts, so they must not change.

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
#[cfg(all(feature = "service", target_os = "linux"))]
pub use service::Fault;
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
        /// Reason why an object was dropped.
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
    /// A fault of a JSON file that could not be read.
    File(FileReason);
    /// A fault of the loader settings file's content.
    Settings(SettingsReason);
    /// A reason about the content of a driver manifest.
    DriverManifest(DriverManifestReason);
    /// A reason about the library of a driver, or about the driver in it.
    DriverLibrary(DriverLibraryReason);
    /// A reason about a driver catalogue, or a driver that the catalogue excludes.
    Catalogue(CatalogueReason);
    /// A reason about a service that supplies drivers, or about data from the service.
    Service(ServiceReason);
    /// A reason about a complete layer manifest.
    LayerManifest(LayerManifestReason);
    /// A reason about one layer of a manifest.
    Layer(LayerReason);
    /// A reason about a well-formed layer that is filtered, or conflicts with other layers.
    DiscoveredLayers(LayerListReason);
    /// A reason about the library of a layer.
    LayerLibrary(LayerLibraryReason);
    /// A reason about a physical device.
    Device(DeviceReason);
}

impl Reason {
    /// Returns the text of the message about the object called `name`, which the file `path` defines.
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
