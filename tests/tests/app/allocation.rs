//! Tests of allocation callbacks that refuse allocations, and of the memory of tables (APP-99, APP-111, APP-174 to APP-179b).

use std::ptr;

use loader_tests::ash::vk;
use loader_tests::vk::{Allocator, Instance, Messages};
use loader_tests::{Vk, call, case};

const OOM: vk::Result = vk::Result::ERROR_OUT_OF_HOST_MEMORY;
const EXTENSIONS: [&str; 4] = [
    "VK_KHR_surface",
    "VK_EXT_headless_surface",
    "VK_EXT_debug_utils",
    "VK_EXT_debug_report",
];

/// Refuses allocation 1, 2, 3, … of `step` until `step` succeeds. Each failure must be an out-of-memory error, and no memory may remain
/// allocated. Returns the result of the successful run.
fn until_success<T>(allocator: &Allocator, mut step: impl FnMut(usize) -> Result<T, vk::Result>) -> T {
    for number in 1..5000 {
        let before = allocator.live();
        allocator.fail_at(Some(number));
        let result = step(number);
        let reached = allocator.count() >= number;
        allocator.fail_at(None);
        match result {
            Ok(value) if !reached => return value,
            Ok(_) => panic!("allocation {number} was refused, and the call succeeded"),
            Err(error) => {
                assert_eq!(error, OOM, "allocation {number}");
                assert_eq!(allocator.live(), before, "allocation {number} left blocks behind");
            }
        }
    }
    panic!("no success in 5000 attempts");
}

pub(crate) fn creation(vk: &Vk, extensions: &[&str], expected: usize) {
    let allocator = Allocator::default();
    let messages = Messages::default();
    let info = messages.create_info();
    let instance = until_success(&allocator, |_| {
        vk.spec()
            .api("1.1")
            .extensions(extensions)
            .next(&info)
            .allocator(&allocator)
            .create()
    });
    assert_eq!(instance.device_names().len(), expected);
    instance.destroy();
    assert_eq!(allocator.live(), 0);
}

/// APP-174: if any allocation of vkCreateInstance is refused, the call fails with out of memory and frees all memory, with one driver and
/// with several drivers.
#[test]
fn app_174_every_allocation_of_instance_creation() {
    case(|scene| {
        scene.limit(60).env("VK_LOADER_DEBUG", "");
        scene.usual_driver("a");
        scene.run(|vk| creation(vk, &EXTENSIONS, 1)).ok();
        scene.usual_driver("b");
        scene.driver("old").api("1.0.0").interface(1).device("old");
        scene.run(|vk| creation(vk, &EXTENSIONS, 3)).ok();
    });
}

/// APP-174: without a driver, instance creation returns its usual error, or out of memory if an allocation is refused.
#[test]
fn app_174_instance_creation_without_drivers() {
    case(|scene| {
        scene.limit(60).env("VK_LOADER_DEBUG", "");
        let outcome = scene.run(|vk| {
            for number in 1..500 {
                let allocator = Allocator::failing_at(number);
                let result = vk.spec().allocator(&allocator).create().err();
                assert_eq!(allocator.live(), 0, "allocation {number}");
                if allocator.count() < number {
                    assert_eq!(result, Some(vk::Result::ERROR_INCOMPATIBLE_DRIVER));
                    return;
                }
                assert_eq!(result, Some(OOM), "allocation {number}");
            }
            panic!("no end in 500 attempts");
        });
        outcome.ok();
    });
}

/// APP-174: instance creation reports out of memory also if manifests are malformed.
#[test]
fn app_174_malformed_manifests_and_short_memory() {
    case(|scene| {
        scene.limit(60).env("VK_LOADER_DEBUG", "");
        scene.driver("a").device("one").unlisted();
        let bad = ["{", "[]", "{\"file_format_version\": \"1.0.0\"}", "\0", ""];
        let mut files: Vec<String> = bad
            .iter()
            .enumerate()
            .map(|(number, text)| scene.file(&format!("bad/{number}.json"), text).display().to_string())
            .collect();
        files.push(scene.text_path("drivers/a.json"));
        scene.env("VK_DRIVER_FILES", files.join(":"));
        scene.run(|vk| creation(vk, &[], 1)).ok();
    });
}

