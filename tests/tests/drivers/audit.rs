#![allow(missing_docs, clippy::all, clippy::undocumented_unsafe_blocks)]
use loader_tests::ash::vk::{self, Handle};
use loader_tests::vk::{Allocator, Commands, Instance};
use loader_tests::{Vk, call, case};
use std::ptr;

const ALL: [&str; 6] = [
    "VK_KHR_surface",
    "VK_KHR_xcb_surface",
    "VK_EXT_headless_surface",
    "VK_EXT_debug_utils",
    "VK_KHR_get_surface_capabilities2",
    "VK_KHR_display",
];

fn walk(vk: &Vk, allocator: &Allocator) -> Result<(), vk::Result> {
    let instance = vk.spec().api("1.3").extensions(&ALL).allocator(allocator).create()?;
    let devices = instance.devices()?;
    let _ = instance.groups()?;
    for d in &devices {
        instance.device_extensions(*d)?;
    }
    for name in ["vkOddA", "vkOddB", "vkOddDev"] {
        vk.get(instance.raw, name);
    }
    let mut surface = vk::SurfaceKHR::null();
    let info = vk::HeadlessSurfaceCreateInfoEXT::default();
    let result = call!(
        instance,
        PFN_vkCreateHeadlessSurfaceEXT(instance.raw, &info, ptr::null(), &mut surface)
    );
    let result2 = if result == vk::Result::SUCCESS {
        let r = instance.surface_support(devices[0], surface).map(|_| ());
        instance.destroy_surface(surface);
        r
    } else {
        Err(result)
    };
    let device = instance
        .device_spec(devices[0])
        .extensions(&["VK_KHR_swapchain"])
        .allocator(allocator)
        .create();
    let out = match device {
        Ok(device) => {
            vk.get(instance.raw, "vkOddC");
            drop(device);
            Ok(())
        }
        Err(e) => Err(e),
    };

    result2.and(out)
}

/// every allocation refused once
#[test]
fn sweep() {
    case(|scene| {
        scene
            .usual_driver("a")
            .unknown_physical("vkOddA")
            .unknown_device("vkOddDev");
        scene
            .usual_driver("b")
            .unknown_physical("vkOddB")
            .unknown_device("vkOddC");
        scene.env("VK_LOADER_DEBUG", "");
        scene.limit(120);
        let outcome = scene.run(|vk| {
            let allocator = Allocator::default();
            walk(vk, &allocator).expect("all well");
            assert_eq!(allocator.live(), 0);
            let total = allocator.count();
            vk.say("total", total);
            for n in 1..=total {
                let allocator = Allocator::failing_at(n);
                let result = walk(vk, &allocator);
                vk.say("r", format_args!("{n} {result:?} live={}", allocator.live()));
                assert_eq!(allocator.live(), 0, "{n}");
                if let Err(e) = result {
                    assert_eq!(e, vk::Result::ERROR_OUT_OF_HOST_MEMORY, "{n}");
                }
            }
        });
        eprintln!("{:?} {:?}", outcome.said("total"), outcome.said("r"));
        outcome.ok();
    });
}

/// group enters at core / positive result / own function
#[test]
fn device_results() {
    case(|scene| {
        scene.usual_driver("a");
        for code in [1, 5, 1000001003, -3] {
            let outcome = scene.run(|vk| {
                vk.add_lines("a", &format!("fail vkCreateDevice {code} 1 1"));
                let instance = vk.instance();
                let first = instance.first();
                let r = instance.device_spec(first).create().map(|_| ());
                assert_eq!(r.err().map(|e| e.as_raw()), Some(code));
                vk.remove_lines("a", &["fail"]);
                vk.add_lines("a", "null_result vkCreateDevice");
                let r = instance.device_spec(first).create().map(|_| ());
                assert_eq!(r.err().map(|e| e.as_raw()), Some(-3));
                vk.remove_lines("a", &["null_result"]);
                drop(instance.device(first, &[]));
            });
            outcome.ok();
        }
    });
}

