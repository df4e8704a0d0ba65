//! The loader settings file, through which a configuration tool controls this loader (APP-240 to APP-262).
//!
//! [`load`] finds the file, chooses the object for the running executable, and parses that object. An invalid file never makes a call fail.
//! [`Settings::describe`] logs the active settings.

mod describe;
mod devices;
mod find;
mod parse;
mod policies;
mod types;

pub use describe::uuid_text;
pub use find::{load, load_for};
pub use policies::DriverPolicies;
pub use types::{Control, DeviceConfiguration, LayerEntry, Settings, ShortName};

#[cfg(all(test, unix))]
mod tests;
