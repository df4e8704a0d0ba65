//! The driver catalogue: what installed drivers answered when they were asked once, so that programs need not open them all to learn
//! names that never change.
//!
//! **Design.** `vkloader catalogue update` opens each installed driver in a process of its own, by the library's own negotiation and
//! without layers, and writes what it said, or how it ended, to one JSON file: the system's in [`SYSTEM_FOLDER`], or the user's in the
//! folder for caches. Only that program writes, and it replaces the file whole; the library only reads, once in a process, and only a
//! regular file that belongs to root, or to the user, that nobody else may write, and that keeps the limits below. The data comes from
//! drivers and from the kernel's lists of devices; a table here ([`hardware`]) says for which drivers an absent device can be told from
//! these lists, and another ([`variables`]) which variables make drivers answer otherwise. The room is bounded: [`MOST_BYTES`] of text,
//! [`MOST_ENTRIES`] drivers, [`MOST_EXTENSIONS`] and [`MOST_DEVICES`] of each, and [`MOST_FILES`]. An entry counts while all files that the
//! driver consists of are the very ones that were asked ([`Identity`], and the [`BuildId`] where times prove nothing), the dynamic linker
//! would take them in this process ([`closure`]), the loader is of the same version, and no variable of that table has another value;
//! that a driver has no device counts only on the same devices under the same kernel as well ([`Fingerprint`]). In all other cases the
//! driver is opened as if there were no catalogue, and what an opened driver says wins.
//!
//! Nothing here asks the system for anything or takes memory: who reads a catalogue brings the JSON ([`Json`]) and the view of the
//! machine ([`Look`]), so the library and the program share these decisions, and no input makes them panic.
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

mod build_id;
pub mod closure;
mod decide;
mod entry;
pub mod hardware;
mod identity;
mod json;
mod machine;
pub mod variables;
mod written;

pub use build_id::{BuildId, HEAD_BYTES};
pub use decide::{Decision, Doubt};
pub use entry::{Catalogue, Device, Entry, Extension, Hardware, LinkerCacheSum, Outcome, Problem, Reader};
pub use identity::Identity;
pub use json::Json;
pub use machine::{Fingerprint, Look};

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
mod tests;

/// The number of the form that this crate reads and `vkloader` writes. It grows when a reader of the older one would misunderstand it.
pub const SCHEMA: u64 = 3;
/// Where the catalogue of the system lies.
pub const SYSTEM_FOLDER: &str = "/var/cache/vulkan-loader";
/// The same below the user's folder for caches.
pub const USER_FOLDER: &str = "vulkan-loader";
/// The file in which the dynamic linker looks up bare names.
pub const LINKER_CACHE: &[u8] = b"/etc/ld.so.cache";
/// Bytes of the longest name of an extension, as `VK_MAX_EXTENSION_NAME_SIZE` leaves them.
pub const LONGEST_NAME: usize = 255;

/// The words of a text with blanks between them.
fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|&byte| byte == b' ').filter(|word| !word.is_empty())
}

macro_rules! architectures {
    ($($condition:meta => $name:literal;)+) => {
        /// What this was compiled for: drivers of another architecture are other files.
        pub const ARCHITECTURE: &str = match () {
            $(() if cfg!($condition) => $name,)+
            () => "other",
        };

        /// The catalogue of the system.
        pub const SYSTEM_FILE: &CStr = match () {
            $(() if cfg!($condition) => terminated(concat!("/var/cache/vulkan-loader/catalogue-", $name, ".json\0")),)+
            () => c"/var/cache/vulkan-loader/catalogue-other.json",
        };
    };
}

const fn terminated(text: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(text) => text,
        Err(_) => panic!("a path with a NUL in it"),
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
