//! One thing that a sandbox must see.

use serde::Serialize;
use std::path::PathBuf;

/// What something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Kind {
    /// The manifest of a driver or layer.
    Manifest,
    /// A library.
    Library,
    /// The dynamic linker.
    Linker,
    /// What the dynamic linker knows of installed libraries.
    LinkerCache,
    /// A device node.
    Node,
    /// A part of `/sys`.
    System,
    /// Any other file.
    Data,
}

/// Why something is in the list, the strongest reason first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Because {
    /// It is what was chosen: the driver, its manifest, a layer. Nothing works without it.
    Chosen,
    /// Something else in the list is linked with it. Nothing works without it.
    Needed,
    /// It was opened while the driver worked. Whether that works without it is not known.
    Opened,
    /// It was asked for while the driver worked, as above.
    Asked,
    /// Drivers like this one are known to open it, and this one did not, or was not seen to. It may be missing.
    Known,
}

/// One thing, under the path by which it is opened.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) path: PathBuf,
    pub(super) kind: Kind,
    pub(super) because: Because,
}
