//! Surface objects: what the loader makes, and when drivers make theirs (section 16).

use std::ffi::c_void;
use std::ptr;

use loader_tests::ash::vk::{self, Handle};
use loader_tests::vk::{Allocator, Instance};
use loader_tests::{Scene, call, case};

const WSI: [&str; 5] = [
    "VK_KHR_surface",
    "VK_KHR_xcb_surface",
    "VK_KHR_xlib_surface",
    "VK_KHR_wayland_surface",
    "VK_EXT_headless_surface",
];

fn two_drivers(scene: &mut Scene) {
    scene.usual_driver("a");
    scene.usual_driver("b");
}

/// DRV-174, DRV-177, LDP_LOADER_10, LDP_LOADER_11, APP-160: no driver is called before the first use on it.
#[test]
fn drv_177_drivers_make_surfaces_on_first_use() {
    case(|scene| {
        two_drivers(scene);
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &WSI);
            let (a, b) = (instance.named("gpu-a"), instance.named("gpu-b"));
            vk.mark("create");
            let surface = instance.xcb_surface(0x1111, 0x2222);
            vk.mark("created");
            assert_eq!(instance.surface_support(a, surface), Ok(true));
            assert_eq!(instance.surface_support(a, surface), Ok(true));
            vk.mark("used by a");
            assert_eq!(instance.surface_support(b, surface), Ok(true));
            vk.mark("used by b");
            instance.destroy_surface(surface);
            vk.mark("destroyed");
        });
        let outcome = outcome.ok();
        assert!(outcome.between("create", "created").is_empty(), "{}", outcome.all());
        let made = |line: &&str| line.contains("vkCreateXcbSurfaceKHR connection=");
        let lines: Vec<&str> = outcome
            .between("created", "used by a")
            .into_iter()
            .filter(made)
            .collect();
        assert_eq!(
            lines,
            ["a vkCreateXcbSurfaceKHR connection=0x1111 window=0x2222 pnext=[] alloc=null"]
        );
        assert_eq!(
            outcome
                .between("used by a", "used by b")
                .iter()
                .filter(|line| made(line))
                .count(),
            1
        );
        let end = outcome.between("used by b", "destroyed");
        assert_eq!(
            end.iter().filter(|line| line.contains("vkDestroySurfaceKHR")).count(),
            2,
            "{}",
            outcome.all()
        );
    });
}

/// DRV-172, DRV-173: every platform's create info reaches the driver.
#[test]
fn drv_173_create_infos_of_all_platforms() {
    case(|scene| {
        scene.usual_driver("a");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &[&WSI[..], &["VK_KHR_display"]].concat());
            let device = instance.first();
            let mut surfaces = vec![instance.xcb_surface(0x11, 0x12), instance.headless_surface()];
            let mut surface = vk::SurfaceKHR::null();
            let info = vk::XlibSurfaceCreateInfoKHR {
                dpy: 0x21 as *mut _,
                window: 0x22,
                ..Default::default()
            };
            let result = call!(
                instance,
                PFN_vkCreateXlibSurfaceKHR(instance.raw, &info, ptr::null(), &mut surface)
            );
            assert_eq!(result, vk::Result::SUCCESS);
            surfaces.push(surface);
            let info = vk::WaylandSurfaceCreateInfoKHR {
                display: 0x31 as *mut c_void,
                surface: 0x32 as *mut c_void,
                ..Default::default()
            };
            let result = call!(
                instance,
                PFN_vkCreateWaylandSurfaceKHR(instance.raw, &info, ptr::null(), &mut surface)
            );
            assert_eq!(result, vk::Result::SUCCESS);
            surfaces.push(surface);
            let info = vk::DisplaySurfaceCreateInfoKHR::default()
                .display_mode(vk::DisplayModeKHR::from_raw(0x41))
                .plane_index(2)
                .plane_stack_index(3);
            let result = call!(
                instance,
                PFN_vkCreateDisplayPlaneSurfaceKHR(instance.raw, &info, ptr::null(), &mut surface)
            );
            assert_eq!(result, vk::Result::SUCCESS);
            surfaces.push(surface);
            for surface in &surfaces {
                assert_eq!(instance.surface_support(device, *surface), Ok(true));
            }
            surfaces.sort_unstable();
            surfaces.dedup();
            assert_eq!(surfaces.len(), 5);
            surfaces
                .into_iter()
                .for_each(|surface| instance.destroy_surface(surface));
        });
        let outcome = outcome.ok();
        for (call, details) in [
            ("vkCreateXcbSurfaceKHR", "connection=0x11 window=0x12"),
            ("vkCreateXlibSurfaceKHR", "display=0x21 window=0x22"),
            ("vkCreateWaylandSurfaceKHR", "display=0x31 surface=0x32"),
            ("vkCreateHeadlessSurfaceEXT", "headless"),
            ("vkCreateDisplayPlaneSurfaceKHR", "mode=0x41 plane=2 stack=3"),
        ] {
            assert!(
                outcome.calls("a", call)[0].starts_with(details),
                "{call}\n{}",
                outcome.all()
            );
        }
    });
}

