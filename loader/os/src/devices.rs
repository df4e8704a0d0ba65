//! How systems rank physical devices.

#[cfg(not(windows))]
use alloc::vec::Vec;

/// Whether physical devices are sorted by what they tell about themselves, since the system has no order of adapters to ask for
/// (DRV-137).
pub const SORTED_BY_PROPERTIES: bool = cfg!(any(
    target_os = "linux",
    target_os = "freebsd",
    target_os = "openbsd",
    target_os = "netbsd",
    target_os = "dragonfly",
    target_os = "hurd"
));

/// Whether physical devices are sorted by the system's order of adapters (DRV-144).
pub const SORTED_BY_ADAPTERS: bool = cfg!(windows);

/// An adapter, by the number that it has until the machine starts anew: the system's `LUID`, which drivers take as one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdapterId(pub u64);

#[cfg(windows)]
pub use crate::system::{adapters, has_adapter_order};

/// No: this system has no order of adapters.
#[cfg(not(windows))]
#[inline(always)]
pub fn has_adapter_order() -> bool {
    false
}

/// `None`: this system has no order of adapters.
#[cfg(not(windows))]
#[inline(always)]
pub fn adapters() -> Option<Vec<AdapterId>> {
    None
}