#[test]
fn own_device_function() {
    case(|scene| {
        scene.usual_driver("a");
        let outcome = scene.run(|vk| {
            let own = unsafe { vk_export(vk, "vkCmdDraw") };
            vk.add_lines("a", &format!("answer vkCmdDraw {own:x}"));
            let instance = vk.instance();
            let device = instance.device(instance.first(), &[]);
            assert_eq!(device.address("vkCmdDraw"), 0);
            let own = unsafe { vk_export(vk, "vkCreateSwapchainKHR") };
            vk.add_lines("a", &format!("answer vkCreateSwapchainKHR {own:x}"));
            let device = instance.device(instance.first(), &["VK_KHR_swapchain"]);
            let mut s = vk::SwapchainKHR::null();
            let info = vk::SwapchainCreateInfoKHR::default();
            assert_eq!(
                call!(device, PFN_vkCreateSwapchainKHR(device.raw, &info, ptr::null(), &mut s)),
                vk::Result::SUCCESS
            );
        });
        outcome.ok();
    });
}

unsafe fn vk_export(vk: &Vk, name: &str) -> usize {
    Commands::address(vk, name)
}

/// DRV-131 with a live device
#[test]
fn retire_with_device() {
    case(|scene| {
        scene.usual_driver("a");
        scene.usual_driver("b");
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            let b = instance.named("gpu-b");
            let device = instance.device(b, &[]);
            vk.add_lines("b", "fail vkEnumeratePhysicalDevices -4");
            assert_eq!(instance.device_names(), ["gpu-a"]);
            drop(device);
            vk.remove_lines("b", &["fail"]);
            assert_eq!(instance.device_names().len(), 2);
        });
        outcome.ok().not_logged("Removing driver");
    });
}

/// choice rules
#[test]
fn choice() {
    case(|scene| {
        scene.env("VK_LOADER_DISABLE_SELECT", "1");
        let core = "vkGetPhysicalDeviceFeatures2";
        let khr = "vkGetPhysicalDeviceFeatures2KHR";
        // (name, app, ext, has core, has khr, expected)
        let rows: Vec<(&str, bool, bool, bool, &str)> = vec![
            ("1.0", false, true, true, "1.0"),
            ("1.0", true, true, true, "khr"),
            ("1.1", false, true, true, "core"),
            ("1.1", true, true, true, "core"),
            ("1.1", true, false, true, "khr"),
            ("1.1", false, false, true, "1.0"),
            ("1.0", true, true, false, "1.0"),
            ("1.0", true, false, false, "1.0"),
        ];
        for (i, (app, ext, has_core, has_khr, expected)) in rows.into_iter().enumerate() {
            let name = format!("d{i}");
            let d = scene
                .driver(&name)
                .extension("VK_KHR_get_physical_device_properties2")
                .device("x");
            if !has_core {
                d.missing(core);
            }
            if !has_khr {
                d.missing(khr);
            }
            d.unlisted();
            let file = scene.manifest(&name);
            scene.env("VK_DRIVER_FILES", file);
            let outcome = scene.run(|vk| {
                let exts: &[&str] = if ext {
                    &["VK_KHR_get_physical_device_properties2"]
                } else {
                    &[]
                };
                let instance = vk.instance_with(app, exts);
                let first = instance.first();
                vk.mark("in");
                let mut f = vk::PhysicalDeviceFeatures2::default();
                call!(instance, PFN_vkGetPhysicalDeviceFeatures2(first, &mut f));
                vk.mark("out");
            });
            let lines = outcome.ok().between("in", "out").join("|");
            let want = match expected {
                "1.0" => "vkGetPhysicalDeviceFeatures ",
                "khr" => "vkGetPhysicalDeviceFeatures2KHR ",
                _ => "vkGetPhysicalDeviceFeatures2 ",
            };
            assert!(lines.contains(want), "row {i}: {lines}");
            if expected == "1.0" {
                let lib = scene.library(&name).display().to_string();
                outcome.logged("INFO", &format!("vkGetPhysicalDeviceFeatures2: Emulating call in ICD \"{lib}\" using vkGetPhysicalDeviceFeatures"));
            }
        }
    });
}

