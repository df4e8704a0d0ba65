//! Tests of drivers that remain closed, with records that `vkloader` makes (DRV-282 to DRV-286).

use super::catalogue::opened;
use super::unknown_physical::call_ten;
use loader_tests::ash::vk::{self, Handle};
use loader_tests::vk::{Heap, Instance, Refusal, isolated, text};
use loader_tests::{Scene, Vk, call, case};
use std::sync::Barrier;
use std::{mem, ptr, thread};

pub(crate) const OOM: vk::Result = vk::Result::ERROR_OUT_OF_HOST_MEMORY;
pub(crate) const FAILED: vk::Result = vk::Result::ERROR_INITIALIZATION_FAILED;
pub(crate) const WRONG: &str = "Answers before the driver was opened came from the record, which is wrong";

/// Adds a recorded driver with two devices, which form a group.
pub(crate) fn two_devices(scene: &mut Scene) {
    scene
        .driver("a")
        .device_with("one", |device| device.uuids(1, 9))
        .device_with("two", |device| device.uuids(2, 9))
        .line("group", "two one");
    scene.lazily();
}

/// Returns the number of calls of a command in the driver. With `load`, returns the number of times that the driver was opened.
pub(crate) fn calls(vk: &Vk, call: &str) -> usize {
    let begin = format!("a {call}");
    let is_call = |line: &&String| {
        line.strip_prefix(&begin)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    vk.journal().iter().filter(is_call).count()
}

/// A query that makes the loader open the driver. The query is about the first device of an instance, and every thread can call it.
pub(crate) struct Question {
    ask: vk::PFN_vkGetPhysicalDeviceSparseImageFormatProperties,
    device: vk::PhysicalDevice,
}

impl Question {
    pub(crate) fn of(vk: &Vk, instance: &Instance<'_>) -> Self {
        let address = vk.get(instance.raw, "vkGetPhysicalDeviceSparseImageFormatProperties");
        Self {
            // SAFETY: the address belongs to the named function, which has this type.
            ask: unsafe { mem::transmute::<usize, vk::PFN_vkGetPhysicalDeviceSparseImageFormatProperties>(address) },
            device: instance.first(),
        }
    }

    /// Calls the query, and checks that the driver has answered.
    pub(crate) fn ask(&self) {
        let (mut count, format) = (77, vk::Format::R8G8B8A8_UNORM);
        let (kind, samples) = (vk::ImageType::TYPE_2D, vk::SampleCountFlags::TYPE_1);
        let (usage, tiling) = (vk::ImageUsageFlags::SAMPLED, vk::ImageTiling::OPTIMAL);
        let none = ptr::null_mut();
        // SAFETY: the device belongs to an existing instance, and the count is writable.
        unsafe { (self.ask)(self.device, format, kind, samples, usage, tiling, &mut count, none) };
        assert_ne!(count, 77, "the driver has answered");
    }
}

/// DRV-283: if several threads use a closed driver at the same time, the loader opens the driver once, and all threads receive the driver's
/// answers.
#[test]
fn drv_283_threads_that_are_first_get_one_opening() {
    case(|scene| {
        two_devices(scene);
        for threads in [2, 8, 32] {
            let outcome = scene.run(|vk| {
                let instance = vk.instance_with("1.1", &[]);
                let (question, all) = (Question::of(vk, &instance), Barrier::new(threads));
                assert_eq!(calls(vk, "load"), 0);
                thread::scope(|scope| {
                    for _ in 0..threads {
                        scope.spawn(|| {
                            all.wait();
                            question.ask();
                        });
                    }
                });
            });
            let made = outcome.ok().calls("a", "vkCreateInstance");
            assert_eq!(
                (outcome.calls("a", "load").len(), made.len()),
                (1, 1),
                "{}",
                outcome.all()
            );
            outcome.not_logged(WRONG);
        }
    });
}

/// DRV-282: the device groups of a closed driver come from its record, in the driver's order.
#[test]
fn drv_282_groups_are_listed_without_the_driver() {
    case(|scene| {
        two_devices(scene);
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &[]);
            assert_eq!(instance.group_names(), [["two", "one"]]);
            assert_eq!(calls(vk, "load"), 0);
            drop(instance.device(instance.named("two"), &[]));
            assert_eq!(instance.group_names(), [["two", "one"]]);
        });
        assert_eq!(opened(outcome.ok()), ["a"]);
        outcome.not_logged(WRONG);
    });
}

