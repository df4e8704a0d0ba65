//! What there is to tell while the sources of a list are asked.

use crate::Raw;
use core::fmt;

/// A place in a registry, as messages name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key<'a> {
    /// What holds it: a root of the registry, or a device.
    pub root: &'a [u8],
    /// The path of a key below the root, or the name of a value of the device.
    pub name: &'a str,
}

impl fmt::Display for Key<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}\\{}", Raw(self.root), self.name)
    }
}

/// What a source says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// The root folder of an installed package, to be searched (DRV-36).
    Package(&'a [u8]),
    /// A file or folder that counts.
    Listed(&'a [u8], Key<'a>),
    /// A manifest of a vendor that has no adapter here (DRV-40).
    Unserved(&'a [u8], Key<'a>),
    /// The adapters cannot be told, so what the key lists does not count (DRV-40).
    NoAdapters(Key<'a>),
    /// A key without anything that counts.
    Empty(Key<'a>),
    /// A device without the value (LAY-50).
    NoValue(Key<'a>),
    /// A value of this type, which is not one that lists paths (DRV-38, LAY-50).
    WrongType(Key<'a>, u32),
    /// A device that is not used before the machine starts anew (DRV-38, LAY-50).
    NeedsRestart(&'a [u8]),
    /// A device whose status the system does not report (LAY-50).
    NoStatus(&'a [u8]),
    /// No key and no device lists anything (DRV-41, LAY-52).
    Nothing,
}