/// DRV-170, DRV-171, DRV-172, DRV-177: a driver of interface 2 reads the loader's own object.
#[test]
fn drv_171_old_drivers_read_the_loaders_layout() {
    case(|scene| {
        scene
            .driver("a")
            .interface(2)
            .api("1.0.0")
            .extensions(&WSI)
            .extension("VK_KHR_display")
            .device("one")
            .flag("reads_surfaces")
            .missing("vkCreateXcbSurfaceKHR");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.0", &WSI);
            let device = instance.first();
            let xcb = instance.xcb_surface(0x11, 0x12);
            assert_eq!(instance.surface_support(device, xcb), Ok(true));
            let mut wayland = vk::SurfaceKHR::null();
            let info = vk::WaylandSurfaceCreateInfoKHR {
                display: 0x31 as *mut c_void,
                surface: 0x32 as *mut c_void,
                ..Default::default()
            };
            let result = call!(
                instance,
                PFN_vkCreateWaylandSurfaceKHR(instance.raw, &info, ptr::null(), &mut wayland)
            );
            assert_eq!(result, vk::Result::SUCCESS);
            assert_eq!(instance.surface_support(device, wayland), Ok(true));
            let headless = instance.headless_surface();
            assert_eq!(instance.surface_support(device, headless), Ok(true));
            for surface in [xcb, wayland, headless] {
                instance.destroy_surface(surface);
            }
        });
        let outcome = outcome.ok();
        // The union is as large as the display surface: 48 bytes; the sizes follow it.
        let lines = outcome.calls("a", "vkGetPhysicalDeviceSurfaceSupportKHR");
        let expected = [
            "surface platform=3 first=0x11 second=0x12 sizes=[4, 24, 48]",
            "surface platform=1 first=0x31 second=0x32 sizes=[4, 24, 48]",
        ];
        for line in expected {
            assert!(lines.contains(&line), "{line}\n{}", outcome.all());
        }
        assert!(
            lines.iter().any(|line| line.starts_with("surface platform=9 ")),
            "{}",
            outcome.all()
        );
        assert!(
            outcome.calls("a", "vkDestroySurfaceKHR").is_empty(),
            "{}",
            outcome.all()
        );
    });
}

/// DRV-176: without VK_KHR_surface on a driver it is not eligible. DRV-177: without the platform's extension there is no surface.
#[test]
fn drv_177_a_driver_without_the_extension_does_not_support_it() {
    case(|scene| {
        scene.usual_driver("a");
        scene
            .driver("b")
            .extension("VK_KHR_surface")
            .extension("VK_KHR_xcb_surface")
            .device("gpu-b")
            .line("missing", "vkCreateHeadlessSurfaceEXT");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &WSI);
            let surface = instance.headless_surface();
            let (a, b) = (instance.named("gpu-a"), instance.named("gpu-b"));
            assert_eq!(instance.surface_support(a, surface), Ok(true));
            // DRV-178: in this query any failure means no.
            assert_eq!(instance.surface_support(b, surface), Ok(false));
            let mut capabilities = vk::SurfaceCapabilitiesKHR::default();
            let result = call!(
                instance,
                PFN_vkGetPhysicalDeviceSurfaceCapabilitiesKHR(b, surface, &mut capabilities)
            );
            assert_eq!(result, vk::Result::ERROR_EXTENSION_NOT_PRESENT);
            instance.destroy_surface(surface);
        });
        outcome.ok();
    });
}

