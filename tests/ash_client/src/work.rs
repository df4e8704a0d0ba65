//! Fills a buffer on one device, and reads it back.

use ash::{Device, Instance, vk};
use std::fmt;

/// Number of 32-bit words in the buffer, and the value that fills each word.
const WORDS: usize = 1 << 18;
const PATTERN: u32 = 0x5eed_1234;
/// Time limit for filling the buffer, in nanoseconds: ten seconds.
const PATIENCE: u64 = 10_000_000_000;

/// Reason why a device failed to fill its buffer.
pub(crate) enum Failure {
    /// A command failed.
    Vulkan(vk::Result),
    /// Number of words that did not have the pattern.
    Wrong(usize),
    /// The device has no queue family or memory type that can be used for the buffer.
    Lacking(&'static str),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Vulkan(result) => write!(f, "{result:?}"),
            Self::Wrong(words) => write!(f, "{words} of {WORDS} words wrong"),
            Self::Lacking(what) => write!(f, "no {what}"),
        }
    }
}

impl From<vk::Result> for Failure {
    fn from(result: vk::Result) -> Self {
        Self::Vulkan(result)
    }
}

/// Creates a device, fills a buffer on it, and destroys all objects. If `back` is `true`, also reads the buffer back, checks each word, and
/// returns the number of words in the buffer.
pub(crate) fn work_on(instance: &Instance, physical: vk::PhysicalDevice, back: bool) -> Result<Option<usize>, Failure> {
    let family = family(instance, physical).ok_or(Failure::Lacking("queue family that can fill buffers"))?;
    // SAFETY: the handle comes from this instance, which is valid.
    let memory = unsafe { instance.get_physical_device_memory_properties(physical) };
    let queue = [vk::DeviceQueueCreateInfo::default()
        .queue_family_index(family)
        .queue_priorities(&[1.0])];
    let info = vk::DeviceCreateInfo::default().queue_create_infos(&queue);
    // SAFETY: the handle comes from this instance, and the pointers in the structure refer to locals that outlive the call.
    let device = unsafe { instance.create_device(physical, &info, None) }?;
    let outcome = on_device(&device, family, &memory, back);
    // SAFETY: `on_device` destroyed all objects of the device before it returned.
    unsafe { device.destroy_device(None) };
    outcome
}

/// Returns the first queue family that can fill buffers. Families for graphics and compute can fill buffers, because they also support
/// transfers.
fn family(instance: &Instance, physical: vk::PhysicalDevice) -> Option<u32> {
    let able = vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE | vk::QueueFlags::TRANSFER;
    // SAFETY: the handle comes from this instance, which is valid.
    let families = unsafe { instance.get_physical_device_queue_family_properties(physical) };
    let fits = |family: &vk::QueueFamilyProperties| family.queue_count > 0 && family.queue_flags.intersects(able);
    families.iter().position(fits).map(|index| index as u32)
}

fn on_device(
    device: &Device,
    family: u32,
    memory: &vk::PhysicalDeviceMemoryProperties,
    back: bool,
) -> Result<Option<usize>, Failure> {
    let info = vk::BufferCreateInfo::default()
        .size((WORDS * size_of::<u32>()) as u64)
        .usage(vk::BufferUsageFlags::TRANSFER_DST);
    // SAFETY: the device is valid during this call.
    let buffer = unsafe { device.create_buffer(&info, None) }?;
    let outcome = allocate(device, memory, buffer).and_then(|block| {
        let outcome = with_memory(device, family, buffer, block, back);
        // SAFETY: `with_memory` waits for the device, so no work on the memory is pending, unless the device hangs.
        unsafe { device.free_memory(block, None) };
        outcome
    });
    // SAFETY: `with_memory` waits for the device, so no work on the buffer is pending, unless the device hangs.
    unsafe { device.destroy_buffer(buffer, None) };
    outcome
}

