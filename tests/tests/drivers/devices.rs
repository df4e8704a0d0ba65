//! Tests of physical devices (DRV-118 to DRV-136).

use loader_tests::ash::vk::{self, Handle};
use loader_tests::vk::Instance;
use loader_tests::{call, case};
use std::ptr;

const FAILED: vk::Result = vk::Result::ERROR_INITIALIZATION_FAILED;

/// DRV-118, APP-116: every enumeration of devices asks every driver again.
#[test]
fn drv_118_every_call_asks_the_drivers() {
    case(|scene| {
        scene.driver("a").device("one");
        scene.driver("b").device("two");
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            for call in ["first", "second", "third"] {
                vk.mark(call);
                instance.device_count().expect("vkEnumeratePhysicalDevices");
            }
            vk.mark("done");
        });
        outcome.ok();
        for (call, next) in [("first", "second"), ("second", "third"), ("third", "done")] {
            let lines = outcome.between(call, next);
            let is_asked =
                |driver: &str| lines.contains(&format!("{driver} vkEnumeratePhysicalDevices count").as_str());
            assert!(is_asked("a") && is_asked("b"), "the {call} call: {lines:?}");
        }
    });
}

/// DRV-119, APP-115: enumerating devices with a NULL count returns an error.
#[test]
fn drv_119_a_null_count_is_an_error() {
    case(|scene| {
        scene.driver("a").device("one");
        scene.env("VK_LOADER_DEBUG", "");
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            let result = call!(
                instance,
                PFN_vkEnumeratePhysicalDevices(instance.raw, ptr::null_mut(), ptr::null_mut())
            );
            assert_eq!(result, FAILED);
            assert_eq!(instance.device_count(), Ok(1));
        });
        let text = "[VUID-vkEnumeratePhysicalDevices-pPhysicalDeviceCount-parameter]";
        assert!(outcome.ok().stderr.contains(text), "{}", outcome.all());
    });
}

/// DRV-120: if the first enumeration of a driver fails, the list lacks the devices of this driver.
#[test]
fn drv_120_a_failing_driver_has_no_devices() {
    case(|scene| {
        scene.driver("bad").device("bad").fail("vkEnumeratePhysicalDevices", -3);
        scene.driver("good").device("good");
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            assert_eq!(instance.device_count(), Ok(1));
            vk.remove_lines("bad", &["fail"]);
            assert_eq!(instance.device_count(), Ok(2));
            assert_eq!(instance.device_names(), ["good", "bad"]);
        });
        let line = outcome
            .ok()
            .log("ERROR")
            .iter()
            .any(|line| line.contains("libmock_bad.so") && line.contains("-3"));
        assert!(line, "{}", outcome.all());
    });
}

/// DRV-4, DRV-120: enumeration returns a driver's out-of-memory error.
#[test]
fn drv_120_out_of_memory_is_returned() {
    case(|scene| {
        scene.driver("a").device("one");
        scene.driver("bad").device("bad").fail("vkEnumeratePhysicalDevices", -1);
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            assert_eq!(instance.devices().err(), Some(vk::Result::ERROR_OUT_OF_HOST_MEMORY));
            vk.remove_lines("bad", &["fail"]);
            assert_eq!(instance.device_names().len(), 2);
        });
        outcome.ok();
    });
}

/// DRV-120, DRV-169, DRV-262: if a driver reports more devices in the second call than the array has space for, the loader ignores the
/// excess.
#[test]
fn drv_120_a_growing_count_is_cut() {
    case(|scene| {
        scene
            .driver("a")
            .device("one")
            .device("two")
            .line("grow", "vkEnumeratePhysicalDevices 3");
        scene.driver("b").device("three");
        scene
            .run(|vk| assert_eq!(vk.instance().device_names(), ["three", "one", "two"]))
            .ok();
    });
}

