//! Drivers: opening their libraries, negotiating, and keeping them open.
//!
//! An [`OpenDriver`] has the functions that need no instance. They come from an open library, from a function pointer that the application
//! supplied, or from the stand-in of a driver that is not open yet. An instance turns an open driver into an
//! [`InstanceDriver`](crate::instance::InstanceDriver).

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
