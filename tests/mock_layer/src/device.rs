//! Implements `vkCreateDevice` and `vkDestroyDevice` of a layer, and creates devices for the layer's own use (LAY-280 to LAY-294).

use std::ffi::c_void;

use ash::vk;
use ash::vk::Handle;

use crate::abi::{DATA_CALLBACK, DeviceNode, LINK_INFO, LayerDestroyDevice, SetDeviceLoaderData};
use crate::instance::{changed, devices_below, joined, names};
use crate::layer::{DeviceRecord, InstanceRecord, Layer, dispatch_word, layer, typed};
use crate::lookup::get_instance_proc_addr;
use crate::{inquire, reenter, wrap};

/// Look-up functions of the next layer. For the last layer, look-up functions of the loader.
type Link = (vk::PFN_vkGetInstanceProcAddr, vk::PFN_vkGetDeviceProcAddr);

/// Content of the loader's structures in the chain of a create info.
#[derive(Default)]
struct Nodes {
    seen: Vec<String>,
    link: Option<*mut DeviceNode>,
    set_loader_data: Option<SetDeviceLoaderData>,
}

/// Reads the loader's structures in the chain of a create info.
///
/// # Safety
/// `next` is the `pNext` that the layer received.
unsafe fn read_nodes(mut next: *const c_void) -> Nodes {
    let mut nodes = Nodes::default();
    while !next.is_null() {
        let node = next.cast_mut().cast::<DeviceNode>();
        // SAFETY: every structure of the chain starts with its type and its successor.
        let (kind, successor) = unsafe { ((*node).structure_type, (*node).next) };
        if kind == vk::StructureType::LOADER_DEVICE_CREATE_INFO {
            // SAFETY: a structure of this type is a `DeviceNode`, and `function` determines the content of its union.
            unsafe {
                match (*node).function {
                    LINK_INFO => nodes.link = Some(node),
                    DATA_CALLBACK => nodes.set_loader_data = (*node).content.set_loader_data,
                    _ => {}
                }
                nodes.seen.push(match (*node).function {
                    LINK_INFO => "link".to_owned(),
                    DATA_CALLBACK => "data".to_owned(),
                    other => format!("function-{other}"),
                });
            }
        } else {
            nodes.seen.push(format!("app:{}", kind.as_raw()));
        }
        next = successor;
    }
    nodes
}

