//! The process that uses drivers, so that another can see what that takes: it makes an instance and each device, and lets each run an
//! empty shader. It says what it did and what it has mapped line by line, so that what comes before a crash is heard.

use super::watch;
use crate::probe;
use ash::vk;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// The argument that makes this program that process; what follows is the library to open.
pub(super) const ARGUMENT: &str = "use";

/// What the process says, a line each.
#[derive(Debug, Deserialize, Serialize)]
#[serde(tag = "said", rename_all = "kebab-case")]
pub(super) enum Said {
    /// The library did not open, for this reason.
    NotOpened { words: String },
    /// It cannot be watched, for this reason.
    NotWatched { words: String },
    /// What it has mapped and open. The first of these is from before any driver was opened.
    Holds { files: BTreeSet<Held> },
    /// A device was tried.
    Device(Device),
}

/// A path, as bytes: JSON has only texts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
pub(super) struct Held(Vec<u8>);

impl From<Held> for PathBuf {
    fn from(held: Held) -> Self {
        OsString::from_vec(held.0).into()
    }
}

/// A device, and whether it works.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct Device {
    pub(super) name: String,
    /// What the driver calls itself.
    pub(super) driver: Option<String>,
    /// What the first call that failed gave, such as `vkCreateDevice`.
    pub(super) failed: Option<i32>,
}

/// Does it. What is watched hangs on standard input.
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
    let made = probe::instance(&entry, probe::Extent::Program);
    say(&Said::Holds { files: holds() })?;
    let Ok(instance) = made else { return Ok(()) };
    // SAFETY: a live instance.
    for device in unsafe { instance.enumerate_physical_devices() }.unwrap_or_default() {
        let device = try_device(&instance, device);
        say(&Said::Device(device))?;
        say(&Said::Holds { files: holds() })?;
    }
    // SAFETY: nothing made of it is left.
    unsafe { instance.destroy_instance(None) };
    Ok(())
}

fn say(said: &Said) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let line = serde_json::to_string(said).map_err(io::Error::other)?;
    writeln!(out, "{line}")?;
    out.flush()
}

/// The files that this process has mapped or open.
fn holds() -> BTreeSet<Held> {
    let maps = fs::read("/proc/self/maps").unwrap_or_default();
    let mapped = maps.split(|&byte| byte == b'\n').filter_map(|line| {
        let path = line.iter().position(|&byte| byte == b'/')?;
        Some(Held(without_escapes(&line[path..])))
    });
    let open = fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let open = open.filter_map(|entry| fs::read_link(entry.path()).ok());
    let open = open.map(|path| Held(path.as_os_str().as_bytes().to_vec()));
    // Pipes, sockets and what has no name begin otherwise.
    mapped.chain(open.filter(|held| held.0.starts_with(b"/"))).collect()
}

/// The one character that the list of what is mapped escapes is the end of a line.
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

fn try_device(instance: &ash::Instance, device: vk::PhysicalDevice) -> Device {
    // SAFETY: a device of a live instance.
    let properties = unsafe { instance.get_physical_device_properties(device) };
    let mut driver = vk::PhysicalDeviceDriverProperties::default();
    let knows_driver = properties.api_version >= vk::API_VERSION_1_2;
    if knows_driver {
        let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut driver);
        // SAFETY: as above, and the structure belongs to the device's version.
        unsafe { instance.get_physical_device_properties2(device, &mut all) };
    }
    Device {
        name: probe::text(&properties.device_name),
        driver: knows_driver.then(|| probe::text(&driver.driver_name)),
        failed: use_device(instance, device).err().map(vk::Result::as_raw),
    }
}

