//! Tests of programs whose memory allocations fail (DRV-4).

use std::ptr;

use loader_tests::ash::vk;
use loader_tests::vk::WINDOW_SURFACE;
use loader_tests::vk::{Allocator, Instance};
use loader_tests::{Vk, call, case};

const EXTENSIONS: [&str; 5] = [
    "VK_KHR_surface",
    WINDOW_SURFACE,
    "VK_EXT_headless_surface",
    "VK_EXT_debug_utils",
    "VK_KHR_get_surface_capabilities2",
];

/// Creates a surface, queries the surface on every device, and destroys the surface. The queries make each driver create its own surface.
fn present(instance: &Instance<'_>, devices: &[vk::PhysicalDevice]) -> Result<(), vk::Result> {
    let mut surface = vk::SurfaceKHR::null();
    let info = vk::HeadlessSurfaceCreateInfoEXT::default();
    call!(
        instance,
        PFN_vkCreateHeadlessSurfaceEXT(instance.raw, &info, ptr::null(), &mut surface)
    )
    .result()?;
    let used = devices
        .iter()
        .try_for_each(|device| instance.surface_support(*device, surface).map(drop));
    instance.destroy_surface(surface);
    used
}

/// Uses drivers like a typical program, with one allocator, until the first failure.
fn program(vk: &Vk, allocator: &Allocator) -> Result<(), vk::Result> {
    let spec = vk.spec().api("1.3").extensions(&EXTENSIONS).allocator(allocator);
    let instance = spec.create()?;
    let devices = instance.devices()?;
    instance.groups()?;
    for device in &devices {
        instance.device_extensions(*device)?;
    }
    // If a look-up fails because of a lack of memory, it returns NULL, the same as for a name that no driver has.
    for name in ["vkOddPhysical", "vkOddDevice", "vkNobody"] {
        vk.get(instance.raw, name);
    }
    present(&instance, &devices)?;
    let spec = instance.device_spec(devices[0]).extensions(&["VK_KHR_swapchain"]);
    let device = spec.allocator(allocator).create()?;
    vk.get(instance.raw, "vkOddLate");
    device.destroy();
    Ok(())
}

/// DRV-4, DRV-114, APP-174: if any allocation is refused, the Vulkan command returns an error, and no object or memory of the instance and
/// the drivers remains.
#[test]
fn drv_004_each_allocation_of_a_program_refused_once() {
    case(|scene| {
        scene
            .usual_driver("a")
            .unknown_physical("vkOddPhysical")
            .unknown_device("vkOddDevice");
        scene.usual_driver("b").unknown_device("vkOddLate");
        scene.env("VK_LOADER_DEBUG", "").limit(120);
        let outcome = scene.run(|vk| {
            let whole = Allocator::default();
            assert_eq!(program(vk, &whole), Ok(()));
            assert_eq!(whole.live(), 0);
            let mut failed = 0;
            for number in 1..=whole.count() {
                let allocator = Allocator::failing_at(number);
                let result = program(vk, &allocator);
                assert_eq!(allocator.live(), 0, "allocation {number}: {result:?}");
                if let Err(error) = result {
                    assert_eq!(error, vk::Result::ERROR_OUT_OF_HOST_MEMORY, "allocation {number}");
                    failed += 1;
                }
            }
            assert!(failed > whole.count() / 2, "{failed} of {} minded", whole.count());
        });
        outcome.ok();
    });
}