/// DRV-121: enumeration returns an error if no driver has a device, or if all drivers fail.
#[test]
fn drv_121_no_device_at_all_is_an_error() {
    case(|scene| {
        scene.driver("empty");
        scene.driver("bad").device("bad").fail("vkEnumeratePhysicalDevices", -3);
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            let mut count = 77;
            let result = call!(
                instance,
                PFN_vkEnumeratePhysicalDevices(instance.raw, &mut count, ptr::null_mut())
            );
            assert_eq!((result, count), (FAILED, 77));
            let mut room = [vk::PhysicalDevice::null(); 77];
            let result = call!(
                instance,
                PFN_vkEnumeratePhysicalDevices(instance.raw, &mut count, room.as_mut_ptr())
            );
            assert_eq!(result, FAILED);
            // APP-116: the instance remains usable, and no driver is unloaded.
            vk.remove_lines("bad", &["fail"]);
            vk.add_lines("empty", "device later");
            assert_eq!(instance.device_names(), ["bad", "later"]);
        });
        outcome.ok().logged_with(
            "ERROR",
            "setup_loader_term_phys_devs:  Failed to detect any valid GPUs in the current config",
        );
    });
}

/// DRV-122: vkEnumeratePhysicalDevices fills a short array, and returns VK_INCOMPLETE.
#[test]
fn drv_122_a_short_array() {
    case(|scene| {
        scene.driver("a").device("one").device("two").device("three");
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            let all = instance.devices().expect("vkEnumeratePhysicalDevices");
            assert_eq!(instance.some_devices(2), (vk::Result::INCOMPLETE, all[..2].to_vec()));
            assert_eq!(instance.some_devices(1), (vk::Result::INCOMPLETE, all[..1].to_vec()));
            assert_eq!(instance.some_devices(3), (vk::Result::SUCCESS, all.clone()));
            assert_eq!(instance.some_devices(5), (vk::Result::SUCCESS, all));
        });
        outcome.ok().logged(
            "INFO",
            "terminator_EnumeratePhysicalDevices : Trimming device count from 3 to 2.",
        );
    });
}

/// DRV-125, APP-118: the object to which a device's handle points contains the instance, the magic number, and the handle for terminators.
#[test]
fn drv_125_the_handles_object() {
    case(|scene| {
        scene.driver("a").device("one");
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            let handle = instance.first().as_raw();
            assert_eq!(Instance::words(handle, 2)[1], instance.raw.as_raw());
            assert_eq!(Instance::mark(handle, 2), 0x10AD_ED02_0210_ADED);
            // In the object, the handle for terminators follows the magic number.
            let marked = 2 + size_of::<u64>() / size_of::<usize>();
            let lower = Instance::words(handle, marked + 1)[marked];
            assert!(lower != 0 && lower != handle);
        });
        outcome.ok();
    });
}

/// DRV-128, DRV-129, APP-117: each enumeration returns the same handle for the same device.
#[test]
fn drv_128_handles_are_stable() {
    case(|scene| {
        scene.driver("a").device("one").device("two");
        scene.driver("b").device("three");
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            let before = instance.devices().expect("vkEnumeratePhysicalDevices");
            for room in [1, 2, 3, 1, 3, 9] {
                let (_, some) = instance.some_devices(room);
                assert_eq!(some, before[..some.len()]);
            }
            let names: Vec<String> = before.iter().map(|device| instance.name_of(*device)).collect();
            assert_eq!(names, ["three", "one", "two"]);
        });
        outcome.ok();
    });
}

/// DRV-128: a handle that the loader first returned in a short array does not change.
#[test]
fn drv_128_handles_from_a_short_array_stay() {
    case(|scene| {
        scene.driver("a").device("one").device("two").device("three");
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            let (_, first) = instance.some_devices(1);
            let (_, two) = instance.some_devices(2);
            let all = instance.devices().expect("vkEnumeratePhysicalDevices");
            assert_eq!((first[0], two.as_slice()), (all[0], &all[..2]));
        });
        outcome.ok();
    });
}

/// DRV-128, APP-117: enumeration follows devices that appear and disappear between calls.
#[test]
fn drv_128_devices_come_and_go() {
    case(|scene| {
        scene.driver("a").device("one").device("two");
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            let before = instance.devices().expect("vkEnumeratePhysicalDevices");
            vk.add_lines("a", "device three");
            let more = instance.devices().expect("vkEnumeratePhysicalDevices");
            assert_eq!(more[..2], before);
            assert_eq!(instance.device_names(), ["one", "two", "three"]);
            vk.remove_lines("a", &["device one"]);
            let fewer = instance.devices().expect("vkEnumeratePhysicalDevices");
            assert_eq!(fewer, more[1..]);
            assert_eq!(instance.device_names(), ["two", "three"]);
            vk.add_lines("a", "device one");
            assert_eq!(instance.device_names(), ["two", "three", "one"]);
        });
        outcome.ok();
    });
}

