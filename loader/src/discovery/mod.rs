//! Discovery: which drivers and layers there are, and which layers an instance gets.
//!
//! [`search`](crate::search) turns the environment into places and places into manifest files. [`drivers`] reads and filters the
//! drivers among them, [`layers`] the layers, and [`activation`] decides which layers are active and in which order.
//! Every scan here is fresh (DRV-7, LAY-24); [`crate::scan_cache`] says when an API call can do without one.

#![forbid(unsafe_code)]

pub mod activation;
pub mod drivers;
mod implicit;
pub mod kept;
pub mod layers;
mod truncated;

pub use activation::{Activation, ChosenLayer, EnabledBy};
pub use layers::DiscoveredLayers;

#[cfg(all(test, unix))]
pub mod testing;

#[cfg(all(test, unix))]
mod hostile_tests;
