//! A package: a folder with a driver and its description (LSV-28). The code that reads a package trusts only root (LSV-49, LSV-50).

mod fault;
mod folder;
mod library;
mod text;

pub use elf::Class;
pub use fault::Fault;
pub use folder::{File, Folder, Owner, Stamp};
pub use library::library_header;
pub use text::{Described, InnerPath, Manifest, Metadata, Published, class_of, is_name, package_for};
