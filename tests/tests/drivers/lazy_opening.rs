//! Tests of threads, layers and drivers that call the loader during the late opening of a driver (DRV-283). Also tests lists of devices and
//! groups that differ from the record (DRV-285).

use super::lazy::{FAILED, Question, WRONG, calls, two_devices};
use loader_tests::ash::vk;
use loader_tests::vk::{Instance, Messages, WINDOW_SURFACE, text};
use loader_tests::{Scene, Vk, call, case};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{fs, mem, ptr, thread};

/// Creates a device, and destroys it.
fn use_device(instance: &Instance<'_>, name: &str) -> Result<(), vk::Result> {
    instance.device_spec(instance.named(name)).create().map(drop)
}

fn wait_for(path: &Path) {
    while !path.exists() {
        thread::sleep(Duration::from_millis(5));
    }
}

/// Makes the driver's next `vkCreateInstance` wait until the file `go` exists. The file `began` shows that the driver waits.
fn block(vk: &Vk) -> [std::path::PathBuf; 2] {
    let files = ["began", "go"].map(|name| vk.path(name));
    let [began, go] = files.each_ref().map(|path| path.display());
    vk.add_lines(
        "a",
        &format!("run vkCreateInstance touch {began}; until test -e {go}; do sleep 0.01; done"),
    );
    files
}

/// DRV-283: while a thread opens the driver, queries with recorded answers do not wait for this thread. Other threads that need the driver
/// wait for the same opening.
#[test]
fn drv_283_a_driver_that_blocks_while_it_is_opened() {
    case(|scene| {
        two_devices(scene);
        scene.limit(60);
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &[]);
            let (question, device) = (Question::of(vk, &instance), instance.named("two"));
            let [began, go] = block(vk);
            thread::scope(|scope| {
                let first = scope.spawn(|| question.ask());
                wait_for(&began);
                let second = scope.spawn(|| question.ask());
                assert_eq!(instance.name_of(device), "two");
                let mut asked = vk::PhysicalDeviceProperties2::default();
                call!(instance, PFN_vkGetPhysicalDeviceProperties2(device, &mut asked));
                assert_eq!(text(&asked.properties.device_name), "two");
                assert_ne!(vk.get(instance.raw, "vkGetPhysicalDeviceFeatures2"), 0);
                thread::sleep(Duration::from_millis(100));
                assert!(!first.is_finished() && !second.is_finished());
                fs::write(&go, "").expect("a file");
            });
            assert_eq!(calls(vk, "vkCreateInstance"), 1);
        });
        outcome.ok().not_logged(WRONG);
    });
}

/// DRV-283: a driver can call the loader during its opening, also on another thread that the driver waits for.
#[test]
fn drv_283_a_driver_that_calls_the_loader_while_it_is_opened() {
    case(|scene| {
        two_devices(scene);
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &[]);
            for command in ["vkCreateInstance", "vkEnumeratePhysicalDevices"] {
                vk.add_lines("a", &format!("calls_loader {command}"));
            }
            assert_eq!(use_device(&instance, "two"), Ok(()));
        });
        let back = outcome.ok().calls("a", "back");
        for command in ["vkCreateInstance", "vkEnumeratePhysicalDevices"] {
            let line = format!("{command} here=true there=true");
            assert!(back.contains(&&*line), "{back:?}");
        }
    });
}

/// The query `vkGetPhysicalDeviceSurfaceSupportKHR` about a device and a surface. This query makes the driver create its own surface.
#[derive(Clone, Copy)]
struct Support {
    ask: vk::PFN_vkGetPhysicalDeviceSurfaceSupportKHR,
    device: vk::PhysicalDevice,
    surface: vk::SurfaceKHR,
}

impl Support {
    fn of(vk: &Vk, instance: &Instance<'_>) -> Self {
        let address = vk.get(instance.raw, "vkGetPhysicalDeviceSurfaceSupportKHR");
        Self {
            // SAFETY: the address belongs to the named function, which has this type.
            ask: unsafe { mem::transmute::<usize, vk::PFN_vkGetPhysicalDeviceSurfaceSupportKHR>(address) },
            device: instance.first(),
            surface: instance.window_surface(1, 2),
        }
    }

    /// Returns `true` if the driver's own surface is supported. If the driver has created no surface, the query succeeds and returns
    /// `false`.
    fn ask(&self) -> bool {
        let mut supported = 77;
        // SAFETY: device and surface belong to an existing instance, and the number is writable.
        let result = unsafe { (self.ask)(self.device, 0, self.surface, &mut supported) };
        assert_eq!(result, vk::Result::SUCCESS);
        supported == vk::TRUE
    }
}

