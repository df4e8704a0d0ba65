//! Tests of the loader's surface objects, and of their first use, at which a driver creates its own surface (DRV-170 to DRV-189).

use std::ffi::c_void;
use std::ptr;

use loader_tests::ash::vk::{self, Handle};
use loader_tests::vk::Instance;
use loader_tests::vk::{CREATE_WINDOW_SURFACE, WINDOW_SURFACE};
use loader_tests::{Scene, call, case};

/// Instance extensions that these tests enable.
pub(crate) const WSI: &[&str] = if cfg!(windows) {
    &["VK_KHR_surface", "VK_KHR_win32_surface", "VK_EXT_headless_surface"]
} else {
    &[
        "VK_KHR_surface",
        "VK_KHR_xcb_surface",
        "VK_KHR_xlib_surface",
        "VK_KHR_wayland_surface",
        "VK_EXT_headless_surface",
    ]
};

/// Adds two drivers that create surfaces.
pub(crate) fn two_drivers(scene: &mut Scene) {
    scene.usual_driver("a");
    scene.usual_driver("b");
}

/// DRV-174, DRV-177, APP-160: the loader calls a driver only at the surface's first use on this driver.
#[test]
fn drv_177_drivers_make_surfaces_on_first_use() {
    case(|scene| {
        two_drivers(scene);
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", WSI);
            let (a, b) = (instance.named("gpu-a"), instance.named("gpu-b"));
            vk.mark("create");
            let surface = instance.window_surface(0x1111, 0x2222);
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
        let made = |line: &&str| line.contains(&format!("{CREATE_WINDOW_SURFACE} connection="));
        let lines: Vec<&str> = outcome
            .between("created", "used by a")
            .into_iter()
            .filter(made)
            .collect();
        assert_eq!(
            lines,
            [format!(
                "a {CREATE_WINDOW_SURFACE} connection=0x1111 window=0x2222 pnext=[] alloc=null"
            )]
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

/// Creates an Xlib, a Wayland and a display surface.
fn three_more(instance: &Instance<'_>) -> [vk::SurfaceKHR; 3] {
    let (raw, null) = (instance.raw, ptr::null());
    let mut made = [vk::SurfaceKHR::null(); 3];
    let info = vk::XlibSurfaceCreateInfoKHR {
        dpy: 0x21 as *mut _,
        window: 0x22,
        ..Default::default()
    };
    let xlib = call!(instance, PFN_vkCreateXlibSurfaceKHR(raw, &info, null, &mut made[0]));
    let (display, surface) = (0x31 as *mut c_void, 0x32 as *mut c_void);
    let info = vk::WaylandSurfaceCreateInfoKHR {
        display,
        surface,
        ..Default::default()
    };
    let wayland = call!(instance, PFN_vkCreateWaylandSurfaceKHR(raw, &info, null, &mut made[1]));
    let mode = vk::DisplayModeKHR::from_raw(0x41);
    let info = vk::DisplaySurfaceCreateInfoKHR::default()
        .display_mode(mode)
        .plane_index(2)
        .plane_stack_index(3);
    let display = call!(
        instance,
        PFN_vkCreateDisplayPlaneSurfaceKHR(raw, &info, null, &mut made[2])
    );
    assert_eq!([xlib, wayland, display], [vk::Result::SUCCESS; 3]);
    made
}

/// DRV-172, DRV-173: every platform's create info reaches the driver.
#[test]
fn drv_173_create_infos_of_all_platforms() {
    case(|scene| {
        scene.usual_driver("a");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &[WSI, &["VK_KHR_display"]].concat());
            let device = instance.first();
            let mut surfaces = vec![instance.window_surface(0x11, 0x12), instance.headless_surface()];
            surfaces.extend(three_more(&instance));
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

/// DRV-170, DRV-171, DRV-172, DRV-177: a driver with interface version 2 receives the loader's own surface, and reads its members.
#[test]
fn drv_171_old_drivers_read_the_loaders_layout() {
    case(|scene| {
        scene
            .driver("a")
            .interface(2)
            .api("1.0.0")
            .extensions(WSI)
            .extension("VK_KHR_display")
            .device("one")
            .flag("reads_surfaces")
            .missing("vkCreateXcbSurfaceKHR");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.0", WSI);
            let device = instance.first();
            let xcb = instance.window_surface(0x11, 0x12);
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
        // Two pointers follow the base. The union is as large as the display surface: 48 bytes if a 64-bit handle is aligned to 8 bytes, 40
        // otherwise. The sizes come after the union.
        let (platform, union) = (3 * size_of::<usize>(), 32 + 2 * align_of::<u64>());
        let lines = outcome.calls("a", "vkGetPhysicalDeviceSurfaceSupportKHR");
        let expected = [
            format!("surface platform=3 first=0x11 second=0x12 sizes=[4, {platform}, {union}]"),
            format!("surface platform=1 first=0x31 second=0x32 sizes=[4, {platform}, {union}]"),
        ];
        for line in expected {
            assert!(lines.contains(&line.as_str()), "{line}\n{}", outcome.all());
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

/// DRV-176, DRV-177: on a driver without the platform's extension, the surface is not supported, and the other queries return an error.
#[test]
fn drv_177_a_driver_without_the_extension_does_not_support_it() {
    case(|scene| {
        scene.usual_driver("a");
        scene
            .driver("b")
            .extension("VK_KHR_surface")
            .extension(WINDOW_SURFACE)
            .device("gpu-b")
            .line("missing", "vkCreateHeadlessSurfaceEXT");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", WSI);
            let surface = instance.headless_surface();
            let (a, b) = (instance.named("gpu-a"), instance.named("gpu-b"));
            assert_eq!(instance.surface_support(a, surface), Ok(true));
            // DRV-178: in the query for surface support, any failure of the driver means that the device does not support the surface.
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

/// DRV-178: if a driver fails to create its own surface, the next command that uses the loader's surface tries again.
#[test]
fn drv_178_a_failing_creation() {
    case(|scene| {
        scene.usual_driver("a").fail(CREATE_WINDOW_SURFACE, -3);
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", WSI);
            let device = instance.first();
            let surface = instance.window_surface(1, 2);
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

/// DRV-177: if a driver's surface creation succeeds without writing a handle, the driver's queries receive NULL. Each query makes the
/// driver create its surface again. The loader destroys no surface in this driver.
#[test]
fn drv_177_a_driver_that_writes_no_handle() {
    case(|scene| {
        scene.usual_driver("a").line("null_result", CREATE_WINDOW_SURFACE);
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", WSI);
            let surface = instance.window_surface(1, 2);
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
        assert_eq!(outcome.calls("a", CREATE_WINDOW_SURFACE).len(), 2, "{}", outcome.all());
        assert!(
            outcome.calls("a", "vkDestroySurfaceKHR").is_empty(),
            "{}",
            outcome.all()
        );
    });
}

/// DRV-175: surface creation refuses an unknown structure.
#[test]
fn drv_175_unknown_structures_are_refused() {
    case(|scene| {
        scene.usual_driver("a");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", WSI);
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

/// DRV-174, DRV-175: the loader copies the only structure that may extend a create info. The copy reaches the driver.
#[test]
fn drv_175_stereo_displays() {
    /// `VkDisplaySurfaceStereoCreateInfoNV`, which is newer than the bindings of the crate `ash`.
    #[repr(C)]
    struct Stereo {
        base: vk::BaseInStructure<'static>,
        kind: i32,
    }
    const STEREO: i32 = 1_000_551_000;
    case(|scene| {
        scene.usual_driver("a").extension("VK_NV_display_stereo");
        let outcome = scene.run(|vk| {
            let extensions = ["VK_KHR_surface", "VK_KHR_display", "VK_NV_display_stereo"];
            let instance = vk.instance_with("1.1", &extensions);
            let mut surface = vk::SurfaceKHR::null();
            {
                let mut stereo = Box::new(Stereo {
                    base: vk::BaseInStructure {
                        s_type: vk::StructureType::from_raw(STEREO),
                        ..Default::default()
                    },
                    kind: 2,
                });
                let info = vk::DisplaySurfaceCreateInfoKHR {
                    p_next: ptr::from_ref(&*stereo).cast(),
                    ..Default::default()
                };
                let result = call!(
                    instance,
                    PFN_vkCreateDisplayPlaneSurfaceKHR(instance.raw, &info, ptr::null(), &mut surface)
                );
                assert_eq!(result, vk::Result::SUCCESS);
                (stereo.base.s_type, stereo.kind) = (vk::StructureType::from_raw(777_000), 0);
            }
            assert_eq!(instance.surface_support(instance.first(), surface), Ok(true));
            instance.destroy_surface(surface);
        });
        let made = outcome.ok().calls("a", "vkCreateDisplayPlaneSurfaceKHR")[0];
        assert!(made.contains(&format!(" pnext=[{STEREO}] ")), "{}", outcome.all());
    });
}

/// Number of the window system of these tests in the loader's surface objects.
const PLATFORM: i32 = if cfg!(windows) { 2 } else { 3 };

/// DRV-177: drivers of each kind can use the same surface.
#[test]
fn drv_177_old_and_new_drivers_share_a_surface() {
    case(|scene| {
        scene.usual_driver("new");
        scene
            .driver("old")
            .interface(1)
            .api("1.0.0")
            .extensions(WSI)
            .device("gpu-old")
            .flag("reads_surfaces")
            .missing(CREATE_WINDOW_SURFACE)
            .missing("vkDestroySurfaceKHR");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", WSI);
            let surface = instance.window_surface(0x11, 0x12);
            for device in instance.devices().expect("devices") {
                assert_eq!(instance.surface_support(device, surface), Ok(true));
            }
            instance.destroy_surface(surface);
        });
        let outcome = outcome.ok();
        let lines = outcome.calls("old", "vkGetPhysicalDeviceSurfaceSupportKHR");
        assert!(
            lines[1].starts_with(&format!("surface platform={PLATFORM} first=0x11 second=0x12")),
            "{}",
            outcome.all()
        );
    });
}
