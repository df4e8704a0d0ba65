//! The process that uses a driver while `vkloader files` observes it. The process creates an instance and all devices, and runs an empty
//! shader on each device. The process prints a line after each step, so that the observer knows the steps before a crash.

use super::watch;
use crate::probe;
use crate::vulkan::{
    self, Code, CommandBufferAllocateInfo, CommandBufferBeginInfo, CommandPoolCreateInfo, ComputePipelineCreateInfo,
    Handle, Head, NO_ALLOCATOR, Object, Physical, PhysicalDeviceDriverProperties, PipelineLayoutCreateInfo,
    PipelineShaderStageCreateInfo, ShaderModuleCreateInfo, SubmitInfo, commands,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ffi::{OsString, c_void};
use std::fs;
use std::io::{self, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::ptr;

/// Hidden command of `vkloader`. The next argument is the path of the loader.
pub(super) const ARGUMENT: &str = "use";

/// A line that the process prints.
#[derive(Debug, Deserialize, Serialize)]
#[serde(tag = "said", rename_all = "kebab-case")]
pub(super) enum Said {
    /// The loader could not be opened, for this reason.
    NotOpened { words: String },
    /// The process cannot be observed, for this reason.
    NotWatched { words: String },
    /// Files that the process has mapped or open. The process prints the first line of this kind before it opens a driver.
    Holds { files: BTreeSet<Held> },
    /// The process used a device.
    Device(Device),
}

/// A path as bytes, because paths are not always valid UTF-8.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
pub(super) struct Held(Vec<u8>);

impl From<Held> for PathBuf {
    fn from(held: Held) -> Self {
        OsString::from_vec(held.0).into()
    }
}

/// A device, with the result of using it.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct Device {
    pub(super) name: String,
    /// Name that the driver reports.
    pub(super) driver: Option<String>,
    /// Result of the first command that failed, for example `vkCreateDevice`.
    pub(super) failed: Option<i32>,
}

/// Runs in the process that uses the driver. Standard input is the socket to the observer.
pub(crate) fn run(library: &OsString) -> io::Result<()> {
    let entry = match probe::open(library) {
        Ok(entry) => entry,
        Err(words) => return say(&Said::NotOpened { words }),
    };
    say(&Said::Holds { files: holds() })?;
    if let Err(error) = watch::be_watched(io::stdin()) {
        say(&Said::NotWatched {
            words: error.to_string(),
        })?;
    }
    let made = probe::instance(&entry, probe::Extent::Program, &[]);
    say(&Said::Holds { files: holds() })?;
    let Ok(instance) = made else { return Ok(()) };
    for device in instance.devices().unwrap_or_default() {
        let device = try_device(device);
        say(&Said::Device(device))?;
        say(&Said::Holds { files: holds() })?;
    }
    instance.destroy();
    Ok(())
}

fn say(said: &Said) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let line = serde_json::to_string(said).map_err(io::Error::other)?;
    writeln!(out, "{line}")?;
    out.flush()
}

/// Returns the files that this process has mapped or open.
fn holds() -> BTreeSet<Held> {
    let maps = fs::read("/proc/self/maps").unwrap_or_default();
    let mapped = maps.split(|&byte| byte == b'\n').filter_map(|line| {
        let path = line.iter().position(|&byte| byte == b'/')?;
        Some(Held(without_escapes(&line[path..])))
    });
    let open = fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let open = open.filter_map(|entry| fs::read_link(entry.path()).ok());
    let open = open.map(|path| Held(path.as_os_str().as_bytes().to_vec()));
    // The links of pipes, sockets and anonymous inodes do not begin with a slash, so they are skipped.
    mapped.chain(open.filter(|held| held.0.starts_with(b"/"))).collect()
}

/// Decodes a path from `/proc/self/maps`, in which only the newline is escaped.
fn without_escapes(path: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(path.len());
    let mut rest = path;
    while let Some((&first, after)) = rest.split_first() {
        match rest.strip_prefix(b"\\012") {
            Some(after) => {
                plain.push(b'\n');
                rest = after;
            }
            None => {
                plain.push(first);
                rest = after;
            }
        }
    }
    plain
}

fn try_device(device: Physical<'_>) -> Device {
    let properties = device.properties();
    let mut driver = PhysicalDeviceDriverProperties::default();
    let knows_driver = properties.api_version >= vulkan::VERSION_1_2;
    if knows_driver {
        // SAFETY: `driver` is a valid chain with one structure, which the device's Vulkan version supports.
        unsafe { device.fill((&raw mut driver).cast()) };
    }
    Device {
        name: probe::text(&properties.name),
        driver: knows_driver.then(|| probe::text(&driver.driver_name)),
        failed: use_device(device).err(),
    }
}

