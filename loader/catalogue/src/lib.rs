//! The driver catalogue: a file with the answers of installed drivers, so that a program opens only the drivers that it needs.
//!
//! `vkloader catalogue update` opens each installed driver in a separate process, without layers, and writes the driver's answer or its
//! crash to one file, which is read in place ([`Packed`]). The system's file is in [`SYSTEM_FOLDER`], and the user's file is in the folder
//! for caches. `vkloader` replaces the file as a whole. The library reads the file once in a process, and only if it is a regular file of
//! root or of the user that nobody else may write to.
//!
//! The answers come from drivers and from the kernel's lists of devices. [`hardware`] lists the drivers whose missing hardware is visible
//! in these lists. [`variables`] lists the variables that affect answers. Sizes are limited: [`MOST_BYTES`] of text, [`MOST_ENTRIES`]
//! drivers, [`MOST_EXTENSIONS`] and [`MOST_DEVICES`] of each driver, and [`MOST_FILES`].
//!
//! An entry is valid under these conditions; otherwise the driver is opened as if there were no catalogue:
//!
//! - All files of the driver are unchanged ([`Identity`], and [`BuildId`] if times do not show changes).
//! - The dynamic linker would load these files in this process ([`closure`]).
//! - The loader has the recorded version.
//! - Every variable that affects answers ([`variables`]) has the recorded value.
//! - An entry without devices also needs the recorded devices and kernel ([`Fingerprint`]).
//!
//! The answer of an opened driver takes precedence over its entry.
//!
//! The library's part of this crate makes no system calls and allocates no memory. The users of this part supply the values ([`Json`]) and
//! the view of the machine ([`Look`]), so the library and `vkloader` share these decisions. The crate never panics, whatever a file
//! contains.
#![cfg_attr(not(any(test, feature = "write")), no_std)]
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

mod build_id;
pub mod closure;
mod decide;
mod entry;
pub mod hardware;
mod identity;
mod json;
mod machine;
mod opening;
#[cfg(any(test, feature = "write"))]
#[allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a program uses it, which may end when memory runs out"
)]
mod pack;
mod packed;
mod search;
pub mod variables;
mod whole;
mod written;

pub use build_id::{BuildId, HEAD_BYTES};
pub use decide::{Doubt, Usability};
pub use entry::{Device, Entry, Extension, Hardware, Outcome};
pub use identity::{Identity, OfImage};
pub use json::Json;
pub use machine::{Fingerprint, Look, MOST_OF_TEXT, MachineState, boot_text};
pub use opening::Opening;
#[cfg(any(test, feature = "write"))]
pub use pack::{pack, unpack};
pub use packed::Packed;
pub use whole::{Catalogue, LinkerCacheSum, Problem, Reader, SEARCHED, WITH_LIST, WITH_ORIGIN};

use core::ffi::CStr;

pub use promises::CATALOGUE_MARK as USER_MARK;
use promises::limits::CATALOGUE_SEARCH_PATH as LONGEST_PATH;
pub use promises::limits::{
    CATALOGUE_BYTES as MOST_BYTES, CATALOGUE_CARDS as MOST_CARDS, CATALOGUE_DEVICES as MOST_DEVICES,
    CATALOGUE_ENTRIES as MOST_ENTRIES, CATALOGUE_EXTENSIONS as MOST_EXTENSIONS, CATALOGUE_FILES as MOST_FILES,
    CATALOGUE_LINKER_CACHE as MOST_LINKER_CACHE, CATALOGUE_VARIABLES as MOST_VARIABLES,
};

#[cfg(test)]
mod closure_tests;
#[cfg(test)]
mod link_tests;
#[cfg(test)]
mod tests;

/// Version of the file format that this crate reads and `vkloader` writes. The version increases with each change that an older reader
/// would misunderstand, and with each kind of file that an older update did not record.
pub const SCHEMA: u64 = 6;
/// Folder of the system's catalogue.
pub const SYSTEM_FOLDER: &str = "/var/cache/vulkan-loader";
/// Folder of the user's catalogue, in the user's folder for caches.
pub const USER_FOLDER: &str = "vulkan-loader";
/// File in which the dynamic linker looks up names of libraries.
pub const LINKER_CACHE: &[u8] = b"/etc/ld.so.cache";
/// Upper bound on the length of an extension's name in bytes: `VK_MAX_EXTENSION_NAME_SIZE` without the null byte.
pub const LONGEST_NAME: usize = 255;

/// Returns the words of a text that are separated by blanks.
fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|&byte| byte == b' ').filter(|word| !word.is_empty())
}

macro_rules! architectures {
    ($($condition:meta => $name:literal;)+) => {
        /// Architecture of this build. Drivers of another architecture have a separate catalogue.
        pub const ARCHITECTURE: &str = match () {
            $(() if cfg!($condition) => $name,)+
            () => "other",
        };

        /// Path of the system's catalogue.
        pub const SYSTEM_FILE: &CStr = match () {
            $(() if cfg!($condition) => terminated(concat!("/var/cache/vulkan-loader/catalogue-", $name, ".bin\0")),)+
            () => c"/var/cache/vulkan-loader/catalogue-other.bin",
        };
    };
}

const fn terminated(text: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(text) => text,
        Err(_) => panic!("the path has no terminator at its end, or a NUL before it"),
    }
}

architectures! {
    all(target_arch = "x86_64", target_pointer_width = "32") => "x32";
    target_arch = "x86_64" => "x86_64";
    target_arch = "x86" => "x86";
    target_arch = "aarch64" => "aarch64";
    target_arch = "arm" => "arm";
    target_arch = "riscv64" => "riscv64";
    target_arch = "loongarch64" => "loongarch64";
    all(target_arch = "powerpc64", target_endian = "little") => "powerpc64le";
    target_arch = "s390x" => "s390x";
}