/// unknown functions
#[test]
fn unknown_many() {
    case(|scene| {
        let d = scene.usual_driver("a");
        for i in 0..252 {
            d.unknown_physical(&format!("vkOddPhys{i}"));
        }
        for i in 0..252 {
            d.unknown_device(&format!("vkOddDev{i}"));
        }
        let d = scene.usual_driver("b");
        d.unknown_physical("vkOddPhys3");
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            let a = instance.named("gpu-a");
            let b = instance.named("gpu-b");
            let before = instance.device(a, &[]);
            let mut seen = std::collections::HashSet::new();
            for i in 0..252 {
                let p = vk.get(instance.raw, &format!("vkOddPhys{i}"));
                assert_eq!(p != 0, i < 250, "{i}");
                if p != 0 {
                    assert!(seen.insert(p));
                }
                assert_eq!(p, vk.get(instance.raw, &format!("vkOddPhys{i}")));
                let p = vk.get(instance.raw, &format!("vkOddDev{i}"));
                assert_eq!(p != 0, i < 250, "{i}");
                if p != 0 {
                    assert!(seen.insert(p));
                }
            }
            assert_eq!(vk.get(instance.raw, "vkNobody"), 0);
            let after = instance.device(a, &[]);
            let other = instance.device(b, &[]);
            type F = unsafe extern "system" fn(u64, u64, u64, u64, u64, u64, u64, u64, u64, u64) -> u64;
            let f = |name: &str| -> F { unsafe { std::mem::transmute(vk.get(instance.raw, name)) } };
            for i in [0, 3, 249] {
                let r = unsafe { f(&format!("vkOddPhys{i}"))(a.as_raw(), 1, 2, 3, 4, 5, 6, 7, 8, 9) };
                assert!(r >= 1000 && r < 2000);
                let r = unsafe { f(&format!("vkOddDev{i}"))(before.raw.as_raw(), 1, 2, 3, 4, 5, 6, 7, 8, 9) };
                assert!(r >= 1000 && r < 2000);
                let r = unsafe { f(&format!("vkOddDev{i}"))(after.raw.as_raw(), 1, 2, 3, 4, 5, 6, 7, 8, 9) };
                assert!(r >= 1000 && r < 2000);
                let q = after.queue(0, 0);
                let r = unsafe { f(&format!("vkOddDev{i}"))(q.as_raw(), 1, 2, 3, 4, 5, 6, 7, 8, 9) };
                assert!(r >= 1000 && r < 2000);
                let r = unsafe { f(&format!("vkOddDev{i}"))(other.raw.as_raw(), 1, 2, 3, 4, 5, 6, 7, 8, 9) };
                assert_eq!(r as i32, -7);
            }
            let r = unsafe { f("vkOddPhys3")(b.as_raw(), 1, 2, 3, 4, 5, 6, 7, 8, 9) };
            assert!(r >= 1000 && r < 2000);
        });
        let outcome = outcome.ok();
        outcome.logged(
            "ERROR",
            "loader_dev_ext_gpa: Exhausted the unknown physical device function array!",
        );
        outcome.logged(
            "ERROR",
            "loader_dev_ext_gpa: Exhausted the unknown device function array!",
        );
        outcome.logged(
            "ERROR",
            "Bad destination in loader trampoline dispatch,Are layers and extensions that you are calling enabled?",
        );
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            let b = instance.named("gpu-b");
            type F = unsafe extern "system" fn(u64) -> u64;
            let f: F = unsafe { std::mem::transmute(vk.get(instance.raw, "vkOddPhys5")) };
            unsafe { f(b.as_raw()) };
        });
        outcome.aborted("Function vkOddPhys5 not supported for this physical device");
    });
}

/// surfaces and threads
#[test]
fn surface_threads() {
    case(|scene| {
        scene.usual_driver("a");
        scene.limit(60);
        scene.env("VK_LOADER_DEBUG", "");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &ALL);
            let a = instance.first();
            let f: vk::PFN_vkGetPhysicalDeviceSurfaceSupportKHR =
                instance.typed("PFN_vkGetPhysicalDeviceSurfaceSupportKHR");
            for _ in 0..50 {
                let surface = instance.headless_surface();
                std::thread::scope(|s| {
                    for _ in 0..4 {
                        s.spawn(|| {
                            let mut yes = 0;
                            let r = unsafe { f(a, 0, surface, &mut yes) };
                            assert_eq!((r, yes), (vk::Result::SUCCESS, 1));
                        });
                    }
                });
                instance.destroy_surface(surface);
            }
        });
        let outcome = outcome.ok();
        assert_eq!(
            outcome
                .journal()
                .iter()
                .filter(|l| l.contains("vkCreateHeadlessSurfaceEXT"))
                .filter(|l| !l.contains("made"))
                .count(),
            50,
            "{}",
            outcome.all()
        );
    });
}

