//! Drivers: opening their libraries, negotiating, and keeping them open.
//!
//! An [`OpenDriver`] is an open library, or a function pointer that the application supplied, with the functions that need no instance. An
//! instance turns an open driver into an [`InstanceDriver`](crate::instance::InstanceDriver).

mod direct;
mod extensions;
mod open;
mod preload;
mod scan;

pub(crate) use direct::{DirectDrivers, direct_drivers};
pub(crate) use extensions::instance_extensions;
pub(crate) use open::OpenDriver;
pub(crate) use preload::PreloadedDrivers;
pub(crate) use scan::{Scan, ScanOptions, forget, scan};