/// Implements `vkCreateDevice` of layer `N`.
///
/// # Safety
/// The parameters are valid for this Vulkan command, and the chain contains the link structures of the loader.
pub(crate) unsafe extern "system" fn create_device<const N: usize>(
    physical_device: vk::PhysicalDevice,
    info: *const vk::DeviceCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    device: *mut vk::Device,
) -> vk::Result {
    let layer = layer(N);
    let _exclusive = layer.exclusive("vkCreateDevice");
    // SAFETY: the caller passes a valid create info and a readable place for the handle.
    let (nodes, extensions) = unsafe {
        let info = &*info;
        let extensions = names(info.pp_enabled_extension_names, info.enabled_extension_count);
        (read_nodes(info.p_next), joined(&extensions))
    };
    // SAFETY: the caller passes a readable place for the handle.
    let handle = if unsafe { *device } == vk::Device::null() {
        "null"
    } else {
        "set"
    };
    layer.journal(&format!(
        "vkCreateDevice extensions=[{extensions}] nodes=[{}] device={handle}",
        nodes.seen.join(" ")
    ));
    if layer.config.lists("reenter", "vkCreateDevice") {
        reenter::enumerate(&layer);
    }
    if let Some(code) = layer.config.number_of("fail", "vkCreateDevice") {
        return vk::Result::from_raw(code as i32);
    }
    if let Some(wrong) = inquire::clobbered(&layer, "device") {
        // SAFETY: the caller passes a writable place for the handle.
        unsafe { *device = vk::Device::from_raw(wrong) };
    }
    let inner = vk::PhysicalDevice::from_raw(layer.inner(physical_device.as_raw() as usize) as u64);
    // SAFETY: the structures belong to this call's chain, which the caller passed.
    let Some(link) = (unsafe { advance(&nodes) }) else {
        return vk::Result::ERROR_INITIALIZATION_FAILED;
    };
    // SAFETY: the caller passes a readable place for the handle.
    let given = unsafe { *device };
    // SAFETY: the caller passes a valid create info. The physical device and the look-up function belong to the next layer.
    let mut result = unsafe { call_down(&layer, inner, &*info, allocator, device, link.0) };
    if layer.config.lists("retry", "vkCreateDevice") {
        layer.journal(&format!("vkCreateDevice retried after {}", result.as_raw()));
        // SAFETY: the arguments are those of the first call, and `given` is the handle's value before that call.
        result = unsafe { call_down_again(&layer, (inner, info, allocator), device, given, link, result) };
    }
    if result != vk::Result::SUCCESS {
        return result;
    }
    // SAFETY: the next layer has created the device from `inner`, and the structures are valid until this call returns.
    unsafe {
        keep_nodes(&layer, &*info, &nodes);
        remember::<N>(&layer, inner, *device, &nodes, link.1);
    }
    // SAFETY: the look-up function came from the loader's link structure, and the next layer created the device.
    unsafe { inquire::ask_device(&layer, *device, link.1) };
    inquire::stray_device(&layer, nodes.set_loader_data);
    if layer.wraps() {
        // SAFETY: the next layer created the device, and the callback belongs to the same loader.
        unsafe { *device = wrap::device(&layer, *device, nodes.set_loader_data) };
    }
    match layer.config.number_of("fail-after", "vkCreateDevice") {
        Some(code) => vk::Result::from_raw(code as i32),
        None => result,
    }
}

/// Returns the look-up functions of the next layer. Afterwards, the shared structure points to the link of the next layer.
///
/// # Safety
/// The link structure is valid.
unsafe fn advance(nodes: &Nodes) -> Option<Link> {
    let node = nodes.link?;
    // SAFETY: the structure is valid, and its union contains a link.
    unsafe {
        let link = (*node).content.link;
        (*node).content.link = (*link).next;
        Some(((*link).get_instance_proc_addr, (*link).get_device_proc_addr))
    }
}

/// Reads the loader's structures again after the next layer's function returned.
///
/// # Safety
/// `info` is valid, and `nodes` contains the loader's structures in its chain.
unsafe fn keep_nodes(layer: &Layer, info: &vk::DeviceCreateInfo<'_>, nodes: &Nodes) {
    let Some(node) = nodes.link else { return };
    // SAFETY: the caller's chain is valid, and the union of a link structure contains a link.
    unsafe {
        let again = read_nodes(info.p_next);
        let same = again.seen == nodes.seen && again.link == nodes.link;
        inquire::kept(layer, "device", same, node.addr(), &raw mut (*node).content.link);
    }
}

/// Calls the next `vkCreateDevice` again, after it returned `first`. If the first call succeeded, the function destroys the first device
/// before the second call.
///
/// # Safety
/// The parameters are the same as for `call_down`, and `given` is the value of the handle before the first call.
unsafe fn call_down_again(
    layer: &Layer,
    (inner, info, allocator): (
        vk::PhysicalDevice,
        *const vk::DeviceCreateInfo<'_>,
        *const vk::AllocationCallbacks<'_>,
    ),
    device: *mut vk::Device,
    given: vk::Device,
    link: Link,
    first: vk::Result,
) -> vk::Result {
    // SAFETY: the look-ups came from the link, their functions have the types of their names, and the handles are live.
    unsafe {
        if first == vk::Result::SUCCESS {
            let destroy = typed::<vk::PFN_vkDestroyDevice>((link.1)(*device, c"vkDestroyDevice".as_ptr()));
            destroy.expect("vkDestroyDevice")(*device, allocator);
        }
        *device = given;
        call_down(layer, inner, &*info, allocator, device, link.0)
    }
}