/// messages of absent functions
#[test]
fn absent_functions() {
    case(|scene| {
        scene
            .usual_driver("a")
            .missing("vkGetPhysicalDeviceXcbPresentationSupportKHR")
            .missing("vkGetPhysicalDeviceSurfaceSupportKHR")
            .missing("vkGetPhysicalDeviceDisplayPropertiesKHR");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &ALL);
            let a = instance.first();
            let surface = instance.headless_surface();
            assert_eq!(instance.surface_support(a, surface), Ok(false));
            assert_eq!(
                call!(
                    instance,
                    PFN_vkGetPhysicalDeviceXcbPresentationSupportKHR(a, 0, ptr::null_mut(), 0)
                ),
                0
            );
            let mut n = 5;
            assert_eq!(
                call!(
                    instance,
                    PFN_vkGetPhysicalDeviceDisplayPropertiesKHR(a, &mut n, ptr::null_mut())
                ),
                vk::Result::SUCCESS
            );
            assert_eq!(n, 0);
            // extension not enabled
            let other = vk.instance_with("1.1", &[]);
            let b = other.first();
            assert_eq!(
                call!(
                    vk,
                    PFN_vkGetPhysicalDeviceXcbPresentationSupportKHR(b, 0, ptr::null_mut(), 0)
                ),
                0
            );
        });
        let outcome = outcome.ok();
        outcome.logged(
            "ERROR",
            "ICD for selected physical device does not export vkGetPhysicalDeviceSurfaceSupportKHR!",
        );
        outcome.logged(
            "WARNING",
            "ICD for selected physical device does not export vkGetPhysicalDeviceDisplayPropertiesKHR!",
        );
        outcome.logged(
            "ERROR",
            "ICD for selected physical device does not export vkGetPhysicalDeviceXcbPresentationSupportKHR!",
        );
        outcome.logged(
            "ERROR",
            "VK_KHR_xcb_surface extension not enabled. vkGetPhysicalDeviceXcbPresentationSupportKHR not executed!",
        );
    });
}

