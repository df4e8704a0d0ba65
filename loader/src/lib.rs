//! A drop-in `libvulkan.so.1`.
//!
//! `docs/architecture.md` explains how the pieces fit. In short: [`generated`] follows from the Vulkan registry alone and
//! holds the C entry points; [`entry`] and [`terminator`] are the hand-written bodies it calls; the crate
//! [`discovery`] decides from files and variables, and records every decision in its [journal](discovery::journal).
//!
//! The crate is built as a shared library for Vulkan programs and as a Rust library for this project's own tests. The
//! Rust items are no stable interface.

#![cfg_attr(not(test), no_std)]
#![deny(
    clippy::std_instead_of_core,
    clippy::std_instead_of_alloc,
    clippy::alloc_instead_of_core
)]
#![cfg_attr(
    test,
    allow(
        clippy::disallowed_macros,
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "a test may end for want of memory"
    )
)]
#![allow(
    non_snake_case,
    reason = "structures of the C interface keep the member names of its headers"
)]

// Under a name of its own: `alloc` is the module for memory that belongs to Vulkan objects.
extern crate alloc as rust_alloc;
// Its panic handler serves builds for debugging, and programs that link this with the standard library.
#[cfg(not(any(vkl_shipped, test)))]
extern crate std;

#[cfg(vkl_shipped)]
os::panics_end_the_process!();

pub mod alloc;
#[cfg_attr(not(all(feature = "catalogue", target_os = "linux")), path = "no_catalogue.rs")]
pub mod catalogue;
pub mod debug;
pub mod device;
pub mod dispatch_table;
pub mod driver;
pub mod entry;
pub mod ffi;
mod forward;
pub mod gate;
pub mod generated;
mod guard;
pub mod handle;
pub mod instance;
pub mod layer;
mod layout;
pub mod library;
pub mod list;
pub mod lookup;
pub mod messenger;
pub mod physical_device;
pub mod proc_addr;
mod process;
#[cfg(test)]
mod round_trip_tests;
#[cfg_attr(not(all(feature = "service", target_os = "linux")), path = "no_service.rs")]
pub mod service;
pub mod slots;
pub mod stubs;
pub mod table;
pub mod target;
pub mod terminator;
#[cfg(test)]
mod testing;
#[cfg(test)]
#[path = "../os/src/testing/time_limit.rs"]
mod time_limit;
pub mod translation;
pub mod window_system;
pub mod wsi;
