//! Tests of the allocation callbacks that drivers receive for forgotten objects, and of the callbacks that the loader itself can use
//! (APP-81, APP-170 to APP-173, DRV-131, DRV-188).

use loader_tests::ash::vk;
use loader_tests::vk::{Allocator, Instance, Messages, Reports};
use loader_tests::{Outcome, Scene, call, case};

const EXTENSIONS: [&str; 4] = [
    "VK_KHR_surface",
    "VK_EXT_headless_surface",
    "VK_EXT_debug_utils",
    "VK_EXT_debug_report",
];
const DESTRUCTIONS: [&str; 3] = [
    "vkDestroySurfaceKHR",
    "vkDestroyDebugUtilsMessengerEXT",
    "vkDestroyDebugReportCallbackEXT",
];

/// Returns allocation callbacks without the function with the index `place` among the functions of `VkAllocationCallbacks`. An index after
/// the last function removes no function.
fn without(place: usize) -> Allocator {
    Allocator::with(|callbacks| match place {
        0 => callbacks.pfn_allocation = None,
        1 => callbacks.pfn_reallocation = None,
        2 => callbacks.pfn_free = None,
        3 => callbacks.pfn_internal_allocation = None,
        4 => callbacks.pfn_internal_free = None,
        _ => {}
    })
}

/// Creates a surface, a messenger and a report callback with the callbacks of `allocator`, and makes every driver create its own surface.
fn make(instance: &Instance<'_>, allocator: &Allocator, messages: &Messages, reports: &Reports) {
    let callbacks = allocator.callbacks();
    let mut messenger = vk::DebugUtilsMessengerEXT::null();
    let info = messages.create_info();
    let result = call!(
        instance,
        PFN_vkCreateDebugUtilsMessengerEXT(instance.raw, &info, callbacks, &mut messenger)
    );
    assert_eq!(result, vk::Result::SUCCESS);
    let mut report = vk::DebugReportCallbackEXT::null();
    let info = reports.create_info();
    let result = call!(
        instance,
        PFN_vkCreateDebugReportCallbackEXT(instance.raw, &info, callbacks, &mut report)
    );
    assert_eq!(result, vk::Result::SUCCESS);
    let mut surface = vk::SurfaceKHR::null();
    let info = vk::HeadlessSurfaceCreateInfoEXT::default();
    let result = call!(
        instance,
        PFN_vkCreateHeadlessSurfaceEXT(instance.raw, &info, callbacks, &mut surface)
    );
    assert_eq!(result, vk::Result::SUCCESS);
    for device in instance.devices().expect("vkEnumeratePhysicalDevices") {
        assert_eq!(instance.surface_support(device, surface), Ok(true));
    }
}

/// Runs a program that destroys an instance but not its objects. The allocation callbacks of these objects lack the function that
/// [`without`] removes.
fn forgetting(scene: &mut Scene, place: usize) -> Outcome {
    let outcome = scene.run(|vk| {
        let (of_instance, own) = (Allocator::default(), without(place));
        let (messages, reports) = (Messages::default(), Reports::default());
        vk.say("own", own.mark());
        let spec = vk.spec().api("1.1").extensions(&EXTENSIONS).allocator(&of_instance);
        let instance = spec.create().expect("vkCreateInstance");
        make(&instance, &own, &messages, &reports);
        instance.destroy();
        assert_eq!((of_instance.live(), own.live()), (0, 0));
    });
    outcome.ok();
    outcome
}

/// DRV-188, APP-170: the loader destroys forgotten objects with the callbacks from their creation, if these callbacks have all five
/// functions.
#[test]
fn drv_188_forgotten_objects_go_with_their_own_callbacks() {
    case(|scene| {
        scene.usual_driver("a");
        scene.usual_driver("b");
        let outcome = forgetting(scene, 5);
        for driver in ["a", "b"] {
            for command in DESTRUCTIONS {
                let calls = outcome.calls(driver, command);
                let ends = |line: &&str| line.ends_with(outcome.said("own")[0]);
                assert!(
                    calls.len() == 1 && calls.iter().all(ends),
                    "{command}\n{}",
                    outcome.all()
                );
            }
        }
    });
}

/// DRV-188: callbacks that lack any of the five functions do not destroy forgotten objects.
#[test]
fn drv_188_incomplete_callbacks_destroy_nothing_that_was_forgotten() {
    case(|scene| {
        scene.usual_driver("a");
        for place in 0..5 {
            let outcome = forgetting(scene, place);
            for command in DESTRUCTIONS {
                let calls = outcome.calls("a", command);
                let ends = |line: &&str| line.ends_with("alloc=null");
                assert!(
                    calls.len() == 1 && calls.iter().all(ends),
                    "{command} without function {place}\n{}",
                    outcome.all()
                );
            }
        }
    });
}