/// DRV-282, DRV-152: the record has no answers to a chain in a group, so the loader opens the driver for this query.
#[test]
fn drv_282_chains_of_groups_open_the_driver() {
    case(|scene| {
        two_devices(scene);
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &[]);
            let mut extra = vk::BaseOutStructure {
                s_type: vk::StructureType::from_raw(777_000),
                ..Default::default()
            };
            let mut groups = [vk::PhysicalDeviceGroupProperties::default()];
            groups[0].p_next = ptr::from_mut(&mut extra).cast();
            let (mut count, array) = (1, groups.as_mut_ptr());
            let result = call!(
                instance,
                PFN_vkEnumeratePhysicalDeviceGroups(instance.raw, &mut count, array)
            );
            assert_eq!((result, groups[0].physical_device_count), (vk::Result::SUCCESS, 2));
        });
        let elements = outcome.ok().calls("a", "vkEnumeratePhysicalDeviceGroups");
        assert!(
            elements.iter().any(|element| element.ends_with("next=true")),
            "{elements:?}"
        );
    });
}

/// DRV-286: a direct driver has no record and is always open, also if another driver remains closed.
#[test]
fn drv_286_direct_drivers_are_always_open() {
    case(|scene| {
        two_devices(scene);
        scene.driver("direct").device("three").unlisted();
        let outcome = scene.run(|vk| {
            let infos = [vk::DirectDriverLoadingInfoLUNARG {
                pfn_get_instance_proc_addr: vk.direct_driver("direct"),
                ..Default::default()
            }];
            let list = vk::DirectDriverLoadingListLUNARG::default()
                .mode(vk::DirectDriverLoadingModeLUNARG::INCLUSIVE)
                .drivers(&infos);
            let spec = vk.spec().api("1.1").extensions(&["VK_LUNARG_direct_driver_loading"]);
            let (list, mut names) = match spec.create() {
                // The extension alone, without a list of drivers in the chain, adds no driver.
                Ok(instance) => (list, instance.device_names()),
                Err(error) => panic!("{error}"),
            };
            names.sort();
            assert_eq!(names, ["one", "two"]);
            let spec = vk.spec().api("1.1").extensions(&["VK_LUNARG_direct_driver_loading"]);
            let instance = spec.next(&list).create().expect("vkCreateInstance");
            let mut names = instance.device_names();
            names.sort();
            assert_eq!(names, ["one", "three", "two"]);
        });
        assert_eq!(outcome.ok().calls("direct", "vkCreateInstance").len(), 1);
    });
}

/// DRV-285: the creation of a device fails if the physical device has disappeared. The process then no longer uses the driver's entry in
/// the catalogue.
#[test]
fn drv_285_a_doubtful_entry_does_not_count_again() {
    case(|scene| {
        two_devices(scene);
        let outcome = scene.run(|vk| {
            let first = vk.instance_with("1.1", &[]);
            assert_eq!(first.device_names(), ["one", "two"]);
            vk.configure("a", |text| {
                text.replace("device two", "device other")
                    .replace("device.uuid 2", "device.uuid 3")
            });
            vk.configure("a", |text| text.replace("group two one\n", ""));
            let (one, two) = (first.named("one"), first.named("two"));
            assert_eq!(first.device_spec(two).create().map(drop), Err(FAILED));
            assert_eq!(first.device_spec(one).create().map(drop), Ok(()));
            assert_eq!(first.device_spec(two).create().map(drop), Err(FAILED));
            assert_eq!(first.name_of(two), "two", "a lost device keeps its recorded answers");
            assert_eq!(vk.instance_with("1.1", &[]).device_names(), ["one", "other"]);
        });
        assert!(outcome.ok().all().contains(WRONG), "{}", outcome.all());
        assert!(outcome.all().contains("Using \"two\" with driver"), "{}", outcome.all());
        outcome.not_logged("Using \"\" with driver");
        let closed = outcome
            .all()
            .matches("yet: its devices are listed from the record")
            .count();
        assert_eq!(closed, 1, "the second instance opens the driver: {}", outcome.all());
    });
}

/// DRV-283: a forked copy of the process opens the driver separately.
#[test]
fn drv_283_a_copy_of_the_process_opens_the_driver_itself() {
    case(|scene| {
        two_devices(scene);
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &[]);
            let device = instance.named("two");
            let ending = isolated(|| {
                assert_eq!(instance.device_spec(device).create().map(drop), Ok(()));
                assert_eq!(calls(vk, "load"), 1);
            });
            assert_eq!(ending.signal, 0, "{}", ending.stderr);
            assert_eq!(instance.device_spec(device).create().map(drop), Ok(()));
            assert_eq!(calls(vk, "load"), 2, "this process had not opened it");
        });
        outcome.ok();
    });
}

