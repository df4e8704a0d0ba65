//! What window systems differ in, and the object behind a surface of any of them.
//!
//! | module | holds |
//! |---|---|
//! | [`layout`] | what old drivers read |
//! | [`platform`] | one row a platform: everything else about it follows |
//! | `surface` | the object |

pub(crate) mod layout;
pub(crate) mod platform;
mod surface;

#[cfg(test)]
pub(crate) use platform::ALL;
pub(crate) use platform::{Platform, PlatformInfo, makes_surfaces};
pub(crate) use surface::Surface;
