//! Enumeration and groups of physical devices, and the queries of Vulkan 1.0.

use std::ffi::{CStr, c_char};

use ash::vk::{self, Handle};

use crate::config::Device;
use crate::entry::{Call, two_call};
use crate::{global, object, state};

/// Returns the handle of a configured device. The handle is the same each time.
fn handle(instance: u64, name: &str) -> vk::PhysicalDevice {
    let make = || object::create("physical_device", instance, name, Vec::new());
    vk::PhysicalDevice::from_raw(object::child(instance, name, make))
}

/// Returns the configured device of a handle. If the device was removed from the configuration, returns a device with default values.
pub(crate) fn device(call: &'static str, physical: vk::PhysicalDevice) -> Device {
    let object = object::get(call, "physical_device", physical.as_raw());
    let mut device = configured(&object.device);
    for variation in &mut device.varies {
        variation.number = match &*variation.cause {
            "version" => state::with(|state| state.versions[&object.parent]) >> 12 & 0x3FF,
            "extensions" => object::get(call, "instance", object.parent).extensions.len() as u32,
            "calls" => state::with(|state| {
                let number = state.calls.entry(format!("calls about {}", object.device)).or_insert(0);
                *number += 1;
                *number
            }),
            other => panic!("nothing varies with {other}"),
        };
    }
    device
}

fn configured(name: &str) -> Device {
    let config = state::with(|state| state.config.clone());
    match config.devices.iter().find(|device| device.name == name) {
        Some(device) => device.clone(),
        None => Device {
            name: name.into(),
            ..config.devices.first().cloned().unwrap_or_else(|| gone(name))
        },
    }
}

fn gone(name: &str) -> Device {
    Device {
        name: name.into(),
        kind: 0,
        vendor: 0,
        id: 0,
        api_version: vk::API_VERSION_1_0,
        driver_version: 0,
        uuid: [0; 16],
        driver_uuid: [0; 16],
        driver_id: 0,
        pci: None,
        extensions: Vec::new(),
        varies: Vec::new(),
    }
}

/// Begins a query of a physical device. The query's journal line names the device.
pub(crate) fn enter(name: &'static str, physical: vk::PhysicalDevice) -> (Call, Device) {
    let device = device(name, physical);
    (Call::enter(name, &device.name), device)
}

/// Implements `vkEnumeratePhysicalDevices`.
pub(crate) unsafe extern "system" fn enumerate_physical_devices(
    instance: vk::Instance,
    count: *mut u32,
    out: *mut vk::PhysicalDevice,
) -> vk::Result {
    object::expect("vkEnumeratePhysicalDevices", &["instance"], instance.as_raw());
    let call = Call::enter(
        "vkEnumeratePhysicalDevices",
        if out.is_null() { "count" } else { "fill" },
    );
    let list: Vec<_> = call
        .config
        .devices
        .iter()
        .map(|device| match &*device.name {
            // A null handle imitates a driver that counts an element but does not write it.
            "NULL" => vk::PhysicalDevice::null(),
            name => handle(instance.as_raw(), name),
        })
        .collect();
    // SAFETY: the caller follows the two-call idiom.
    unsafe { two_call(&call, &list, count, out) }
}

unsafe fn groups(
    name: &'static str,
    instance: vk::Instance,
    count: *mut u32,
    out: *mut vk::PhysicalDeviceGroupProperties<'static>,
) -> vk::Result {
    object::expect(name, &["instance"], instance.as_raw());
    let form = if out.is_null() { "count" } else { "fill" };
    let call = Call::enter(name, form);
    let mut groups = call.config.groups.clone();
    if groups.is_empty() {
        groups = call
            .config
            .devices
            .iter()
            .map(|device| vec![device.name.clone()])
            .collect();
    }
    if out.is_null() || call.failure.is_some() {
        // SAFETY: the caller follows the two-call idiom, and this call writes no element.
        return unsafe { two_call(&call, &groups, count, std::ptr::null_mut()) };
    }
    // SAFETY: the caller passes a valid count.
    let room = unsafe { *count } as usize;
    // The driver looks up the device of a group only if a device has a varying answer, because with many devices, the look-ups would take
    // too long.
    let varies = call.config.devices.iter().any(|device| !device.varies.is_empty());
    for (index, members) in groups.iter().take(room).enumerate() {
        // SAFETY: the caller passes space for `*count` elements, and the index is below that.
        let element = unsafe { &mut *out.add(index) };
        call.note(format_args!(
            "element {index} stype={} next={}",
            element.s_type.as_raw(),
            !element.p_next.is_null()
        ));
        element.physical_device_count = members.len() as u32 + u32::from(call.config.flag("huge_groups")) * 100;
        for (to, member) in element.physical_devices.iter_mut().zip(members) {
            *to = handle(instance.as_raw(), member);
        }
        let varied = members
            .first()
            .filter(|_| varies)
            .map_or(0, |_| device(name, element.physical_devices[0]).varied("groups"));
        element.subset_allocation = vk::Bool32::from(varied.is_multiple_of(2));
    }
    // SAFETY: the caller passes a valid count.
    unsafe { *count = groups.len().min(room) as u32 + call.config.grows(name) };
    if groups.len() > room {
        vk::Result::INCOMPLETE
    } else {
        vk::Result::SUCCESS
    }
}

