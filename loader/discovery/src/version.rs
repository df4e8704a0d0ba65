//! API versions, packed into one number like in Vulkan.

/// A packed version: variant (3 bits), major (7), minor (10), patch (12).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ApiVersion(pub u32);

impl ApiVersion {
    /// Vulkan 1.0.
    pub const V1_0: Self = Self::new(1, 0);
    /// Vulkan 1.1.
    pub const V1_1: Self = Self::new(1, 1);
    /// Vulkan 1.3.
    pub const V1_3: Self = Self::new(1, 3);

    /// Returns a version whose variant and patch are 0.
    pub const fn new(major: u32, minor: u32) -> Self {
        Self((major << 22) | (minor << 12))
    }

    /// Returns the variant, which is 0 for Vulkan.
    pub const fn variant(self) -> u32 {
        self.0 >> 29
    }

    /// Returns the major number.
    pub const fn major(self) -> u32 {
        (self.0 >> 22) & 0x7F
    }

    /// Returns the minor number.
    pub const fn minor(self) -> u32 {
        (self.0 >> 12) & 0x3FF
    }

    /// Returns the patch number.
    pub const fn patch(self) -> u32 {
        self.0 & 0xFFF
    }

    /// Returns the version with variant 0 and patch 0 (APP-62).
    pub const fn without_patch(self) -> Self {
        Self::new(self.major(), self.minor())
    }
}