/// DRV-178, section 23: a driver whose creation fails; the next use tries again.
#[test]
fn drv_178_a_failing_creation() {
    case(|scene| {
        scene.usual_driver("a").fail("vkCreateXcbSurfaceKHR", -3);
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &WSI);
            let device = instance.first();
            let surface = instance.xcb_surface(1, 2);
            assert_eq!(instance.surface_support(device, surface), Ok(false));
            let mut capabilities = vk::SurfaceCapabilitiesKHR::default();
            let result = call!(
                instance,
                PFN_vkGetPhysicalDeviceSurfaceCapabilitiesKHR(device, surface, &mut capabilities)
            );
            assert_eq!(result, vk::Result::ERROR_INITIALIZATION_FAILED);
            vk.remove_lines("a", &["fail"]);
            assert_eq!(instance.surface_support(device, surface), Ok(true));
            instance.destroy_surface(surface);
        });
        outcome.ok();
    });
}

/// DRV-177: a driver that succeeds without writing gets the NULL it left, is asked again, and nothing is destroyed.
#[test]
fn drv_177_a_driver_that_writes_no_handle() {
    case(|scene| {
        scene.usual_driver("a").line("null_result", "vkCreateXcbSurfaceKHR");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &WSI);
            let surface = instance.xcb_surface(1, 2);
            for _ in 0..2 {
                assert_eq!(instance.surface_support(instance.first(), surface), Ok(true));
            }
            instance.destroy_surface(surface);
        });
        let outcome = outcome.ok();
        let used = outcome.calls("a", "vkGetPhysicalDeviceSurfaceSupportKHR");
        assert_eq!(
            used.iter().filter(|line| **line == "surface=null").count(),
            2,
            "{}",
            outcome.all()
        );
        assert_eq!(
            outcome.calls("a", "vkCreateXcbSurfaceKHR").len(),
            2,
            "{}",
            outcome.all()
        );
        assert!(
            outcome.calls("a", "vkDestroySurfaceKHR").is_empty(),
            "{}",
            outcome.all()
        );
    });
}

/// DRV-182: NULL does nothing; a driver without the destroy function is never called through NULL.
#[test]
fn drv_182_destruction() {
    case(|scene| {
        scene.usual_driver("a");
        scene.usual_driver("b").missing("vkDestroySurfaceKHR");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &WSI);
            instance.destroy_surface(vk::SurfaceKHR::null());
            let surface = instance.xcb_surface(1, 2);
            for device in instance.devices().expect("devices") {
                assert_eq!(instance.surface_support(device, surface), Ok(true));
            }
            instance.destroy_surface(surface);
        });
        let outcome = outcome.ran();
        assert_eq!(outcome.calls("a", "vkDestroySurfaceKHR").len(), 1, "{}", outcome.all());
    });
}