/// Implements `vkEnumeratePhysicalDeviceGroups`.
pub(crate) unsafe extern "system" fn enumerate_physical_device_groups(
    instance: vk::Instance,
    count: *mut u32,
    out: *mut vk::PhysicalDeviceGroupProperties<'static>,
) -> vk::Result {
    // SAFETY: the caller promises valid parameters of this command.
    unsafe { groups("vkEnumeratePhysicalDeviceGroups", instance, count, out) }
}

/// Implements `vkEnumeratePhysicalDeviceGroupsKHR`.
pub(crate) unsafe extern "system" fn enumerate_physical_device_groups_khr(
    instance: vk::Instance,
    count: *mut u32,
    out: *mut vk::PhysicalDeviceGroupProperties<'static>,
) -> vk::Result {
    // SAFETY: the caller promises valid parameters of this command.
    unsafe { groups("vkEnumeratePhysicalDeviceGroupsKHR", instance, count, out) }
}

/// Returns the properties of a device for `vkGetPhysicalDeviceProperties`.
pub(crate) fn properties_of(device: &Device) -> vk::PhysicalDeviceProperties {
    let mut properties = vk::PhysicalDeviceProperties {
        api_version: device.api_version,
        driver_version: device.driver_version,
        vendor_id: device.vendor,
        device_id: device.id,
        device_type: vk::PhysicalDeviceType::from_raw(device.kind),
        pipeline_cache_uuid: device.uuid,
        ..Default::default()
    };
    properties.limits.max_image_dimension1_d = device.varied("properties");
    let text = device.name.bytes().take(255);
    for (to, from) in properties.device_name.iter_mut().zip(text) {
        *to = from as c_char;
    }
    properties
}

/// Returns the features of a device. One feature is always set, so that a test can recognize the driver's answer.
pub(crate) fn features_of(device: &Device) -> vk::PhysicalDeviceFeatures {
    vk::PhysicalDeviceFeatures {
        robust_buffer_access: vk::TRUE,
        alpha_to_one: device.varied("features") % 2,
        ..Default::default()
    }
}

/// Returns the queue families of a device.
pub(crate) fn queue_families(device: &Device) -> [vk::QueueFamilyProperties; 2] {
    let family = |flags, queue_count| vk::QueueFamilyProperties {
        queue_flags: flags,
        queue_count,
        timestamp_valid_bits: device.varied("families"),
        ..Default::default()
    };
    [
        family(
            vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE | vk::QueueFlags::TRANSFER,
            4,
        ),
        family(vk::QueueFlags::TRANSFER, 1),
    ]
}

/// Returns the memory properties of a device.
pub(crate) fn memory_of(device: &Device) -> vk::PhysicalDeviceMemoryProperties {
    let mut memory = vk::PhysicalDeviceMemoryProperties {
        memory_type_count: 1,
        memory_heap_count: 1,
        ..Default::default()
    };
    memory.memory_types[0].property_flags =
        vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
    memory.memory_heaps[0].size = (1 << 30) + u64::from(device.varied("memory"));
    memory
}

/// Returns a device's answer for every format.
pub(crate) fn format_of(device: &Device) -> vk::FormatProperties {
    vk::FormatProperties {
        linear_tiling_features: vk::FormatFeatureFlags::from_raw(device.varied("format")),
        optimal_tiling_features: vk::FormatFeatureFlags::SAMPLED_IMAGE,
        ..Default::default()
    }
}

/// Returns the answer for every image format.
pub(crate) fn image_format_of() -> vk::ImageFormatProperties {
    vk::ImageFormatProperties {
        max_mip_levels: 11,
        max_array_layers: 3,
        ..Default::default()
    }
}

/// Returns the answer for every sparse image format. The answer has two elements, so that tests notice if only one element is copied.
pub(crate) fn sparse_formats() -> [vk::SparseImageFormatProperties; 2] {
    let aspect = |aspect_mask| vk::SparseImageFormatProperties {
        aspect_mask,
        ..Default::default()
    };
    [aspect(vk::ImageAspectFlags::COLOR), aspect(vk::ImageAspectFlags::DEPTH)]
}

/// Implements `vkGetPhysicalDeviceProperties`.
pub(crate) unsafe extern "system" fn properties(physical: vk::PhysicalDevice, out: *mut vk::PhysicalDeviceProperties) {
    let (_, device) = enter("vkGetPhysicalDeviceProperties", physical);
    // SAFETY: the caller passes a valid place for the result.
    unsafe { out.write(properties_of(&device)) };
}

/// Implements `vkGetPhysicalDeviceFeatures`.
pub(crate) unsafe extern "system" fn features(physical: vk::PhysicalDevice, out: *mut vk::PhysicalDeviceFeatures) {
    let (_, device) = enter("vkGetPhysicalDeviceFeatures", physical);
    // SAFETY: the caller passes a valid place for the result.
    unsafe { out.write(features_of(&device)) };
}

