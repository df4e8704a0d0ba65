//! Versions of Vulkan and of its headers.

use std::fmt;

/// Vulkan version without variant, for example `1.4`, ordered by major and then minor number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// Major number.
    pub major: u32,
    /// Minor number.
    pub minor: u32,
}

impl Version {
    /// Parses a version such as `1.4`.
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

/// Complete version of the header that the registry describes, for example `1.4.366` (GEN-15).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HeaderVersion {
    /// Major and minor number.
    pub version: Version,
    /// Patch number, which is the value of `VK_HEADER_VERSION`.
    pub patch: u32,
}

impl HeaderVersion {
    /// Parses a version such as `1.4.366`.
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
