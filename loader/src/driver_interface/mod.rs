//! The interface between the loader and a driver's library: opening, negotiation, and functions that need no instance (DRV-56 to DRV-73).
//!
//! Scans use this module. Stand-ins use it too, to open their drivers later. The module does not depend on scans or stand-ins.

mod extensions;
mod negotiation;
mod open;

pub(crate) use extensions::{all_extensions, device_extensions, failure};
pub(crate) use negotiation::{
    EnumerateAdapterPhysicalDevices, GetProcAddr, Interface, NegotiationError, lookup, lookup_known,
};
pub(crate) use open::{DriverLibrary, LibraryPlace};