/// Implements `vkGetPhysicalDeviceMemoryProperties`.
pub(crate) unsafe extern "system" fn memory(
    physical: vk::PhysicalDevice,
    out: *mut vk::PhysicalDeviceMemoryProperties,
) {
    let (_, device) = enter("vkGetPhysicalDeviceMemoryProperties", physical);
    // SAFETY: the caller passes a valid place for the result.
    unsafe { out.write(memory_of(&device)) };
}

/// Implements `vkGetPhysicalDeviceFormatProperties`.
pub(crate) unsafe extern "system" fn format(
    physical: vk::PhysicalDevice,
    _format: vk::Format,
    out: *mut vk::FormatProperties,
) {
    let (_, device) = enter("vkGetPhysicalDeviceFormatProperties", physical);
    // SAFETY: the caller passes a valid place for the result.
    unsafe { out.write(format_of(&device)) };
}

/// Implements `vkGetPhysicalDeviceImageFormatProperties`.
pub(crate) unsafe extern "system" fn image_format(
    physical: vk::PhysicalDevice,
    format: vk::Format,
    _kind: vk::ImageType,
    _tiling: vk::ImageTiling,
    _usage: vk::ImageUsageFlags,
    _flags: vk::ImageCreateFlags,
    out: *mut vk::ImageFormatProperties,
) -> vk::Result {
    let (call, _) = enter("vkGetPhysicalDeviceImageFormatProperties", physical);
    call.note(format_args!("format={}", format.as_raw()));
    // SAFETY: the caller passes a valid place for the result.
    unsafe { out.write(image_format_of()) };
    call.result()
}

/// Implements `vkGetPhysicalDeviceQueueFamilyProperties`.
pub(crate) unsafe extern "system" fn queue_family(
    physical: vk::PhysicalDevice,
    count: *mut u32,
    out: *mut vk::QueueFamilyProperties,
) {
    let (call, device) = enter("vkGetPhysicalDeviceQueueFamilyProperties", physical);
    // SAFETY: the caller follows the two-call idiom.
    let _void = unsafe { two_call(&call, &queue_families(&device), count, out) };
}

/// Implements `vkGetPhysicalDeviceSparseImageFormatProperties`.
#[allow(clippy::too_many_arguments, reason = "the signature is the registry's")]
pub(crate) unsafe extern "system" fn sparse(
    physical: vk::PhysicalDevice,
    format: vk::Format,
    kind: vk::ImageType,
    samples: vk::SampleCountFlags,
    usage: vk::ImageUsageFlags,
    tiling: vk::ImageTiling,
    count: *mut u32,
    out: *mut vk::SparseImageFormatProperties,
) {
    let (call, _) = enter("vkGetPhysicalDeviceSparseImageFormatProperties", physical);
    let (format, kind, tiling) = (format.as_raw(), kind.as_raw(), tiling.as_raw());
    call.note(format_args!(
        "format={format} type={kind} samples={} usage={} tiling={tiling}",
        samples.as_raw(),
        usage.as_raw()
    ));
    // SAFETY: the caller follows the two-call idiom.
    let _void = unsafe { two_call(&call, &sparse_formats(), count, out) };
}

/// Implements `vkEnumerateDeviceExtensionProperties`. The layer name must be NULL (DRV-108).
pub(crate) unsafe extern "system" fn enumerate_device_extension_properties(
    physical: vk::PhysicalDevice,
    layer: *const c_char,
    count: *mut u32,
    out: *mut vk::ExtensionProperties,
) -> vk::Result {
    let device = device("vkEnumerateDeviceExtensionProperties", physical);
    let shown = if layer.is_null() {
        "null".into()
    } else {
        // SAFETY: a non-null layer name is a terminated string.
        format!("{:?}", unsafe { CStr::from_ptr(layer) })
    };
    let form = if out.is_null() { "count" } else { "fill" };
    let call = Call::enter(
        "vkEnumerateDeviceExtensionProperties",
        format_args!("{} layer={shown} {form}", device.name),
    );
    let varied = device.varied("extensions");
    let all = device.extensions.iter();
    let list: Vec<_> = all
        .map(|(name, version)| global::extension(&(name.clone(), version + varied)))
        .collect();
    // SAFETY: the caller follows the two-call idiom.
    unsafe { two_call(&call, &list, count, out) }
}

/// Implements `vkEnumerateDeviceLayerProperties`. The loader must not call this function (DRV-108). The journal line shows a call.
pub(crate) unsafe extern "system" fn enumerate_device_layer_properties(
    physical: vk::PhysicalDevice,
    count: *mut u32,
    _out: *mut vk::LayerProperties,
) -> vk::Result {
    let (call, _) = enter("vkEnumerateDeviceLayerProperties", physical);
    // SAFETY: the caller passes a valid pointer.
    unsafe { *count = 0 };
    call.result()
}