/// DRV-283, DRV-177: a query that creates the driver's surface opens the driver before the query takes the lock for this surface.
/// Otherwise, the query could hold the lock and wait for the opening on another thread, while that thread waits for the lock.
#[test]
fn drv_283_two_threads_open_the_driver_for_a_surface() {
    case(|scene| {
        scene.usual_driver("a");
        scene.lazily().limit(30);
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &["VK_KHR_surface", WINDOW_SURFACE, "VK_EXT_debug_utils"]);
            let support = Support::of(vk, &instance);
            let opens = Arc::new(AtomicBool::new(false));
            let seen = opens.clone();
            let messages = Messages::with_hook(move |message| {
                if message.text.contains("Opening driver") && !seen.swap(true, Ordering::SeqCst) {
                    // During this time, the other thread begins its query for the same surface.
                    thread::sleep(Duration::from_millis(300));
                    assert!(!support.ask(), "a call from a callback");
                }
            });
            let messenger = instance.messenger(&messages);
            thread::scope(|scope| {
                let other = scope.spawn(move || {
                    while !opens.load(Ordering::SeqCst) {
                        thread::yield_now();
                    }
                    support.ask()
                });
                assert_eq!(use_device(&instance, "gpu-a"), Ok(()));
                assert!(other.join().expect("no panic"));
            });
            assert_eq!(calls(vk, "vkCreateInstance"), 1);
            instance.destroy_surface(support.surface);
            instance.destroy_messenger(messenger);
        });
        outcome.ok();
    });
}

/// DRV-283: if the library of a closed driver has disappeared before a query for surface support, the surface is not supported.
#[test]
fn drv_283_surfaces_of_a_driver_that_vanished() {
    case(|scene| {
        scene.usual_driver("a");
        scene.lazily();
        let (library, elsewhere) = (scene.library("a"), scene.path("elsewhere.so"));
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &["VK_KHR_surface", WINDOW_SURFACE]);
            let support = Support::of(vk, &instance);
            fs::rename(&library, &elsewhere).expect("a rename");
            assert_eq!([support.ask(), support.ask()], [false; 2]);
            instance.destroy_surface(support.surface);
        });
        outcome.ok();
    });
}

/// Replaces the name and the UUIDs of the recorded device `two`.
fn lose_two(vk: &Vk) {
    vk.configure("a", |text| {
        text.replace("two", "other").replace("device.uuid 2", "device.uuid 3")
    });
}

/// DRV-283, DRV-193: creating a device for a group fails if the driver no longer has a device of the group. The call does not reach the
/// driver.
#[test]
fn drv_283_a_group_with_a_lost_device_is_refused() {
    case(|scene| {
        two_devices(scene);
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &[]);
            let devices = ["one", "two"].map(|name| instance.named(name));
            lose_two(vk);
            let group = vk::DeviceGroupDeviceCreateInfo::default().physical_devices(&devices);
            let created = instance.device_spec(devices[0]).next(&group).create().map(drop);
            assert_eq!((created, calls(vk, "vkCreateDevice")), (Err(FAILED), 0));
            assert_eq!(instance.device_spec(devices[0]).create().map(drop), Ok(()));
        });
        assert!(outcome.ok().all().contains(WRONG), "{}", outcome.all());
    });
}

/// DRV-283, APP-198: a program can name a device that the driver no longer has. The name does not reach the driver.
#[test]
fn drv_283_a_lost_device_can_be_named() {
    case(|scene| {
        let driver = scene.driver("a").extension("VK_EXT_debug_utils");
        driver
            .device_with("one", |device| device.uuids(1, 9))
            .device_with("two", |device| device.uuids(2, 9));
        scene.lazily();
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &["VK_EXT_debug_utils"]);
            let (kept, lost) = (instance.named("one"), instance.named("two"));
            lose_two(vk);
            let device = instance.device(kept, &[]);
            let names = |named: vk::PhysicalDevice| {
                let info = vk::DebugUtilsObjectNameInfoEXT::default().object_handle(named);
                call!(device, PFN_vkSetDebugUtilsObjectNameEXT(device.raw, &info))
            };
            assert_eq!([names(lost), names(kept)], [vk::Result::SUCCESS; 2]);
        });
        let named = outcome.ok().calls("a", "vkSetDebugUtilsObjectNameEXT");
        assert_eq!(named.len(), 1, "{named:?}");
    });
}