/// emulated surface queries
#[test]
fn emulated_surfaces() {
    case(|scene| {
        scene
            .usual_driver("a")
            .extensions(&["VK_EXT_display_surface_counter", "VK_KHR_get_display_properties2"])
            .missing("vkGetPhysicalDeviceSurfaceCapabilities2KHR")
            .missing("vkGetPhysicalDeviceSurfaceFormats2KHR")
            .missing("vkGetPhysicalDeviceSurfaceCapabilities2EXT")
            .missing("vkGetPhysicalDeviceDisplayProperties2KHR");
        scene
            .usual_driver("n")
            .extensions(&["VK_EXT_display_surface_counter", "VK_KHR_get_display_properties2"])
            .missing("vkGetPhysicalDeviceSurfaceCapabilities2KHR")
            .missing("vkGetPhysicalDeviceSurfaceCapabilitiesKHR")
            .missing("vkGetPhysicalDeviceSurfaceFormatsKHR")
            .missing("vkGetPhysicalDeviceSurfaceFormats2KHR")
            .missing("vkGetPhysicalDeviceDisplayProperties2KHR")
            .missing("vkGetPhysicalDeviceDisplayPropertiesKHR");
        let outcome = scene.run(|vk| {
            let mut exts = ALL.to_vec();
            exts.push("VK_EXT_display_surface_counter");
            exts.push("VK_KHR_get_display_properties2");
            let instance = vk.instance_with("1.1", &exts);
            let a = instance.named("gpu-a");
            let n = instance.named("gpu-n");
            let surface = instance.headless_surface();
            let info = vk::PhysicalDeviceSurfaceInfo2KHR::default().surface(surface);
            let mut caps = vk::SurfaceCapabilities2KHR::default();
            assert_eq!(
                call!(
                    instance,
                    PFN_vkGetPhysicalDeviceSurfaceCapabilities2KHR(a, &info, &mut caps)
                ),
                vk::Result::SUCCESS
            );
            assert_eq!(caps.surface_capabilities.min_image_count, 2);
            assert_eq!(
                call!(
                    instance,
                    PFN_vkGetPhysicalDeviceSurfaceCapabilities2KHR(n, &info, &mut caps)
                ),
                vk::Result::SUCCESS
            );
            assert_eq!(caps.surface_capabilities.min_image_count, 0);
            let mut ext = vk::SurfaceCapabilities2EXT::default();
            assert_eq!(
                call!(
                    instance,
                    PFN_vkGetPhysicalDeviceSurfaceCapabilities2EXT(a, surface, &mut ext)
                ),
                vk::Result::SUCCESS
            );
            assert_eq!(ext.min_image_count, 2);
            let mut count = 0;
            assert_eq!(
                call!(
                    instance,
                    PFN_vkGetPhysicalDeviceSurfaceFormats2KHR(a, &info, &mut count, ptr::null_mut())
                ),
                vk::Result::SUCCESS
            );
            assert_eq!(count, 2);
            let mut formats = [vk::SurfaceFormat2KHR::default(); 3];
            count = 1;
            assert_eq!(
                call!(
                    instance,
                    PFN_vkGetPhysicalDeviceSurfaceFormats2KHR(a, &info, &mut count, formats.as_mut_ptr())
                ),
                vk::Result::INCOMPLETE
            );
            assert_eq!(count, 1);
            count = 3;
            assert_eq!(
                call!(
                    instance,
                    PFN_vkGetPhysicalDeviceSurfaceFormats2KHR(a, &info, &mut count, formats.as_mut_ptr())
                ),
                vk::Result::SUCCESS
            );
            assert_eq!(count, 2);
            assert_eq!(formats[1].surface_format.format, vk::Format::R8G8B8A8_UNORM);
            assert_eq!(
                call!(
                    instance,
                    PFN_vkGetPhysicalDeviceSurfaceFormats2KHR(n, &info, &mut count, ptr::null_mut())
                ),
                vk::Result::SUCCESS
            );
            assert_eq!(count, 0);
            count = 9;
            assert_eq!(
                call!(
                    instance,
                    PFN_vkGetPhysicalDeviceDisplayProperties2KHR(n, &mut count, ptr::null_mut())
                ),
                vk::Result::SUCCESS
            );
            assert_eq!(count, 0);
            assert_eq!(
                call!(
                    instance,
                    PFN_vkGetPhysicalDeviceDisplayProperties2KHR(a, &mut count, ptr::null_mut())
                ),
                vk::Result::SUCCESS
            );
            // surface left alive on purpose
        });
        let outcome = outcome.ok();
        eprintln!(
            "{}",
            outcome
                .log("INFO")
                .into_iter()
                .filter(|l| l.contains("Emul"))
                .collect::<Vec<_>>()
                .join("\n")
        );
        let calls = outcome.calls("a", "vkDestroySurfaceKHR");
        assert_eq!(calls.len(), 1, "{}", outcome.all());
    });
}