fn use_device(physical: Physical<'_>) -> Result<(), Code> {
    let families = physical.queue_families();
    let compute = families
        .iter()
        .position(|family| family.flags & vulkan::QUEUE_COMPUTE != 0);
    let family = u32::try_from(compute.unwrap_or(0)).unwrap_or(0);
    let (device, get) = physical.device(family)?;
    // SAFETY: `get` is the look-up function of the live `device`, and `Work` declares each function with its type in the registry.
    let work = unsafe { Work::find(get, device) }.filter(|_| compute.is_some());
    work.map_or(Ok(()), |work| compute_nothing(device, &work, family))?;
    // SAFETY: `get` is the look-up function of the live `device`, and `End` declares its function with its type in the registry.
    if let Some(end) = unsafe { End::find(get, device) } {
        // SAFETY: `device` is live, and all of its objects have been destroyed.
        unsafe { (end.destroy_device)(device, NO_ALLOCATOR) };
    }
    Ok(())
}

commands! {
    /// The command that destroys a device.
    End {
        destroy_device = c"vkDestroyDevice": fn(Handle, *const c_void);
    }
}

commands! {
    /// Commands that are needed to run the shader. If an incomplete driver lacks one of the commands, `Work::find` returns `None`.
    Work {
        create_module = c"vkCreateShaderModule": fn(Handle, *const ShaderModuleCreateInfo, *const c_void, *mut Object) -> Code;
        create_layout = c"vkCreatePipelineLayout": fn(Handle, *const PipelineLayoutCreateInfo, *const c_void, *mut Object) -> Code;
        create_pipelines = c"vkCreateComputePipelines":
            fn(Handle, Object, u32, *const ComputePipelineCreateInfo, *const c_void, *mut Object) -> Code;
        create_pool = c"vkCreateCommandPool": fn(Handle, *const CommandPoolCreateInfo, *const c_void, *mut Object) -> Code;
        allocate_buffers = c"vkAllocateCommandBuffers": fn(Handle, *const CommandBufferAllocateInfo, *mut Handle) -> Code;
        begin = c"vkBeginCommandBuffer": fn(Handle, *const CommandBufferBeginInfo) -> Code;
        bind_pipeline = c"vkCmdBindPipeline": fn(Handle, i32, Object);
        dispatch = c"vkCmdDispatch": fn(Handle, u32, u32, u32);
        end = c"vkEndCommandBuffer": fn(Handle) -> Code;
        queue = c"vkGetDeviceQueue": fn(Handle, u32, u32, *mut Handle);
        submit = c"vkQueueSubmit": fn(Handle, u32, *const SubmitInfo, Object) -> Code;
        wait = c"vkQueueWaitIdle": fn(Handle) -> Code;
        destroy_pool = c"vkDestroyCommandPool": fn(Handle, Object, *const c_void);
        destroy_pipeline = c"vkDestroyPipeline": fn(Handle, Object, *const c_void);
        destroy_layout = c"vkDestroyPipelineLayout": fn(Handle, Object, *const c_void);
        destroy_module = c"vkDestroyShaderModule": fn(Handle, Object, *const c_void);
    }
}

/// A shader that does nothing. The driver must open its compiler to compile the shader.
const SHADER: [u32; 35] = [
    0x0723_0203,
    0x0001_0000,
    0,
    5,
    0, // the magic number, version 1.0, and the bound of the numbers below
    0x0002_0011,
    1, // capability Shader
    0x0003_000E,
    0,
    1, // memory model Logical GLSL450
    0x0005_000F,
    5,
    1,
    0x6E69_616D,
    0, // entry point %1 for compute, "main"
    0x0006_0010,
    1,
    17,
    1,
    1,
    1, // %1 has local size 1, 1, 1
    0x0002_0013,
    2, // %2 is void
    0x0003_0021,
    3,
    2, // %3 is a function that returns %2
    0x0005_0036,
    2,
    1,
    0,
    3, // function %1
    0x0002_00F8,
    4,
    0x0001_00FD,
    0x0001_0038, // body of %1: a label, return, and the end
];

/// Runs the shader once.
///
/// # Errors
/// Returns the error code of the first command that failed.
fn compute_nothing(device: Handle, work: &Work, family: u32) -> Result<(), Code> {
    // SAFETY: in the whole block, `device` is live, `work` has its commands, and all create infos and objects are valid for `device`. After
    // an error, no code uses the device and its objects again, and they are not destroyed before the process ends.
    unsafe {
        let module = made(|module| (work.create_module)(device, &shader(), NO_ALLOCATOR, module))?;
        let layout = made(|layout| (work.create_layout)(device, &EMPTY_LAYOUT, NO_ALLOCATOR, layout))?;
        let info = pipeline(module, layout);
        let pipeline = made(|pipeline| (work.create_pipelines)(device, 0, 1, &info, NO_ALLOCATOR, pipeline))?;
        let info = CommandPoolCreateInfo {
            head: Head::of(vulkan::COMMAND_POOL_CREATE_INFO),
            flags: 0,
            family,
        };
        let pool = made(|pool| (work.create_pool)(device, &info, NO_ALLOCATOR, pool))?;
        let buffer = record(device, work, pool, pipeline)?;
        run_once(device, work, family, &buffer)?;
        (work.destroy_pool)(device, pool, NO_ALLOCATOR);
        (work.destroy_pipeline)(device, pipeline, NO_ALLOCATOR);
        (work.destroy_layout)(device, layout, NO_ALLOCATOR);
        (work.destroy_module)(device, module, NO_ALLOCATOR);
    }
    Ok(())
}

