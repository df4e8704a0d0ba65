//! A package: a folder with a driver and its description (LSV-28). The code that reads a package trusts only root (LSV-49, LSV-50).

mod elf;
mod fault;
mod folder;
mod text;

pub use elf::{Class, Elf, HEADER_BYTES};
pub use fault::{Fault, PathRule};
pub use folder::{File, Folder, Owner, Stamp};
pub use text::{Described, InnerPath, Manifest, Metadata, Need, Published, is_name};
