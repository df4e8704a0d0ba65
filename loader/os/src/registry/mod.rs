//! Manifests and settings that a system lists outside folders.
//!
//! [`list`] has the keys and values that contain the lists, `sources` queries all sources of a system in order of precedence, and `values`
//! reads the values of a registry. `sources` accesses the system through a trait, so that tests can check the order on a simulated system.

mod event;
mod list;
#[cfg(any(windows, test))]
pub(crate) mod sources;
#[cfg(any(windows, test))]
pub(crate) mod values;

pub use event::{Event, Key};
pub use list::List;

/// `true` if this system lists manifests and settings in a registry. Folders are then searched only if a variable names them.
pub const EXISTS: bool = cfg!(windows);

/// Passes all events of a query to `take`. Events with entries of the list come in order of precedence.
#[cfg(windows)]
pub fn each_registered(list: List, mut take: impl FnMut(Event<'_>)) {
    sources::each(list, &crate::system::ThisSystem, &mut take);
}

/// Does nothing: this system has no registry.
#[cfg(not(windows))]
#[inline(always)]
pub fn each_registered(_: List, _: impl FnMut(Event<'_>)) {}

/// Passes the paths of settings files to `take`, in order of precedence (APP-242). The first settings file that exists is used.
#[cfg(windows)]
pub fn each_settings_file(mut take: impl FnMut(&[u8])) {
    sources::each_settings_file(&crate::system::ThisSystem, &mut take);
}

/// Does nothing: this system has no registry.
#[cfg(not(windows))]
#[inline(always)]
pub fn each_settings_file(_: impl FnMut(&[u8])) {}
