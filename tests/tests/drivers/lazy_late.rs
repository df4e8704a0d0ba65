//! Tests of drivers that fail or crash when they are opened late, and of programs that open them in unusual ways (DRV-283).

use super::apart::Apart;
use super::catalogue::opened;
use super::catalogue_machine::{CARD, Devices};
use super::lazy::{FAILED, OOM, Question, WRONG, calls, two_devices};
use loader_tests::ash::vk;
use loader_tests::vk::{Heap, Instance, Shared, text};
use loader_tests::{Scene, Vk, call, case};
use std::sync::Barrier;
use std::{fs, ptr, thread};

/// Creates a device, and destroys it.
fn use_device(instance: &Instance<'_>, name: &str) -> Result<(), vk::Result> {
    instance.device_spec(instance.named(name)).create().map(drop)
}

/// DRV-283: if the driver refuses its late instance, its devices cannot be used. After a lack of memory, the next call tries again.
#[test]
fn drv_283_a_driver_that_refuses_its_late_instance() {
    case(|scene| {
        two_devices(scene);
        for (code, first, later) in [(-9, FAILED, Err(FAILED)), (-3, FAILED, Err(FAILED)), (-1, OOM, Ok(()))] {
            let outcome = scene.run(|vk| {
                let instance = vk.instance_with("1.1", &[]);
                vk.add_lines("a", &format!("fail vkCreateInstance {code} 1 1\n"));
                assert_eq!(use_device(&instance, "two"), Err(first), "{code}");
                vk.remove_lines("a", &["fail"]);
                assert_eq!(instance.device_names(), ["one", "two"], "{code}");
                assert_eq!(use_device(&instance, "two"), later, "{code}");
            });
            let is_reported = outcome.ok().all().contains("cannot be opened now");
            assert_eq!(is_reported, later.is_err(), "{code}: {}", outcome.all());
        }
    });
}

/// DRV-283: the driver may have lost all of its devices since the catalogue was updated. The recorded answers remain.
#[test]
fn drv_283_a_driver_without_devices_when_it_is_opened() {
    case(|scene| {
        two_devices(scene);
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &[]);
            let device = instance.named("two");
            vk.configure("a", |text| {
                let kept = text
                    .lines()
                    .filter(|line| !line.starts_with("device") && !line.starts_with("group"));
                kept.map(|line| format!("{line}\n")).collect()
            });
            assert_eq!(use_device(&instance, "one"), Err(FAILED));
            assert_eq!(instance.device_spec(device).create().map(drop), Err(FAILED));
            assert_eq!(instance.name_of(device), "two");
        });
        assert!(outcome.ok().all().contains(WRONG), "{}", outcome.all());
    });
}

/// DRV-283: a driver that crashes ends the program when the loader opens the driver, in the same way as without the policy. The log names
/// the driver before the crash.
#[test]
fn drv_283_a_driver_that_crashes_late() {
    case(|scene| {
        two_devices(scene);
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &[]);
            vk.add_lines("a", "crash vkCreateInstance\n");
            let _ = use_device(&instance, "two");
        });
        let log = outcome.crashed().all();
        assert!(
            log.contains("Opening driver") && log.contains("now, for vkCreateDevice"),
            "{log}"
        );
    });
}

/// DRV-283: an instance keeps the driver closed while another instance of the process uses it. The destruction of an instance whose driver
/// was never opened calls no driver.
#[test]
fn drv_283_each_instance_opens_the_driver_for_itself() {
    case(|scene| {
        two_devices(scene);
        let outcome = scene.run(|vk| {
            let [first, second, never] = [(); 3].map(|()| vk.instance_with("1.1", &[]));
            assert_eq!(use_device(&second, "one"), Ok(()));
            assert_eq!(calls(vk, "vkCreateInstance"), 1);
            assert_eq!(first.device_names(), ["one", "two"]);
            never.destroy();
            assert_eq!((calls(vk, "vkCreateInstance"), calls(vk, "vkDestroyInstance")), (1, 0));
            second.destroy();
            assert_eq!(calls(vk, "vkDestroyInstance"), 1);
            assert_eq!(first.group_names(), [["two", "one"]], "it is still closed");
            assert_eq!(calls(vk, "vkCreateInstance"), 1);
            assert_eq!(use_device(&first, "two"), Ok(()));
            assert_eq!(calls(vk, "vkCreateInstance"), 2);
        });
        outcome.ok().not_logged(WRONG);
    });
}

