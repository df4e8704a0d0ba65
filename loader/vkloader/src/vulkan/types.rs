//! C structures that the probe passes and receives. The names are those of the registry without `Vk`. Fields that the probe uses have names
//! in Rust style. There are few structures, and they never change, so the program needs no bindings for all of Vulkan.

use std::ffi::{c_char, c_void};

/// A dispatchable handle.
pub(crate) type Handle = *mut c_void;
/// A non-dispatchable handle.
pub(crate) type Object = u64;
/// A value of `VkResult`.
pub(crate) type Code = i32;

/// Version 1.0, which the loader assumes for a program that requests no version.
pub(crate) const VERSION_1_0: u32 = 1 << 22;
/// The first version with `vkGetPhysicalDeviceProperties2`.
pub(crate) const VERSION_1_1: u32 = VERSION_1_0 | 1 << 12;
/// The first version with `VkPhysicalDeviceDriverProperties`.
pub(crate) const VERSION_1_2: u32 = VERSION_1_0 | 2 << 12;
/// The first versions with `VkPhysicalDeviceVulkan13Features` and `VkPhysicalDeviceVulkan14Features`.
pub(crate) const VERSION_1_3: u32 = VERSION_1_0 | 3 << 12;
pub(crate) const VERSION_1_4: u32 = VERSION_1_0 | 4 << 12;

pub(crate) const SUCCESS: Code = 0;
pub(crate) const INCOMPLETE: Code = 5;
pub(crate) const INITIALIZATION_FAILED: Code = -3;

/// Value of `VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR`.
pub(crate) const ENUMERATE_PORTABILITY: u32 = 1;
/// Value of `VK_QUEUE_COMPUTE_BIT`.
pub(crate) const QUEUE_COMPUTE: u32 = 2;
/// Value of `VK_SHADER_STAGE_COMPUTE_BIT`.
pub(crate) const STAGE_COMPUTE: u32 = 0x20;

/// Values of `VkStructureType`.
macro_rules! structure_types {
    ($($name:ident = $value:literal,)*) => {
        $(pub(crate) const $name: i32 = $value;)*
        #[cfg(test)]
        const STRUCTURE_TYPES: &[(&str, i32)] = &[$((stringify!($name), $name)),*];
    };
}

structure_types! {
    APPLICATION_INFO = 0,
    INSTANCE_CREATE_INFO = 1,
    DEVICE_QUEUE_CREATE_INFO = 2,
    DEVICE_CREATE_INFO = 3,
    SUBMIT_INFO = 4,
    SHADER_MODULE_CREATE_INFO = 16,
    PIPELINE_SHADER_STAGE_CREATE_INFO = 18,
    COMPUTE_PIPELINE_CREATE_INFO = 29,
    PIPELINE_LAYOUT_CREATE_INFO = 30,
    COMMAND_POOL_CREATE_INFO = 39,
    COMMAND_BUFFER_ALLOCATE_INFO = 40,
    COMMAND_BUFFER_BEGIN_INFO = 42,
    PHYSICAL_DEVICE_PROPERTIES_2 = 1_000_059_001,
    PHYSICAL_DEVICE_ID_PROPERTIES = 1_000_071_004,
    PHYSICAL_DEVICE_DRIVER_PROPERTIES = 1_000_196_000,
    PHYSICAL_DEVICE_PCI_BUS_INFO_PROPERTIES_EXT = 1_000_212_000,
}

/// The first members of most structures: `sType` and `pNext`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Head {
    pub(crate) structure_type: i32,
    pub(crate) next: *const c_void,
}

impl Head {
    /// Returns the head of a structure that is the last one in its chain.
    pub(crate) const fn of(structure_type: i32) -> Self {
        Self {
            structure_type,
            next: std::ptr::null(),
        }
    }
}

/// A structure of features, with room for the largest one.
#[repr(C)]
pub(crate) struct Features {
    pub(crate) head: Head,
    pub(crate) words: [u32; 64],
}

impl Features {
    /// Returns the structure of a type without features.
    pub(crate) const fn of(structure_type: i32) -> Self {
        Self {
            head: Head::of(structure_type),
            words: [0; 64],
        }
    }
}

#[repr(C)]
pub(crate) struct ApplicationInfo {
    pub(crate) head: Head,
    pub(crate) name: *const c_char,
    pub(crate) version: u32,
    pub(crate) engine: *const c_char,
    pub(crate) engine_version: u32,
    pub(crate) api_version: u32,
}

