//! An entry of the list: a file or folder that a sandbox must contain.

use serde::Serialize;
use std::path::PathBuf;

/// Kind of an entry in the list of files that a sandbox must contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Kind {
    /// The entry is the manifest of a driver or layer.
    Manifest,
    /// The entry is a library.
    Library,
    Linker,
    /// The entry is the cache of the dynamic linker.
    LinkerCache,
    Node,
    /// The entry is a part of `/sys`.
    System,
    /// The entry is a file of any other kind.
    Data,
}

/// Reason why an entry is in the list, from the strongest reason to the weakest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Because {
    /// The entry is the driver, its manifest, or a layer, so the driver does not work without the entry.
    Chosen,
    /// Another entry is linked against this entry, so the driver does not work without this entry.
    Needed,
    /// The driver's process opened the entry. The driver may work without the entry.
    Opened,
    /// The driver's process queried the entry's attributes. The driver may work without the entry.
    Asked,
    /// Similar drivers open the entry, but this driver's process did not. The driver may need the entry in other cases.
    Known,
}

/// An entry in the list of files that a sandbox must contain. Its path is the one that programs use to open the file or folder.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) path: PathBuf,
    pub(super) kind: Kind,
    pub(super) because: Because,
}
