//! Versions of Vulkan and of its headers.

use std::fmt;

/// A Vulkan version without variant: `1.4`, ordered by major, then minor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// Major number.
    pub major: u32,
    /// Minor number.
    pub minor: u32,
}

impl Version {
    /// Reads `1.4`.
    pub fn parse(text: &str) -> Option<Self> {
        let (major, minor) = text.split_once('.')?;
        Some(Self {
            major: major.parse().ok()?,
            minor: minor.parse().ok()?,
        })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// The complete header version the registry describes, such as `1.4.366` (GEN-15).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HeaderVersion {
    /// Major and minor number.
    pub version: Version,
    /// The patch number, `VK_HEADER_VERSION`.
    pub patch: u32,
}

impl HeaderVersion {
    /// Reads `1.4.366`.
    pub fn parse(text: &str) -> Option<Self> {
        let (version, patch) = text.rsplit_once('.')?;
        Some(Self {
            version: Version::parse(version)?,
            patch: patch.parse().ok()?,
        })
    }
}

impl fmt::Display for HeaderVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.version, self.patch)
    }
}
