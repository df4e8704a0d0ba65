//! Tests of the lifetime of surfaces, and of the allocators of their memory (DRV-170 to DRV-189).

use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use std::{ptr, thread};

use loader_tests::ash::vk;
use loader_tests::vk::{Allocator, Messages, Reports, Shared};
use loader_tests::{call, case};

use crate::surfaces::{WSI, two_drivers};

/// DRV-182, DRV-263, APP-162: destroying a NULL surface does nothing. The loader does not call the destroy function of a driver that lacks
/// it.
#[test]
fn drv_182_destruction() {
    case(|scene| {
        scene.usual_driver("a");
        scene.usual_driver("b").missing("vkDestroySurfaceKHR");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", WSI);
            instance.destroy_surface(vk::SurfaceKHR::null());
            let surface = instance.window_surface(1, 2);
            for device in instance.devices().expect("devices") {
                assert_eq!(instance.surface_support(device, surface), Ok(true));
            }
            instance.destroy_surface(surface);
        });
        let outcome = outcome.ran();
        assert_eq!(outcome.calls("a", "vkDestroySurfaceKHR").len(), 1, "{}", outcome.all());
    });
}

/// DRV-174, DRV-182: the driver creates its surface with the allocator of the surface's creation, and destroys it with the allocator of the
/// destruction.
#[test]
fn drv_174_the_allocator_of_the_creation_is_kept() {
    case(|scene| {
        scene.usual_driver("a");
        let outcome = scene.run(|vk| {
            let (allocator, other) = (Allocator::default(), Allocator::default());
            vk.say("create", allocator.mark());
            vk.say("destroy", other.mark());
            let instance = vk.instance_with("1.1", WSI);
            let info = vk::HeadlessSurfaceCreateInfoEXT::default();
            let mut surface = vk::SurfaceKHR::null();
            let callbacks = allocator.callbacks();
            let result = call!(
                instance,
                PFN_vkCreateHeadlessSurfaceEXT(instance.raw, &info, callbacks, &mut surface)
            );
            assert_eq!(result, vk::Result::SUCCESS);
            assert_eq!(instance.surface_support(instance.first(), surface), Ok(true));
            call!(
                instance,
                PFN_vkDestroySurfaceKHR(instance.raw, surface, other.callbacks())
            );
            // APP-170: the memory of the surface object itself comes from the instance's callbacks.
            assert_eq!((allocator.live(), other.live()), (0, 0));
        });
        let outcome = outcome.ok();
        assert!(
            outcome.calls("a", "vkCreateHeadlessSurfaceEXT")[0].ends_with(outcome.said("create")[0]),
            "{}",
            outcome.all()
        );
        assert!(
            outcome.calls("a", "vkDestroySurfaceKHR")[0].ends_with(outcome.said("destroy")[0]),
            "{}",
            outcome.all()
        );
    });
}

/// DRV-174: the loader copies the create info of a surface, so the application can free the structure after the creation.
#[test]
fn drv_174_the_create_info_is_copied() {
    case(|scene| {
        scene.usual_driver("a");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", WSI);
            let mut surface = vk::SurfaceKHR::null();
            let mut info = Box::new(vk::XcbSurfaceCreateInfoKHR {
                connection: 0x77 as *mut c_void,
                window: 0x88,
                ..Default::default()
            });
            let result = call!(
                instance,
                PFN_vkCreateXcbSurfaceKHR(instance.raw, &*info, ptr::null(), &mut surface)
            );
            assert_eq!(result, vk::Result::SUCCESS);
            (info.connection, info.window, info.p_next) = (ptr::null_mut(), 0, 0x99 as *const c_void);
            assert_eq!(instance.surface_support(instance.first(), surface), Ok(true));
            instance.destroy_surface(surface);
        });
        let calls = outcome.ok().calls("a", "vkCreateXcbSurfaceKHR");
        assert_eq!(
            calls[0],
            "connection=0x77 window=0x88 pnext=[] alloc=null",
            "{}",
            outcome.all()
        );
    });
}

/// DRV-174: the loader reuses the indices of destroyed surfaces, and any number of surfaces can exist.
#[test]
fn drv_174_many_surfaces() {
    case(|scene| {
        two_drivers(scene);
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", WSI);
            let devices = instance.devices().expect("devices");
            let mut surfaces: Vec<vk::SurfaceKHR> = (0..70).map(|number| instance.window_surface(1, number)).collect();
            for (number, surface) in surfaces.iter().enumerate() {
                assert_eq!(instance.surface_support(devices[number % 2], *surface), Ok(true));
            }
            for surface in surfaces.iter_mut().step_by(3) {
                instance.destroy_surface(*surface);
                *surface = instance.window_surface(3, 100);
            }
            for surface in &surfaces {
                assert_eq!(instance.surface_support(devices[0], *surface), Ok(true));
            }
            surfaces
                .into_iter()
                .for_each(|surface| instance.destroy_surface(surface));
        });
        outcome.ok();
    });
}

/// DRV-177: if several threads use a surface for the first time at the same time, the loader creates only one surface in the driver.
#[test]
fn drv_177_threads_share_a_drivers_surface() {
    const ROUNDS: usize = 40;
    case(|scene| {
        scene.usual_driver("a");
        scene.env("VK_LOADER_DEBUG", "").limit(60);
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", WSI);
            let (host, physical) = (Shared(&instance), Shared(instance.first()));
            for _ in 0..ROUNDS {
                let surface = Shared(instance.headless_surface());
                thread::scope(|scope| {
                    for _ in 0..4 {
                        let ask = || host.get().surface_support(*physical.get(), *surface.get());
                        scope.spawn(move || assert_eq!(ask(), Ok(true)));
                    }
                });
                instance.destroy_surface(*surface.get());
            }
        });
        outcome.ok();
        for call in ["vkCreateHeadlessSurfaceEXT", "vkDestroySurfaceKHR"] {
            let made = outcome
                .calls("a", call)
                .iter()
                .filter(|line| line.contains("alloc="))
                .count();
            assert_eq!(made, ROUNDS, "{call}\n{}", outcome.all());
        }
    });
}