/// DRV-128, DRV-261: if a driver reports a device twice, the loader lists the device once.
#[test]
fn drv_128_a_device_reported_twice_is_listed_once() {
    case(|scene| {
        scene.driver("a").device("one").line("device", "one").device("two");
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            let (_, devices) = instance.some_devices(8);
            let names: Vec<String> = devices.iter().map(|device| instance.name_of(*device)).collect();
            assert_eq!(names, ["one", "two"]);
        });
        outcome.ok();
    });
}

/// DRV-127, DRV-124, GEN-66: each driver receives its own handles, and not the loader's handles.
#[test]
fn drv_127_each_driver_gets_its_own_handles() {
    case(|scene| {
        scene.driver("a").device("one");
        scene.driver("b").device("two");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &[]);
            for device in instance.devices().expect("vkEnumeratePhysicalDevices") {
                let mut features = vk::PhysicalDeviceFeatures::default();
                call!(instance, PFN_vkGetPhysicalDeviceFeatures(device, &mut features));
                assert_eq!(features.robust_buffer_access, vk::TRUE);
                let mut memory = vk::PhysicalDeviceMemoryProperties::default();
                call!(vk, PFN_vkGetPhysicalDeviceMemoryProperties(device, &mut memory));
                assert_eq!(memory.memory_heaps[0].size, 1 << 30);
            }
        });
        let outcome = outcome.ok();
        assert_eq!(outcome.calls("a", "vkGetPhysicalDeviceFeatures"), ["one"]);
        assert_eq!(outcome.calls("b", "vkGetPhysicalDeviceFeatures"), ["two"]);
    });
}

/// DRV-131, DRV-240, APP-122: enumeration releases drivers that have no device.
#[test]
fn drv_131_a_driver_without_devices_is_released() {
    case(|scene| {
        scene.driver("empty");
        scene.driver("a").device("one");
        let outcome = scene.run(|vk| {
            vk.extensions().expect("the query succeeds");
            let instance = vk.instance();
            vk.mark("created");
            assert_eq!(instance.device_count(), Ok(1));
            vk.mark("counted");
            assert_eq!(instance.device_names(), ["one"]);
            vk.mark("filled");
            assert_eq!(instance.device_names(), ["one"]);
            vk.mark("again");
        });
        let outcome = outcome.ok();
        let library = scene.library("empty").display().to_string();
        outcome.logged(
            "INFO | DRIVER",
            &format!("Removing driver {library} due to not having any physical devices"),
        );
        let gone = |line: &&str| line.starts_with("empty vkDestroyInstance") || line.starts_with("empty unload");
        assert_eq!(
            outcome
                .between("created", "counted")
                .iter()
                .filter(|line| gone(line))
                .count(),
            0
        );
        let lines: Vec<&str> = outcome.between("counted", "filled").into_iter().filter(gone).collect();
        assert_eq!(
            lines,
            ["empty vkDestroyInstance alloc=null", "empty unload live=[]"],
            "{}",
            outcome.all()
        );
        assert!(
            !outcome
                .between("filled", "again")
                .iter()
                .any(|line| line.starts_with("empty")),
            "{}",
            outcome.all()
        );
    });
}

/// DRV-131: a new instance loads a driver that the loader released for an earlier instance.
#[test]
fn drv_131_a_new_instance_loads_a_released_driver_again() {
    case(|scene| {
        scene.driver("empty");
        scene.driver("a").device("one");
        let outcome = scene.run(|vk| {
            assert_eq!(vk.instance().device_names(), ["one"]);
            vk.add_lines("empty", "device late");
            assert_eq!(vk.instance().device_names(), ["one", "late"]);
        });
        outcome.ok();
    });
}