/// Calls the next `vkCreateDevice`, with the changes of the configuration.
///
/// # Safety
/// All parameters except `next` are the layer's own parameters, with handles of the next layer. `next` is the look-up function of the next
/// layer.
unsafe fn call_down(
    layer: &Layer,
    physical_device: vk::PhysicalDevice,
    info: &vk::DeviceCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    device: *mut vk::Device,
    next: vk::PFN_vkGetInstanceProcAddr,
) -> vk::Result {
    // SAFETY: the caller passes a valid physical device of the next layer.
    let Some(instance) = layer.instance(unsafe { dispatch_word(physical_device.as_raw() as usize) }) else {
        layer.journal("vkCreateDevice unknown-instance");
        return vk::Result::ERROR_INITIALIZATION_FAILED;
    };
    // SAFETY: the look-up function comes from the link, and the next layer created the instance.
    let found = unsafe { typed::<vk::PFN_vkCreateDevice>(next(instance.handle, c"vkCreateDevice".as_ptr())) };
    let Some(create) = found else {
        return vk::Result::ERROR_INITIALIZATION_FAILED;
    };
    let mut copy = *info;
    let mut owned = Vec::new();
    // SAFETY: the caller passes a valid create info, so its list of extensions is valid.
    let extensions = unsafe {
        changed(
            layer,
            "device",
            names(info.pp_enabled_extension_names, info.enabled_extension_count),
            &mut owned,
        )
    };
    copy.enabled_extension_count = extensions.len() as u32;
    copy.pp_enabled_extension_names = extensions.as_ptr();
    // SAFETY: the chain is valid while the group contains the handles of the next layer.
    unsafe { wrap::with_group_unwrapped(layer, copy.p_next, || create(physical_device, &copy, allocator, device)) }
}

/// Stores the layer's data about a device, and creates the extra devices of that device.
///
/// # Safety
/// The next layer created `device` from `physical_device`.
unsafe fn remember<const N: usize>(
    layer: &Layer,
    physical_device: vk::PhysicalDevice,
    device: vk::Device,
    nodes: &Nodes,
    next: vk::PFN_vkGetDeviceProcAddr,
) {
    // SAFETY: device and instance are valid until this call returns.
    let (key, instance) = unsafe {
        (
            dispatch_word(device.as_raw() as usize),
            dispatch_word(physical_device.as_raw() as usize),
        )
    };
    let mut extra_devices = Vec::new();
    if let (Some(count), Some(record)) = (layer.config.number("extra-devices"), layer.instance(instance)) {
        for _ in 0..count {
            // SAFETY: the physical device is a handle that the layer itself received.
            extra_devices.extend(unsafe { make_extra::<N>(layer, &record, physical_device) });
        }
    }
    let record = DeviceRecord {
        handle: device,
        next,
        instance,
        set_loader_data: nodes.set_loader_data,
        extra_devices,
    };
    layer.state().devices.insert(key, record);
}

/// Creates a device with the loader's callback (LAY-292), and uses the device once. The device does not belong to the application.
///
/// # Safety
/// The physical device belongs to the record's instance, and is a handle that the layer itself received.
unsafe fn make_extra<const N: usize>(
    layer: &Layer,
    record: &InstanceRecord,
    physical_device: vk::PhysicalDevice,
) -> Option<(vk::Device, vk::PFN_vkGetDeviceProcAddr)> {
    let create = record.callbacks.create?;
    let priority = 1.0_f32;
    let queue = vk::DeviceQueueCreateInfo {
        queue_count: 1,
        p_queue_priorities: &priority,
        ..Default::default()
    };
    let info = vk::DeviceCreateInfo {
        queue_create_info_count: 1,
        p_queue_create_infos: &queue,
        ..Default::default()
    };
    let (mut device, mut next) = (vk::Device::null(), None);
    // SAFETY: the create info is valid and the results are writable. The loader identifies the layer by this look-up function.
    let result = unsafe {
        create(
            record.handle,
            physical_device,
            &info,
            std::ptr::null(),
            &mut device,
            get_instance_proc_addr::<N>,
            &mut next,
        )
    };
    // SAFETY: the call succeeded, so the look-up function belongs to the device.
    let queue_command = next.and_then(|next| unsafe { next(device, c"vkGetDeviceQueue".as_ptr()) });
    layer.journal(&format!(
        "extra-device result={} gdpa={} queue={}",
        result.as_raw(),
        next.is_some(),
        queue_command.is_some()
    ));
    match (result, next) {
        (vk::Result::SUCCESS, Some(next)) => Some((device, next)),
        _ => None,
    }
}

