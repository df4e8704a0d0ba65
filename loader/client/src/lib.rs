//! Drivers from a driver service (LSV-37 to LSV-48): the client's side of the protocol in the crate `wire`.
//!
//! A scan connects after it has searched all folders. The scan asks for the manifests and for the libraries that it needs, and ends the
//! connection before any driver runs.
//!
//! | module | task |
//! |---|---|
//! | [`mod@address`] | finds the service |
//! | [`mod@session`] | makes the connection and the requests |
//! | [`mod@list`] | checks the list of drivers |
//! | [`mod@library`] | decides which libraries a driver needs, and keeps libraries open |
//! | [`mod@publication`] | begins a session for a scan, and fetches libraries |
//!
//! The loader executes the service's code, but the service may be faulty. A fault causes at most the loss of the service's drivers, and
//! delays a scan by the time limit for answers. Between scans, the loader has no open descriptor, so a program may close or reuse
//! descriptors. The crate starts no thread, and holds no lock while code outside of the loader runs.

#![cfg(target_os = "linux")]
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]
#![cfg_attr(
    test,
    allow(
        clippy::disallowed_macros,
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "a test may end for want of memory"
    )
)]

extern crate alloc;

mod address;
mod library;
mod list;
mod publication;
mod session;

use alloc::vec::Vec;
pub use library::forget;
pub use list::{Libraries, List};
pub use publication::{Choose, PREFIX, Sent, deliver, is_off};

/// Copies bytes. If memory runs out, the copy is empty, and the Vulkan call returns `VK_ERROR_OUT_OF_HOST_MEMORY`.
// Inlined into its callers, this would be in the library several times.
#[inline(never)]
fn copied(bytes: &[u8]) -> Vec<u8> {
    os::memory::copy_or_note(bytes)
}
