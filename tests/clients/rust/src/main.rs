//! Prints the properties of the devices, and the numbers that a compute shader writes. Uses vulkano.

use std::error::Error;
use std::fmt::Debug;
use std::sync::Arc;
use vulkano::VulkanLibrary;
use vulkano::buffer::{Buffer, BufferCreateInfo, BufferUsage, Subbuffer};
use vulkano::command_buffer::allocator::StandardCommandBufferAllocator;
use vulkano::command_buffer::{AutoCommandBufferBuilder, CommandBufferUsage};
use vulkano::descriptor_set::allocator::StandardDescriptorSetAllocator;
use vulkano::descriptor_set::{DescriptorSet, WriteDescriptorSet};
use vulkano::device::physical::PhysicalDevice;
use vulkano::device::{Device, DeviceCreateInfo, Queue, QueueCreateInfo};
use vulkano::instance::{Instance, InstanceCreateInfo};
use vulkano::memory::allocator::{AllocationCreateInfo, MemoryTypeFilter, StandardMemoryAllocator};
use vulkano::pipeline::compute::ComputePipelineCreateInfo;
use vulkano::pipeline::layout::PipelineDescriptorSetLayoutCreateInfo;
use vulkano::pipeline::{ComputePipeline, Pipeline, PipelineBindPoint, PipelineLayout, PipelineShaderStageCreateInfo};
use vulkano::shader::{ShaderModule, ShaderModuleCreateInfo};
use vulkano::sync::{self, GpuFuture};

/// Shaders of the C programs. The compute shader writes `i * i + 7`.
const SHADERS: &str = include_str!("../../../programs/gpu_shaders.h");
const COUNT: u32 = 4096;
/// Width of a workgroup of the shader that writes `i * i + 7`.
const WIDTH: u32 = 64;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let library = VulkanLibrary::new()?;
    list("instance extensions", library.supported_extensions());
    let instance = Instance::new(library, InstanceCreateInfo::default())?;
    for physical in instance.enumerate_physical_devices()? {
        describe(&physical);
        let numbers = compute(physical)?;
        let wrong = (0..COUNT)
            .zip(&numbers)
            .filter(|&(i, &number)| number != i * i + 7)
            .count();
        println!("computed: {:?}, {wrong} wrong", &numbers[..8]);
    }
    Ok(())
}

fn describe(physical: &PhysicalDevice) {
    let properties = physical.properties();
    println!(
        "device: {} {:?}, API {}",
        properties.device_name, properties.device_type, properties.api_version
    );
    list("extensions", physical.supported_extensions());
    list("features", physical.supported_features());
    println!("memory: {:?}", physical.memory_properties().memory_types);
}

/// Prints a set of names, one per line.
fn list(title: &str, names: &dyn Debug) {
    let names = format!("{names:?}");
    println!("{title}:\n{}", names.trim_matches(['[', ']']).replace(", ", "\n"));
}

fn compute(physical: Arc<PhysicalDevice>) -> Result<Vec<u32>> {
    let queue = QueueCreateInfo {
        queue_family_index: 0,
        ..Default::default()
    };
    let info = DeviceCreateInfo {
        queue_create_infos: vec![queue],
        ..Default::default()
    };
    let (device, mut queues) = Device::new(physical, info)?;
    let queue = queues.next().ok_or("the device has no queue")?;
    let buffer = numbers(&device)?;
    run(&device, &queue, &buffer)?;
    let result = buffer.read()?.to_vec();
    Ok(result)
}

fn numbers(device: &Arc<Device>) -> Result<Subbuffer<[u32]>> {
    let allocator = Arc::new(StandardMemoryAllocator::new_default(device.clone()));
    let usage = BufferCreateInfo {
        usage: BufferUsage::STORAGE_BUFFER,
        ..Default::default()
    };
    let readable = MemoryTypeFilter::PREFER_HOST | MemoryTypeFilter::HOST_RANDOM_ACCESS;
    let memory = AllocationCreateInfo {
        memory_type_filter: readable,
        ..Default::default()
    };
    Ok(Buffer::new_slice(allocator, usage, memory, COUNT.into())?)
}

fn run(device: &Arc<Device>, queue: &Arc<Queue>, buffer: &Subbuffer<[u32]>) -> Result<()> {
    let pipeline = pipeline(device)?;
    let sets = Arc::new(StandardDescriptorSetAllocator::new(device.clone(), Default::default()));
    let layout = pipeline.layout().set_layouts()[0].clone();
    let set = DescriptorSet::new(sets, layout, [WriteDescriptorSet::buffer(0, buffer.clone())], [])?;
    let commands = Arc::new(StandardCommandBufferAllocator::new(device.clone(), Default::default()));
    let once = CommandBufferUsage::OneTimeSubmit;
    let mut builder = AutoCommandBufferBuilder::primary(commands, queue.queue_family_index(), once)?;
    let bind = PipelineBindPoint::Compute;
    builder.bind_pipeline_compute(pipeline.clone())?;
    builder.bind_descriptor_sets(bind, pipeline.layout().clone(), 0, set)?;
    // SAFETY: each invocation of the shader writes one number, and the buffer has a number for each invocation.
    unsafe { builder.dispatch([COUNT / WIDTH, 1, 1])? };
    let done = sync::now(device.clone()).then_execute(queue.clone(), builder.build()?)?;
    done.then_signal_fence_and_flush()?.wait(None)?;
    Ok(())
}

fn pipeline(device: &Arc<Device>) -> Result<Arc<ComputePipeline>> {
    let words = words("square_comp")?;
    // SAFETY: the words are a valid module, because a shader compiler wrote them.
    let module = unsafe { ShaderModule::new(device.clone(), ShaderModuleCreateInfo::new(&words))? };
    let entry = module.entry_point("main").ok_or("the shader has no entry point")?;
    let stage = PipelineShaderStageCreateInfo::new(entry);
    let layout = PipelineDescriptorSetLayoutCreateInfo::from_stages([&stage]);
    let layout = PipelineLayout::new(device.clone(), layout.into_pipeline_layout_create_info(device.clone())?)?;
    Ok(ComputePipeline::new(
        device.clone(),
        None,
        ComputePipelineCreateInfo::stage_layout(stage, layout),
    )?)
}

/// Returns the words of an array in the C header.
fn words(name: &str) -> Result<Vec<u32>> {
    let (_, rest) = SHADERS.split_once(&format!("{name}[] = {{")).ok_or("no such shader")?;
    let (body, _) = rest.split_once('}').ok_or("the array has no end")?;
    let words = body
        .split(',')
        .map(|word| u32::from_str_radix(word.trim().trim_start_matches("0x"), 16));
    Ok(words.collect::<std::result::Result<_, _>>()?)
}