/// Allocates memory for the buffer. The host can read this memory.
fn allocate(
    device: &Device,
    memory: &vk::PhysicalDeviceMemoryProperties,
    buffer: vk::Buffer,
) -> Result<vk::DeviceMemory, Failure> {
    // SAFETY: the buffer comes from this device.
    let needs = unsafe { device.get_buffer_memory_requirements(buffer) };
    let wanted = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
    let index = memory
        .memory_types_as_slice()
        .iter()
        .enumerate()
        .position(|(index, kind)| needs.memory_type_bits >> index & 1 == 1 && kind.property_flags.contains(wanted))
        .ok_or(Failure::Lacking("host-visible memory"))?;
    let info = vk::MemoryAllocateInfo::default()
        .allocation_size(needs.size)
        .memory_type_index(index as u32);
    // SAFETY: the device is valid during this call.
    Ok(unsafe { device.allocate_memory(&info, None) }?)
}

fn with_memory(
    device: &Device,
    family: u32,
    buffer: vk::Buffer,
    block: vk::DeviceMemory,
    back: bool,
) -> Result<Option<usize>, Failure> {
    // SAFETY: buffer and memory come from this device, and neither is bound yet.
    unsafe { device.bind_buffer_memory(buffer, block, 0) }?;
    submit(device, family, buffer)?;
    back.then(|| read_back(device, block)).transpose()
}

/// Records and submits a command buffer, and waits until it has been executed.
fn submit(device: &Device, family: u32, buffer: vk::Buffer) -> Result<(), Failure> {
    let info = vk::CommandPoolCreateInfo::default().queue_family_index(family);
    // SAFETY: the device is valid during this call.
    let pool = unsafe { device.create_command_pool(&info, None) }?;
    let result = record(device, pool, buffer).and_then(|commands| run(device, family, commands));
    // SAFETY: `run` waited for the queue. The destruction of the pool frees its command buffers.
    unsafe { device.destroy_command_pool(pool, None) };
    Ok(result?)
}

fn record(device: &Device, pool: vk::CommandPool, buffer: vk::Buffer) -> Result<vk::CommandBuffer, vk::Result> {
    let info = vk::CommandBufferAllocateInfo::default()
        .command_pool(pool)
        .command_buffer_count(1);
    let visible = [vk::BufferMemoryBarrier::default()
        .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
        .dst_access_mask(vk::AccessFlags::HOST_READ)
        .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .buffer(buffer)
        .size(vk::WHOLE_SIZE)];
    let (from, to) = (vk::PipelineStageFlags::TRANSFER, vk::PipelineStageFlags::HOST);
    let begin = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
    // SAFETY: the pool comes from this device and is used by this thread alone.
    let commands = unsafe { device.allocate_command_buffers(&info) }?[0];
    // SAFETY: the command buffer is new, and the buffer is bound and exists until the work has ended.
    unsafe {
        device.begin_command_buffer(commands, &begin)?;
        device.cmd_fill_buffer(commands, buffer, 0, vk::WHOLE_SIZE, PATTERN);
        device.cmd_pipeline_barrier(commands, from, to, vk::DependencyFlags::empty(), &[], &visible, &[]);
        device.end_command_buffer(commands)?;
    }
    Ok(commands)
}

fn run(device: &Device, family: u32, commands: vk::CommandBuffer) -> Result<(), vk::Result> {
    let commands = [commands];
    let work = [vk::SubmitInfo::default().command_buffers(&commands)];
    // SAFETY: the device has one queue of this family, and only this function uses the fence.
    unsafe {
        let queue = device.get_device_queue(family, 0);
        let fence = device.create_fence(&vk::FenceCreateInfo::default(), None)?;
        let result = device
            .queue_submit(queue, &work, fence)
            .and_then(|()| device.wait_for_fences(&[fence], true, PATIENCE))
            .and_then(|()| device.queue_wait_idle(queue));
        device.destroy_fence(fence, None);
        result
    }
}

fn read_back(device: &Device, block: vk::DeviceMemory) -> Result<usize, Failure> {
    // SAFETY: the memory is host-visible, not mapped, and at least `WORDS` words long. No work on the device writes to it any more.
    let wrong = unsafe {
        let start = device.map_memory(block, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())?;
        let words = std::slice::from_raw_parts(start.cast::<u32>(), WORDS);
        let wrong = words.iter().filter(|&&word| word != PATTERN).count();
        device.unmap_memory(block);
        wrong
    };
    match wrong {
        0 => Ok(WORDS),
        wrong => Err(Failure::Wrong(wrong)),
    }
}