/// DRV-177: if a thread uses a surface while the driver still creates its own surface for another thread, the first thread waits and
/// receives the same surface.
#[test]
fn drv_177_the_second_thread_waits_for_the_drivers_surface() {
    const MAKING: &str = "vkCreateHeadlessSurfaceEXT";
    case(|scene| {
        scene.usual_driver("a").line("emit", format_args!("{MAKING} making"));
        let outcome = scene.run(|vk| {
            let inside = AtomicUsize::new(0);
            let inside = Shared(&raw const inside);
            // The driver sends its message during the creation, and waits there until the other thread has also entered the driver.
            let messages = Messages::with_hook(move |message| {
                if message.text != "making" {
                    return;
                }
                // SAFETY: the counter exists as long as the instance.
                let inside = unsafe { &**inside.get() };
                inside.fetch_add(1, Ordering::Relaxed);
                let met = || inside.load(Ordering::Relaxed) > 1;
                (0..50)
                    .take_while(|_| !met())
                    .for_each(|_| thread::sleep(Duration::from_millis(10)));
            });
            let instance = vk.instance_with("1.1", &[WSI, &["VK_EXT_debug_utils"]].concat());
            let messenger = instance.messenger(&messages);
            let (host, physical) = (Shared(&instance), Shared(instance.first()));
            let surface = Shared(instance.headless_surface());
            thread::scope(|scope| {
                for _ in 0..2 {
                    let ask = || host.get().surface_support(*physical.get(), *surface.get());
                    scope.spawn(move || assert_eq!(ask(), Ok(true)));
                }
            });
            instance.destroy_surface(*surface.get());
            instance.destroy_messenger(messenger);
        });
        outcome.ok();
        for call in [MAKING, "vkDestroySurfaceKHR"] {
            let lines = outcome.calls("a", call);
            let made = lines.iter().filter(|line| line.contains("alloc=")).count();
            assert_eq!(made, 1, "{call}\n{}", outcome.all());
        }
    });
}

/// DRV-188: forgotten surfaces are destroyed with the instance, in each driver.
#[test]
fn drv_188_forgotten_surfaces_are_destroyed() {
    case(|scene| {
        two_drivers(scene);
        let outcome = scene.run(|vk| {
            let allocator = Allocator::default();
            let spec = vk.spec().extensions(WSI).allocator(&allocator);
            let instance = spec.create().expect("vkCreateInstance");
            let (first, _second) = (instance.window_surface(1, 2), instance.headless_surface());
            for device in instance.devices().expect("devices") {
                assert_eq!(instance.surface_support(device, first), Ok(true));
            }
            instance.destroy();
            assert_eq!(allocator.live(), 0);
        });
        let outcome = outcome.ok();
        for driver in ["a", "b"] {
            assert_eq!(
                outcome.calls(driver, "vkDestroySurfaceKHR").len(),
                1,
                "{}",
                outcome.all()
            );
        }
    });
}

/// DRV-188, DRV-235: forgotten objects are destroyed in this order: surfaces, messengers, instance.
#[test]
fn drv_188_forgotten_surfaces_go_before_messengers() {
    const DEBUG: [&str; 2] = ["VK_EXT_debug_utils", "VK_EXT_debug_report"];
    case(|scene| {
        two_drivers(scene);
        let outcome = scene.run(|vk| {
            let (messages, reports) = (Messages::default(), Reports::default());
            let instance = vk.instance_with("1.1", &[WSI, &DEBUG].concat());
            instance.messenger(&messages);
            instance.report_callback(&reports);
            let surface = instance.headless_surface();
            for device in instance.devices().expect("devices") {
                assert_eq!(instance.surface_support(device, surface), Ok(true));
            }
            instance.destroy();
        });
        for driver in ["a", "b"] {
            let last: Vec<&str> = outcome
                .ok()
                .journal()
                .iter()
                .filter_map(|line| line.strip_prefix(&format!("{driver} vkDestroy"))?.split(' ').next())
                .collect();
            let expected = [
                "SurfaceKHR",
                "DebugUtilsMessengerEXT",
                "DebugReportCallbackEXT",
                "Instance",
            ];
            assert_eq!(last, expected, "{}", outcome.all());
        }
    });
}

/// APP-170, APP-171: the memory of the loader's surface object comes from the instance's allocation callbacks.
#[test]
fn app_170_surface_objects_use_the_instances_callbacks() {
    case(|scene| {
        scene.usual_driver("a");
        let outcome = scene.run(|vk| {
            let allocator = Allocator::default();
            let instance = vk
                .spec()
                .extensions(WSI)
                .allocator(&allocator)
                .create()
                .expect("vkCreateInstance");
            let before = allocator.live();
            let surface = instance.headless_surface();
            assert!(allocator.live() > before);
            assert!(allocator.scopes().contains(&vk::SystemAllocationScope::OBJECT));
            instance.destroy_surface(surface);
            assert!(allocator.live() <= before + 2, "the object is freed, the tables stay");
        });
        outcome.ok();
    });
}
