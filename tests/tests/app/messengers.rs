//! Tests of creating and destroying messengers and report callbacks in the drivers (APP-190 to APP-200).

use std::ptr;

use loader_tests::ash::vk;
use loader_tests::vk::{Allocator, Messages, Reports};
use loader_tests::{Scene, call, case};

const UTILS: &str = "VK_EXT_debug_utils";
const REPORT: &str = "VK_EXT_debug_report";

fn three_drivers(scene: &mut Scene) {
    scene.usual_driver("a");
    scene.driver("none").device("gpu-none");
    scene.usual_driver("b");
}

/// APP-190: the loader always offers the extensions for debug messages, and they are usable even if no driver has them.
#[test]
fn app_190_the_extensions_need_no_driver() {
    case(|scene| {
        scene.driver("none").device("one");
        let outcome = scene.run(|vk| {
            let (messages, reports) = (Messages::default(), Reports::default());
            let instance = vk.instance_with("1.1", &[UTILS, REPORT]);
            let (messenger, callback) = (instance.messenger(&messages), instance.report_callback(&reports));
            assert_eq!(instance.device_count(), Ok(1));
            instance.destroy_messenger(messenger);
            instance.destroy_report_callback(callback);
        });
        outcome.ok();
    });
}

/// APP-190, APP-191: the loader creates a messenger or callback object in each driver that has the creation function.
#[test]
fn app_191_each_driver_has_its_own_object() {
    case(|scene| {
        three_drivers(scene);
        let outcome = scene.run(|vk| {
            let (messages, reports) = (Messages::default(), Reports::default());
            let instance = vk.instance_with("1.1", &[UTILS, REPORT]);
            let (messenger, callback) = (instance.messenger(&messages), instance.report_callback(&reports));
            vk.mark("made");
            instance.destroy_messenger(messenger);
            instance.destroy_report_callback(callback);
        });
        let outcome = outcome.ok();
        for driver in ["a", "b"] {
            for call in ["vkCreateDebugUtilsMessengerEXT", "vkCreateDebugReportCallbackEXT"] {
                assert_eq!(outcome.calls(driver, call), ["alloc=null"], "{}", outcome.all());
            }
            assert_eq!(
                outcome.calls(driver, "vkDestroyDebugUtilsMessengerEXT").len(),
                1,
                "{}",
                outcome.all()
            );
            assert_eq!(
                outcome.calls(driver, "vkDestroyDebugReportCallbackEXT").len(),
                1,
                "{}",
                outcome.all()
            );
        }
    });
}

/// APP-190: if a driver fails to create a messenger, the call returns the driver's error and destroys the objects in the other drivers.
#[test]
fn app_190_a_failing_driver_undoes_the_creation() {
    case(|scene| {
        three_drivers(scene);
        let outcome = scene.run(|vk| {
            let messages = Messages::default();
            let instance = vk.instance_with("1.1", &[UTILS]);
            let first = instance.messenger(&messages);
            vk.mark("first");
            for driver in ["a", "b"] {
                vk.add_lines(driver, "fail vkCreateDebugUtilsMessengerEXT -4");
                let info = messages.create_info();
                let mut handle = vk::DebugUtilsMessengerEXT::null();
                let result = call!(
                    instance,
                    PFN_vkCreateDebugUtilsMessengerEXT(instance.raw, &info, ptr::null(), &mut handle)
                );
                assert_eq!(result, vk::Result::ERROR_DEVICE_LOST, "{driver}");
                vk.remove_lines(driver, &["fail"]);
            }
            vk.mark("undone");
            let second = instance.messenger(&messages);
            instance.destroy_messenger(first);
            instance.destroy_messenger(second);
        });
        let lines = outcome.ok().between("first", "undone");
        let created = |line: &&&str| line.contains("vkCreateDebugUtilsMessengerEXT") && !line.ends_with("-> -4");
        let destroyed = |line: &&&str| line.contains("vkDestroyDebugUtilsMessengerEXT");
        let counts = (
            lines.iter().filter(created).count(),
            lines.iter().filter(destroyed).count(),
        );
        assert_eq!(counts, (1, 1), "{}", outcome.all());
    });
}

