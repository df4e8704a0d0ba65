//! A drop-in `libvulkan.so.1`.
//!
//! `docs/architecture.md` explains how the parts fit together. In short:
//!
//! - [`generated`] follows from the Vulkan registry alone and holds the C entry points.
//! - [`entry`] and [`terminator`] have the handwritten bodies of entry points and terminators.
//! - The crate [`discovery`] decides from files and variables, and records every decision in its [journal](discovery::journal).
//!
//! The crate is built as a shared library for Vulkan programs and as a Rust library for this project's own tests. The Rust items are not a
//! stable interface.

#![cfg_attr(not(any(test, fuzzing)), no_std)]
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

// This crate is renamed, because the module `alloc` is for the memory of Vulkan objects.
extern crate alloc as rust_alloc;
// Provides the panic handler for debug builds and for programs that link this crate with the standard library.
#[cfg(not(any(vkl_shipped, test, fuzzing)))]
extern crate std;

#[cfg(vkl_shipped)]
os::panics_end_the_process!();

mod alloc;
#[cfg(vkl_steps_aside)]
mod aside;
mod debug;
mod device;
mod dispatch_table;
mod driver;
mod driver_interface;
mod entry;
mod ffi;
mod forward;
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
mod frame;
#[cfg(fuzzing)]
#[path = "../../tests/fuzz/loader/fuzzed/mod.rs"]
pub mod fuzzed;
mod gate;
mod generated;
mod guard;
mod handle;
mod instance;
mod late;
mod layer;
mod layout;
mod library;
mod list;
mod lookup;
mod messenger;
mod physical_device;
mod proc_addr;
mod process;
#[cfg(test)]
mod round_trip_tests;
mod slots;
mod stubs;
mod table;
mod target;
mod terminator;
#[cfg(test)]
mod testing;
#[cfg(test)]
#[path = "../os/src/testing/time_limit.rs"]
mod time_limit;
mod translation;
mod unopened;
mod window_system;
mod wsi;
