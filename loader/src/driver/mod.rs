//! Drivers: opening their libraries, negotiating, and keeping them open.
//!
//! An [`OpenDriver`] is an open library (or a function pointer the application gave) with the entry points that exist before
//! an instance does. What an instance makes of it is [`crate::instance::InstanceDriver`].

mod direct;
mod extensions;
mod interface;
mod open;
mod preload;
mod scan;

pub use direct::{DirectDrivers, direct_drivers};
pub use extensions::{all_extensions, device_extensions, failure, instance_extensions};
pub use interface::{EnumerateAdapterPhysicalDevices, GetProcAddr, Interface, lookup, lookup_known};
pub use open::OpenDriver;
pub use preload::PreloadedDrivers;
pub use scan::{DriversAside, Scan, ScanOptions, forget, scan};