/// Lists devices and groups, changes the driver's configuration with `change`, and makes the loader open the driver. Returns the names of
/// devices and groups that the loader then lists. Checks that the handles of recorded devices remain the same.
fn listed_after(vk: &Vk, change: impl FnOnce(String) -> String) -> (Vec<String>, Vec<Vec<String>>) {
    let instance = vk.instance_with("1.1", &[]);
    let before = ["one", "two"].map(|name| instance.named(name));
    assert_eq!(instance.group_names(), [["two", "one"]]);
    vk.configure("a", change);
    assert_eq!(use_device(&instance, "one"), Ok(()));
    let names = instance.device_names();
    for (name, handle) in ["one", "two"].into_iter().zip(before) {
        if names.iter().any(|listed| listed == name) {
            assert_eq!(instance.named(name), handle, "{name}");
        }
    }
    for name in &names {
        assert_eq!(use_device(&instance, name), Ok(()), "{name}");
    }
    (names, instance.group_names())
}

/// Runs [`listed_after`], and checks the lists and the difference that the log reports.
fn changed(scene: &mut Scene, change: fn(String) -> String, names: &[&str], groups: &[&[&str]], difference: &str) {
    two_devices(scene);
    let outcome = scene.run(|vk| {
        let (found, grouped) = listed_after(vk, change);
        assert_eq!(found, names);
        assert_eq!(grouped, groups);
    });
    let line = format!("has {difference} than the driver catalogue says");
    assert!(outcome.ok().all().contains(WRONG), "{}", outcome.all());
    assert!(outcome.all().contains(&line), "{}", outcome.all());
}

/// DRV-285: the log reports a difference if the driver lists a device that the record lacks. The device can be used.
#[test]
fn drv_285_a_driver_with_more_devices_than_its_record() {
    case(|scene| {
        let change = |text: String| text.replace("group", "device three\ndevice.uuid 3\ngroup three\ngroup");
        let (names, groups) = (&["one", "two", "three"], [&["three"][..], &["two", "one"]]);
        changed(scene, change, names, &groups, "other devices");
    });
}

/// DRV-285: the log reports a difference if the driver no longer lists a recorded device.
#[test]
fn drv_285_a_driver_with_fewer_devices_than_its_record() {
    case(|scene| {
        let change = |text: String| {
            let (begin, rest) = text.split_once("device two").expect("a device");
            let (_, groups) = rest.split_once("group two ").expect("a group");
            format!("{begin}group {groups}")
        };
        changed(scene, change, &["one"], &[&["one"]], "other devices");
    });
}

/// DRV-285: the log reports a difference if the driver lists the recorded devices in another order.
#[test]
fn drv_285_a_driver_with_another_order_of_devices() {
    case(|scene| {
        let change = |text: String| {
            let swapped = text
                .replace("device one", "device -")
                .replace("device two", "device one");
            let swapped = swapped.replace("device -", "device two");
            let swapped = swapped
                .replace("device.uuid 1", "device.uuid -")
                .replace("device.uuid 2", "device.uuid 1");
            swapped.replace("device.uuid -", "device.uuid 2")
        };
        changed(scene, change, &["two", "one"], &[&["two", "one"]], "other devices");
    });
}

/// DRV-285: if the program has queried the groups, and the driver's groups differ from the recorded groups, the log reports a difference.
#[test]
fn drv_285_a_driver_with_other_groups_than_its_record() {
    case(|scene| {
        let change = |text: String| text.replace("group two one", "group two\ngroup one");
        changed(scene, change, &["one", "two"], &[&["two"], &["one"]], "other groups");
    });
}

/// DRV-280, DRV-286: if the program sets a variable that drivers read, existing instances keep the recorded answers. The next instance
/// opens the driver at once.
#[test]
fn drv_286_a_variable_that_is_set_between_two_instances() {
    case(|scene| {
        two_devices(scene);
        let outcome = scene.run(|vk| {
            let first = vk.instance_with("1.1", &[]);
            vk.set_env("LP_DEBUG", Some("none"));
            assert_eq!(first.device_names(), ["one", "two"]);
            assert_eq!(calls(vk, "load"), 0);
            let second = vk.instance_with("1.1", &[]);
            assert_eq!(calls(vk, "vkCreateInstance"), 1);
            assert_eq!(use_device(&first, "two"), Ok(()));
            assert_eq!(use_device(&second, "two"), Ok(()));
        });
        outcome.ok().not_logged(WRONG);
    });
}