/// APP-174, APP-175: if any allocation of device enumeration is refused, the enumeration fails, and handles from earlier calls remain
/// valid.
#[test]
fn app_174_every_allocation_of_enumeration() {
    case(|scene| {
        scene.limit(60).env("VK_LOADER_DEBUG", "");
        scene.driver("a").device("one").device("two");
        scene.driver("b").device("three");
        let outcome = scene.run(|vk| {
            for api in ["1.0", "1.1"] {
                let allocator = Allocator::default();
                let instance = vk
                    .spec()
                    .api(api)
                    .allocator(&allocator)
                    .create()
                    .expect("vkCreateInstance");
                // A failing enumeration can enlarge tables and not shrink them. The test therefore checks only the result, and not the
                // blocks that remain.
                let devices = patiently(&allocator, || instance.devices());
                vk.add_lines("a", "device four");
                let more = patiently(&allocator, || instance.devices());
                assert_eq!(more.len(), 4);
                assert!(devices.iter().all(|device| more.contains(device)));
                assert_eq!(instance.device_names().len(), 4);
                vk.remove_lines("a", &["device four"]);
                instance.destroy();
                assert_eq!(allocator.live(), 0);
            }
        });
        outcome.ok();
    });
}

/// Repeats `step` with allocation 1, 2, 3, … refused, until it succeeds without a refused allocation.
fn patiently<T>(allocator: &Allocator, mut step: impl FnMut() -> Result<T, vk::Result>) -> T {
    for number in 1..1000 {
        allocator.fail_at(Some(number));
        let result = step();
        let reached = allocator.count() >= number;
        allocator.fail_at(None);
        match result {
            Ok(value) if !reached => return value,
            Ok(_) => {}
            Err(error) => assert_eq!(error, OOM, "allocation {number}"),
        }
    }
    panic!("no success in 1000 attempts");
}

/// APP-174: group enumeration returns VK_ERROR_OUT_OF_HOST_MEMORY, whichever of its allocations fails.
#[test]
fn app_174_every_allocation_of_group_enumeration() {
    case(|scene| {
        scene.limit(60).env("VK_LOADER_DEBUG", "");
        scene.driver("a").device("one").device("two").line("group", "one two");
        scene.driver("old").api("1.0.0").device("three");
        let outcome = scene.run(|vk| {
            let allocator = Allocator::default();
            let instance = vk
                .spec()
                .api("1.1")
                .allocator(&allocator)
                .create()
                .expect("vkCreateInstance");
            assert_eq!(patiently(&allocator, || instance.groups()).len(), 2);
            instance.destroy();
            assert_eq!(allocator.live(), 0);
        });
        outcome.ok();
    });
}

/// APP-174: vkCreateDevice returns VK_ERROR_OUT_OF_HOST_MEMORY, whichever of its allocations fails, with the callbacks of the device and
/// with the callbacks of the instance.
#[test]
fn app_174_every_allocation_of_device_creation() {
    case(|scene| {
        scene.limit(60).env("VK_LOADER_DEBUG", "");
        scene.usual_driver("a");
        let outcome = scene.run(|vk| {
            let (of_instance, of_device) = (Allocator::default(), Allocator::default());
            let instance = vk
                .spec()
                .api("1.1")
                .allocator(&of_instance)
                .create()
                .expect("vkCreateInstance");
            let physical = instance.first();
            let group = [physical];
            let group = vk::DeviceGroupDeviceCreateInfo::default().physical_devices(&group);
            let spec = || {
                instance
                    .device_spec(physical)
                    .extensions(&["VK_KHR_swapchain"])
                    .next(&group)
                    .allocator(&of_device)
            };
            drop(until_success(&of_device, |_| spec().create()));
            assert_eq!(of_device.live(), 0);
            drop(patiently(&of_instance, || spec().create()));
            assert_eq!(of_device.live(), 0);
            instance.destroy();
            assert_eq!(of_instance.live(), 0);
        });
        outcome.ok();
    });
}

/// Creates a messenger.
fn messenger(
    instance: &Instance<'_>,
    messages: &Messages,
    allocator: *const vk::AllocationCallbacks<'_>,
) -> Result<vk::DebugUtilsMessengerEXT, vk::Result> {
    let info = messages.create_info();
    let mut handle = vk::DebugUtilsMessengerEXT::null();
    call!(
        instance,
        PFN_vkCreateDebugUtilsMessengerEXT(instance.raw, &info, allocator, &mut handle)
    )
    .result_with_success(handle)
}

