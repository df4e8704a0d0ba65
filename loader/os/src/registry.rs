//! Manifests that a system lists elsewhere than in folders.

/// What is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum List {
    /// Drivers.
    Drivers,
    /// Layers that something must ask for.
    ExplicitLayers,
    /// Layers that are active unless switched off.
    ImplicitLayers,
}

impl List {
    /// The key of the registry that holds the list.
    pub fn key(self) -> &'static str {
        match self {
            Self::Drivers => r"SOFTWARE\Khronos\Vulkan\Drivers",
            Self::ExplicitLayers => r"SOFTWARE\Khronos\Vulkan\ExplicitLayers",
            Self::ImplicitLayers => r"SOFTWARE\Khronos\Vulkan\ImplicitLayers",
        }
    }
}

/// Whether this system lists manifests in a registry, and then nowhere else unless a variable says so.
pub const EXISTS: bool = cfg!(windows);

#[cfg(windows)]
pub use crate::system::each_registered;

/// Nothing: this system has no registry.
#[cfg(not(windows))]
pub fn each_registered(_: List, _: impl FnMut(&str, &[u8])) {}
