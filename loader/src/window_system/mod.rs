//! What window systems differ in, and the object behind a surface of any of them.
//!
//! | module | holds |
//! |---|---|
//! | [`layout`] | what old drivers read |
//! | [`platform`] | one row a platform: everything else about it follows |
//! | `surface` | the object |

pub mod layout;
pub mod platform;
mod surface;

#[cfg(test)]
pub use platform::ALL;
pub use platform::{Platform, PlatformInfo, makes_surfaces};
pub use surface::Surface;