/// APP-174, APP-179: creating a messenger returns VK_ERROR_OUT_OF_HOST_MEMORY, whichever of its allocations fails, also while tables grow.
/// Earlier messengers remain usable.
#[test]
fn app_179_every_allocation_of_messengers() {
    case(|scene| {
        scene.limit(60).env("VK_LOADER_DEBUG", "");
        scene.usual_driver("a");
        scene.usual_driver("b");
        let outcome = scene.run(|vk| {
            let allocator = Allocator::default();
            let messages = Messages::default();
            let instance = vk
                .spec()
                .extensions(&EXTENSIONS)
                .allocator(&allocator)
                .create()
                .expect("vkCreateInstance");
            vk.mark("begin");
            let mut handles = Vec::new();
            for _ in 0..40 {
                handles.push(patiently(&allocator, || messenger(&instance, &messages, ptr::null())));
            }
            vk.mark("made");
            handles
                .into_iter()
                .for_each(|handle| instance.destroy_messenger(handle));
            vk.mark("destroyed");
            instance.destroy();
            vk.mark("gone");
            assert_eq!(allocator.live(), 0);
        });
        let outcome = outcome.ok();
        // Every failure destroyed its own objects, so the destruction of the instance finds no messenger.
        let late = outcome.between("destroyed", "gone");
        assert!(!late.iter().any(|line| line.contains("Messenger")), "{late:?}");
        // No failure destroyed an earlier messenger, so each driver had all forty messengers.
        let lines = outcome.between("made", "destroyed");
        let before = outcome.between("begin", "made");
        for driver in ["a", "b"] {
            // A creation that failed left no messenger in a driver that already had one.
            let count = |call: &str| {
                let begins = |line: &&&str| line.starts_with(&format!("{driver} {call}")) && !line.contains("-> -");
                before.iter().filter(begins).count()
            };
            let made = count("vkCreateDebugUtilsMessengerEXT") - count("vkDestroyDebugUtilsMessengerEXT");
            assert_eq!(made, 40, "{driver}");
            let destroyed = lines
                .iter()
                .filter(|line| line.starts_with(&format!("{driver} vkDestroyDebugUtilsMessengerEXT")))
                .count();
            assert_eq!(destroyed, 40, "{driver}");
        }
    });
}

/// APP-174, APP-179: creating a surface returns VK_ERROR_OUT_OF_HOST_MEMORY, whichever of its allocations fails.
#[test]
fn app_179_every_allocation_of_surfaces() {
    case(|scene| {
        scene.limit(60).env("VK_LOADER_DEBUG", "");
        scene.usual_driver("a");
        scene.usual_driver("b");
        let outcome = scene.run(|vk| {
            let allocator = Allocator::default();
            let instance = vk
                .spec()
                .extensions(&EXTENSIONS)
                .allocator(&allocator)
                .create()
                .expect("vkCreateInstance");
            let devices = instance.devices().expect("devices");
            let create = || {
                let info = vk::HeadlessSurfaceCreateInfoEXT::default();
                let mut surface = vk::SurfaceKHR::null();
                let result = call!(
                    instance,
                    PFN_vkCreateHeadlessSurfaceEXT(instance.raw, &info, ptr::null(), &mut surface)
                );
                result.result_with_success(surface)
            };
            let mut surfaces = Vec::new();
            for number in 0..40 {
                let surface = patiently(&allocator, create);
                assert_eq!(instance.surface_support(devices[number % 2], surface), Ok(true));
                surfaces.push(surface);
            }
            surfaces
                .into_iter()
                .for_each(|surface| instance.destroy_surface(surface));
            instance.destroy();
            assert_eq!(allocator.live(), 0);
        });
        outcome.ok();
    });
}

