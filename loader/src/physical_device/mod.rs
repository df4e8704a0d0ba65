//! Physical devices: the objects that stand for them, and everything that enumerates them.

mod object;

pub use object::{AppPhysicalDevice, ChainPhysicalDevice};