fn use_device(instance: &ash::Instance, physical: vk::PhysicalDevice) -> Result<(), vk::Result> {
    // SAFETY: a device of a live instance.
    let families = unsafe { instance.get_physical_device_queue_family_properties(physical) };
    let computes = |family: &vk::QueueFamilyProperties| family.queue_flags.contains(vk::QueueFlags::COMPUTE);
    let compute = families.iter().position(computes);
    let family = u32::try_from(compute.unwrap_or(0)).unwrap_or(0);
    let queues = [vk::DeviceQueueCreateInfo::default()
        .queue_family_index(family)
        .queue_priorities(&[1.0])];
    let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
    // SAFETY: a valid create info.
    let device = unsafe { instance.create_device(physical, &info, None) }?;
    let result = match compute.is_some() && has_all(instance, &device) {
        true => compute_nothing(&device, family),
        false => Ok(()),
    };
    if result.is_ok() {
        // SAFETY: nothing made of it is left.
        unsafe { device.destroy_device(None) };
    }
    result
}

/// Whether the device has what the work needs: a driver may be less than whole.
fn has_all(instance: &ash::Instance, device: &ash::Device) -> bool {
    [
        c"vkCreateShaderModule",
        c"vkCreatePipelineLayout",
        c"vkCreateComputePipelines",
        c"vkCreateCommandPool",
        c"vkAllocateCommandBuffers",
        c"vkBeginCommandBuffer",
        c"vkCmdBindPipeline",
        c"vkCmdDispatch",
        c"vkEndCommandBuffer",
        c"vkQueueSubmit",
        c"vkQueueWaitIdle",
    ]
    .iter()
    // SAFETY: a live device and names that end with zero.
    .all(|name| unsafe { instance.get_device_proc_addr(device.handle(), name.as_ptr()) }.is_some())
}

/// A shader that does nothing: what compiles shaders is opened with the first one.
const SHADER: [u32; 31] = [
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
    1, // of %1: local size 1, 1, 1
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
];
/// Its body.
const BODY: [u32; 4] = [0x0002_00F8, 4, 0x0001_00FD, 0x0001_0038];

fn compute_nothing(device: &ash::Device, family: u32) -> Result<(), vk::Result> {
    let code = [&SHADER[..], &BODY[..]].concat();
    // SAFETY: for the whole function: valid create infos, objects of this device, and functions that it has. What was made goes with
    // the process, but for an error, where the device is left alone as well.
    unsafe {
        let module = device.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&code), None)?;
        let layout = device.create_pipeline_layout(&vk::PipelineLayoutCreateInfo::default(), None)?;
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module)
            .name(c"main");
        let wanted = vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout);
        let pipelines = device
            .create_compute_pipelines(vk::PipelineCache::null(), &[wanted], None)
            .map_err(|(_, error)| error)?;
        let pool = vk::CommandPoolCreateInfo::default().queue_family_index(family);
        let pool = device.create_command_pool(&pool, None)?;
        let buffers = vk::CommandBufferAllocateInfo::default()
            .command_pool(pool)
            .command_buffer_count(1);
        let buffers = device.allocate_command_buffers(&buffers)?;
        device.begin_command_buffer(buffers[0], &vk::CommandBufferBeginInfo::default())?;
        device.cmd_bind_pipeline(buffers[0], vk::PipelineBindPoint::COMPUTE, pipelines[0]);
        device.cmd_dispatch(buffers[0], 1, 1, 1);
        device.end_command_buffer(buffers[0])?;
        let queue = device.get_device_queue(family, 0);
        let work = vk::SubmitInfo::default().command_buffers(&buffers);
        device.queue_submit(queue, &[work], vk::Fence::null())?;
        device.queue_wait_idle(queue)?;
        device.destroy_command_pool(pool, None);
        device.destroy_pipeline(pipelines[0], None);
        device.destroy_pipeline_layout(layout, None);
        device.destroy_shader_module(module, None);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shader_is_as_long_as_its_instructions_say() {
        let code = [&SHADER[..], &BODY[..]].concat();
        let mut at = 5;
        while at < code.len() {
            at += (code[at] >> 16) as usize;
        }
        assert_eq!(at, code.len());
    }

    #[test]
    fn paths_of_mapped_files_may_have_line_ends() {
        assert_eq!(without_escapes(br"/a\012b\01"), b"/a\nb\\01");
    }
}