/// APP-190: if a driver fails to create a report callback, the call returns the driver's error and leaves no object.
#[test]
fn app_190_a_failing_driver_undoes_a_report_callback() {
    case(|scene| {
        three_drivers(scene);
        let outcome = scene.run(|vk| {
            let reports = Reports::default();
            let instance = vk.instance_with("1.1", &[REPORT]);
            for driver in ["a", "b"] {
                vk.add_lines(driver, "fail vkCreateDebugReportCallbackEXT -1");
                let info = reports.create_info();
                let mut handle = vk::DebugReportCallbackEXT::null();
                let result = call!(
                    instance,
                    PFN_vkCreateDebugReportCallbackEXT(instance.raw, &info, ptr::null(), &mut handle)
                );
                assert_eq!(result, vk::Result::ERROR_OUT_OF_HOST_MEMORY, "{driver}");
                vk.remove_lines(driver, &["fail"]);
            }
        });
        outcome.ok();
    });
}

/// APP-191: the loader reuses the indices of destroyed messengers, its tables grow, and the destruction of a messenger does not affect
/// other messengers.
#[test]
fn app_191_many_messengers() {
    case(|scene| {
        three_drivers(scene);
        let outcome = scene.run(|vk| {
            let messages = Messages::default();
            let instance = vk.instance_with("1.1", &[UTILS]);
            let mut handles: Vec<_> = (0..70).map(|_| instance.messenger(&messages)).collect();
            for index in (0..70).step_by(3) {
                instance.destroy_messenger(handles[index]);
                handles[index] = instance.messenger(&messages);
            }
            let mut sorted = handles.clone();
            sorted.sort_unstable();
            sorted.dedup();
            assert_eq!(sorted.len(), 70);
            handles
                .into_iter()
                .for_each(|handle| instance.destroy_messenger(handle));
        });
        let outcome = outcome.ok();
        assert_eq!(outcome.calls("a", "vkCreateDebugUtilsMessengerEXT").len(), 94);
        assert_eq!(outcome.calls("b", "vkDestroyDebugUtilsMessengerEXT").len(), 94);
    });
}

/// APP-191: destroying a NULL handle does nothing.
#[test]
fn app_191_destroying_null_does_nothing() {
    case(|scene| {
        three_drivers(scene);
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &[UTILS, REPORT]);
            instance.destroy_messenger(vk::DebugUtilsMessengerEXT::null());
            instance.destroy_report_callback(vk::DebugReportCallbackEXT::null());
        });
        let outcome = outcome.ok();
        assert!(
            outcome.calls("a", "vkDestroyDebugUtilsMessengerEXT").is_empty(),
            "{}",
            outcome.all()
        );
    });
}

/// DRV-188, APP-111: forgotten messengers are destroyed with the instance.
#[test]
fn drv_188_forgotten_messengers_are_destroyed() {
    case(|scene| {
        three_drivers(scene);
        let outcome = scene.run(|vk| {
            let allocator = Allocator::default();
            let (messages, reports) = (Messages::default(), Reports::default());
            let instance = vk
                .spec()
                .api("1.1")
                .extensions(&[UTILS, REPORT])
                .allocator(&allocator)
                .create()
                .expect("created");
            instance.messenger(&messages);
            instance.report_callback(&reports);
            instance.destroy();
            assert_eq!(allocator.live(), 0);
        });
        let outcome = outcome.ok();
        for driver in ["a", "b"] {
            let journal = outcome.journal();
            let place = |text: &str| {
                journal
                    .iter()
                    .position(|line| line.starts_with(&format!("{driver} {text}")))
            };
            let instance = place("vkDestroyInstance");
            assert!(
                place("vkDestroyDebugUtilsMessengerEXT").is_some_and(|at| Some(at) < instance),
                "{}",
                outcome.all()
            );
            assert!(
                place("vkDestroyDebugReportCallbackEXT").is_some_and(|at| Some(at) < instance),
                "{}",
                outcome.all()
            );
        }
    });
}

