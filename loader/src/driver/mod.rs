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

pub(crate) use direct::{DirectDrivers, direct_drivers};
pub(crate) use extensions::{all_extensions, device_extensions, failure, instance_extensions};
pub(crate) use interface::{EnumerateAdapterPhysicalDevices, GetProcAddr, lookup, lookup_known};
pub(crate) use open::OpenDriver;
pub(crate) use preload::PreloadedDrivers;
pub(crate) use scan::{DriversAside, Scan, ScanOptions, forget, scan};