/// APP-178: a table has space for 32 entries. The 33rd entry makes each table grow by one reallocation.
#[test]
fn app_178_tables_grow_at_thirty_three() {
    case(|scene| {
        scene.usual_driver("a");
        scene.usual_driver("b");
        let outcome = scene.run(|vk| {
            let (of_instance, own) = (Allocator::default(), Allocator::default());
            let messages = Messages::default();
            let instance = vk
                .spec()
                .extensions(&EXTENSIONS)
                .allocator(&of_instance)
                .create()
                .expect("vkCreateInstance");
            let mut counts = Vec::new();
            let mut handles = Vec::new();
            for _ in 0..65 {
                let before = of_instance.count();
                handles.push(messenger(&instance, &messages, own.callbacks()).expect("a messenger"));
                counts.push(of_instance.count() - before);
            }
            // The instance and each of the two drivers have a table, which grows when the first, the 33rd and the 65th messenger is
            // created. The memory of a messenger itself comes from the callbacks of its creation.
            let mut expected = vec![0; 65];
            (expected[0], expected[32], expected[64]) = (3, 3, 3);
            assert_eq!(counts, expected);
            for handle in handles {
                call!(
                    instance,
                    PFN_vkDestroyDebugUtilsMessengerEXT(instance.raw, handle, own.callbacks())
                );
            }
            assert_eq!(own.live(), 0);
        });
        outcome.ok();
    });
}

/// APP-111: the allocation callbacks that vkDestroyInstance receives reach the drivers.
#[test]
fn app_111_the_destruction_has_its_own_callbacks() {
    case(|scene| {
        scene.usual_driver("a");
        let outcome = scene.run(|vk| {
            let allocator = Allocator::default();
            vk.say("mark", allocator.mark());
            let instance = vk.instance();
            call!(instance, PFN_vkDestroyInstance(instance.raw, allocator.callbacks()));
            std::mem::forget(instance);
            assert_eq!(allocator.live(), 0);
        });
        let outcome = outcome.ok();
        assert_eq!(outcome.calls("a", "vkDestroyInstance"), [outcome.said("mark")[0]]);
    });
}

/// APP-99: after a failed instance creation, the same process can create instances.
#[test]
fn app_099_the_process_can_try_again() {
    case(|scene| {
        scene.usual_driver("a");
        let outcome = scene.run(|vk| {
            let whole = Allocator::default();
            drop(vk.spec().allocator(&whole).create().expect("vkCreateInstance"));
            for number in [1, whole.count() / 2, whole.count()] {
                let allocator = Allocator::failing_at(number);
                assert_eq!(vk.spec().allocator(&allocator).create().err(), Some(OOM));
                assert_eq!(vk.instance().device_names(), ["gpu-a"]);
            }
        });
        outcome.ok();
    });
}

/// APP-174: with a settings file that names drivers, instance creation returns VK_ERROR_OUT_OF_HOST_MEMORY, whichever of its allocations
/// fails.
#[test]
fn app_174_instance_creation_with_a_settings_file() {
    case(|scene| {
        scene.limit(60).env("VK_LOADER_DEBUG", "");
        scene.driver("a").device("one");
        scene.driver("b").device("two").unlisted();
        let path = scene.manifest("b").display().to_string();
        let members = format!(r#""stderr_log": ["error"], "additional_drivers": [{{"path": "{path}"}}]"#);
        crate::settings::write(scene, "xdg/config-home", &members);
        scene.run(|vk| creation(vk, &[], 2)).ok();
    });
}

/// APP-177: the look-up of an unknown name can fail if memory is short, and succeeds when memory is available again.
#[test]
fn app_177_unknown_names_and_short_memory() {
    case(|scene| {
        scene
            .usual_driver("a")
            .unknown_device("vkOddDevice")
            .unknown_physical("vkOddPhysical");
        scene.env("VK_LOADER_DEBUG", "");
        let outcome = scene.run(|vk| {
            for name in ["vkOddDevice", "vkOddPhysical"] {
                for number in 1..20 {
                    let allocator = Allocator::default();
                    let instance = vk.spec().allocator(&allocator).create().expect("vkCreateInstance");
                    allocator.fail_at(Some(number));
                    let found = vk.get(instance.raw, name);
                    let refused = allocator.count() >= number;
                    assert!(found != 0 || refused, "{name}, allocation {number}");
                    allocator.fail_at(None);
                    assert_ne!(vk.get(instance.raw, name), 0, "{name}, after allocation {number}");
                    instance.destroy();
                    assert_eq!(allocator.live(), 0);
                }
            }
        });
        outcome.ok();
    });
}
