//! Ranking of physical devices by the system.

#[cfg(not(windows))]
use alloc::vec::Vec;

/// `true` if physical devices are sorted by the properties that they report, because the system has no order of adapters (DRV-137).
pub const SORTED_BY_PROPERTIES: bool = cfg!(any(
    target_os = "linux",
    target_os = "freebsd",
    target_os = "openbsd",
    target_os = "netbsd",
    target_os = "dragonfly",
    target_os = "hurd"
));

/// `true` if physical devices are sorted by the system's order of adapters (DRV-144).
pub const SORTED_BY_ADAPTERS: bool = cfg!(windows);

/// Number of an adapter, valid until the next restart: the system's `LUID`, which drivers store as one 64-bit number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdapterId(pub u64);

#[cfg(windows)]
pub use crate::system::{adapters, has_adapter_order};

/// Returns `false`: this system has no order of adapters.
#[cfg(not(windows))]
#[inline(always)]
pub fn has_adapter_order() -> bool {
    false
}

/// Returns `None`: this system has no order of adapters.
#[cfg(not(windows))]
#[inline(always)]
pub fn adapters() -> Option<Vec<AdapterId>> {
    None
}
