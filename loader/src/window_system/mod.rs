//! Differences between window systems, and the object for a surface of any of them.
//!
//! | module | content |
//! |---|---|
//! | [`layout`] | structures that old drivers read |
//! | [`platform`] | one row per platform, from which everything else about it follows |
//! | `surface` | the object for a surface |

pub(crate) mod layout;
pub(crate) mod platform;
mod surface;

#[cfg(test)]
pub(crate) use platform::ALL;
pub(crate) use platform::{Platform, PlatformInfo, makes_surfaces};
pub(crate) use surface::Surface;