/// APP-170: the loader passes the allocator of the call to the drivers, and uses this allocator for the memory of the loader's own object.
#[test]
fn app_170_messengers_use_the_allocator_of_the_call() {
    case(|scene| {
        scene.usual_driver("a");
        let outcome = scene.run(|vk| {
            let allocator = Allocator::default();
            vk.say("mark", allocator.mark());
            let messages = Messages::default();
            let instance = vk.instance_with("1.1", &[UTILS]);
            let info = messages.create_info();
            let mut handle = vk::DebugUtilsMessengerEXT::null();
            let callbacks = allocator.callbacks();
            let result = call!(
                instance,
                PFN_vkCreateDebugUtilsMessengerEXT(instance.raw, &info, callbacks, &mut handle)
            );
            assert_eq!(result, vk::Result::SUCCESS);
            assert!(allocator.live() > 0);
            call!(
                instance,
                PFN_vkDestroyDebugUtilsMessengerEXT(instance.raw, handle, callbacks)
            );
            assert_eq!(allocator.live(), 0);
        });
        let outcome = outcome.ok();
        let mark = outcome.said("mark")[0];
        assert_eq!(outcome.calls("a", "vkCreateDebugUtilsMessengerEXT"), [mark]);
        assert!(
            outcome.calls("a", "vkDestroyDebugUtilsMessengerEXT")[0].ends_with(mark),
            "{}",
            outcome.all()
        );
    });
}

/// APP-170: a messenger can be created without allocation callbacks and destroyed with them, or the reverse.
#[test]
fn app_170_messengers_remember_who_made_them() {
    case(|scene| {
        scene.usual_driver("a");
        let outcome = scene.run(|vk| {
            let allocator = Allocator::default();
            let messages = Messages::default();
            let instance = vk.instance_with("1.1", &[UTILS]);
            let handle = instance.messenger(&messages);
            call!(
                instance,
                PFN_vkDestroyDebugUtilsMessengerEXT(instance.raw, handle, allocator.callbacks())
            );
            let info = messages.create_info();
            let mut handle = vk::DebugUtilsMessengerEXT::null();
            let callbacks = allocator.callbacks();
            let result = call!(
                instance,
                PFN_vkCreateDebugUtilsMessengerEXT(instance.raw, &info, callbacks, &mut handle)
            );
            assert_eq!(result, vk::Result::SUCCESS);
            instance.destroy_messenger(handle);
            assert_eq!(allocator.live(), 0);
        });
        outcome.ok();
    });
}

/// APP-193: a message with an object count of zero has no object, and the loader ignores the pointer beside the count.
#[test]
fn app_193_objects_beyond_a_count_of_zero_are_not_read() {
    case(|scene| {
        scene.driver("a").device("one");
        let outcome = scene.run(|vk| {
            let reports = Reports::default();
            let instance = vk.instance_with("1.1", &[UTILS, REPORT]);
            instance.report_callback(&reports);
            let object = vk::DebugUtilsObjectNameInfoEXT {
                object_type: vk::ObjectType::INSTANCE,
                object_handle: 77,
                ..Default::default()
            };
            let data = vk::DebugUtilsMessengerCallbackDataEXT {
                object_count: 0,
                p_objects: &object,
                ..vk::DebugUtilsMessengerCallbackDataEXT::default().message(c"of nothing")
            };
            let severity = vk::DebugUtilsMessageSeverityFlagsEXT::WARNING;
            let types = vk::DebugUtilsMessageTypeFlagsEXT::GENERAL;
            call!(
                instance,
                PFN_vkSubmitDebugUtilsMessageEXT(instance.raw, severity, types, &data)
            );
            let heard = reports.with("of nothing");
            assert_eq!(heard.len(), 1);
            assert_eq!(heard[0].object, (vk::DebugReportObjectTypeEXT::UNKNOWN, 0));
        });
        outcome.ok();
    });
}