/// DRV-174, DRV-182: the saved allocator makes the driver's surface, the one of the call destroys it.
#[test]
fn drv_174_the_allocator_of_the_creation_is_kept() {
    case(|scene| {
        scene.usual_driver("a");
        let outcome = scene.run(|vk| {
            let (allocator, other) = (Allocator::default(), Allocator::default());
            vk.say("create", allocator.mark());
            vk.say("destroy", other.mark());
            let instance = vk.instance_with("1.1", &WSI);
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
            // APP-170: the surface object itself belongs to the instance's callbacks.
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

/// DRV-174: the create info is copied: it need not outlive the call.
#[test]
fn drv_174_the_create_info_is_copied() {
    case(|scene| {
        scene.usual_driver("a");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &WSI);
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

/// DRV-174: indices are reused, and any number of surfaces may live.
#[test]
fn drv_174_many_surfaces() {
    case(|scene| {
        two_drivers(scene);
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &WSI);
            let devices = instance.devices().expect("devices");
            let mut surfaces: Vec<vk::SurfaceKHR> = (0..70).map(|number| instance.xcb_surface(1, number)).collect();
            for (number, surface) in surfaces.iter().enumerate() {
                assert_eq!(instance.surface_support(devices[number % 2], *surface), Ok(true));
            }
            for surface in surfaces.iter_mut().step_by(3) {
                instance.destroy_surface(*surface);
                *surface = instance.xcb_surface(3, 100);
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

/// DRV-175
#[test]
fn drv_175_unknown_structures_are_refused() {
    case(|scene| {
        scene.usual_driver("a");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &WSI);
            let strange = vk::BaseInStructure {
                s_type: vk::StructureType::from_raw(777_000),
                ..Default::default()
            };
            let info = vk::XcbSurfaceCreateInfoKHR {
                p_next: ptr::from_ref(&strange).cast(),
                ..Default::default()
            };
            let mut surface = vk::SurfaceKHR::null();
            let result = call!(
                instance,
                PFN_vkCreateXcbSurfaceKHR(instance.raw, &info, ptr::null(), &mut surface)
            );
            assert_eq!(result, vk::Result::ERROR_EXTENSION_NOT_PRESENT);
        });
        outcome.ok().logged_with("ERROR", "Unsupported extension structure in");
    });
}

/// DRV-164, APP-161: creation without the extension, through the exported functions.
#[test]
fn drv_164_creation_without_the_extension() {
    case(|scene| {
        scene.usual_driver("a");
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            let mut surface = vk::SurfaceKHR::null();
            let info = vk::XcbSurfaceCreateInfoKHR::default();
            let result = call!(
                vk,
                PFN_vkCreateXcbSurfaceKHR(instance.raw, &info, ptr::null(), &mut surface)
            );
            assert_eq!(result, vk::Result::ERROR_EXTENSION_NOT_PRESENT);
            let info = vk::HeadlessSurfaceCreateInfoEXT::default();
            let result = call!(
                vk,
                PFN_vkCreateHeadlessSurfaceEXT(instance.raw, &info, ptr::null(), &mut surface)
            );
            assert_eq!(result, vk::Result::ERROR_EXTENSION_NOT_PRESENT);
            let info = vk::DisplaySurfaceCreateInfoKHR::default();
            let result = call!(
                vk,
                PFN_vkCreateDisplayPlaneSurfaceKHR(instance.raw, &info, ptr::null(), &mut surface)
            );
            assert_eq!(result, vk::Result::ERROR_EXTENSION_NOT_PRESENT);
        });
        outcome.ok().logged(
            "ERROR",
            "VK_KHR_xcb_surface extension not enabled. vkCreateXcbSurfaceKHR not executed!",
        );
        outcome.logged(
            "ERROR",
            "VK_EXT_headless_surface extension not enabled. vkCreateHeadlessSurfaceEXT not executed!",
        );
    });
}

/// DRV-188: forgotten surfaces are destroyed with the instance, in each driver.
#[test]
fn drv_188_forgotten_surfaces_are_destroyed() {
    case(|scene| {
        two_drivers(scene);
        let outcome = scene.run(|vk| {
            let allocator = Allocator::default();
            let spec = vk.spec().extensions(&WSI).allocator(&allocator);
            let instance = spec.create().expect("vkCreateInstance");
            let (first, _second) = (instance.xcb_surface(1, 2), instance.headless_surface());
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

/// DRV-177: an instance of each kind of driver side by side shares one surface.
#[test]
fn drv_177_old_and_new_drivers_share_a_surface() {
    case(|scene| {
        scene.usual_driver("new");
        scene
            .driver("old")
            .interface(1)
            .api("1.0.0")
            .extensions(&WSI)
            .device("gpu-old")
            .flag("reads_surfaces")
            .missing("vkCreateXcbSurfaceKHR")
            .missing("vkDestroySurfaceKHR");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &WSI);
            let surface = instance.xcb_surface(0x11, 0x12);
            for device in instance.devices().expect("devices") {
                assert_eq!(instance.surface_support(device, surface), Ok(true));
            }
            instance.destroy_surface(surface);
        });
        let outcome = outcome.ok();
        let lines = outcome.calls("old", "vkGetPhysicalDeviceSurfaceSupportKHR");
        assert!(
            lines[1].starts_with("surface platform=3 first=0x11 second=0x12"),
            "{}",
            outcome.all()
        );
    });
}

/// APP-170, APP-171: the loader's object comes from the instance's callbacks.
#[test]
fn app_170_surface_objects_use_the_instances_callbacks() {
    case(|scene| {
        scene.usual_driver("a");
        let outcome = scene.run(|vk| {
            let allocator = Allocator::default();
            let instance = vk
                .spec()
                .extensions(&WSI)
                .allocator(&allocator)
                .create()
                .expect("vkCreateInstance");
            let before = allocator.live();
            let surface = instance.headless_surface();
            assert!(allocator.live() > before);
            assert!(allocator.scopes().contains(&vk::SystemAllocationScope::OBJECT));
            instance.destroy_surface(surface);
            assert!(allocator.live() <= before + 2, "the object is freed, the tables stay");
            let _: &Instance<'_> = &instance;
        });
        outcome.ok();
    });
}
