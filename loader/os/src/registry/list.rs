//! Lists in a registry, and their names.

/// A list, named after the kind of its entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum List {
    /// List of the installed drivers.
    Drivers,
    /// List of the layers that must be requested.
    ExplicitLayers,
    /// List of the layers that are active unless they are disabled.
    ImplicitLayers,
}

impl List {
    /// Returns the registry key that holds the list.
    pub fn key(self) -> &'static str {
        match self {
            Self::Drivers => r"SOFTWARE\Khronos\Vulkan\Drivers",
            Self::ExplicitLayers => r"SOFTWARE\Khronos\Vulkan\ExplicitLayers",
            Self::ImplicitLayers => r"SOFTWARE\Khronos\Vulkan\ImplicitLayers",
        }
    }

    /// Returns the name of the value in which a display adapter stores this list (DRV-37, LAY-49). 32-bit processes on a 64-bit system
    /// read a value of their own.
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