/// interface 2 reads the layout; NULL success; missing creation
#[test]
fn odd_surfaces() {
    case(|scene| {
        scene.usual_driver("two").interface(2).flag("reads_surfaces");
        scene.usual_driver("null").line("null_result", "vkCreateXcbSurfaceKHR");
        scene.usual_driver("none").missing("vkCreateXcbSurfaceKHR");
        scene.usual_driver("fails").fail("vkCreateXcbSurfaceKHR", -1000000001);
        scene.usual_driver("leaks").missing("vkDestroySurfaceKHR");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &ALL);
            let surface = instance.xcb_surface(0x1234, 77);
            let support = |name: &str| instance.surface_support(instance.named(name), surface);
            assert_eq!(support("gpu-two"), Ok(true));
            assert_eq!(support("gpu-null"), Ok(true));
            assert_eq!(support("gpu-none"), Ok(false));
            assert_eq!(support("gpu-fails"), Ok(false));
            assert_eq!(support("gpu-leaks"), Ok(true));
            let mut caps = vk::SurfaceCapabilitiesKHR::default();
            let c = |name: &str, caps: &mut vk::SurfaceCapabilitiesKHR| {
                call!(
                    instance,
                    PFN_vkGetPhysicalDeviceSurfaceCapabilitiesKHR(instance.named(name), surface, caps)
                )
            };
            assert_eq!(c("gpu-none", &mut caps), vk::Result::ERROR_EXTENSION_NOT_PRESENT);
            assert_eq!(c("gpu-fails", &mut caps), vk::Result::ERROR_NATIVE_WINDOW_IN_USE_KHR);
            assert_eq!(c("gpu-two", &mut caps), vk::Result::SUCCESS);
            instance.destroy_surface(surface);
            instance.destroy_surface(vk::SurfaceKHR::null());
        });
        let outcome = outcome.ran();
        eprintln!(
            "{}",
            outcome
                .journal()
                .into_iter()
                .filter(|l| l.contains("urface"))
                .collect::<Vec<_>>()
                .join("\n")
        );
        assert!(outcome.calls("none", "vkDestroySurfaceKHR").is_empty());
        assert!(outcome.calls("two", "vkDestroySurfaceKHR").is_empty());
        assert!(outcome.calls("null", "vkDestroySurfaceKHR").is_empty());
    });
}

/// queries without VK_KHR_surface
#[test]
fn not_enabled() {
    case(|scene| {
        scene.usual_driver("a");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &[]);
            let a = instance.first();
            let mut n = 5;
            assert_eq!(
                call!(
                    vk,
                    PFN_vkGetPhysicalDeviceSurfaceFormatsKHR(a, vk::SurfaceKHR::null(), &mut n, ptr::null_mut())
                ),
                vk::Result::SUCCESS
            );
            assert_eq!(n, 5);
            let mut y = 5;
            assert_eq!(
                call!(
                    vk,
                    PFN_vkGetPhysicalDeviceSurfaceSupportKHR(a, 0, vk::SurfaceKHR::null(), &mut y)
                ),
                vk::Result::SUCCESS
            );
            assert_eq!(y, 5);
            assert_eq!(
                call!(
                    vk,
                    PFN_vkGetPhysicalDeviceDisplayPropertiesKHR(a, &mut n, ptr::null_mut())
                ),
                vk::Result::SUCCESS
            );
            assert_eq!(n, 5);
            let info = vk::HeadlessSurfaceCreateInfoEXT::default();
            let mut s = vk::SurfaceKHR::null();
            assert_eq!(
                call!(
                    vk,
                    PFN_vkCreateHeadlessSurfaceEXT(instance.raw, &info, ptr::null(), &mut s)
                ),
                vk::Result::ERROR_EXTENSION_NOT_PRESENT
            );
        });
        let outcome = outcome.ok();
        for (e, f) in [
            ("VK_KHR_surface", "vkGetPhysicalDeviceSurfaceFormatsKHR"),
            ("VK_KHR_surface", "vkGetPhysicalDeviceSurfaceSupportKHR"),
            ("VK_KHR_display", "vkGetPhysicalDeviceDisplayPropertiesKHR"),
            ("VK_EXT_headless_surface", "vkCreateHeadlessSurfaceEXT"),
        ] {
            outcome.logged("ERROR", &format!("{e} extension not enabled. {f} not executed!"));
        }
    });
}

