//! What a registry lists, and under which names.

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

    /// The value of a display adapter that lists the same (DRV-37, LAY-49). 32-bit processes on a 64-bit system have their own.
    pub fn value(self, is_wow64: bool) -> &'static str {
        match (self, is_wow64) {
            (Self::Drivers, false) => "VulkanDriverName",
            (Self::Drivers, true) => "VulkanDriverNameWow",
            (Self::ExplicitLayers, false) => "VulkanExplicitLayers",
            (Self::ExplicitLayers, true) => "VulkanExplicitLayersWow",
            (Self::ImplicitLayers, false) => "VulkanImplicitLayers",
            (Self::ImplicitLayers, true) => "VulkanImplicitLayersWow",
        }
    }
}
