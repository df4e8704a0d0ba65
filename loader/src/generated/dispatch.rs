//! Dispatch tables: one pointer per command, sorted by name. [`crate::dispatch_table`] builds the tables from lists.

#[path = "../../../generated/dispatch/device.rs"]
pub mod device;
#[path = "../../../generated/dispatch/device_terminator.rs"]
pub mod device_terminator;
#[path = "../../../generated/dispatch/driver.rs"]
pub mod driver;
#[path = "../../../generated/dispatch/instance.rs"]
pub mod instance;

/// Functions of a device chain: one for each device-level command.
pub use device::DeviceTable;
/// A driver's functions for the device commands that have terminators.
pub use device_terminator::DeviceTerminatorTable;
/// Functions of a driver for instances and physical devices, and the function that finds its device functions.
pub use driver::DriverTable;
/// Functions of the instance chain: one for each instance and physical-device command.
pub use instance::InstanceTable;
