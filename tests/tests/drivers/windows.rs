//! Tests of features that only Windows has: drivers that the registry lists, and surfaces of its windows.

use std::ptr;

use loader_tests::ash::vk::{self, Handle};
use loader_tests::vk::Instance;
use loader_tests::{Scene, call, case};

use crate::surfaces::WSI;

/// Data of a registry value that enables its manifest: four zero bytes.
const ZERO: [u8; 4] = [0; 4];

/// Returns a path with backslashes instead of slashes.
fn native(path: &str) -> String {
    path.replace('/', "\\")
}

/// Adds an unlisted driver and its device with the same name.
fn hidden(scene: &mut Scene, name: &str) {
    scene.driver(name).device(name).unlisted();
}

/// Prepares a scene whose children search for drivers.
fn searching(scene: &mut Scene) {
    scene.unset("VK_DRIVER_FILES");
}

/// DRV-39, DRV-41: the names of registry values are paths of manifests. A value other than zero disables its manifest.
#[test]
fn drv_039_values_of_zero_name_manifests() {
    case(|scene| {
        searching(scene);
        for name in ["a", "b", "c", "d"] {
            hidden(scene, name);
        }
        let manifest = |name| native(&scene.manifest(name).display().to_string());
        scene.registry("machine", "Drivers", &manifest("a"), &ZERO);
        scene.registry("machine", "Drivers", &manifest("b"), &[1, 0, 0, 0]);
        scene.registry("machine", "Drivers", &manifest("c"), &[0; 8]);
        scene.registry("machine", "Drivers", &manifest("d"), &[0; 2]);
        let outcome = scene.run(|vk| assert_eq!(vk.instance().device_names(), ["a"]));
        for name in ["b", "c", "d"] {
            assert!(outcome.ok().calls(name, "load").is_empty(), "{}", outcome.all());
        }
    });
}

/// DRV-39: the loader ignores drivers in the registry key of the user.
#[test]
fn drv_039_the_user_lists_no_driver() {
    case(|scene| {
        searching(scene);
        hidden(scene, "a");
        hidden(scene, "b");
        let manifest = |name| native(&scene.manifest(name).display().to_string());
        scene.registry("machine", "Drivers", &manifest("a"), &ZERO);
        scene.registry("user", "Drivers", &manifest("b"), &ZERO);
        let outcome = scene.run(|vk| assert_eq!(vk.instance().device_names(), ["a"]));
        outcome.ok();
    });
}

/// DRV-39: a registry value can name a folder, and a missing file causes no error.
#[test]
fn drv_039_a_folder_and_what_is_not_there() {
    case(|scene| {
        searching(scene);
        scene.driver("a").device("a").folder("listed");
        scene.registry("machine", "Drivers", &native(&scene.text_path("listed")), &ZERO);
        scene.registry("machine", "Drivers", &native(&scene.text_path("gone/none.json")), &ZERO);
        let outcome = scene.run(|vk| assert_eq!(vk.instance().device_names(), ["a"]));
        outcome.ok();
    });
}

/// DRV-35: a variable that replaces the search replaces the registry too. The paths of a variable that adds to the search precede the paths
/// of the registry.
#[test]
fn drv_035_variables_and_the_registry() {
    case(|scene| {
        searching(scene);
        for name in ["a", "b"] {
            hidden(scene, name);
        }
        let (listed, other) = (scene.manifest("a"), scene.manifest("b"));
        scene.registry("machine", "Drivers", &native(&listed.display().to_string()), &ZERO);
        scene.env("VK_LOADER_DISABLE_SELECT", "1");
        scene.env("VK_ADD_DRIVER_FILES", &other);
        let both = scene.run(|vk| {
            let mut names = vk.instance().device_names();
            names.sort_unstable();
            assert_eq!(names, ["a", "b"]);
        });
        // The loader first opens the driver of the manifest in `VK_ADD_DRIVER_FILES`.
        let loads: Vec<&str> = both
            .ok()
            .journal()
            .into_iter()
            .filter(|line| line.ends_with(" load"))
            .collect();
        assert_eq!(loads[..2], ["b load", "a load"], "{}", both.all());
        scene.env("VK_DRIVER_FILES", &other);
        scene.unset("VK_ADD_DRIVER_FILES");
        scene.run(|vk| assert_eq!(vk.instance().device_names(), ["b"])).ok();
    });
}

/// DRV-19, APP-210: a semicolon separates the paths of a list, and a colon does not.
#[test]
fn app_210_semicolons_separate_paths() {
    case(|scene| {
        hidden(scene, "a");
        hidden(scene, "b");
        let both = ["a", "b"]
            .map(|name| native(&scene.manifest(name).display().to_string()))
            .join(";");
        scene
            .env("VK_LOADER_DISABLE_SELECT", "1")
            .env("VK_DRIVER_FILES", format!(";;{both};"));
        let outcome = scene.run(|vk| {
            let mut names = vk.instance().device_names();
            names.sort_unstable();
            assert_eq!(names, ["a", "b"]);
        });
        outcome.ok();
    });
}

