//! The loader settings file: what a configuration tool wants of this loader (APP-240 to APP-262).

#![forbid(unsafe_code)]

mod types;

pub use types::{Control, DeviceConfiguration, LayerEntry, Settings};