#[repr(C)]
pub(crate) struct InstanceCreateInfo {
    pub(crate) head: Head,
    pub(crate) flags: u32,
    pub(crate) application: *const ApplicationInfo,
    pub(crate) layer_count: u32,
    pub(crate) layers: *const *const c_char,
    pub(crate) extension_count: u32,
    pub(crate) extensions: *const *const c_char,
}

#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct ExtensionProperties {
    pub(crate) name: [u8; 256],
    pub(crate) version: u32,
}

#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct LayerProperties {
    pub(crate) name: [u8; 256],
    pub(crate) versions: [u32; 2],
    pub(crate) description: [u8; 256],
}

#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct PhysicalDeviceProperties {
    pub(crate) api_version: u32,
    pub(crate) driver_version: u32,
    pub(crate) vendor: u32,
    pub(crate) device: u32,
    pub(crate) kind: i32,
    pub(crate) name: [u8; 256],
    pub(crate) cache_uuid: [u8; 16],
    /// Space for the limits and sparse properties, which the probe does not read. Their size differs between targets, but never exceeds
    /// this space.
    rest: [u64; 96],
}

impl Default for PhysicalDeviceProperties {
    /// Returns a structure of zeros; the command overwrites all members.
    fn default() -> Self {
        Self {
            api_version: 0,
            driver_version: 0,
            vendor: 0,
            device: 0,
            kind: 0,
            name: [0; 256],
            cache_uuid: [0; 16],
            rest: [0; 96],
        }
    }
}

#[repr(C)]
pub(crate) struct PhysicalDeviceProperties2 {
    pub(crate) head: Head,
    pub(crate) properties: PhysicalDeviceProperties,
}

#[repr(C)]
pub(crate) struct PhysicalDeviceIdProperties {
    pub(crate) head: Head,
    pub(crate) device_uuid: [u8; 16],
    pub(crate) driver_uuid: [u8; 16],
    pub(crate) device_luid: [u8; 8],
    pub(crate) node_mask: u32,
    pub(crate) is_luid_valid: u32,
}

#[repr(C)]
pub(crate) struct PhysicalDevicePciBusInfoProperties {
    pub(crate) head: Head,
    pub(crate) domain: u32,
    pub(crate) bus: u32,
    pub(crate) device: u32,
    pub(crate) function: u32,
}

#[repr(C)]
pub(crate) struct PhysicalDeviceDriverProperties {
    pub(crate) head: Head,
    pub(crate) driver_id: i32,
    pub(crate) driver_name: [u8; 256],
    pub(crate) driver_info: [u8; 256],
    pub(crate) conformance: [u8; 4],
}

impl Default for PhysicalDeviceDriverProperties {
    fn default() -> Self {
        Self {
            head: Head::of(PHYSICAL_DEVICE_DRIVER_PROPERTIES),
            driver_id: 0,
            driver_name: [0; 256],
            driver_info: [0; 256],
            conformance: [0; 4],
        }
    }
}

#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct QueueFamilyProperties {
    pub(crate) flags: u32,
    pub(crate) count: u32,
    pub(crate) timestamp_bits: u32,
    pub(crate) granularity: [u32; 3],
}

#[repr(C)]
pub(crate) struct DeviceQueueCreateInfo {
    pub(crate) head: Head,
    pub(crate) flags: u32,
    pub(crate) family: u32,
    pub(crate) count: u32,
    pub(crate) priorities: *const f32,
}

#[repr(C)]
pub(crate) struct DeviceCreateInfo {
    pub(crate) head: Head,
    pub(crate) flags: u32,
    pub(crate) queue_count: u32,
    pub(crate) queues: *const DeviceQueueCreateInfo,
    pub(crate) layer_count: u32,
    pub(crate) layers: *const *const c_char,
    pub(crate) extension_count: u32,
    pub(crate) extensions: *const *const c_char,
    pub(crate) features: *const c_void,
}

#[repr(C)]
pub(crate) struct ShaderModuleCreateInfo {
    pub(crate) head: Head,
    pub(crate) flags: u32,
    /// Size of the code in bytes.
    pub(crate) code_size: usize,
    pub(crate) code: *const u32,
}

#[repr(C)]
pub(crate) struct PipelineLayoutCreateInfo {
    pub(crate) head: Head,
    pub(crate) flags: u32,
    pub(crate) set_count: u32,
    pub(crate) sets: *const Object,
    pub(crate) range_count: u32,
    pub(crate) ranges: *const c_void,
}

