//! A driver as a folder (LSV-28): what describes it, and how it is read without trusting anybody but root (LSV-49, LSV-50).

mod elf;
mod fault;
mod folder;
mod text;

pub use elf::{Class, Elf, HEADER_BYTES, is_cut_off};
pub use fault::{Fault, PathRule};
pub use folder::{File, Folder, Owner, Stamp};
pub use text::{InnerPath, Manifest, Metadata, Published, is_name};