/// device creation
#[test]
fn devices_created() {
    case(|scene| {
        scene.usual_driver("a").device("x2");
        let d = scene.usual_driver("old");
        d.missing("vkEnumeratePhysicalDeviceGroups")
            .missing("vkEnumeratePhysicalDeviceGroupsKHR")
            .missing("vkGetPhysicalDeviceFeatures2")
            .missing("vkGetPhysicalDeviceFeatures2KHR");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.0", &["VK_KHR_get_physical_device_properties2"]);
            let (a, x2, old) = (instance.named("gpu-a"), instance.named("x2"), instance.named("gpu-old"));
            let devices = [a, x2];
            let group = vk::DeviceGroupDeviceCreateInfo::default().physical_devices(&devices);
            let mut f2 = vk::PhysicalDeviceFeatures2::default();
            f2.p_next = ptr::from_ref(&group).cast_mut().cast();
            f2.features.geometry_shader = 1;
            drop(instance.device_spec(a).next(&f2).create().unwrap());
            assert_eq!(f2.p_next.cast_const(), ptr::from_ref(&group).cast());
            assert_eq!(group.p_physical_devices, devices.as_ptr());
            vk.add_lines("a", "fail vkCreateDevice -3");
            assert!(instance.device_spec(a).next(&f2).create().is_err());
            assert_eq!(f2.p_next.cast_const(), ptr::from_ref(&group).cast());
            assert_eq!(
                instance.device_spec(old).next(&f2).create().err(),
                Some(vk::Result::ERROR_INITIALIZATION_FAILED)
            );
            let one = [old];
            let group = vk::DeviceGroupDeviceCreateInfo::default().physical_devices(&one);
            f2.p_next = ptr::from_ref(&group).cast_mut().cast();
            drop(instance.device_spec(old).next(&f2).create().unwrap());
        });
        let outcome = outcome.ok();
        eprintln!(
            "{}",
            outcome
                .journal()
                .into_iter()
                .filter(|l| l.contains("vkCreateDevice "))
                .collect::<Vec<_>>()
                .join("\n")
        );
        eprintln!(
            "{}",
            outcome
                .stderr
                .lines()
                .filter(|l| l.contains("vkCreateDevice") || l.contains("Using"))
                .collect::<Vec<_>>()
                .join("\n")
        );
    });
}

#[test]
fn interleaved() {
    case(|scene| {
        scene.driver("a").device("x").library_path("/none/a.so");
        scene.driver("b").device("y");
        let outcome = scene.run(|vk| {
            vk.instance();
        });
        eprintln!("{}", outcome.ok().stderr);
    });
}

/// many threads
#[test]
fn stress() {
    case(|scene| {
        scene
            .usual_driver("a")
            .unknown_physical("vkOddA")
            .unknown_device("vkOddDev");
        for i in 0..20 {
            scene.driver(&format!("q{i}")).unlisted();
        }
        scene
            .usual_driver("b")
            .unknown_physical("vkOddB")
            .unknown_device("vkOddC")
            .unknown_device("vkOddD");
        scene
            .driver("empty")
            .fail_calls("vkEnumeratePhysicalDevices", -3, 40, 60);
        scene.limit(120);
        scene.env("VK_LOADER_DEBUG", "");
        let outcome = scene.run(|vk| {
            let addr = vk as *const Vk as usize;
            std::thread::scope(|s| {
                for t in 0..6 {
                    s.spawn(move || {
                        let vk: &Vk = unsafe { &*(addr as *const Vk) };
                        for i in 0..15 {
                            if t % 3 == 0 {
                                vk.extensions().unwrap();
                            }
                            let instance = vk.instance_with("1.1", &ALL);
                            let ia = &instance as *const Instance<'_> as usize;
                            std::thread::scope(|s2| {
                                for k in 0..3 {
                                    s2.spawn(move || {
                                        let instance: &Instance<'_> = unsafe { &*(ia as *const Instance<'_>) };
                                        let vk: &Vk = unsafe { &*(addr as *const Vk) };
                                        let d = instance.devices().unwrap();
                                        assert_eq!(d.len(), 2);
                                        vk.get(instance.raw, ["vkOddA", "vkOddC", "vkOddDev"][(k + i) % 3]);
                                        let dev = instance.device(d[k % 2], &[]);
                                        vk.get(instance.raw, ["vkOddB", "vkOddD", "vkNone"][(k + i) % 3]);
                                        let surface = instance.headless_surface();
                                        instance.surface_support(d[0], surface).unwrap();
                                        instance.surface_support(d[1], surface).unwrap();
                                        instance.destroy_surface(surface);
                                        drop(dev);
                                        instance.groups().unwrap();
                                    });
                                }
                            });
                        }
                    });
                }
            });
        });
        outcome.ran();
    });
}
