//! Devices, queues, command buffers and submission.

use ash::vk::{self, Handle};

use crate::alloc::Allocator;
use crate::entry::Call;
use crate::{chain, object, physical};

/// Returns text for the journal: the names of the devices in a `VkDeviceGroupDeviceCreateInfo` of the chain, and a word that says whether
/// `pEnabledFeatures` is null.
fn details(info: &vk::DeviceCreateInfo<'_>) -> String {
    let mut text = String::new();
    let kind = vk::StructureType::DEVICE_GROUP_DEVICE_CREATE_INFO;
    if let Some(group) = chain::find::<vk::DeviceGroupDeviceCreateInfo<'_>>(info.p_next, kind) {
        // SAFETY: a structure of this type in a chain is valid during the call, and so is its array.
        let members = unsafe {
            let group = &*group;
            std::slice::from_raw_parts(group.p_physical_devices, group.physical_device_count as usize)
        };
        let names: Vec<String> = members
            .iter()
            .map(|member| physical::device("vkCreateDevice", *member).name)
            .collect();
        text += &format!(" group=[{}]", names.join(" "));
    }
    text + if info.p_enabled_features.is_null() {
        " features=null"
    } else {
        " features=given"
    }
}

/// Implements `vkCreateDevice`.
pub(crate) unsafe extern "system" fn create(
    physical: vk::PhysicalDevice,
    info: *const vk::DeviceCreateInfo<'static>,
    allocator: *const vk::AllocationCallbacks<'static>,
    out: *mut vk::Device,
) -> vk::Result {
    let device = physical::device("vkCreateDevice", physical);
    // SAFETY: the create info is valid during the call.
    let info = unsafe { &*info };
    // SAFETY: in a create info, the count of an array is the number of its strings.
    let extensions = unsafe { chain::names(info.pp_enabled_extension_names, info.enabled_extension_count) };
    #[allow(deprecated, reason = "the loader must pass no layers here")]
    let (layers, layer_names) = (info.enabled_layer_count, info.pp_enabled_layer_names);
    let call = Call::enter(
        "vkCreateDevice",
        format_args!(
            "{} layers={layers}{} ext=[{}] {}{} {}",
            device.name,
            ["+names", ""][usize::from(layer_names.is_null())],
            extensions.join(" "),
            chain::show(info.p_next),
            details(info),
            Allocator(allocator)
        ),
    );
    if let Some(code) = call.failure {
        return code;
    }
    let made = if call.config.gives_null(call.name) {
        vk::Device::null()
    } else {
        vk::Device::from_raw(object::create("device", physical.as_raw(), &device.name, extensions))
    };
    // SAFETY: the caller passes a valid place for the result.
    unsafe { *out = made };
    vk::Result::SUCCESS
}

/// Implements `vkDestroyDevice`.
pub(crate) unsafe extern "system" fn destroy(device: vk::Device, allocator: *const vk::AllocationCallbacks<'static>) {
    let name = &object::get("vkDestroyDevice", "device", device.as_raw()).device;
    Call::enter("vkDestroyDevice", format_args!("{name} {}", Allocator(allocator)));
    object::destroy_children(device.as_raw());
    object::destroy(device.as_raw());
}

fn queue(name: &'static str, device: vk::Device, family: u32, index: u32) -> vk::Queue {
    let owner = object::get(name, "device", device.as_raw());
    let call = Call::enter(name, format_args!("family={family} index={index}"));
    if call.config.gives_null(name) {
        return vk::Queue::null();
    }
    let make = || object::create("queue", device.as_raw(), &owner.device, Vec::new());
    vk::Queue::from_raw(object::child(device.as_raw(), &format!("queue {family} {index}"), make))
}

/// Implements `vkGetDeviceQueue`.
pub(crate) unsafe extern "system" fn get_queue(device: vk::Device, family: u32, index: u32, out: *mut vk::Queue) {
    // SAFETY: the caller passes a valid place for the result.
    unsafe { *out = queue("vkGetDeviceQueue", device, family, index) };
}

/// Implements `vkGetDeviceQueue2`.
pub(crate) unsafe extern "system" fn get_queue2(
    device: vk::Device,
    info: *const vk::DeviceQueueInfo2<'static>,
    out: *mut vk::Queue,
) {
    // SAFETY: the caller passes a valid structure and a valid place.
    unsafe {
        *out = queue(
            "vkGetDeviceQueue2",
            device,
            (*info).queue_family_index,
            (*info).queue_index,
        )
    };
}

/// Implements `vkAllocateCommandBuffers`.
pub(crate) unsafe extern "system" fn allocate_command_buffers(
    device: vk::Device,
    info: *const vk::CommandBufferAllocateInfo<'static>,
    out: *mut vk::CommandBuffer,
) -> vk::Result {
    let owner = object::get("vkAllocateCommandBuffers", "device", device.as_raw());
    // SAFETY: the caller passes a valid structure.
    let count = unsafe { (*info).command_buffer_count };
    let call = Call::enter("vkAllocateCommandBuffers", format_args!("count={count}"));
    if let Some(code) = call.failure {
        return code;
    }
    for index in 0..count as usize {
        let handle = object::create("command_buffer", device.as_raw(), &owner.device, Vec::new());
        // SAFETY: the caller passes space for `count` handles.
        unsafe { *out.add(index) = vk::CommandBuffer::from_raw(handle) };
    }
    vk::Result::SUCCESS
}

