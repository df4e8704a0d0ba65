//! A file or folder that a sandbox must contain.

use serde::Serialize;
use std::path::PathBuf;

/// Kind of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Kind {
    /// Manifest of a driver or layer.
    Manifest,
    /// A library.
    Library,
    Linker,
    /// Cache of the dynamic linker.
    LinkerCache,
    Node,
    /// Part of `/sys`.
    System,
    /// Any other file.
    Data,
}

/// Reason for an entry, the strongest reason first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Because {
    /// The driver, its manifest, or a layer. The driver does not work without it.
    Chosen,
    /// Another entry is linked with it. The driver does not work without it.
    Needed,
    /// The driver's process opened it. The driver may work without it.
    Opened,
    /// The driver's process queried its attributes. The driver may work without it.
    Asked,
    /// Similar drivers open it, but this driver's process was not seen to open it. The driver may need it in other cases.
    Known,
}

/// An entry, under the path by which programs open it.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) path: PathBuf,
    pub(super) kind: Kind,
    pub(super) because: Because,
}
