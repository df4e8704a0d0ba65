//! Tests of device groups in the `pNext` chain of a create info (DRV-193, DRV-194, APP-144).

use std::ptr;

use loader_tests::ash::vk;
use loader_tests::case;
use loader_tests::vk::{Pages, Shared};

/// DRV-193, APP-144: the loader unwraps group handles in a copy, and the caller's chain remains unchanged.
#[test]
fn drv_193_device_groups_are_unwrapped() {
    case(|scene| {
        scene.driver("a").device("one").device("two").line("group", "one two");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &[]);
            let members = [instance.named("one"), instance.named("two")];
            let mut before = vk::PhysicalDeviceVariablePointersFeatures::default();
            let mut group = vk::DeviceGroupDeviceCreateInfo::default().physical_devices(&members);
            group.p_next = ptr::from_ref(&before).cast();
            let features = vk::PhysicalDeviceVulkan11Features {
                p_next: ptr::from_mut(&mut group).cast(),
                ..Default::default()
            };
            for fails in [false, true] {
                if fails {
                    vk.add_lines("a", "fail vkCreateDevice -3");
                }
                let result = instance.device_spec(members[0]).next(&features).create();
                assert_eq!(result.err().is_some(), fails);
                assert_eq!(features.p_next, ptr::from_mut(&mut group).cast());
                assert_eq!(group.p_next, ptr::from_mut(&mut before).cast_const().cast());
                assert_eq!(group.p_physical_devices, members.as_ptr());
            }
        });
        let outcome = outcome.ok();
        let call = outcome.calls("a", "vkCreateDevice")[0];
        assert!(call.contains("group=[one two]"), "{}", outcome.all());
    });
}

/// Memory that can become read-only after its content was written.
struct Page(Pages);

impl Page {
    fn new() -> Self {
        Self(Pages::new())
    }

    /// Writes a structure at this offset.
    fn put<T>(&self, offset: usize, value: T) -> *const T {
        assert!(offset + size_of::<T>() <= self.0.size());
        // SAFETY: the structure fits into the page, which is still writable. The used offsets are aligned for every structure.
        unsafe {
            let place = self.0.begin().add(offset).cast::<T>();
            place.write(value);
            place
        }
    }

    fn protect(&self) {
        self.0.close_for_writing();
    }
}

/// APP-144, DRV-193: the loader does not write to the caller's structures, so these structures can be in read-only memory.
#[test]
fn app_144_a_device_group_in_memory_that_cannot_be_written_to() {
    case(|scene| {
        scene.driver("a").device("one").device("two").line("group", "one two");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &[]);
            let members = [instance.named("one"), instance.named("two")];
            let page = Page::new();
            let last = page.put(2048, vk::PhysicalDeviceVariablePointersFeatures::default());
            let mut group = vk::DeviceGroupDeviceCreateInfo::default().physical_devices(&members);
            group.p_next = last.cast();
            let group = page.put(1024, group);
            let first = page.put(
                0,
                vk::PhysicalDeviceVulkan11Features {
                    p_next: group.cast_mut().cast(),
                    ..Default::default()
                },
            );
            page.protect();
            // SAFETY: the structures are in a page that outlives the devices.
            let (first, group) = unsafe { (&*first, &*group) };
            drop(instance.device_spec(members[0]).next(first).create().expect("in front"));
            drop(instance.device_spec(members[0]).next(group).create().expect("alone"));
        });
        let outcome = outcome.ok();
        let calls = outcome.calls("a", "vkCreateDevice");
        assert!(
            calls[0].contains("49 1000070001 1000120000] group=[one two]"),
            "{}",
            outcome.all()
        );
        assert!(
            calls[1].contains(" 1000070001 1000120000] group=[one two]"),
            "{}",
            outcome.all()
        );
    });
}

/// APP-144, APP-270: several threads create devices from one shared chain at the same time. The driver receives its own handles in each
/// call.
#[test]
fn app_144_threads_share_a_chain_with_a_device_group() {
    case(|scene| {
        scene.driver("a").device("one").device("two").line("group", "one two");
        scene.env("VK_LOADER_DEBUG", "");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &[]);
            let members = [instance.named("one"), instance.named("two")];
            let mut group = vk::DeviceGroupDeviceCreateInfo::default().physical_devices(&members);
            let features = vk::PhysicalDeviceVulkan11Features {
                p_next: ptr::from_mut(&mut group).cast(),
                ..Default::default()
            };
            let shared = Shared((&instance, &features, members[0]));
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(move || {
                        let (instance, features, physical) = *shared.get();
                        for _ in 0..20 {
                            drop(
                                instance
                                    .device_spec(physical)
                                    .next(features)
                                    .create()
                                    .expect("a device"),
                            );
                        }
                    });
                }
            });
        });
        let outcome = outcome.ok();
        let calls = outcome.calls("a", "vkCreateDevice");
        assert_eq!(calls.len(), 80);
        assert!(calls.iter().all(|call| call.contains("49 1000070001] group=[one two]")));
    });
}

/// DRV-194, APP-145: on a driver without device groups, a device can be created from a group with a single device. The creation from a
/// larger group fails.
#[test]
fn drv_194_groups_on_a_driver_without_them() {
    case(|scene| {
        scene.driver("a").api("1.0.0").device("one").device("two");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &[]);
            let members = [instance.named("one"), instance.named("two")];
            let group = vk::DeviceGroupDeviceCreateInfo::default().physical_devices(&members[..1]);
            drop(
                instance
                    .device_spec(members[0])
                    .next(&group)
                    .create()
                    .expect("one device is no group"),
            );
            let group = vk::DeviceGroupDeviceCreateInfo::default().physical_devices(&members);
            let result = instance.device_spec(members[0]).next(&group).create().err();
            assert_eq!(result, Some(vk::Result::ERROR_INITIALIZATION_FAILED));
        });
        let outcome = outcome.ok();
        assert!(
            outcome.calls("a", "vkCreateDevice")[0].contains("group=[one]"),
            "{}",
            outcome.all()
        );
        assert!(
            !outcome.log("ERROR").is_empty() && outcome.calls("a", "vkCreateDevice").len() == 1,
            "{}",
            outcome.all()
        );
    });
}
