//! Variables, limits, interface versions and patterns of the loader, with the sentences that the documentation prints about each.
//!
//! The library uses these values, and `make documents` writes the tables of `docs/` from the same rows.

#![no_std]
#![forbid(unsafe_code)]

pub mod layer_order;
pub mod limits;
pub mod pattern;
pub mod variable;

/// Name of a marker file in a folder of driver manifests. The file means that the user has a driver catalogue (DRV-274). Finding the file
/// needs no further system call, because a scan for drivers lists the folder anyway.
pub const CATALOGUE_MARK: &str = "vulkan-loader.catalogue";

/// Newest version of the driver interface that the loader supports (DRV-62).
pub const DRIVER_INTERFACE: u32 = 7;

/// Newest version of the layer interface that the loader supports.
pub const LAYER_INTERFACE: u32 = 2;