/// Creates `count` devices on the next layer's first physical device, during `vkCreateInstance`.
///
/// # Safety
/// The record's instance is valid.
pub(crate) unsafe fn make_for_instance<const N: usize>(layer: &Layer, record: &InstanceRecord, count: i64) {
    // SAFETY: the instance is valid until this call returns.
    let Some(device) = unsafe { devices_below(layer, record) }.first().copied() else {
        return;
    };
    // SAFETY: the next layer returned the physical device.
    let made: Vec<_> = (0..count)
        .filter_map(|_| unsafe { make_extra::<N>(layer, record, device) })
        .collect();
    // SAFETY: the instance is valid until this call returns.
    let key = unsafe { dispatch_word(record.handle.as_raw() as usize) };
    if let Some(kept) = layer.state().instances.get_mut(&key) {
        kept.extra_devices = made;
    }
}

/// Destroys a device that [`make_extra`] created (LAY-293).
///
/// # Safety
/// `callback` is the loader's callback, and `next` belongs to `device`.
pub(crate) unsafe fn destroy_extra(
    layer: &Layer,
    callback: Option<LayerDestroyDevice>,
    device: vk::Device,
    next: vk::PFN_vkGetDeviceProcAddr,
) {
    // SAFETY: the look-up function belongs to the device, and returns a function of the command's type.
    let destroy = unsafe { typed::<vk::PFN_vkDestroyDevice>(next(device, c"vkDestroyDevice".as_ptr())) };
    layer.journal(&format!("extra-device destroy={}", destroy.is_some()));
    if let (Some(callback), Some(destroy)) = (callback, destroy) {
        // SAFETY: the device is valid, and only this layer knows it, so no other thread uses it.
        unsafe { callback(device, std::ptr::null(), destroy) };
    }
}

/// Implements `vkDestroyDevice` of layer `N`.
///
/// # Safety
/// The parameters are valid for this Vulkan command.
pub(crate) unsafe extern "system" fn destroy_device<const N: usize>(
    device: vk::Device,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    let layer = layer(N);
    let _exclusive = layer.exclusive("vkDestroyDevice");
    layer.journal("vkDestroyDevice");
    let inner = layer.inner(device.as_raw() as usize);
    if inner == 0 {
        return;
    }
    // SAFETY: the caller passes a valid device, and the handle is not null.
    let key = unsafe { dispatch_word(inner) };
    let Some(record) = layer.device(key) else { return };
    let callback = layer
        .instance(record.instance)
        .and_then(|instance| instance.callbacks.destroy);
    for (extra, next) in &record.extra_devices {
        // SAFETY: the devices were created through the loader's callback.
        unsafe { destroy_extra(&layer, callback, *extra, *next) };
    }
    // SAFETY: the look-up function belongs to the record's handle, and returns a function of the command's type.
    let destroy =
        unsafe { typed::<vk::PFN_vkDestroyDevice>((record.next)(record.handle, c"vkDestroyDevice".as_ptr())) };
    layer.forget(key);
    wrap::drop_wrappers_of(&layer, key);
    if let Some(destroy) = destroy {
        // SAFETY: the next layer created the device.
        unsafe { destroy(record.handle, allocator) };
    }
}