/// DRV-131, APP-111: the instance of a driver without devices is destroyed with callbacks of the application. A driver that is released
/// early receives the callbacks of the creation. Other drivers receive the callbacks of the destruction.
#[test]
fn drv_131_an_idle_driver_goes_with_the_callbacks_of_the_application() {
    case(|scene| {
        scene.driver("empty");
        scene.driver("a").device("one");
        for enumerates in [true, false] {
            let outcome = scene.run(|vk| {
                let (of_instance, of_destruction) = (Allocator::default(), Allocator::default());
                vk.say("instance", of_instance.mark());
                vk.say("destruction", of_destruction.mark());
                let instance = vk.spec().allocator(&of_instance).create().expect("vkCreateInstance");
                if enumerates {
                    assert_eq!(instance.device_names(), ["one"]);
                }
                call!(
                    instance,
                    PFN_vkDestroyInstance(instance.raw, of_destruction.callbacks())
                );
                std::mem::forget(instance);
                assert_eq!((of_instance.live(), of_destruction.live()), (0, 0));
            });
            outcome.ok();
            let idle = if enumerates { "instance" } else { "destruction" };
            for (driver, said) in [("empty", idle), ("a", "destruction")] {
                assert_eq!(
                    outcome.calls(driver, "vkDestroyInstance"),
                    outcome.said(said),
                    "{driver}\n{}",
                    outcome.all()
                );
            }
        }
    });
}

/// APP-170, APP-173, DRV-109: the loader does not use callbacks that cannot both allocate and free. The loader takes no memory from these
/// callbacks, and passes the structure on unchanged.
#[test]
fn app_173_callbacks_that_cannot_free_are_only_passed_on() {
    case(|scene| {
        scene.usual_driver("a");
        for place in [0, 2] {
            let outcome = scene.run(|vk| {
                let own = without(place);
                vk.say("own", own.mark());
                let (messages, reports) = (Messages::default(), Reports::default());
                let spec = vk.spec().api("1.1").extensions(&EXTENSIONS).allocator(&own);
                let instance = spec.create().expect("vkCreateInstance");
                make(&instance, &own, &messages, &reports);
                let device = instance.device_spec(instance.first()).allocator(&own);
                drop(device.create().expect("vkCreateDevice"));
                instance.destroy();
                assert_eq!((own.count(), own.live()), (0, 0));
            });
            outcome.ok();
            for command in ["vkCreateInstance", "vkCreateDevice", "vkDestroyInstance"] {
                let calls = outcome.calls("a", command);
                let ends = |line: &&str| line.ends_with(outcome.said("own")[0]);
                assert!(
                    calls.len() == 1 && calls.iter().all(ends),
                    "{command} without function {place}\n{}",
                    outcome.all()
                );
            }
        }
    });
}

/// APP-170: if the loader cannot use an object's own allocation callbacks, the object's memory comes from the callbacks of the instance.
#[test]
fn app_170_the_instances_callbacks_stand_in_for_callbacks_that_cannot_free() {
    case(|scene| {
        scene.usual_driver("a");
        let outcome = scene.run(|vk| {
            let (of_instance, own) = (Allocator::default(), without(2));
            let messages = Messages::default();
            let spec = vk.spec().extensions(&EXTENSIONS).allocator(&of_instance);
            let instance = spec.create().expect("vkCreateInstance");
            // The first messenger makes the instance allocate its tables of slots, which stay until its destruction. The test counts only
            // later blocks.
            instance.destroy_messenger(instance.messenger(&messages));
            let before = of_instance.live();
            let mut messenger = vk::DebugUtilsMessengerEXT::null();
            let info = messages.create_info();
            let callbacks = own.callbacks();
            let result = call!(
                instance,
                PFN_vkCreateDebugUtilsMessengerEXT(instance.raw, &info, callbacks, &mut messenger)
            );
            assert_eq!(result, vk::Result::SUCCESS);
            assert_eq!((of_instance.live(), own.count()), (before + 1, 0));
            call!(
                instance,
                PFN_vkDestroyDebugUtilsMessengerEXT(instance.raw, messenger, callbacks)
            );
            assert_eq!(of_instance.live(), before);
        });
        outcome.ok();
    });
}

/// APP-172, APP-81: global queries never use the allocation callbacks of an instance. APP-171: each allocation has the correct scope.
#[test]
fn app_171_scopes() {
    case(|scene| {
        scene.usual_driver("a");
        let outcome = scene.run(|vk| {
            let allocator = Allocator::default();
            let instance = vk
                .spec()
                .extensions(&EXTENSIONS)
                .allocator(&allocator)
                .create()
                .expect("vkCreateInstance");
            instance.devices().expect("devices");
            let scopes = allocator.scopes();
            assert!(scopes.contains(&vk::SystemAllocationScope::INSTANCE));
            assert!(
                !scopes.contains(&vk::SystemAllocationScope::DEVICE)
                    && !scopes.contains(&vk::SystemAllocationScope::CACHE)
            );
            let count = allocator.count();
            vk.extensions().expect("the query succeeds");
            vk.layers().expect("the query succeeds");
            assert_eq!(allocator.count(), count);
        });
        outcome.ok();
    });
}

/// APP-173: the loader works with allocation callbacks that lack the reallocation function.
#[test]
fn app_173_no_reallocation_callback() {
    case(|scene| {
        scene.usual_driver("a");
        scene.usual_driver("b");
        let outcome = scene.run(|vk| {
            let allocator = Allocator::without_reallocation();
            let messages = Messages::default();
            let instance = vk
                .spec()
                .api("1.1")
                .extensions(&EXTENSIONS)
                .allocator(&allocator)
                .create()
                .expect("created");
            let handles: Vec<_> = (0..40).map(|_| instance.messenger(&messages)).collect();
            let device = instance.device(instance.first(), &[]);
            drop(instance.groups());
            drop(device);
            handles
                .into_iter()
                .for_each(|handle| instance.destroy_messenger(handle));
            instance.destroy();
            assert_eq!(allocator.live(), 0);
        });
        outcome.ok();
    });
}