/// DRV-283, DRV-220: functions that the registry does not know reach the driver with its own handle. If the driver no longer has the
/// device, the call returns an error.
#[test]
fn drv_283_unknown_functions_of_a_late_driver() {
    case(|scene| {
        scene
            .driver("a")
            .unknown_physical("vkOddOne")
            .device_with("one", |device| device.uuids(1, 9))
            .device_with("two", |device| device.uuids(2, 9));
        scene.lazily();
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &[]);
            let (one, two) = (instance.named("one"), instance.named("two"));
            vk.configure("a", |text| {
                text.replace("device two", "device other")
                    .replace("device.uuid 2", "device.uuid 3")
            });
            assert_eq!(calls(vk, "load"), 0);
            let address = vk.get(instance.raw, "vkOddOne");
            assert_eq!(calls(vk, "load"), 1);
            assert_eq!(call_ten(address, one.as_raw()), 1000);
            // Only the lower 32 bits of the result are the error code.
            assert_eq!(call_ten(address, two.as_raw()) as u32, FAILED.as_raw().cast_unsigned());
        });
        assert_eq!(outcome.ok().calls("a", "unknown").len(), 1);
    });
}

/// DRV-283, DRV-4: if any allocation of a late opening is refused, the call returns the error and destroys its objects in the driver. The
/// next call opens the driver.
#[test]
fn drv_283_each_allocation_of_a_late_opening_refused() {
    case(|scene| {
        two_devices(scene);
        scene.unset("VK_LOADER_DEBUG").limit(120);
        let outcome = scene.run_unloaded(|scratch| {
            let mut vk = scratch.load();
            let heap = Heap::of(&vk);
            let mut refused = 0;
            for kind in [Refusal::Only as fn(usize) -> Refusal, Refusal::From] {
                for number in 1.. {
                    let (instance, before) = (vk.instance_with("1.1", &[]), calls(&vk, "load"));
                    let device = instance.named("two");
                    assert_eq!(instance.device_extensions(device).map(drop), Ok(()));
                    assert_eq!(instance.groups().map(|groups| groups.len()), Ok(1));
                    assert_eq!(calls(&vk, "load"), before, "{number}: the driver is closed");
                    heap.refuse(kind(number));
                    let result = instance.device_spec(device).create().map(drop);
                    let is_last = heap.count() < number;
                    heap.refuse_none();
                    assert!(matches!(result, Ok(()) | Err(OOM)), "{number}: {result:?}");
                    refused += usize::from(result.is_err());
                    assert_eq!(instance.device_spec(device).create().map(drop), Ok(()), "{number}");
                    instance.destroy();
                    let made = calls(&vk, "vkCreateInstance");
                    assert_eq!(made, calls(&vk, "vkDestroyInstance"), "{number}: an instance is left");
                    if is_last {
                        break;
                    }
                }
            }
            assert!(refused > 4, "{refused}");
            vk.unload();
            assert_eq!(heap.live(), 0, "blocks are left");
        });
        outcome.ok();
    });
}

/// DRV-283, DRV-4: if memory runs out during the opening of the driver for a query that returns no `VkResult`, the query gives the recorded
/// answer. The query leaves chained structures without a recorded answer unchanged. The next query opens the driver.
#[test]
fn drv_283_recorded_answers_need_no_memory() {
    case(|scene| {
        two_devices(scene);
        scene.unset("VK_LOADER_DEBUG").limit(120);
        let outcome = scene.run(|vk| {
            let heap = Heap::of(vk);
            let mut refused = 0;
            for number in 1.. {
                let (instance, before) = (vk.instance_with("1.1", &[]), calls(vk, "load"));
                let device = instance.named("two");
                heap.refuse(Refusal::From(number));
                assert_eq!(name_with_chain(&instance, device), "two", "{number}");
                let is_last = heap.count() < number;
                heap.refuse_none();
                refused += usize::from(!is_last);
                assert_eq!(name_with_chain(&instance, device), "two", "{number}");
                assert!(calls(vk, "load") > before, "{number}: the driver is open");
                if is_last {
                    break;
                }
            }
            assert!(refused > 3, "{refused}");
        });
        outcome.ok().not_logged(WRONG);
    });
}

/// Queries the name of a device, with a chained structure for which the driver's record has no answer.
fn name_with_chain(instance: &Instance<'_>, device: vk::PhysicalDevice) -> String {
    let mut extra = vk::BaseOutStructure {
        s_type: vk::StructureType::from_raw(777_000),
        ..Default::default()
    };
    let mut asked = vk::PhysicalDeviceProperties2 {
        p_next: ptr::from_mut(&mut extra).cast(),
        ..Default::default()
    };
    call!(instance, PFN_vkGetPhysicalDeviceProperties2(device, &mut asked));
    text(&asked.properties.device_name)
}
