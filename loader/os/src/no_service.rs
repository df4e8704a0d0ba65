//! Replacement for the client of a driver service, in builds without that client.

use core::ffi::CStr;

/// A library that was opened from a file; cannot exist in a build without the service.
#[derive(Clone, Copy)]
pub struct SharedLibrary(Never);

/// A value that never exists.
#[derive(Clone, Copy)]
enum Never {}

impl SharedLibrary {
    /// Returns the address of an exported symbol. Never called, because a build without the driver service has no such library.
    pub fn symbol(&self, _: &CStr) -> *mut () {
        match self.0 {}
    }
}
