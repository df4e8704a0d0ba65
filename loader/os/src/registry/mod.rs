//! Manifests and settings that a system lists elsewhere than in folders.
//!
//! [`list`] says what is listed where, `sources` asks everything that a system knows in the order that counts, and `values` reads
//! what a registry holds. The system itself is behind a trait, so that the order is the same whoever answers.

mod event;
mod list;
#[cfg(any(windows, test))]
pub(crate) mod sources;
#[cfg(any(windows, test))]
pub(crate) mod values;

pub use event::{Event, Key};
pub use list::List;

/// Whether this system lists manifests and settings in a registry, and then nowhere else unless a variable says so.
pub const EXISTS: bool = cfg!(windows);

/// Shows `take` what a list holds, in the order that counts, and what there is to tell about it.
#[cfg(windows)]
pub fn each_registered(list: List, mut take: impl FnMut(Event<'_>)) {
    sources::each(list, &crate::system::ThisSystem, &mut take);
}

/// Nothing: this system has no registry.
#[cfg(not(windows))]
#[inline(always)]
pub fn each_registered(_: List, _: impl FnMut(Event<'_>)) {}

/// Shows `take` the paths of settings files, those that count first (APP-242). The first one that exists decides.
#[cfg(windows)]
pub fn each_settings_file(mut take: impl FnMut(&[u8])) {
    sources::each_settings_file(&crate::system::ThisSystem, &mut take);
}

/// Nothing: this system has no registry.
#[cfg(not(windows))]
#[inline(always)]
pub fn each_settings_file(_: impl FnMut(&[u8])) {}