/// LAY-53, DRV-39: names of folders and files can have characters beyond ASCII, and outside the first plane of Unicode.
#[test]
fn lay_053_names_beyond_ascii() {
    case(|scene| {
        searching(scene);
        let folder = "Größe 日本 𝄞";
        scene.driver("a").device("a").folder(folder);
        scene.registry(
            "machine",
            "Drivers",
            &native(&scene.text_path(&format!("{folder}/a.json"))),
            &ZERO,
        );
        let outcome = scene.run(|vk| assert_eq!(vk.instance().device_names(), ["a"]));
        outcome.ok().logged_with("DRIVER", "日本 𝄞/a.json");
    });
}

/// DRV-59, DRV-52, DRV-56: a file that is not a library, and a library that does not exist, each cause a message that names the file. Other
/// drivers work.
#[test]
fn drv_059_what_is_no_library_is_named() {
    case(|scene| {
        scene.driver("a").device("a");
        let text = scene.file("libraries/text.dll", "this is no library");
        scene.driver("text").library_path(&text.display().to_string());
        scene.driver("gone").library_path("C:/nowhere/gone.dll");
        let outcome = scene.run(|vk| assert_eq!(vk.instance().device_names(), ["a"]));
        outcome.ok();
        for library in ["text.dll", "C:/nowhere/gone.dll"] {
            let named = outcome
                .stderr
                .lines()
                .any(|line| line.contains("Failed to open dynamic library") && line.contains(library));
            assert!(named, "{library}\n{}", outcome.all());
        }
    });
}

/// DRV-29, APP-211: an elevated process ignores the variables of drivers, and still reads the registry of the machine.
#[test]
fn app_211_an_elevated_process_ignores_variables() {
    case(|scene| {
        hidden(scene, "a");
        hidden(scene, "b");
        scene.registry(
            "machine",
            "Drivers",
            &native(&scene.manifest("a").display().to_string()),
            &ZERO,
        );
        let other = scene.manifest("b");
        for variable in ["VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_ADD_DRIVER_FILES"] {
            searching(scene);
            scene.env(variable, &other);
            let outcome = scene
                .elevated()
                .run(|vk| assert_eq!(vk.instance().device_names(), ["a"]));
            outcome.ok().not_logged("b.json");
            scene.unset(variable);
        }
    });
}

/// DRV-24, APP-211: an elevated process ignores the filters of drivers, and a message reports this.
#[test]
fn drv_024_an_elevated_process_ignores_filters() {
    case(|scene| {
        searching(scene);
        hidden(scene, "a");
        scene.registry(
            "machine",
            "Drivers",
            &native(&scene.manifest("a").display().to_string()),
            &ZERO,
        );
        scene.env("VK_LOADER_DRIVERS_DISABLE", "*");
        let outcome = scene
            .elevated()
            .run(|vk| assert_eq!(vk.instance().device_names(), ["a"]));
        outcome.ok().logged_with("INFO", "VK_LOADER_DRIVERS_DISABLE");
    });
}

/// DRV-172, DRV-173, DRV-177: at the surface's first use, the create info reaches a driver that creates surfaces itself.
#[test]
fn drv_173_the_create_info_of_a_window() {
    case(|scene| {
        scene.usual_driver("a");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", WSI);
            let surface = instance.window_surface(0x11, 0x12);
            assert_eq!(instance.surface_support(instance.first(), surface), Ok(true));
            instance.destroy_surface(surface);
        });
        let calls = outcome.ok().calls("a", "vkCreateWin32SurfaceKHR");
        assert_eq!(
            calls[0],
            "connection=0x11 window=0x12 pnext=[] alloc=null",
            "{}",
            outcome.all()
        );
    });
}

/// Creates a surface from `info`.
fn made(instance: &Instance<'_>, info: &vk::Win32SurfaceCreateInfoKHR<'_>) -> (vk::Result, vk::SurfaceKHR) {
    let mut surface = vk::SurfaceKHR::null();
    let result = call!(
        instance,
        PFN_vkCreateWin32SurfaceKHR(instance.raw, info, ptr::null(), &mut surface)
    );
    (result, surface)
}

/// DRV-174: the loader copies the create info of a surface, so the application can free the structure after the creation.
#[test]
fn drv_174_the_create_info_of_a_window_is_copied() {
    case(|scene| {
        scene.usual_driver("a");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", WSI);
            let mut info = Box::new(vk::Win32SurfaceCreateInfoKHR::default().hinstance(0x77).hwnd(0x88));
            let (result, surface) = made(&instance, &info);
            assert_eq!(result, vk::Result::SUCCESS);
            (info.hinstance, info.hwnd, info.p_next) = (0, 0, ptr::without_provenance(0x99));
            assert_eq!(instance.surface_support(instance.first(), surface), Ok(true));
            instance.destroy_surface(surface);
        });
        let calls = outcome.ok().calls("a", "vkCreateWin32SurfaceKHR");
        assert_eq!(
            calls[0],
            "connection=0x77 window=0x88 pnext=[] alloc=null",
            "{}",
            outcome.all()
        );
    });
}