/// DRV-283, DRV-4: the library can be unloaded while a driver is closed, and leaves no memory allocated.
#[test]
fn drv_283_the_library_is_unloaded_with_a_closed_driver() {
    case(|scene| {
        two_devices(scene);
        let outcome = scene.run_unloaded(|scratch| {
            let mut vk = scratch.load();
            let heap = Heap::of(&vk);
            for _ in 0..3 {
                let instance = vk.instance_with("1.1", &[]);
                assert_eq!(instance.device_names(), ["one", "two"]);
                instance.destroy();
                assert_eq!(calls(&vk, "load"), 0);
                vk.reload(|| assert_eq!(heap.live(), 0, "blocks are left"));
            }
            vk.unload();
            assert_eq!(heap.live(), 0, "blocks are left");
        });
        outcome.ok();
    });
}

/// Moves the driver's library away, and makes a query.
fn asked_without_library(scene: &mut Scene, query: &str) {
    two_devices(scene);
    let (library, elsewhere) = (scene.library("a"), scene.path("elsewhere.so"));
    let outcome = scene.run(|vk| {
        let instance = vk.instance_with("1.1", &[]);
        fs::rename(&library, &elsewhere).expect("a rename");
        ask_lost(vk, &instance, query);
    });
    assert!(outcome.ok().all().contains("cannot be opened now"), "{}", outcome.all());
}

/// DRV-283: if a command cannot open its driver, the command writes the recorded answer, and does not change the other structures of the
/// chain.
#[test]
fn drv_283_properties_of_a_lost_driver_are_written() {
    case(|scene| asked_without_library(scene, "properties"));
}

/// DRV-283: if a command cannot open its driver, the command still returns the recorded queue families.
#[test]
fn drv_283_queue_families_of_a_lost_driver_are_written() {
    case(|scene| asked_without_library(scene, "families"));
}

/// DRV-283: if a query for a list that the record lacks cannot open its driver, the number of elements is zero.
#[test]
fn drv_283_a_number_of_a_lost_driver_is_written() {
    case(|scene| asked_without_library(scene, "sparse"));
}

/// Makes a query that the record does not answer, while the library of the driver is missing.
fn ask_lost(vk: &Vk, instance: &Instance<'_>, query: &str) {
    let mut extra = vk::BaseOutStructure {
        s_type: vk::StructureType::from_raw(777_000),
        ..Default::default()
    };
    let (next, device) = (ptr::from_mut(&mut extra).cast(), instance.named("two"));
    match query {
        "properties" => {
            let mut asked = vk::PhysicalDeviceProperties2 {
                p_next: next,
                ..Default::default()
            };
            call!(instance, PFN_vkGetPhysicalDeviceProperties2(device, &mut asked));
            assert_eq!(text(&asked.properties.device_name), "two");
        }
        "families" => {
            let (mut count, mut family) = (1, vk::QueueFamilyProperties2::default());
            family.p_next = next;
            call!(
                instance,
                PFN_vkGetPhysicalDeviceQueueFamilyProperties2(device, &mut count, &mut family)
            );
            assert_eq!(count, 1);
            assert_ne!(family.queue_family_properties.queue_count, 0);
        }
        _ => Question::of(vk, instance).ask(),
    }
}

