//! Tests of the negotiation of the interface version (DRV-62 to DRV-77).

use loader_tests::ash::vk;
use loader_tests::vk::WINDOW_SURFACE;
use loader_tests::{Outcome, Scene, Vk, case};

const NEGOTIATE: &str = "vk_icdNegotiateLoaderICDInterfaceVersion";
const GIPA: &str = "vk_icdGetInstanceProcAddr";

fn names(vk: &Vk) -> Vec<String> {
    vk.instance().device_names()
}

/// Runs the scene's odd driver before a valid driver. `used` is `true` if the loader must use the odd driver.
#[track_caller]
fn run(scene: &mut Scene, used: bool) -> Outcome {
    scene.driver("good").device("good");
    let expected: &[&str] = if used { &["good", "odd"] } else { &["good"] };
    let outcome = scene.run(|vk| assert_eq!(names(vk), expected));
    outcome.ok();
    outcome
}

/// DRV-62, DRV-63, DRV-64: the loader works with drivers of each interface version up to 7.
#[test]
fn drv_062_every_version_up_to_seven_works() {
    case(|scene| {
        for version in 1..=7 {
            let name = format!("v{version}");
            scene.driver(&name).device(&name).interface(version).api("1.0.0");
        }
        let outcome = scene.run(|vk| assert_eq!(names(vk), ["v7", "v6", "v5", "v4", "v3", "v2", "v1"]));
        let outcome = outcome.ok();
        for version in 1..=7 {
            assert_eq!(outcome.calls(&format!("v{version}"), NEGOTIATE), ["offered=7"]);
        }
    });
}

/// DRV-63: the first call in a driver is the call of its exported negotiation function.
#[test]
fn drv_063_negotiation_comes_first() {
    case(|scene| {
        scene.driver("odd").device("odd").flag("journal_lookups");
        let outcome = run(scene, true);
        let calls: Vec<&str> = outcome
            .journal()
            .into_iter()
            .filter(|line| line.starts_with("odd "))
            .collect();
        assert_eq!(
            calls[..2],
            ["odd load", &format!("odd {NEGOTIATE} offered=7")],
            "{}",
            outcome.all()
        );
    });
}

/// DRV-63: if the driver does not export the negotiation function, the loader's first call in the driver looks up this function.
#[test]
fn drv_063_negotiation_is_asked_for_when_not_exported() {
    case(|scene| {
        scene
            .driver("odd")
            .device("odd")
            .hide(NEGOTIATE)
            .flag("journal_lookups");
        let outcome = run(scene, true);
        let calls: Vec<&str> = outcome
            .journal()
            .into_iter()
            .filter(|line| line.starts_with("odd "))
            .collect();
        let expected = [
            "odd load",
            &format!("odd {GIPA} 0x0 {NEGOTIATE}"),
            &format!("odd {NEGOTIATE} offered=7"),
        ];
        assert_eq!(calls[..3], expected, "{}", outcome.all());
    });
}

/// DRV-64: the loader rejects a driver only if its negotiation returns VK_ERROR_INCOMPATIBLE_DRIVER.
#[test]
fn drv_064_only_incompatible_driver_rejects() {
    case(|scene| {
        scene.driver("good").device("good");
        for code in [-9, -1, -3, 5, 1] {
            let name = format!("odd{}", code + 20);
            scene
                .driver(&name)
                .device("odd")
                .line("negotiate_result", code)
                .unlisted();
            let files = format!(
                "{}:{}",
                scene.manifest(&name).display(),
                scene.manifest("good").display()
            );
            scene.env("VK_DRIVER_FILES", files);
            let expected: &[&str] = if code == -9 { &["good"] } else { &["good", "odd"] };
            scene
                .run(|vk| assert_eq!(names(vk), expected, "negotiation returned {code}"))
                .ok();
        }
    });
}

/// DRV-59, DRV-61: after the reason for a rejection, the log contains the line by which tools recognize the rejected driver.
#[test]
fn drv_059_a_refused_driver_has_a_second_line() {
    case(|scene| {
        scene.driver("good").device("good");
        scene.driver("refuses").line("negotiate_result", -9).unlisted();
        scene.driver("hides").hide("vk_icdGetInstanceProcAddr").unlisted();
        scene.driver("lacks").missing("vkCreateInstance").unlisted();
        let rows = [
            (
                "refuses",
                "doesn't support interface version compatible with loader, skip this ICD.",
            ),
            ("hides", "but doesn't export vk_icdGetInstanceProcAddr, skip this ICD."),
            (
                "lacks",
                "Could not get 'vkCreateInstance' via 'vk_icdGetInstanceProcAddr' for ICD",
            ),
        ];
        for (name, reason) in rows {
            let files = ["good", name].map(|name| scene.manifest(name).display().to_string());
            scene.env("VK_DRIVER_FILES", files.join(":"));
            let outcome = scene.run(|vk| assert_eq!(names(vk), ["good"], "{name}"));
            let library = scene.library(name).display().to_string();
            outcome.ok().logged_with("ERROR", reason).logged(
                "ERROR | DRIVER",
                &format!(
                    "loader_icd_scan: Failed loading library associated with ICD JSON {library}. Ignoring this JSON"
                ),
            );
        }
    });
}

