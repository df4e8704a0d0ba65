//! Drivers: opening their libraries, negotiating, and keeping them open.
//!
//! An [`OpenDriver`] is an open library, or a function pointer that the application supplied, with the functions that need no instance. An instance
//! makes an [`InstanceDriver`](crate::instance::InstanceDriver) of it.

mod direct;
mod extensions;
mod interface;
mod open;
mod preload;
mod scan;

pub(crate) use direct::{DirectDrivers, direct_drivers};
pub(crate) use extensions::{all_extensions, device_extensions, failure, instance_extensions};
pub(crate) use interface::{EnumerateAdapterPhysicalDevices, GetProcAddr, Interface, lookup, lookup_known};
pub(crate) use open::OpenDriver;
pub(crate) use preload::PreloadedDrivers;
pub(crate) use scan::{DriversAside, Scan, ScanOptions, forget, scan};
