//! Discovery: which drivers and layers there are, and which layers are active in an instance.
//!
//! All decisions depend only on variables, files and settings; no driver, layer or program is called. [`search`] turns the environment into
//! folders, and folders into manifest files. [`drivers`] reads and filters driver manifests, [`layers`] reads and filters layer manifests,
//! and [`activation`] decides which layers are active and in which order. The [`journal`] records every decision. A scan uses no earlier
//! results (DRV-7, LAY-24); [`scan_cache`] decides when an API call needs no scan.
//!
//! The crate has no unsafe code: it calls the operating system only through the crate `os`.

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]
#![deny(
    clippy::std_instead_of_core,
    clippy::std_instead_of_alloc,
    clippy::alloc_instead_of_core
)]
#![cfg_attr(
    test,
    allow(
        clippy::disallowed_macros,
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "a test may end for want of memory"
    )
)]

extern crate alloc;

pub mod activation;
pub mod bundle;
pub mod drivers;
pub mod env;
pub mod extension;
mod implicit;
pub mod index;
pub mod journal;
pub mod kept;
pub mod layers;
pub mod log;
pub mod manifest;
pub mod scan_cache;
pub mod search;
pub mod settings;
pub mod text;
pub mod trace;
mod truncated;
pub mod version;

pub use activation::{Activation, ChosenLayer, EnabledBy};
pub use layers::DiscoveredLayers;

#[cfg(all(test, unix))]
mod hostile_tests;
#[cfg(all(test, unix))]
pub mod testing;
#[cfg(test)]
#[path = "../../os/src/testing/time_limit.rs"]
mod time_limit;
