/// Packs a version.
pub const fn VK_MAKE_API_VERSION(variant: u32, major: u32, minor: u32, patch: u32) -> u32 {
    variant << 29 | major << 22 | minor << 12 | patch
}

/// The variant of a packed version; 0 for Vulkan.
pub const fn VK_API_VERSION_VARIANT(version: u32) -> u32 {
    version >> 29
}

/// The major number of a packed version.
pub const fn VK_API_VERSION_MAJOR(version: u32) -> u32 {
    version >> 22 & 0x7F
}

/// The minor number of a packed version.
pub const fn VK_API_VERSION_MINOR(version: u32) -> u32 {
    version >> 12 & 0x3FF
}

/// The patch number of a packed version.
pub const fn VK_API_VERSION_PATCH(version: u32) -> u32 {
    version & 0xFFF
}