/// Implements `vkFreeCommandBuffers`.
pub(crate) unsafe extern "system" fn free_command_buffers(
    device: vk::Device,
    _pool: vk::CommandPool,
    count: u32,
    buffers: *const vk::CommandBuffer,
) {
    object::expect("vkFreeCommandBuffers", &["device"], device.as_raw());
    Call::enter("vkFreeCommandBuffers", format_args!("count={count}"));
    for index in 0..count as usize {
        // SAFETY: the caller passes `count` handles.
        let buffer = unsafe { *buffers.add(index) };
        if !buffer.is_null() {
            object::expect("vkFreeCommandBuffers", &["command_buffer"], buffer.as_raw());
            object::destroy(buffer.as_raw());
        }
    }
}

/// Defines a command whose first parameter is a dispatchable object. The command only records the call.
macro_rules! noted {
    ($function:ident, $name:literal, $kind:literal, $handle:ty $(, $arg:ident: $ty:ty)*) => {
        #[doc = concat!("`", $name, "`.")]
        pub(crate) unsafe extern "system" fn $function(handle: $handle $(, $arg: $ty)*) -> vk::Result {
            object::expect($name, &[$kind], handle.as_raw());
            Call::enter($name, object::show(handle.as_raw())).result()
        }
    };
}

noted!(wait_idle, "vkDeviceWaitIdle", "device", vk::Device);
noted!(queue_wait_idle, "vkQueueWaitIdle", "queue", vk::Queue);
noted!(begin, "vkBeginCommandBuffer", "command_buffer", vk::CommandBuffer, _info: *const vk::CommandBufferBeginInfo<'static>);
noted!(end, "vkEndCommandBuffer", "command_buffer", vk::CommandBuffer);
noted!(reset, "vkResetCommandBuffer", "command_buffer", vk::CommandBuffer, _flags: vk::CommandBufferResetFlags);

/// Checks the command buffers of a submission, and returns them as text for the journal.
fn submitted(name: &'static str, buffers: impl Iterator<Item = vk::CommandBuffer>) -> String {
    let shown = buffers.map(|buffer| {
        object::expect(name, &["command_buffer"], buffer.as_raw());
        object::show(buffer.as_raw())
    });
    format!("[{}]", shown.collect::<Vec<_>>().join(" "))
}

/// Implements `vkQueueSubmit`.
pub(crate) unsafe extern "system" fn queue_submit(
    queue: vk::Queue,
    count: u32,
    submits: *const vk::SubmitInfo<'static>,
    _fence: vk::Fence,
) -> vk::Result {
    object::expect("vkQueueSubmit", &["queue"], queue.as_raw());
    let submits = match count {
        0 => &[],
        // SAFETY: the caller passes `count` structures.
        _ => unsafe { std::slice::from_raw_parts(submits, count as usize) },
    };
    let buffers = submits.iter().flat_map(|submit| {
        // SAFETY: in each structure, the count is the number of handles.
        (0..submit.command_buffer_count as usize).map(|index| unsafe { *submit.p_command_buffers.add(index) })
    });
    let shown = submitted("vkQueueSubmit", buffers);
    Call::enter(
        "vkQueueSubmit",
        format_args!("{} {shown}", object::show(queue.as_raw())),
    )
    .result()
}

/// Implements `vkQueueSubmit2`.
pub(crate) unsafe extern "system" fn queue_submit2(
    queue: vk::Queue,
    count: u32,
    submits: *const vk::SubmitInfo2<'static>,
    _fence: vk::Fence,
) -> vk::Result {
    object::expect("vkQueueSubmit2", &["queue"], queue.as_raw());
    let submits = match count {
        0 => &[],
        // SAFETY: the caller passes `count` structures.
        _ => unsafe { std::slice::from_raw_parts(submits, count as usize) },
    };
    let buffers = submits.iter().flat_map(|submit| {
        // SAFETY: in each structure, the count is the number of elements.
        let info = |index| unsafe { (*submit.p_command_buffer_infos.add(index)).command_buffer };
        (0..submit.command_buffer_info_count as usize).map(info)
    });
    let shown = submitted("vkQueueSubmit2", buffers);
    Call::enter(
        "vkQueueSubmit2",
        format_args!("{} {shown}", object::show(queue.as_raw())),
    )
    .result()
}

/// Implements `vkCmdDraw`. The recorded arguments show that a trampoline passed the arguments on.
pub(crate) unsafe extern "system" fn draw(buffer: vk::CommandBuffer, a: u32, b: u32, c: u32, d: u32) {
    object::expect("vkCmdDraw", &["command_buffer"], buffer.as_raw());
    Call::enter(
        "vkCmdDraw",
        format_args!("{} {a} {b} {c} {d}", object::show(buffer.as_raw())),
    );
}

/// Implements `vkMapMemory`. Returns host memory, so that the caller can write to it.
pub(crate) unsafe extern "system" fn map_memory(
    device: vk::Device,
    memory: vk::DeviceMemory,
    _offset: u64,
    size: u64,
    _flags: vk::MemoryMapFlags,
    out: *mut *mut std::ffi::c_void,
) -> vk::Result {
    object::expect("vkMapMemory", &["device"], device.as_raw());
    let call = Call::enter("vkMapMemory", format_args!("{:#x} size={size}", memory.as_raw()));
    static HOST: [std::sync::atomic::AtomicU8; 4096] = [const { std::sync::atomic::AtomicU8::new(0) }; 4096];
    // SAFETY: the caller passes a valid place for the result.
    unsafe { *out = HOST.as_ptr().cast_mut().cast() };
    call.result()
}