/// DRV-64: the loader treats a huge interface version as 7.
#[test]
fn drv_064_a_huge_version_is_used() {
    case(|scene| {
        scene
            .driver("odd")
            .device("odd")
            .line("interface_forced", 4_000_000_000_u32);
        run(scene, true);
    });
}

/// DRV-65: the loader treats interface version 0 as 1 if the look-up function is exported.
#[test]
fn drv_065_a_negotiated_zero_becomes_one() {
    case(|scene| {
        scene
            .driver("odd")
            .device("odd")
            .line("interface_forced", 0)
            .api("1.0.0");
        run(scene, true).not_logged("deprecated");
    });
}

/// DRV-65: a driver with the look-up function and without a negotiation has interface version 1.
#[test]
fn drv_065_without_negotiation_the_version_is_one() {
    case(|scene| {
        scene
            .driver("odd")
            .device("odd")
            .hide(NEGOTIATE)
            .missing(NEGOTIATE)
            .api("1.0.0");
        run(scene, true);
    });
}

/// DRV-65, DRV-67: a driver with interface version 0 is used, with a warning.
#[test]
fn drv_067_interface_zero_is_used_with_a_warning() {
    case(|scene| {
        scene
            .driver("odd")
            .device("odd")
            .hide(NEGOTIATE)
            .hide(GIPA)
            .legacy_exports()
            .api("1.0.0");
        let outcome = run(scene, true);
        assert!(
            !outcome.calls("odd", "legacy vkGetInstanceProcAddr").is_empty(),
            "{}",
            outcome.all()
        );
        outcome.logged_with("WARNING", "deprecated");
    });
}

/// DRV-67: a driver with interface version 0 is rejected if it lacks one of three exported functions.
#[test]
fn drv_067_interface_zero_needs_its_three_exports() {
    case(|scene| {
        scene.driver("good").device("good");
        let exports = [
            "vkGetInstanceProcAddr",
            "vkCreateInstance",
            "vkEnumerateInstanceExtensionProperties",
        ];
        for (number, export) in exports.iter().enumerate() {
            let name = format!("odd{number}");
            scene
                .driver(&name)
                .device("odd")
                .hide(NEGOTIATE)
                .hide(GIPA)
                .legacy_exports()
                .hide(export)
                .unlisted();
            let files = format!(
                "{}:{}",
                scene.manifest(&name).display(),
                scene.manifest("good").display()
            );
            scene.env("VK_DRIVER_FILES", files);
            let outcome = scene.run(|vk| assert_eq!(names(vk), ["good"]));
            outcome.ok().logged_with("ERROR", &format!("libmock_{name}.so"));
        }
    });
}

/// DRV-66: a driver with interface version 7 must export `vk_icdGetInstanceProcAddr` too.
#[test]
fn drv_066_a_version_above_zero_needs_the_lookup_export() {
    case(|scene| {
        scene.driver("odd").device("odd").hide(GIPA).legacy_exports();
        run(scene, false).logged_with("ERROR", "libmock_odd.so");
    });
}

/// DRV-68: a driver is rejected if its look-up lacks one of two required global functions.
#[test]
fn drv_068_two_global_functions_are_required() {
    case(|scene| {
        scene.driver("good").device("good");
        for (number, command) in ["vkCreateInstance", "vkEnumerateInstanceExtensionProperties"]
            .iter()
            .enumerate()
        {
            let name = format!("odd{number}");
            scene.driver(&name).device("odd").missing(command).unlisted();
            let files = format!(
                "{}:{}",
                scene.manifest(&name).display(),
                scene.manifest("good").display()
            );
            scene.env("VK_DRIVER_FILES", files);
            let outcome = scene.run(|vk| assert_eq!(names(vk), ["good"]));
            outcome.ok().logged_with("ERROR", &format!("libmock_{name}.so"));
        }
    });
}

/// DRV-69: the interface version determines whether the loader uses the physical-device look-up, and how it finds that function.
#[test]
fn drv_069_the_physical_device_lookup() {
    const LOOKUP: &str = "vk_icdGetPhysicalDeviceProcAddr";
    case(|scene| {
        // With version 7, the loader looks up `LOOKUP`. With version 4, it uses the export `LOOKUP`. With version 3, it does not use this
        // function.
        scene
            .driver("seven")
            .device("seven")
            .hide(LOOKUP)
            .unknown_physical("vkOddSeven");
        scene
            .driver("four")
            .device("four")
            .interface(4)
            .unknown_physical("vkOddFour")
            .missing(LOOKUP);
        scene
            .driver("three")
            .device("three")
            .interface(3)
            .line("gpdpa", "vkOddThree");
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            assert_ne!(vk.get(instance.raw, "vkOddSeven"), 0);
            assert_ne!(vk.get(instance.raw, "vkOddFour"), 0);
            assert_eq!(vk.get(instance.raw, "vkOddThree"), 0);
        });
        outcome.ok();
    });
}

