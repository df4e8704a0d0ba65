//! The interface between the loader and a driver's library: opening, negotiation, and functions that need no instance (DRV-56 to DRV-73).
//!
//! Scans use this module, and so do stand-ins that open their driver later. The module depends on neither of these.

mod extensions;
mod negotiation;
mod open;

pub(crate) use extensions::{all_extensions, device_extensions, failure};
pub(crate) use negotiation::{
    EnumerateAdapterPhysicalDevices, GetProcAddr, Interface, NegotiationError, lookup, lookup_known,
};
pub(crate) use open::{DriverLibrary, LibraryPlace};
