//! Events that occur while the loader reads a list of drivers or layers from its sources: registry keys, devices and packages.

use crate::Raw;
use core::fmt;

/// A key of a registry or a value of a device, as messages show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key<'a> {
    /// Name of the registry root that contains the key, or of the device that has the value.
    pub root: &'a [u8],
    /// The path of a key below the root, or the name of a value of the device.
    pub name: &'a str,
}

impl fmt::Display for Key<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}\\{}", Raw(self.root), self.name)
    }
}

/// An event while a source of a list is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// The root folder of an installed package, to be searched (DRV-36).
    Package(&'a [u8]),
    /// A file or folder that the key or value lists.
    Listed(&'a [u8], Key<'a>),
    /// A manifest of a vendor that has no adapter in this machine (DRV-40).
    Unserved(&'a [u8], Key<'a>),
    /// The adapters cannot be determined, so the key's entries are ignored (DRV-40).
    NoAdapters(Key<'a>),
    /// A key without usable entries.
    Empty(Key<'a>),
    /// A device without the value (LAY-50).
    NoValue(Key<'a>),
    /// A value of a type that cannot list paths (DRV-38, LAY-50). Contains the number of the type.
    WrongType(Key<'a>, u32),
    /// A device that is unusable until the next restart (DRV-38, LAY-50).
    NeedsRestart(&'a [u8]),
    /// A device whose status the system does not report (LAY-50).
    NoStatus(&'a [u8]),
    /// No key and no device lists anything (DRV-41, LAY-52).
    Nothing,
}
