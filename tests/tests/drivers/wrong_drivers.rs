//! Tests that a faulty driver among four drivers never changes the results of the other three drivers (DRV-243).

use std::collections::BTreeSet;
use std::fs;

use loader_tests::ash::vk::{self, Handle};
use loader_tests::vk::{Commands, Instance};
use loader_tests::{Driver, Outcome, Scene, Vk, built, call, case};

use crate::real::lavapipe;
use crate::unknown_physical::call_ten;

const EXTENSIONS: [&str; 4] = [
    "VK_KHR_surface",
    "VK_EXT_headless_surface",
    "VK_KHR_get_surface_capabilities2",
    "VK_EXT_debug_utils",
];
const SWAPCHAIN: &str = "VK_KHR_swapchain";
const BAD: &str = "bad";

/// Fault of a driver: its name, and a function that adds the fault to a valid driver.
type Wrong = (&'static str, fn(&mut Driver) -> &mut Driver);

/// Faults before the first query: in the manifest, the library, the negotiation, or the global functions.
const AT_THE_DOOR: [Wrong; 17] = [
    ("a manifest that is empty", |driver| driver.manifest_text("")),
    ("a manifest that is no JSON", |driver| driver.manifest_text("{]")),
    ("a manifest of a layer", |driver| {
        driver.manifest_text(r#"{"file_format_version": "1.0.0", "layer": {}}"#)
    }),
    ("a manifest with wrong types", |driver| {
        driver.manifest_text(r#"{"file_format_version": 1, "ICD": []}"#)
    }),
    ("a variant of the API", |driver| driver.manifest_api("1.1.3.280")),
    ("no library", |driver| driver.library_path("/nowhere/libnone.so")),
    ("a library that is none", |driver| driver.library_path("/dev/null")),
    ("a library of something else", |driver| driver.library_path("libm.so.6")),
    ("a library that is a layer", |driver| {
        driver.library_path(&built("mock_layer").display().to_string())
    }),
    ("a library without exports", |driver| {
        driver
            .hide("vk_icdNegotiateLoaderICDInterfaceVersion")
            .hide("vk_icdGetInstanceProcAddr")
    }),
    ("a negotiation that rejects", |driver| {
        driver.line("negotiate_result", -9)
    }),
    ("a negotiation that fails", |driver| driver.line("negotiate_result", -3)),
    ("a version beyond all", |driver| {
        driver.line("interface_forced", u32::MAX)
    }),
    ("no function that creates", |driver| driver.missing("vkCreateInstance")),
    ("no function that lists extensions", |driver| {
        driver.missing("vkEnumerateInstanceExtensionProperties")
    }),
    ("a failing list of extensions", |driver| {
        driver.fail("vkEnumerateInstanceExtensionProperties", -3)
    }),
    ("a growing list of extensions", |driver| {
        driver.line("grow", "vkEnumerateInstanceExtensionProperties 9")
    }),
];

/// Faults of an instance: in creation, enumeration, or groups. The list has no group of unknown devices, because such a group makes the
/// query for groups fail for all drivers (DRV-154).
const AS_INSTANCE: [Wrong; 13] = [
    ("an extension name without an end", |driver| {
        driver.extension(&"n".repeat(256))
    }),
    ("a failing creation", |driver| driver.fail("vkCreateInstance", -3)),
    ("a creation without a result", |driver| {
        driver.line("null_result", "vkCreateInstance")
    }),
    ("a version that cannot be asked for", |driver| {
        driver.fail("vkEnumerateInstanceVersion", -3)
    }),
    ("no vkCreateDevice", |driver| driver.missing("vkCreateDevice")),
    ("no vkGetPhysicalDeviceProperties", |driver| {
        driver.missing("vkGetPhysicalDeviceProperties")
    }),
    ("no vkGetDeviceProcAddr", |driver| driver.missing("vkGetDeviceProcAddr")),
    ("a failing count of devices", |driver| {
        driver.fail("vkEnumeratePhysicalDevices", -4)
    }),
    ("a failing list of devices", |driver| {
        // Every second call fills the list. All of these calls fail, because the devices would otherwise appear and disappear.
        for call in (2..40).step_by(2) {
            driver.fail_calls("vkEnumeratePhysicalDevices", -4, call, call);
        }
        driver
    }),
    ("an incomplete list of devices", |driver| {
        driver.fail("vkEnumeratePhysicalDevices", 5)
    }),
    ("a growing list of devices", |driver| {
        driver.line("grow", "vkEnumeratePhysicalDevices 9")
    }),
    ("a failing count of groups", |driver| {
        driver.fail("vkEnumeratePhysicalDeviceGroups", -3)
    }),
    ("a growing list of groups", |driver| {
        driver.line("grow", "vkEnumeratePhysicalDeviceGroups 9")
    }),
];

/// Faults that appear only when the driver is used: in surfaces, devices, or queues.
const IN_USE: [Wrong; 12] = [
    ("no queries of surfaces", |driver| {
        for query in ["Support", "Capabilities", "Formats", "PresentModes"] {
            driver.missing(&format!("vkGetPhysicalDeviceSurface{query}KHR"));
        }
        driver
    }),
    ("no surfaces", |driver| driver.missing("vkCreateHeadlessSurfaceEXT")),
    ("no end of surfaces", |driver| driver.missing("vkDestroySurfaceKHR")),
    ("failing surfaces", |driver| {
        driver.fail("vkCreateHeadlessSurfaceEXT", -3)
    }),
    ("surfaces without a handle", |driver| {
        driver.line("null_result", "vkCreateHeadlessSurfaceEXT")
    }),
    ("objects without magic", |driver| driver.flag("no_magic")),
    ("a failing list of device extensions", |driver| {
        driver.fail("vkEnumerateDeviceExtensionProperties", -3)
    }),
    ("failing devices", |driver| driver.fail("vkCreateDevice", -3)),
    ("devices without a handle", |driver| {
        driver.line("null_result", "vkCreateDevice")
    }),
    ("queues without a handle", |driver| {
        driver.line("null_result", "vkGetDeviceQueue")
    }),
    ("failing command buffers", |driver| {
        driver.fail("vkAllocateCommandBuffers", -1)
    }),
    ("no swapchains", |driver| driver.missing("vkCreateSwapchainKHR")),
];

/// Creates a device, and objects of this device. Returns all results as one line.
fn offer(instance: &Instance<'_>, name: &str, physical: vk::PhysicalDevice, surface: vk::SurfaceKHR) -> String {
    let extensions = instance.device_extensions(physical);
    let support = instance.surface_support(physical, surface);
    let mut capabilities = vk::SurfaceCapabilitiesKHR::default();
    let capable = call!(
        instance,
        PFN_vkGetPhysicalDeviceSurfaceCapabilitiesKHR(physical, surface, &mut capabilities)
    );
    let unknown = match instance.address("vkOddPhysical") {
        address if address != 0 && name.starts_with("gpu-") && !name.contains(BAD) => {
            call_ten(address, physical.as_raw()) >= 1000
        }
        _ => false,
    };
    let wanted: Vec<&str> = extensions
        .iter()
        .flatten()
        .map(String::as_str)
        .filter(|one| *one == SWAPCHAIN)
        .collect();
    let device = instance.device_spec(physical).extensions(&wanted).create();
    let used = device.as_ref().map(|device| {
        let queue = !device.queue(0, 0).is_null();
        let pool = device.pool();
        let buffers = device
            .command_buffers(pool, 1)
            .map(|buffers| device.free_command_buffers(pool, &buffers));
        device.destroy_pool(pool);
        let swapchain = device.address("vkCreateSwapchainKHR") != 0;
        (queue, buffers, swapchain, device.address("vkCmdDraw") != 0)
    });
    let used = used.map_err(|error| *error);
    format!(
        "{name} {extensions:?} {support:?} {capable:?} {} {unknown} {used:?}",
        capabilities.min_image_count
    )
}

/// Reports the results of all drivers except the faulty driver, in the order of the drivers.
fn tell(vk: &Vk) {
    let known: BTreeSet<String> = vk.extensions().expect("the query succeeds").into_iter().collect();
    vk.say("offer", format_args!("{known:?}"));
    let instance = vk.instance_with("1.1", &EXTENSIONS);
    let groups = instance.group_names();
    // The test does not compare the groups of the faulty driver. The devices of the faulty driver are in no other group.
    let groups: Vec<_> = groups
        .iter()
        .filter(|group| !group.iter().any(|name| name.contains(BAD)))
        .collect();
    vk.say("offer", format_args!("{groups:?}"));
    let surface = instance.headless_surface();
    for physical in instance.devices().expect("devices") {
        let name = instance.name_of(physical);
        // The answer of the faulty driver does not matter, but the query must also reach this driver.
        let line = offer(&instance, &name, physical, surface);
        if !name.contains(BAD) {
            vk.say("offer", line);
        }
    }
    instance.destroy_surface(surface);
}

/// Checks that no object of the valid mock drivers remains. A faulty driver can have objects that it cannot destroy.
fn good_drivers_are_empty(outcome: &Outcome) {
    let left = |line: &&&str| line.contains(" unload live=[") && !line.ends_with("live=[]");
    let journal = outcome.journal();
    let guilty: Vec<_> = journal
        .iter()
        .filter(left)
        .filter(|line| !line.starts_with(BAD))
        .collect();
    assert!(guilty.is_empty(), "{guilty:?}\n{}", outcome.all());
}

/// Compares two results of three valid drivers: without a faulty driver, and together with each faulty driver. `good` contains the
/// manifests of the valid drivers.
fn compare(scene: &mut Scene, good: &[String; 3], wrongs: &[Wrong]) {
    scene
        .env("VK_LOADER_DISABLE_SELECT", "1")
        .env("VK_LOADER_DEBUG", "error")
        .env("VK_DRIVER_FILES", good.join(":"))
        .limit(60);
    let alone = scene.run(tell);
    alone.ok();
    // The results are the extensions, the groups, and a line for each of the three devices.
    assert_eq!(alone.said("offer").len(), 5, "{}", alone.all());
    let works = |line: &&str| !line.contains("Err(");
    assert!(alone.said("offer").iter().all(works), "{}", alone.all());
    for (number, (what, spoil)) in wrongs.iter().enumerate() {
        let name = format!("{BAD}{number}");
        let driver = scene.usual_driver(&name).unlisted();
        spoil(driver);
        let bad = scene.manifest(&name).display().to_string();
        // The faulty driver is between the other drivers, so every loop has drivers before and after it.
        let files = [&good[0], &good[1], &bad, &good[2]].map(String::as_str);
        scene.env("VK_DRIVER_FILES", files.join(":"));
        let outcome = scene.run(tell);
        outcome.ran();
        assert_eq!(outcome.said("offer"), alone.said("offer"), "{what}\n{}", outcome.all());
        good_drivers_are_empty(&outcome);
        // In a run with a catalogue, an update asks each driver that has a manifest. A child of a later run finds the file removed.
        let _ = fs::remove_file(&bad);
    }
}

/// Adds three valid mock drivers with different names. Returns their manifests.
fn mocks(scene: &mut Scene) -> [String; 3] {
    ["a", "b", "c"].map(|name| {
        scene.usual_driver(name).unknown_physical("vkOddPhysical").unlisted();
        scene.manifest(name).display().to_string()
    })
}

/// Adds two mock drivers. Returns three manifests: the manifest of lavapipe is between the manifests of the mock drivers.
fn around_lavapipe(scene: &mut Scene) -> [String; 3] {
    let [first, _, last] = mocks(scene);
    [first, lavapipe(), last]
}

/// DRV-243: three drivers work beside each driver that the loader rejects before the first query.
#[test]
fn drv_243_a_wrong_library_among_four() {
    case(|scene| {
        let good = mocks(scene);
        compare(scene, &good, &AT_THE_DOOR);
    });
}

/// DRV-243, DRV-241: three drivers work beside each driver with faults in creation, enumeration or groups.
#[test]
fn drv_243_a_wrong_instance_among_four() {
    case(|scene| {
        let good = mocks(scene);
        compare(scene, &good, &AS_INSTANCE);
    });
}

/// DRV-243: three valid drivers work beside each driver with faults in surfaces, devices or queues.
#[test]
fn drv_243_a_wrong_device_among_four() {
    case(|scene| {
        let good = mocks(scene);
        compare(scene, &good, &IN_USE);
    });
}

/// Tests with lavapipe among the valid drivers. Runs without real drivers exclude the modules named `real`.
pub(crate) mod real {
    use super::*;

    /// DRV-243: lavapipe works beside each driver whose manifest, library or negotiation is faulty.
    #[test]
    fn drv_243_a_wrong_library_beside_lavapipe() {
        case(|scene| {
            let good = around_lavapipe(scene);
            compare(scene, &good, &AT_THE_DOOR);
        });
    }

    /// DRV-243: lavapipe works beside each driver with a faulty instance or enumeration.
    #[test]
    fn drv_243_a_wrong_instance_beside_lavapipe() {
        case(|scene| {
            let good = around_lavapipe(scene);
            compare(scene, &good, &AS_INSTANCE);
        });
    }

    /// DRV-243: lavapipe works beside each driver with faulty surfaces, devices or queues.
    #[test]
    fn drv_243_a_wrong_device_beside_lavapipe() {
        case(|scene| {
            let good = around_lavapipe(scene);
            compare(scene, &good, &IN_USE);
        });
    }
}
