//! Variables, limits and interface versions of the loader, with the sentences that documents say of them.
//!
//! The library reads the values here, and `make documents` writes the tables of `docs/` from the same rows.

#![no_std]
#![forbid(unsafe_code)]

pub mod layer_order;
pub mod limits;
pub mod variable;

/// The file in a folder of driver manifests that says that the user has a driver catalogue (DRV-274). Scans read the folder's names anyway.
pub const CATALOGUE_MARK: &str = "vulkan-loader.catalogue";

/// The newest driver interface that the loader speaks (DRV-62).
pub const DRIVER_INTERFACE: u32 = 7;

/// The newest layer interface that the loader speaks.
pub const LAYER_INTERFACE: u32 = 2;