#[repr(C)]
pub(crate) struct PipelineShaderStageCreateInfo {
    pub(crate) head: Head,
    pub(crate) flags: u32,
    pub(crate) stage: u32,
    pub(crate) module: Object,
    pub(crate) name: *const c_char,
    pub(crate) specialization: *const c_void,
}

#[repr(C)]
pub(crate) struct ComputePipelineCreateInfo {
    pub(crate) head: Head,
    pub(crate) flags: u32,
    pub(crate) stage: PipelineShaderStageCreateInfo,
    pub(crate) layout: Object,
    pub(crate) base: Object,
    pub(crate) base_index: i32,
}

#[repr(C)]
pub(crate) struct CommandPoolCreateInfo {
    pub(crate) head: Head,
    pub(crate) flags: u32,
    pub(crate) family: u32,
}

#[repr(C)]
pub(crate) struct CommandBufferAllocateInfo {
    pub(crate) head: Head,
    pub(crate) pool: Object,
    pub(crate) level: i32,
    pub(crate) count: u32,
}

#[repr(C)]
pub(crate) struct CommandBufferBeginInfo {
    pub(crate) head: Head,
    pub(crate) flags: u32,
    pub(crate) inheritance: *const c_void,
}

#[repr(C)]
pub(crate) struct SubmitInfo {
    pub(crate) head: Head,
    pub(crate) wait_count: u32,
    pub(crate) waits: *const Object,
    pub(crate) wait_stages: *const u32,
    pub(crate) buffer_count: u32,
    pub(crate) buffers: *const Handle,
    pub(crate) signal_count: u32,
    pub(crate) signals: *const Object,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::{offset_of, size_of};

    fn in_project(path: &str) -> String {
        let path = format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    #[test]
    fn structure_types_are_those_of_the_registry() {
        let snapshot = in_project("registry/snapshot/enums.txt");
        for (name, value) in STRUCTURE_TYPES {
            let line = format!("  value VK_STRUCTURE_TYPE_{name} {value}");
            assert!(snapshot.lines().any(|known| known == line), "{line}");
        }
    }

    /// Compares the sizes and offsets with those that the C compiler reported for 64-bit targets. Other structures are not compared,
    /// because a wrong layout of such a structure would make drivers fail.
    #[test]
    #[cfg(target_pointer_width = "64")]
    fn layouts_are_those_of_the_library() {
        let layouts = in_project("generated/types/layout.rs");
        let line = |name: &str| {
            let begin = format!("    Vk{name}: ");
            let at = layouts.find(&begin).unwrap_or_else(|| panic!("no {name}"));
            let row = layouts[at + begin.len()..].split(';').next().expect("a row");
            row.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let all = line("PhysicalDeviceProperties");
        let size: usize = all
            .split(',')
            .next()
            .and_then(|size| size.parse().ok())
            .expect("a size");
        assert!(size <= size_of::<PhysicalDeviceProperties>(), "{all}");
        for (structure, size, member, offset) in [
            (
                "InstanceCreateInfo",
                size_of::<InstanceCreateInfo>(),
                "pApplicationInfo",
                offset_of!(InstanceCreateInfo, application),
            ),
            (
                "InstanceCreateInfo",
                size_of::<InstanceCreateInfo>(),
                "ppEnabledExtensionNames",
                offset_of!(InstanceCreateInfo, extensions),
            ),
            (
                "ExtensionProperties",
                size_of::<ExtensionProperties>(),
                "specVersion",
                offset_of!(ExtensionProperties, version),
            ),
            (
                "LayerProperties",
                size_of::<LayerProperties>(),
                "description",
                offset_of!(LayerProperties, description),
            ),
            (
                "PhysicalDeviceIDProperties",
                size_of::<PhysicalDeviceIdProperties>(),
                "deviceUUID",
                offset_of!(PhysicalDeviceIdProperties, device_uuid),
            ),
            (
                "PhysicalDeviceDriverProperties",
                size_of::<PhysicalDeviceDriverProperties>(),
                "driverName",
                offset_of!(PhysicalDeviceDriverProperties, driver_name),
            ),
            (
                "DeviceCreateInfo",
                size_of::<DeviceCreateInfo>(),
                "pQueueCreateInfos",
                offset_of!(DeviceCreateInfo, queues),
            ),
        ] {
            let row = format!("{},", line(structure));
            assert!(
                row.starts_with(&format!("{size}, ")) && row.contains(&format!(" {member} {offset},")),
                "{structure}.{member} at {offset} of {size}: {row}"
            );
        }
        assert!(
            all.contains(&format!(" deviceName {}", offset_of!(PhysicalDeviceProperties, name))),
            "{all}"
        );
    }
}