/// Calls `make` with space for a handle, and returns the created object.
///
/// # Errors
///
/// The code that `make` returned.
fn made(make: impl FnOnce(*mut Object) -> Code) -> Result<Object, Code> {
    let mut object = 0;
    vulkan::succeeded(make(&mut object))?;
    Ok(object)
}

/// A pipeline layout without descriptor sets and push constants.
const EMPTY_LAYOUT: PipelineLayoutCreateInfo = PipelineLayoutCreateInfo {
    head: Head::of(vulkan::PIPELINE_LAYOUT_CREATE_INFO),
    flags: 0,
    set_count: 0,
    sets: ptr::null(),
    range_count: 0,
    ranges: ptr::null(),
};

fn shader() -> ShaderModuleCreateInfo {
    ShaderModuleCreateInfo {
        head: Head::of(vulkan::SHADER_MODULE_CREATE_INFO),
        flags: 0,
        code_size: size_of_val(&SHADER),
        code: SHADER.as_ptr(),
    }
}

fn pipeline(module: Object, layout: Object) -> ComputePipelineCreateInfo {
    ComputePipelineCreateInfo {
        head: Head::of(vulkan::COMPUTE_PIPELINE_CREATE_INFO),
        flags: 0,
        stage: PipelineShaderStageCreateInfo {
            head: Head::of(vulkan::PIPELINE_SHADER_STAGE_CREATE_INFO),
            flags: 0,
            stage: vulkan::STAGE_COMPUTE,
            module,
            name: c"main".as_ptr(),
            specialization: ptr::null(),
        },
        layout,
        base: 0,
        base_index: 0,
    }
}

/// Records a command buffer with one dispatch.
///
/// # Safety
/// The handles must belong to the live `device`, and `work` must have its commands.
unsafe fn record(device: Handle, work: &Work, pool: Object, pipeline: Object) -> Result<Handle, Code> {
    let info = CommandBufferAllocateInfo {
        head: Head::of(vulkan::COMMAND_BUFFER_ALLOCATE_INFO),
        pool,
        level: 0,
        count: 1,
    };
    let begin = CommandBufferBeginInfo {
        head: Head::of(vulkan::COMMAND_BUFFER_BEGIN_INFO),
        flags: 0,
        inheritance: ptr::null(),
    };
    let mut buffer = ptr::null_mut();
    // SAFETY: the caller promises that the handles are valid, and the structures are initialised.
    unsafe {
        vulkan::succeeded((work.allocate_buffers)(device, &info, &mut buffer))?;
        vulkan::succeeded((work.begin)(buffer, &begin))?;
        (work.bind_pipeline)(buffer, BIND_POINT_COMPUTE, pipeline);
        (work.dispatch)(buffer, 1, 1, 1);
        vulkan::succeeded((work.end)(buffer))?;
    }
    Ok(buffer)
}

/// Value of `VK_PIPELINE_BIND_POINT_COMPUTE`.
const BIND_POINT_COMPUTE: i32 = 1;

/// Submits a command buffer and waits for it.
///
/// # Safety
/// The buffer must be recorded and belong to the live `device`. The device must have a queue of the family, and `work` must have
/// its commands.
unsafe fn run_once(device: Handle, work: &Work, family: u32, buffer: &Handle) -> Result<(), Code> {
    let submitted = SubmitInfo {
        head: Head::of(vulkan::SUBMIT_INFO),
        wait_count: 0,
        waits: ptr::null(),
        wait_stages: ptr::null(),
        buffer_count: 1,
        buffers: buffer,
        signal_count: 0,
        signals: ptr::null(),
    };
    let mut queue = ptr::null_mut();
    // SAFETY: the caller promises that the handles are valid, and the structure is initialised.
    unsafe {
        (work.queue)(device, family, 0, &mut queue);
        vulkan::succeeded((work.submit)(queue, 1, &submitted, 0))?;
        vulkan::succeeded((work.wait)(queue))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shader_is_as_long_as_its_instructions_say() {
        let mut at = 5;
        while at < SHADER.len() {
            at += (SHADER[at] >> 16) as usize;
        }
        assert_eq!(at, SHADER.len());
    }

    #[test]
    fn paths_of_mapped_files_may_have_line_ends() {
        assert_eq!(without_escapes(br"/a\012b\01"), b"/a\nb\\01");
    }
}
