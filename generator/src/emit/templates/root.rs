//! What follows from the Vulkan registry and the policy alone.
//!
//! Names keep the spelling of the C headers.

pub mod dispatch;
pub mod extensions;
pub mod lookup;
pub mod object_types;
pub mod pfn;
pub mod slots;
pub mod terminator;
pub mod trampoline;
pub mod types;
