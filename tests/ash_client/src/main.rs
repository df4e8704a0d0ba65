//! Does the same work as the C programs, with the crate `ash`: fills a buffer on every device and reads it back.
//!
//! With the argument `mock`, the devices execute nothing, so the program reads nothing back. `ash` opens `libvulkan.so.1`. The crate looks
//! up instance commands with `vkGetInstanceProcAddr` when an instance is created, and device commands with `vkGetDeviceProcAddr` when a
//! device is created.

mod work;

use ash::{Entry, Instance, vk};
use std::error::Error;
use std::process::ExitCode;

fn main() -> ExitCode {
    match tour() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Does the work of [`work::work_on`] on every device. Returns `true` if there is a device and the work succeeds on all devices.
fn tour() -> Result<bool, Box<dyn Error>> {
    // SAFETY: `Entry::load` opens `libvulkan.so.1`, which is a Vulkan loader. The initialisation of a loader has no preconditions.
    let entry = unsafe { Entry::load() }?;
    // SAFETY: `Entry::load` looked up this function in the library, which remains open.
    let version = unsafe { entry.try_enumerate_instance_version() }?.unwrap_or(vk::API_VERSION_1_0);
    println!("Vulkan loader {}", packed(version));
    let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_1);
    let info = vk::InstanceCreateInfo::default().application_info(&application);
    // SAFETY: every pointer in the structure refers to `application`, which outlives the call.
    let instance = unsafe { entry.create_instance(&info, None) }?;
    let mock = std::env::args().any(|argument| argument == "mock");
    let result = work_on_all(&instance, mock);
    // SAFETY: `work_on_all` destroyed all devices of the instance before it returned.
    unsafe { instance.destroy_instance(None) };
    result
}

fn work_on_all(instance: &Instance, mock: bool) -> Result<bool, Box<dyn Error>> {
    // SAFETY: the instance is valid during this call.
    let devices = unsafe { instance.enumerate_physical_devices() }?;
    println!("\nDevices: {}", devices.len());
    let mut worked = 0;
    for (number, &physical) in devices.iter().enumerate() {
        // SAFETY: the handle comes from this instance.
        let properties = unsafe { instance.get_physical_device_properties(physical) };
        let name = properties.device_name_as_c_str()?.to_string_lossy();
        println!("    {number}  {name}, Vulkan {}", packed(properties.api_version));
        match work::work_on(instance, physical, !mock) {
            Ok(Some(words)) => println!("       filled {words} words and read all of them back"),
            Ok(None) => println!("       work submitted and waited for; a mock executes nothing"),
            Err(error) => {
                println!("       FAILED: {error}");
                continue;
            }
        }
        worked += 1;
    }
    println!("\n{worked} of {} devices worked", devices.len());
    Ok(worked > 0 && worked == devices.len())
}

/// Returns a packed version as text.
fn packed(version: u32) -> String {
    let (major, minor) = (vk::api_version_major(version), vk::api_version_minor(version));
    format!("{major}.{minor}.{}", vk::api_version_patch(version))
}
