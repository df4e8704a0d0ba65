//! Implements `vkCreateInstance` and `vkDestroyInstance` of a layer (LAY-220 to LAY-254).

use std::ffi::{CStr, c_char, c_void};

use ash::vk;
use ash::vk::Handle;

use crate::abi::{
    CREATE_DEVICE_CALLBACK, DATA_CALLBACK, DeviceCallbacks, FEATURES, GetPhysicalDeviceProcAddr, InstanceNode,
    LINK_INFO, SetInstanceLoaderData,
};
use crate::layer::{InstanceRecord, Layer, dispatch_word, layer, typed};
use crate::{device, inquire, reenter, wrap};

/// Look-up functions of the next layer. For the last layer, look-up functions of the loader.
type Link = (vk::PFN_vkGetInstanceProcAddr, Option<GetPhysicalDeviceProcAddr>);

/// Content of the loader's structures, which precede the application's `pNext` chain.
struct Nodes {
    /// Order and content of the structures, for the journal.
    seen: Vec<String>,
    link: Option<*mut InstanceNode>,
    set_loader_data: Option<SetInstanceLoaderData>,
    callbacks: DeviceCallbacks,
}

/// Reads the loader's structures in the chain of a create info.
///
/// # Safety
/// `next` is the `pNext` that the layer received.
unsafe fn read_nodes(mut next: *const c_void) -> Nodes {
    let callbacks = DeviceCallbacks {
        create: None,
        destroy: None,
    };
    let mut nodes = Nodes {
        seen: Vec::new(),
        link: None,
        set_loader_data: None,
        callbacks,
    };
    while !next.is_null() {
        let node = next.cast_mut().cast::<InstanceNode>();
        // SAFETY: every structure of the chain starts with its type and its successor.
        let (kind, successor) = unsafe { ((*node).structure_type, (*node).next) };
        if kind == vk::StructureType::LOADER_INSTANCE_CREATE_INFO {
            // SAFETY: a structure of this type is an `InstanceNode`, and `function` determines the words of its union.
            unsafe {
                match (*node).function {
                    LINK_INFO => nodes.link = Some(node),
                    DATA_CALLBACK => nodes.set_loader_data = (*node).content.set_loader_data,
                    CREATE_DEVICE_CALLBACK => nodes.callbacks = (*node).content.device_callbacks,
                    _ => {}
                }
                nodes.seen.push(match (*node).function {
                    LINK_INFO => "link".to_owned(),
                    DATA_CALLBACK => "data".to_owned(),
                    CREATE_DEVICE_CALLBACK => "device-callbacks".to_owned(),
                    FEATURES => format!("features:{}", (*node).content.features),
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

/// Returns the strings of a list of names.
///
/// # Safety
/// `names` is null or points to `count` C strings.
pub(crate) unsafe fn names(names: *const *const c_char, count: u32) -> Vec<*const c_char> {
    if names.is_null() || count == 0 {
        return Vec::new();
    }
    // SAFETY: the caller passes `count` pointers.
    unsafe { std::slice::from_raw_parts(names, count as usize) }.to_vec()
}

/// Returns the list as text, for the journal.
///
/// # Safety
/// Each element is a C string.
pub(crate) unsafe fn joined(names: &[*const c_char]) -> String {
    // SAFETY: the caller passes C strings.
    let texts: Vec<_> = names
        .iter()
        .map(|name| unsafe { CStr::from_ptr(*name) }.to_string_lossy())
        .collect();
    texts.join(",")
}

/// Returns the list with the elements that the configuration adds, and without the elements that the configuration removes. `owned`
/// contains the added strings, to which the list refers.
///
/// # Safety
/// Each element is a C string.
pub(crate) unsafe fn changed(
    layer: &Layer,
    kind: &str,
    mut names: Vec<*const c_char>,
    owned: &mut Vec<std::ffi::CString>,
) -> Vec<*const c_char> {
    let removed = format!("remove-{kind}-extension");
    names.retain(|name| {
        // SAFETY: the caller passes C strings.
        let text = unsafe { CStr::from_ptr(*name) }.to_string_lossy();
        !layer.config.lists(&removed, &text)
    });
    for text in layer.config.all(&format!("add-{kind}-extension")) {
        owned.extend(std::ffi::CString::new(text));
    }
    names.extend(owned.iter().map(|text| text.as_ptr()));
    names
}

/// Memory that is neither an instance nor a device. A layer overwrites a handle with the address of this memory before it calls the next
/// function (BI-47).
pub(crate) static GARBAGE: [usize; 8] = [0x5151_5151; 8];

/// Implements `vkCreateInstance` of layer `N`.
///
/// # Safety
/// The parameters are valid for this Vulkan command, and the chain contains the link structures of the loader.
pub(crate) unsafe extern "system" fn create_instance<const N: usize>(
    info: *const vk::InstanceCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    instance: *mut vk::Instance,
) -> vk::Result {
    let layer = layer(N);
    let _exclusive = layer.exclusive("vkCreateInstance");
    // SAFETY: the caller passes a valid create info.
    let nodes = unsafe { read_nodes((*info).p_next) };
    // SAFETY: the caller passes a valid create info with valid lists, and a writable place for the handle.
    unsafe { record_creation(&layer, &*info, &nodes, *instance) };
    if layer.config.lists("reenter", "vkCreateInstance") {
        reenter::enumerate(&layer);
    }
    if let Some(code) = layer.config.number_of("fail", "vkCreateInstance") {
        return vk::Result::from_raw(code as i32);
    }
    let own_instance = if layer.config.flag("own-instance") {
        reenter::own_instance(&layer)
    } else {
        vk::Instance::null()
    };
    if let Some(wrong) = inquire::clobbered(&layer, "instance") {
        // SAFETY: the caller passes a writable place for the handle.
        unsafe { *instance = vk::Instance::from_raw(wrong) };
    }
    // SAFETY: the structures belong to this call's chain, which the caller passed.
    let Some(link) = (unsafe { advance(&nodes) }) else {
        return vk::Result::ERROR_INITIALIZATION_FAILED;
    };
    // SAFETY: the caller passes a readable place for the handle.
    let given = unsafe { *instance };
    // SAFETY: the caller passes a valid create info, and the look-up function comes from this call's link.
    let mut result = unsafe { call_down(&layer, &*info, allocator, instance, link.0) };
    let retries = layer.config.lists("retry", "vkCreateInstance");
    for _ in 0..usize::from(retries) * layer.config.number("retries").unwrap_or(1) as usize {
        layer.journal(&format!("vkCreateInstance retried after {}", result.as_raw()));
        // SAFETY: the arguments are those of the first call, and `given` is the handle's value before that call.
        result = unsafe { call_down_again(info, allocator, instance, given, link.0, result) };
    }
    if result != vk::Result::SUCCESS {
        reenter::destroy_own(own_instance);
        return result;
    }
    // SAFETY: the next layers have created the instance, and the structures are valid until this call returns.
    unsafe { work_inside::<N>(&layer, &*info, &nodes, instance, link, own_instance) };
    match layer.config.number_of("fail-after", "vkCreateInstance") {
        Some(code) => vk::Result::from_raw(code as i32),
        None => result,
    }
}

/// Does the configured work after a successful creation, before the call returns.
///
/// # Safety
/// `instance` contains the instance that the next layer created, and `nodes` contains the structures of this call's chain.
unsafe fn work_inside<const N: usize>(
    layer: &Layer,
    info: &vk::InstanceCreateInfo<'_>,
    nodes: &Nodes,
    instance: *mut vk::Instance,
    link: Link,
    own_instance: vk::Instance,
) {
    // SAFETY: the caller guarantees an instance that the next layer created, and the structures of this call.
    let record = unsafe {
        keep_nodes(layer, info, nodes);
        remember(layer, *instance, nodes, link, (own_instance, asked_version(info)))
    };
    if layer.config.flag("probe") {
        // SAFETY: the next layer created the record's instance, which is valid until this call returns.
        unsafe { probe(layer, &record) };
    }
    // SAFETY: the next layer created the record's instance, and the record's look-up function comes from the link.
    unsafe {
        inquire::ask(layer, &record);
        inquire::call_globals(layer, &record);
    }
    inquire::stray_instance(layer, nodes.set_loader_data);
    if let Some(count) = layer.config.number("instance-devices") {
        // SAFETY: the next layer created the record's instance, which is valid until this call returns.
        unsafe { device::make_for_instance::<N>(layer, &record, count) };
    }
    if layer.wraps() {
        // SAFETY: the next layer created the instance, and the callback belongs to the same loader.
        unsafe { *instance = wrap::instance(layer, record.handle, nodes.set_loader_data) };
    }
}

/// Returns the version of Vulkan that the application asks for; 0 for no version.
///
/// # Safety
/// The application info of `info` is valid or NULL.
unsafe fn asked_version(info: &vk::InstanceCreateInfo<'_>) -> u32 {
    // SAFETY: the caller passes an application info that is valid or NULL.
    unsafe { info.p_application_info.as_ref() }.map_or(0, |app| app.api_version)
}

/// Writes the received create info into the journal.
///
/// # Safety
/// The lists of `info` are valid.
unsafe fn record_creation(layer: &Layer, info: &vk::InstanceCreateInfo<'_>, nodes: &Nodes, instance: vk::Instance) {
    // SAFETY: the caller passes valid lists, and an application info or NULL.
    let (layers, extensions, version) = unsafe {
        (
            joined(&names(info.pp_enabled_layer_names, info.enabled_layer_count)),
            joined(&names(info.pp_enabled_extension_names, info.enabled_extension_count)),
            asked_version(info),
        )
    };
    let handle = if instance == vk::Instance::null() {
        "null"
    } else {
        "set"
    };
    layer.journal(&format!(
        "vkCreateInstance api={version} layers=[{layers}] extensions=[{extensions}] nodes=[{}] instance={handle}",
        nodes.seen.join(" "),
    ));
}

/// Calls the next `vkCreateInstance`, with the changes of the configuration.
///
/// # Safety
/// `info` is valid, and `next` is the look-up function of the next layer.
unsafe fn call_down(
    layer: &Layer,
    info: &vk::InstanceCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    instance: *mut vk::Instance,
    next: vk::PFN_vkGetInstanceProcAddr,
) -> vk::Result {
    // SAFETY: the look-up function came from the link.
    let found = unsafe { typed::<vk::PFN_vkCreateInstance>(next(vk::Instance::null(), c"vkCreateInstance".as_ptr())) };
    let Some(create) = found else {
        return vk::Result::ERROR_INITIALIZATION_FAILED;
    };
    let mut application = vk::ApplicationInfo::default();
    let mut copy = *info;
    if let Some(version) = layer.config.number("api-version") {
        if !info.p_application_info.is_null() {
            // SAFETY: the caller passes a valid create info, so its application info is valid.
            application = unsafe { *info.p_application_info };
        }
        application.api_version = version as u32;
        copy.p_application_info = &application;
    }
    let mut owned = Vec::new();
    // SAFETY: the caller passes a valid create info, so its list of extensions is valid.
    let extensions = unsafe {
        changed(
            layer,
            "instance",
            names(info.pp_enabled_extension_names, info.enabled_extension_count),
            &mut owned,
        )
    };
    copy.enabled_extension_count = extensions.len() as u32;
    copy.pp_enabled_extension_names = extensions.as_ptr();
    // SAFETY: the copy is valid, and the other arguments come from the caller.
    unsafe { create(&copy, allocator, instance) }
}

/// Calls the next `vkCreateInstance` again with the original arguments, after the first call returned `first`.
///
/// # Safety
/// The parameters are the same as for `call_down`, and `given` is the value of the handle before the first call. After a success,
/// `instance` contains the instance that the next layer created.
unsafe fn call_down_again(
    info: *const vk::InstanceCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    instance: *mut vk::Instance,
    given: vk::Instance,
    next: vk::PFN_vkGetInstanceProcAddr,
    first: vk::Result,
) -> vk::Result {
    // SAFETY: the look-up came from the link, its functions have the types of their names, and the handles are live.
    unsafe {
        if first == vk::Result::SUCCESS {
            let destroy = typed::<vk::PFN_vkDestroyInstance>(next(*instance, c"vkDestroyInstance".as_ptr()));
            destroy.expect("vkDestroyInstance")(*instance, allocator);
        }
        *instance = given;
        let create = typed::<vk::PFN_vkCreateInstance>(next(vk::Instance::null(), c"vkCreateInstance".as_ptr()));
        create.expect("vkCreateInstance")(info, allocator, instance)
    }
}

/// Returns the look-up functions of the next layer. Afterwards, the shared structure points to the link of the next layer (LAY-232).
///
/// # Safety
/// The link structure is valid.
unsafe fn advance(nodes: &Nodes) -> Option<Link> {
    let node = nodes.link?;
    // SAFETY: the structure is valid, and its union contains a link.
    unsafe {
        let link = (*node).content.link;
        (*node).content.link = (*link).next;
        Some(((*link).get_instance_proc_addr, (*link).get_physical_device_proc_addr))
    }
}

/// Reads the loader's structures again after the next layer's function returned.
///
/// # Safety
/// `info` is valid, and `nodes` contains the loader's structures in its chain.
unsafe fn keep_nodes(layer: &Layer, info: &vk::InstanceCreateInfo<'_>, nodes: &Nodes) {
    let Some(node) = nodes.link else { return };
    // SAFETY: the caller's chain is valid, and the union of a link structure contains a link.
    unsafe {
        let again = read_nodes(info.p_next);
        let same = again.seen == nodes.seen && again.link == nodes.link;
        inquire::kept(layer, "instance", same, node.addr(), &raw mut (*node).content.link);
    }
}

/// Names of the next layer's functions that the layer's own functions call. The layer looks up these functions when the instance is
/// created.
const USED_LATER: [&CStr; 5] = [
    c"vkDestroyInstance",
    c"vkEnumeratePhysicalDevices",
    c"vkEnumeratePhysicalDeviceGroups",
    c"vkEnumeratePhysicalDeviceGroupsKHR",
    c"vkEnumerateDeviceExtensionProperties",
];

/// Stores the layer's data about an instance.
///
/// # Safety
/// The next layer created the instance `handle`.
unsafe fn remember(
    layer: &Layer,
    handle: vk::Instance,
    nodes: &Nodes,
    (next, next_physical): Link,
    (own_instance, version): (vk::Instance, u32),
) -> InstanceRecord {
    let record = InstanceRecord {
        handle,
        next,
        next_physical,
        callbacks: nodes.callbacks,
        extra_devices: Vec::new(),
        own_instance,
        version,
    };
    // SAFETY: the instance is live until this call returns.
    let key = unsafe { dispatch_word(handle.as_raw() as usize) };
    layer.state().instances.insert(key, record.clone());
    for name in USED_LATER {
        layer.below(key, name);
    }
    record
}

/// Returns the physical devices that the next layer reports.
///
/// # Safety
/// The record's instance is valid.
pub(crate) unsafe fn devices_below(layer: &Layer, record: &InstanceRecord) -> Vec<vk::PhysicalDevice> {
    // SAFETY: the instance is valid, and the look-up returns a function with the signature of the looked-up command.
    let found = unsafe {
        typed(layer.below(
            dispatch_word(record.handle.as_raw() as usize),
            c"vkEnumeratePhysicalDevices",
        ))
    };
    let Some(enumerate): Option<vk::PFN_vkEnumeratePhysicalDevices> = found else {
        return Vec::new();
    };
    let mut count = 0;
    // SAFETY: a null array only queries the count.
    let counted = unsafe { enumerate(record.handle, &mut count, std::ptr::null_mut()) };
    let mut devices = vec![vk::PhysicalDevice::null(); count as usize];
    if counted != vk::Result::SUCCESS || devices.is_empty() {
        return Vec::new();
    }
    // SAFETY: the array has space for `count` handles.
    let _ = unsafe { enumerate(record.handle, &mut count, devices.as_mut_ptr()) };
    devices.truncate(count as usize);
    devices
}

/// Uses the instance before `vkCreateInstance` returns (LAY-239), and checks that its physical devices have the instance's dispatch word
/// (LAY-250).
///
/// # Safety
/// The record's instance is valid.
unsafe fn probe(layer: &Layer, record: &InstanceRecord) {
    // SAFETY: the instance is live until this call returns.
    let (devices, key) = unsafe {
        (
            devices_below(layer, record),
            dispatch_word(record.handle.as_raw() as usize),
        )
    };
    // SAFETY: the next layer returned the devices, so each of them begins with its dispatch word.
    let shared = devices
        .iter()
        .all(|device| unsafe { dispatch_word(device.as_raw() as usize) } == key);
    let mut working = 0;
    for name in [c"vkGetPhysicalDeviceProperties2", c"vkGetPhysicalDeviceProperties2KHR"] {
        // SAFETY: the look-up belongs to the instance, and both commands have the signature of `vkGetPhysicalDeviceProperties2`.
        let found = unsafe { typed((record.next)(record.handle, name.as_ptr())) };
        let Some(query): Option<vk::PFN_vkGetPhysicalDeviceProperties2> = found else {
            continue;
        };
        for device in &devices {
            let mut properties = vk::PhysicalDeviceProperties2::default();
            // SAFETY: the device belongs to this instance, and the structure is writable.
            unsafe { query(*device, &mut properties) };
            working += u32::from(properties.properties.api_version != 0);
        }
    }
    layer.journal(&format!(
        "probe devices={} properties2={} shared={shared}",
        devices.len(),
        working > 0
    ));
}

/// Implements `vkDestroyInstance` of layer `N`.
///
/// # Safety
/// The parameters are valid for this Vulkan command.
pub(crate) unsafe extern "system" fn destroy_instance<const N: usize>(
    instance: vk::Instance,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    let layer = layer(N);
    let _exclusive = layer.exclusive("vkDestroyInstance");
    let outer = instance.as_raw() as usize;
    let inner = layer.inner(outer);
    layer.journal("vkDestroyInstance");
    if inner == 0 {
        return;
    }
    // SAFETY: the caller passes a valid instance, and the handle is not null.
    let key = unsafe { dispatch_word(inner) };
    let Some(record) = layer.instance(key) else { return };
    for (extra, next) in &record.extra_devices {
        // SAFETY: the devices were created through the record's callback.
        unsafe { device::destroy_extra(&layer, record.callbacks.destroy, *extra, *next) };
    }
    let stays = layer.config.number_of("fail", "vkDestroyInstance").is_some();
    // SAFETY: a look-up of `vkDestroyInstance` returns a function of this type.
    let destroy = unsafe { typed::<vk::PFN_vkDestroyInstance>(layer.below(key, c"vkDestroyInstance")) };
    if let Some(destroy) = destroy.filter(|_| !stays) {
        // SAFETY: the next layer created the instance.
        unsafe { destroy(record.handle, allocator) };
    }
    layer.forget(key);
    wrap::drop_wrappers_of(&layer, key);
    reenter::destroy_own(record.own_instance);
}