/// DRV-69: a driver can lack the look-up of physical-device functions.
#[test]
fn drv_069_the_physical_device_lookup_may_be_missing() {
    case(|scene| {
        let lookup = "vk_icdGetPhysicalDeviceProcAddr";
        scene.driver("odd").device("odd").hide(lookup).missing(lookup);
        run(scene, true);
    });
}

/// DRV-72: a driver with interface version 4 and API version 1.1 causes a warning.
#[test]
fn drv_072_an_old_interface_with_a_new_api_is_warned_about() {
    case(|scene| {
        scene.driver("odd").device("odd").interface(4).api("1.1.0");
        let outcome = run(scene, true);
        let library = scene.library("odd").display().to_string();
        outcome.logged(
            "WARNING",
            &format!("loader_scanned_icd_add: Driver {library} supports Vulkan 1.1, but only supports loader interface version 4. Interface version 5 or newer required to support this version of Vulkan (Policy #LDP_DRIVER_7)"),
        );
    });
}

/// DRV-72: a driver whose interface matches its API version causes no warning.
#[test]
fn drv_072_no_warning_without_a_reason() {
    case(|scene| {
        scene.driver("odd").device("odd").interface(4).api("1.0.0");
        scene.driver("five").device("five").interface(5).api("1.3.0");
        let outcome = scene.run(|vk| assert_eq!(names(vk), ["five", "odd"]));
        outcome.ok().not_logged("LDP_DRIVER_7");
    });
}

/// DRV-73: a driver that creates its own surfaces with an interface version below 3 causes a warning.
#[test]
fn drv_073_own_surfaces_before_interface_three_are_warned_about() {
    case(|scene| {
        scene
            .driver("odd")
            .device("odd")
            .interface(2)
            .api("1.0.0")
            .extensions(&["VK_KHR_surface", WINDOW_SURFACE]);
        let outcome = run(scene, true);
        let library = scene.library("odd").display().to_string();
        outcome.logged(
            "WARNING",
            &format!("terminator_CreateInstance: Driver {library} supports interface version 2 but still exposes VkSurfaceKHR create/destroy entrypoints (Policy #LDP_DRIVER_8)"),
        );
    });
}

/// DRV-73: if the interface version is below 3, functions that create surfaces, or functions that destroy surfaces, are enough for the
/// warning. A driver without these functions causes no warning.
#[test]
fn drv_073_either_kind_of_surface_command_is_warned_about() {
    case(|scene| {
        for (name, extension) in [
            ("creates", WINDOW_SURFACE),
            ("destroys", "VK_KHR_surface"),
            ("neither", "VK_KHR_get_surface_capabilities2"),
        ] {
            let driver = scene.driver(name).device(name).interface(2).api("1.0.0");
            driver.extension(extension);
        }
        let outcome = scene.run(|vk| {
            let extensions = ["VK_KHR_surface", WINDOW_SURFACE];
            assert_eq!(vk.instance_with("1.0", &extensions).device_names().len(), 3);
        });
        outcome.ok();
        let warned = |name| {
            let library = scene.library(name).display().to_string();
            let warnings = outcome.log("WARNING");
            warnings
                .iter()
                .any(|line| line.contains(&library) && line.contains("Policy #LDP_DRIVER_8"))
        };
        let all = ["creates", "destroys", "neither"].map(warned);
        assert_eq!(all, [true, true, false], "{}", outcome.all());
    });
}

/// DRV-77: a driver may export functions with the names of Vulkan commands.
#[test]
fn drv_077_standard_exports_are_tolerated() {
    case(|scene| {
        scene.driver("odd").device("odd").legacy_exports();
        let outcome = run(scene, true);
        assert!(
            outcome.calls("odd", "legacy vkGetInstanceProcAddr").is_empty(),
            "{}",
            outcome.all()
        );
    });
}

/// DRV-107, DRV-77, DRV-260: the loader rejects a driver that returns the loader's function in place of the driver's own function.
#[test]
fn drv_107_the_loaders_own_function_is_refused() {
    case(|scene| {
        scene.driver("odd").device("odd");
        scene.driver("good").device("good").extension("VK_KHR_surface");
        let outcome = scene.run(|vk| {
            let own = vk.get(vk::Instance::null(), "vkEnumerateInstanceExtensionProperties");
            vk.add_lines("odd", &format!("answer vkEnumerateInstanceExtensionProperties {own:x}"));
            let extensions = vk.extensions().expect("the query succeeds");
            assert!(extensions.iter().any(|name| name == "VK_KHR_surface"));
        });
        outcome.ok().logged_with("ERROR", "libmock_odd.so");
    });
}
