//! Files installed with this program for machines where programs get another loader, or none: the library, and a program of 32 bits.

use std::path::PathBuf;

/// The folder of both, below the one that this program is installed in.
const FOLDER: &str = "libexec/vulkan-loader-rs";

/// Returns the library that this program carries, where it is installed.
pub(crate) fn library() -> Option<PathBuf> {
    file("libvulkan.so.1")
}

/// Returns this program for 32 bits, which carries a library of its own, where it is installed.
pub(crate) fn program_of_32_bits() -> Option<PathBuf> {
    file("32/bin/vkloader")
}

fn file(name: &str) -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    let path = program.parent()?.parent()?.join(FOLDER).join(name);
    path.is_file().then_some(path)
}