/// DRV-131: the loader also releases a driver whose enumeration failed, even if the application's array is too short for all devices.
#[test]
fn drv_131_a_driver_that_failed_is_released() {
    case(|scene| {
        scene.driver("bad").device("bad").fail("vkEnumeratePhysicalDevices", -3);
        scene.driver("a").device("one").device("two");
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            assert_eq!(instance.some_devices(1).0, vk::Result::INCOMPLETE);
            vk.mark("filled");
            vk.remove_lines("bad", &["fail"]);
            assert_eq!(instance.device_names(), ["one", "two"]);
        });
        let outcome = outcome.ok();
        let journal = outcome.journal();
        let place = |wanted: &str| journal.iter().position(|line| *line == wanted);
        assert!(place("bad unload live=[]") < place("== filled"), "{}", outcome.all());
    });
}

/// DRV-131, DRV-237: if a later enumeration of a driver fails, the loader uses the driver's last list, and does not release the driver.
#[test]
fn drv_131_a_driver_with_a_device_in_use_stays() {
    case(|scene| {
        scene.usual_driver("a");
        scene.usual_driver("b");
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            let device = instance.device(instance.named("gpu-b"), &[]);
            vk.add_lines("b", "fail vkEnumeratePhysicalDevices -4");
            assert_eq!(instance.device_names(), ["gpu-b", "gpu-a"]);
            assert_eq!(instance.groups().expect("groups").len(), 2);
            assert_ne!(device.queue(0, 0), vk::Queue::null());
            drop(device);
            vk.remove_lines("b", &["fail"]);
            assert_eq!(instance.device_names().len(), 2);
        });
        outcome.ok().not_logged("Removing driver");
    });
}

/// DRV-131: a driver that reported a device earlier remains open, so that its handles remain usable even if its list becomes empty.
/// Enumeration returns the later list.
#[test]
fn drv_131_a_driver_that_once_had_a_device_stays() {
    case(|scene| {
        scene.usual_driver("a");
        scene.usual_driver("b");
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            let lost = instance.named("gpu-b");
            let mut kept = String::new();
            vk.configure("b", |text| {
                kept.clone_from(&text);
                let lines = text.lines().filter(|line| !line.starts_with("device"));
                lines.map(|line| format!("{line}\n")).collect()
            });
            for _ in 0..2 {
                assert_eq!(instance.device_names(), ["gpu-a"]);
                assert_eq!(instance.name_of(lost), "gpu-b");
            }
            vk.configure("b", |_| kept.clone());
            assert_eq!(instance.device_names(), ["gpu-b", "gpu-a"]);
            assert_eq!(instance.named("gpu-b"), lost);
        });
        outcome.ok().not_logged("Removing driver");
    });
}

/// DRV-120: if a driver returns VK_INCOMPLETE, because a device appeared after the query for the count, the loader repeats the query.
#[test]
fn drv_120_an_incomplete_list_is_asked_for_anew() {
    case(|scene| {
        scene.usual_driver("a");
        scene
            .usual_driver("b")
            .fail_calls("vkEnumeratePhysicalDevices", 5, 2, 2);
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            assert_eq!(instance.device_names(), ["gpu-b", "gpu-a"]);
        });
        outcome.ok().not_logged("Removing driver");
    });
}

/// APP-122: before the loader releases a driver, it destroys the objects that were created in this driver. Objects in other drivers remain.
#[test]
fn app_122_objects_in_a_released_driver_are_destroyed_first() {
    case(|scene| {
        let extensions = ["VK_KHR_surface", "VK_EXT_headless_surface", "VK_EXT_debug_utils"];
        scene.driver("empty").extensions(&extensions);
        scene.driver("a").device("one").extensions(&extensions);
        let outcome = scene.run(|vk| {
            let messages = loader_tests::vk::Messages::default();
            let instance = vk.instance_with("1.1", &extensions);
            let first = instance.messenger(&messages);
            let surface = instance.headless_surface();
            let device = instance.first();
            vk.mark("released");
            let second = instance.messenger(&messages);
            assert_eq!(instance.surface_support(device, surface), Ok(true));
            instance.destroy_messenger(first);
            instance.destroy_messenger(second);
            instance.destroy_surface(surface);
        });
        let outcome = outcome.ok();
        assert_eq!(
            outcome.calls("empty", "vkDestroyDebugUtilsMessengerEXT").len(),
            1,
            "{}",
            outcome.all()
        );
        assert_eq!(
            outcome.calls("a", "vkDestroyDebugUtilsMessengerEXT").len(),
            2,
            "{}",
            outcome.all()
        );
    });
}