/// DRV-175: surface creation refuses any structure that extends the create info of a window.
#[test]
fn drv_175_unknown_structures_for_a_window_are_refused() {
    case(|scene| {
        scene.usual_driver("a");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", WSI);
            let strange = vk::BaseInStructure {
                s_type: vk::StructureType::from_raw(777_000),
                ..Default::default()
            };
            let info = vk::Win32SurfaceCreateInfoKHR {
                p_next: ptr::from_ref(&strange).cast(),
                ..Default::default()
            };
            assert_eq!(made(&instance, &info).0, vk::Result::ERROR_EXTENSION_NOT_PRESENT);
        });
        outcome.ok().logged_with("ERROR", "Unsupported extension structure in");
    });
}

/// DRV-170, DRV-171, DRV-172, DRV-177: a driver of interface version 2 receives the loader's own surface, and reads the
/// surface's members.
#[test]
fn drv_171_old_drivers_read_the_layout_of_a_window() {
    case(|scene| {
        scene
            .driver("a")
            .interface(2)
            .api("1.0.0")
            .extensions(WSI)
            .device("one")
            .flag("reads_surfaces")
            .missing("vkCreateWin32SurfaceKHR");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.0", WSI);
            let surface = instance.window_surface(0x11, 0x12);
            assert_eq!(instance.surface_support(instance.first(), surface), Ok(true));
            instance.destroy_surface(surface);
        });
        let outcome = outcome.ok();
        // Two handles follow the base. The sizes come after the union, which is as large as the display surface.
        let (platform, union) = (3 * size_of::<usize>(), 40 + align_of::<u64>());
        let line = format!("surface platform=2 first=0x11 second=0x12 sizes=[4, {platform}, {union}]");
        let lines = outcome.calls("a", "vkGetPhysicalDeviceSurfaceSupportKHR");
        assert!(lines.contains(&line.as_str()), "{line}\n{}", outcome.all());
    });
}

/// DRV-164, APP-161: without VK_KHR_win32_surface, surface creation fails, and presentation is unsupported.
#[test]
fn drv_164_windows_without_the_extension() {
    case(|scene| {
        scene.usual_driver("a");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &["VK_KHR_surface"]);
            let info = vk::Win32SurfaceCreateInfoKHR::default();
            let mut surface = vk::SurfaceKHR::null();
            let result = call!(
                vk,
                PFN_vkCreateWin32SurfaceKHR(instance.raw, &info, ptr::null(), &mut surface)
            );
            assert_eq!(
                (result, surface.is_null()),
                (vk::Result::ERROR_EXTENSION_NOT_PRESENT, true)
            );
            let supported = call!(
                vk,
                PFN_vkGetPhysicalDeviceWin32PresentationSupportKHR(instance.first(), 0)
            );
            assert_eq!(supported, vk::FALSE);
        });
        let outcome = outcome.ok();
        for command in [
            "vkCreateWin32SurfaceKHR",
            "vkGetPhysicalDeviceWin32PresentationSupportKHR",
        ] {
            let text = format!("VK_KHR_win32_surface extension not enabled. {command} not executed!");
            outcome.logged("ERROR", &text);
            assert!(outcome.calls("a", command).is_empty(), "{}", outcome.all());
        }
    });
}

/// DRV-161: the loader queries the driver for presentation support. If a driver lacks the query, the loader reports no support.
#[test]
fn drv_161_presentation_support_for_windows() {
    case(|scene| {
        scene.usual_driver("a");
        scene.driver("b").device("gpu-b");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.0", &["VK_KHR_surface", "VK_KHR_win32_surface"]);
            for (name, expected) in [("gpu-a", vk::TRUE), ("gpu-b", vk::FALSE)] {
                let device = instance.named(name);
                let supported = call!(instance, PFN_vkGetPhysicalDeviceWin32PresentationSupportKHR(device, 3));
                assert_eq!(supported, expected, "{name}");
            }
        });
        outcome.ok().logged(
            "ERROR",
            "ICD for selected physical device does not export vkGetPhysicalDeviceWin32PresentationSupportKHR!",
        );
        let calls = outcome.calls("a", "vkGetPhysicalDeviceWin32PresentationSupportKHR");
        assert_eq!(calls, ["gpu-a", "family=3"], "{}", outcome.all());
    });
}

/// DRV-105, APP-66: on Windows, the loader hides the extensions for the window systems of other systems.
#[test]
fn drv_105_extensions_of_other_window_systems_are_hidden() {
    case(|scene| {
        let others = ["VK_KHR_xcb_surface", "VK_KHR_xlib_surface", "VK_KHR_wayland_surface"];
        scene.driver("a").device("one").extensions(&others).extensions(WSI);
        let outcome = scene.run(|vk| {
            let list = vk.extensions().expect("the query succeeds");
            assert!(list.contains(&"VK_KHR_win32_surface".into()), "{list:?}");
            for name in others {
                assert!(!list.contains(&name.into()), "{name} in {list:?}");
            }
        });
        outcome.ok();
    });
}