/// Calls a command for which the loader must open the driver. `number` selects the command and the device.
fn first_use(vk: &Vk, instance: &Instance<'_>, number: usize) {
    let device = instance.named(["one", "two"][number % 2]);
    let mut extra = vk::BaseOutStructure {
        s_type: vk::StructureType::from_raw(777_000),
        ..Default::default()
    };
    let next = ptr::from_mut(&mut extra).cast();
    match number % 5 {
        0 => assert_eq!(instance.device_spec(device).create().map(drop), Ok(())),
        1 => {
            let mut asked = vk::PhysicalDeviceProperties2 {
                p_next: next,
                ..Default::default()
            };
            call!(instance, PFN_vkGetPhysicalDeviceProperties2(device, &mut asked));
            assert_ne!(asked.properties.device_name[0], 0);
        }
        2 => {
            let mut asked = vk::PhysicalDeviceMemoryProperties2 {
                p_next: next,
                ..Default::default()
            };
            call!(instance, PFN_vkGetPhysicalDeviceMemoryProperties2(device, &mut asked));
            assert_ne!(asked.memory_properties.memory_heap_count, 0);
        }
        3 => {
            let mut properties = vk::ImageFormatProperties::default();
            let (format, kind) = (vk::Format::R8G8B8A8_UNORM, vk::ImageType::TYPE_2D);
            let (tiling, usage) = (vk::ImageTiling::OPTIMAL, vk::ImageUsageFlags::SAMPLED);
            let flags = vk::ImageCreateFlags::empty();
            let result = call!(
                instance,
                PFN_vkGetPhysicalDeviceImageFormatProperties(
                    device,
                    format,
                    kind,
                    tiling,
                    usage,
                    flags,
                    &mut properties
                )
            );
            assert_eq!(result, vk::Result::SUCCESS);
        }
        _ => {
            vk.get(instance.raw, "vkNobodyKnowsThis");
        }
    }
}

/// DRV-283: if several threads use a closed driver for the first time at the same moment, through different commands, the loader opens the
/// driver once.
#[test]
fn drv_283_different_first_commands_get_one_opening() {
    case(|scene| {
        two_devices(scene);
        scene.limit(60);
        let outcome = scene.run(|vk| {
            for round in 1..=10 {
                let instance = vk.instance_with("1.1", &[]);
                let (all, shared) = (Barrier::new(10), Shared(&instance));
                thread::scope(|scope| {
                    for number in 0..10 {
                        let all = &all;
                        scope.spawn(move || {
                            all.wait();
                            first_use(vk, shared.get(), number);
                        });
                    }
                });
                assert_eq!(calls(vk, "vkCreateInstance"), round);
            }
        });
        outcome.ok().not_logged(WRONG);
    });
}

/// DRV-280: the library reads the files of the catalogue and of the records, and maps none of them. Another process may therefore truncate
/// or replace the files at any time: an instance keeps its answers, and a new instance opens the driver.
#[test]
fn drv_280_files_that_are_truncated_while_the_program_runs() {
    case(|scene| {
        two_devices(scene);
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &[]);
            let maps = fs::read_to_string("/proc/self/maps").expect("a list");
            assert!(!maps.contains("catalogue/cache"), "{maps}");
            let folder = vk.path("catalogue/cache/vulkan-loader");
            for length in [40, 0] {
                for entry in fs::read_dir(&folder).expect("a folder") {
                    let file = fs::OpenOptions::new().write(true).open(entry.expect("an entry").path());
                    file.and_then(|file| file.set_len(length)).expect("a truncated file");
                }
                assert_eq!(instance.device_names(), ["one", "two"]);
                assert_eq!(instance.group_names(), [["two", "one"]]);
            }
            assert_eq!(calls(vk, "load"), 0);
            let other = vk.instance_with("1.1", &[]);
            assert_eq!(calls(vk, "vkCreateInstance"), 1, "its record does not count");
            assert_eq!(other.device_names(), ["one", "two"]);
            assert_eq!(use_device(&instance, "two"), Ok(()));
        });
        outcome.ok().not_logged(WRONG);
    });
}

/// DRV-282: with the policy `lazy-asleep`, a driver stays closed only while all of its devices are suspended.
#[test]
fn drv_282_only_suspended_devices_are_listed_from_their_record() {
    case(|scene| {
        let Some(apart) = Apart::enter(scene) else { return };
        scene.driver("a").device_with("one", |device| {
            device.uuids(1, 9).pci(0, 1, 0, 0).extension("VK_EXT_pci_bus_info")
        });
        scene.lazily();
        let devices = Devices::new(scene, &apart);
        scene.env("VK_LOADER_DRIVER_POLICY", "lazy-asleep");
        for (state, expected) in [
            ("active", &["a"][..]),
            ("suspended", &[]),
            ("resuming", &["a"]),
            ("suspended", &[]),
        ] {
            scene.on_disk(|| devices.write(&Devices::of_card("power/runtime_status"), &format!("{state}\n")));
            let outcome = scene.run(|vk| {
                let instance = vk.instance_with("1.1", &[]);
                assert_eq!(instance.device_names(), ["one"], "{CARD}");
            });
            assert_eq!(opened(outcome.ok()), expected, "{state}: {}", outcome.all());
        }
    });
}
