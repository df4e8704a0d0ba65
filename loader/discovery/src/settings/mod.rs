//! The loader settings file: what a configuration tool wants of this loader (APP-240 to APP-262).
//!
//! [`load`] finds the file, chooses the object made for the running executable, and reads it. A file that cannot be used
//! never fails a call. [`Settings::describe`] says what is active, for the log.

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
