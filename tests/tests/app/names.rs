//! The commands of the registry, read from the committed metadata and not from the loader.

/// A command of the registry.
#[derive(Default)]
pub(crate) struct Command {
    pub(crate) name: &'static str,
    /// Level of the command: `global`, `instance`, `physical_device` or `device`.
    pub(crate) level: &'static str,
    /// Minor version of Vulkan 1 that introduced the command.
    pub(crate) core: Option<u32>,
    pub(crate) extensions: Vec<&'static str>,
    pub(crate) platform: Option<&'static str>,
    /// Name of the first parameter.
    pub(crate) first: &'static str,
}

/// Returns all commands, sorted by name.
pub(crate) fn all() -> Vec<Command> {
    let mut list: Vec<Command> = Vec::new();
    for line in include_str!("../../../registry/snapshot/commands.txt").lines() {
        let (key, value) = line.trim_start().split_once(' ').unwrap_or((line, ""));
        if !line.starts_with(' ') {
            if key == "command" {
                list.push(Command {
                    name: value,
                    ..Default::default()
                });
            }
            continue;
        }
        let Some(command) = list.last_mut() else { continue };
        match key {
            "level" => command.level = value,
            "core" => command.core = value.strip_prefix("1.").and_then(|minor| minor.parse().ok()),
            "extension" => command.extensions.push(value),
            "platform" => command.platform = Some(value),
            "param" if command.first.is_empty() => command.first = value.rsplit(' ').next().unwrap_or_default(),
            _ => {}
        }
    }
    list
}

/// Commands that need no instance (APP-21).
pub(crate) const GLOBAL: [&str; 4] = [
    "vkCreateInstance",
    "vkEnumerateInstanceExtensionProperties",
    "vkEnumerateInstanceLayerProperties",
    "vkEnumerateInstanceVersion",
];

impl Command {
    /// Returns `true` if the command exists on this system: a command without a platform, a command of a platform of this build, or a
    /// provisional command.
    pub(crate) fn is_here(&self) -> bool {
        let built: &[&str] = if cfg!(windows) {
            &["win32"]
        } else {
            &["xlib", "xcb", "wayland", "xlib_xrandr"]
        };
        self.platform
            .is_none_or(|platform| platform == "provisional" || built.contains(&platform))
    }

    /// Returns the instance extensions of the command (APP-27). At least one of them must be enabled. The list is empty if the command
    /// needs no extension.
    pub(crate) fn gate(&self) -> Vec<&'static str> {
        const SURFACE: [&str; 9] = [
            "vkDestroySurfaceKHR",
            "vkGetPhysicalDeviceSurfaceSupportKHR",
            "vkGetPhysicalDeviceSurfaceCapabilitiesKHR",
            "vkGetPhysicalDeviceSurfaceFormatsKHR",
            "vkGetPhysicalDeviceSurfacePresentModesKHR",
            "vkGetPhysicalDeviceSurfaceCapabilities2KHR",
            "vkGetPhysicalDeviceSurfaceFormats2KHR",
            "vkGetDeviceGroupPresentCapabilitiesKHR",
            "vkGetDeviceGroupSurfacePresentModesKHR",
        ];
        const OWN: [&str; 20] = [
            "VK_EXT_debug_report",
            "VK_EXT_debug_utils",
            "VK_KHR_win32_surface",
            "VK_KHR_xcb_surface",
            "VK_KHR_xlib_surface",
            "VK_KHR_wayland_surface",
            "VK_EXT_headless_surface",
            "VK_KHR_display",
            "VK_KHR_get_display_properties2",
            "VK_KHR_get_physical_device_properties2",
            "VK_KHR_device_group_creation",
            "VK_KHR_external_memory_capabilities",
            "VK_KHR_external_semaphore_capabilities",
            "VK_KHR_external_fence_capabilities",
            "VK_NV_external_memory_capabilities",
            "VK_EXT_direct_mode_display",
            "VK_EXT_acquire_xlib_display",
            "VK_EXT_display_surface_counter",
            "VK_EXT_acquire_drm_display",
            "VK_KHR_surface",
        ];
        if self.core.is_some() {
            return Vec::new();
        }
        if SURFACE.contains(&self.name) || self.name == "vkGetPhysicalDevicePresentRectanglesKHR" {
            return vec!["VK_KHR_surface"];
        }
        self.extensions
            .iter()
            .copied()
            .filter(|extension| OWN.contains(extension))
            .collect()
    }
}
