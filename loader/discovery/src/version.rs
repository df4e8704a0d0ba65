//! API versions packed as Vulkan packs them.

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

    /// A version without variant and patch.
    pub const fn new(major: u32, minor: u32) -> Self {
        Self((major << 22) | (minor << 12))
    }

    /// The variant; 0 is Vulkan.
    pub const fn variant(self) -> u32 {
        self.0 >> 29
    }

    /// The major number.
    pub const fn major(self) -> u32 {
        (self.0 >> 22) & 0x7F
    }

    /// The minor number.
    pub const fn minor(self) -> u32 {
        (self.0 >> 12) & 0x3FF
    }

    /// The patch number.
    pub const fn patch(self) -> u32 {
        self.0 & 0xFFF
    }

    /// Major and minor only (APP-62).
    pub const fn without_patch(self) -> Self {
        Self::new(self.major(), self.minor())
    }
}