/// DRV-280: the record's file can be replaced by another file while the program runs. The existing instance keeps its answers.
#[test]
fn drv_280_a_record_that_is_replaced_while_the_program_runs() {
    case(|scene| {
        two_devices(scene);
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &[]);
            for entry in fs::read_dir(vk.path("catalogue/cache/vulkan-loader")).expect("a folder") {
                let path = entry.expect("an entry").path();
                let other = path.with_extension("new");
                fs::write(&other, [0xAA; 4096]).expect("a file");
                fs::rename(&other, &path).expect("a rename");
            }
            assert_eq!(instance.device_names(), ["one", "two"]);
            assert_eq!(instance.group_names(), [["two", "one"]]);
            assert_eq!(calls(vk, "load"), 0);
            drop(vk.instance_with("1.1", &[]));
            assert_eq!(calls(vk, "vkCreateInstance"), 1, "its record does not count");
            assert_eq!(use_device(&instance, "two"), Ok(()));
        });
        outcome.ok().not_logged(WRONG);
    });
}

/// DRV-283: the policy `keep-open` also keeps the library of a driver that was opened late.
#[test]
fn drv_283_libraries_that_were_opened_late_can_stay_open() {
    case(|scene| {
        two_devices(scene);
        for (policy, loads) in [("lazy", 2), ("lazy,keep-open", 1)] {
            scene.env("VK_LOADER_DRIVER_POLICY", policy);
            let outcome = scene.run(|vk| {
                for _ in 0..2 {
                    let instance = vk.instance_with("1.1", &[]);
                    assert_eq!(use_device(&instance, "one"), Ok(()));
                }
            });
            assert_eq!(outcome.ok().calls("a", "load").len(), loads, "{policy}");
        }
    });
}

/// DRV-236: with `VK_LOADER_DISABLE_DYNAMIC_LIBRARY_UNLOADING`, a library that was opened late is not closed.
#[test]
fn drv_236_a_library_that_was_opened_late_can_stay_loaded() {
    case(|scene| {
        two_devices(scene);
        for (value, loads) in [("0", 2), ("1", 1)] {
            scene.env("VK_LOADER_DISABLE_DYNAMIC_LIBRARY_UNLOADING", value);
            let outcome = scene.run(|vk| {
                for _ in 0..2 {
                    let instance = vk.instance_with("1.1", &[]);
                    assert_eq!(use_device(&instance, "one"), Ok(()));
                }
            });
            assert_eq!(outcome.ok().calls("a", "load").len(), loads, "{value}");
        }
    });
}

/// DRV-283: a program may change its current folder before it uses a driver whose manifest it named by a relative path.
#[test]
fn drv_283_another_current_folder_when_the_driver_is_opened() {
    case(|scene| {
        two_devices(scene);
        let outcome = scene.run(|vk| {
            let manifest = std::env::var("VK_DRIVER_FILES").expect("a list");
            let name = Path::new(&manifest).file_name().expect("a name").to_owned();
            std::env::set_current_dir(Path::new(&manifest).parent().expect("a folder")).expect("a folder");
            vk.set_env("VK_DRIVER_FILES", name.to_str());
            let instance = vk.instance_with("1.1", &[]);
            std::env::set_current_dir("/").expect("a folder");
            assert_eq!(use_device(&instance, "one"), Ok(()));
        });
        outcome.ok();
    });
}

/// DRV-282: a chained structure whose `sType` is zero has no recorded answer, and the loader does not write to it.
#[test]
fn drv_282_a_structure_without_a_type_is_not_written() {
    case(|scene| {
        two_devices(scene);
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &[]);
            let device = instance.named("two");
            macro_rules! ask {
                ($type:ident, $function:ident $(, $more:expr)?) => {{
                    // The chained structure has the type 0 and no successor. The memory after its head does not belong to the structure.
                    let mut extra = [0x5555_5555_5555_5555_u64; 200];
                    extra[..2].fill(0);
                    let before = extra;
                    let mut asked = vk::$type { p_next: ptr::from_mut(&mut extra).cast(), ..Default::default() };
                    call!(instance, $function(device, $($more,)? &mut asked));
                    assert_eq!(extra, before, stringify!($type));
                }};
            }
            ask!(PhysicalDeviceFeatures2, PFN_vkGetPhysicalDeviceFeatures2);
            assert_eq!(calls(vk, "load"), 1, "the driver answers");
            ask!(PhysicalDeviceProperties2, PFN_vkGetPhysicalDeviceProperties2);
            let format = vk::Format::R8G8B8A8_UNORM;
            ask!(FormatProperties2, PFN_vkGetPhysicalDeviceFormatProperties2, format);
        });
        outcome.ok().not_logged(WRONG);
    });
}
