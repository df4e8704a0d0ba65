//! Tests of drivers that the application provides through VK_LUNARG_direct_driver_loading (DRV-78 to DRV-87).

use loader_tests::ash::vk;
use loader_tests::{Outcome, Scene, Vk, case, shown_address};

const EXTENSION: &str = "VK_LUNARG_direct_driver_loading";
type Info = vk::DirectDriverLoadingInfoLUNARG<'static>;
const INCLUSIVE: vk::DirectDriverLoadingModeLUNARG = vk::DirectDriverLoadingModeLUNARG::INCLUSIVE;
const EXCLUSIVE: vk::DirectDriverLoadingModeLUNARG = vk::DirectDriverLoadingModeLUNARG::EXCLUSIVE;

fn info(vk: &Vk, driver: &str) -> Info {
    Info {
        pfn_get_instance_proc_addr: vk.direct_driver(driver),
        ..Default::default()
    }
}

/// Creates an instance with a list of direct drivers and the extension for direct drivers. Returns the device names.
fn names(vk: &Vk, mode: vk::DirectDriverLoadingModeLUNARG, infos: &[Info]) -> Result<Vec<String>, vk::Result> {
    let list = vk::DirectDriverLoadingListLUNARG::default().mode(mode).drivers(infos);
    Ok(vk.spec().extensions(&[EXTENSION]).next(&list).create()?.device_names())
}

/// Adds a driver that the search finds, and an unlisted driver that is passed directly.
fn found_and_direct(scene: &mut Scene) {
    scene.driver("found").device("found");
    scene.driver("direct").device("direct").unlisted();
}

/// DRV-78: the loader always lists the extension for direct drivers.
#[test]
fn drv_078_the_extension_is_always_there() {
    case(|scene| {
        let outcome = scene.run(|vk| {
            let list = vk.extension_versions(None).expect("the query succeeds");
            assert!(list.contains(&(EXTENSION.into(), 1)), "{list:?}");
        });
        outcome.ok();
    });
}

/// DRV-86, APP-105: the devices of direct drivers come last in the list.
#[test]
fn drv_086_direct_drivers_come_last() {
    case(|scene| {
        found_and_direct(scene);
        scene.driver("other").device("other").unlisted();
        let outcome = scene.run(|vk| {
            let infos = [info(vk, "direct"), info(vk, "other")];
            assert_eq!(
                names(vk, INCLUSIVE, &infos),
                Ok(vec!["found".into(), "other".into(), "direct".into()])
            );
        });
        outcome.ok();
    });
}

/// DRV-81, DRV-79: in exclusive mode, the loader searches for no other drivers.
#[test]
fn drv_081_exclusive_mode_looks_for_nothing_else() {
    case(|scene| {
        found_and_direct(scene);
        let outcome =
            scene.run(|vk| assert_eq!(names(vk, EXCLUSIVE, &[info(vk, "direct")]), Ok(vec!["direct".into()])));
        outcome.ok().logged(
            "INFO | DRIVER",
            "loader_scan_for_direct_drivers: The VK_LUNARG_direct_driver_loading extension is active and specified VK_DIRECT_DRIVER_LOADING_MODE_EXCLUSIVE_LUNARG, skipping system and environment variable driver search mechanisms.",
        );
        assert!(outcome.calls("found", "load").is_empty(), "{}", outcome.all());
        outcome.not_logged("Searching for driver manifest files");
    });
}

/// DRV-81: exclusive mode fails if no direct driver can be used.
#[test]
fn drv_081_exclusive_mode_without_a_usable_driver_fails() {
    case(|scene| {
        found_and_direct(scene);
        let outcome = scene.run(|vk| {
            let infos = [Info::default()];
            assert_eq!(names(vk, EXCLUSIVE, &infos), Err(vk::Result::ERROR_INCOMPATIBLE_DRIVER));
        });
        outcome
            .ok()
            .logged_with("ERROR | DRIVER", "vkCreateInstance: Found no drivers!");
    });
}

/// DRV-80, APP-103: the list of direct drivers is ignored, with a warning, if the extension is not enabled.
#[test]
fn drv_080_the_structure_without_the_extension_is_ignored() {
    case(|scene| {
        found_and_direct(scene);
        let outcome = scene.run(|vk| {
            let infos = [info(vk, "direct")];
            let list = vk::DirectDriverLoadingListLUNARG::default()
                .mode(EXCLUSIVE)
                .drivers(&infos);
            assert_eq!(
                vk.spec().next(&list).create().expect("vkCreateInstance").device_names(),
                ["found"]
            );
        });
        outcome.ok().logged(
            "WARNING | DRIVER",
            "loader_scan_for_direct_drivers: The pNext chain of VkInstanceCreateInfo contained the VkDirectDriverLoadingListLUNARG structure, but the VK_LUNARG_direct_driver_loading extension was not enabled.",
        );
    });
}

/// DRV-80, APP-103: enabling `VK_LUNARG_direct_driver_loading` without a list of drivers causes a warning.
#[test]
fn drv_080_the_extension_without_the_structure_is_a_warning() {
    case(|scene| {
        found_and_direct(scene);
        let outcome = scene.run(|vk| assert_eq!(vk.instance_with("1.0", &[EXTENSION]).device_names(), ["found"]));
        outcome.ok().logged(
            "WARNING | DRIVER",
            "loader_scan_for_direct_drivers: The VK_LUNARG_direct_driver_loading extension was enabled but the pNext chain of VkInstanceCreateInfo did not contain the VkDirectDriverLoadingListLUNARG structure.",
        );
    });
}

/// DRV-80, APP-103: the structure with the list of direct drivers can be anywhere in the chain, and only the first such structure has an
/// effect.
#[test]
fn drv_080_the_first_structure_of_the_chain_counts() {
    case(|scene| {
        found_and_direct(scene);
        scene.driver("other").device("other").unlisted();
        let outcome = scene.run(|vk| {
            let messages = loader_tests::vk::Messages::default();
            let (first, second) = ([info(vk, "direct")], [info(vk, "other")]);
            let second = vk::DirectDriverLoadingListLUNARG::default()
                .mode(EXCLUSIVE)
                .drivers(&second);
            let mut first = vk::DirectDriverLoadingListLUNARG::default()
                .mode(INCLUSIVE)
                .drivers(&first);
            first.p_next = std::ptr::from_ref(&second).cast_mut().cast();
            let mut messenger = messages.create_info();
            messenger.p_next = std::ptr::from_ref(&first).cast();
            let spec = vk.spec().extensions(&[EXTENSION]).next(&messenger);
            assert_eq!(
                spec.create().expect("vkCreateInstance").device_names(),
                ["found", "direct"]
            );
        });
        outcome.ok();
    });
}

/// DRV-82, APP-103: an empty list of direct drivers causes a warning.
#[test]
fn drv_082_an_empty_list_is_a_warning() {
    case(|scene| {
        found_and_direct(scene);
        let null = "loader_scan_for_direct_drivers: The VkDirectDriverLoadingListLUNARG structure in the pNext chain of VkInstanceCreateInfo has a NULL pDrivers member.";
        let outcome = scene.run(|vk| {
            assert_eq!(names(vk, INCLUSIVE, &[]).err(), None);
            let list = vk::DirectDriverLoadingListLUNARG {
                mode: INCLUSIVE,
                driver_count: 3,
                ..Default::default()
            };
            let spec = vk.spec().extensions(&[EXTENSION]).next(&list);
            assert_eq!(spec.create().expect("vkCreateInstance").device_names(), ["found"]);
        });
        outcome.ok().logged("WARNING | DRIVER", null);
        let outcome = scene.run(|vk| {
            let infos = [info(vk, "direct")];
            let mut list = vk::DirectDriverLoadingListLUNARG::default()
                .mode(EXCLUSIVE)
                .drivers(&infos);
            list.driver_count = 0;
            let spec = vk.spec().extensions(&[EXTENSION]).next(&list);
            assert_eq!(spec.create().err(), Some(vk::Result::ERROR_INCOMPATIBLE_DRIVER));
        });
        outcome.ok().logged(
            "WARNING | DRIVER",
            "loader_scan_for_direct_drivers: The VkDirectDriverLoadingListLUNARG structure in the pNext chain of VkInstanceCreateInfo has a non-null pDrivers member but a driverCount member with a value of zero.",
        );
    });
}

/// Runs with an invalid entry between two valid entries. Expects that the loader skips the invalid entry and logs `message`.
#[track_caller]
fn one_bad_entry(scene: &mut Scene, message: &str) -> Outcome {
    // The valid entry `first` lacks an optional function. The loader must still accept this entry.
    let optional = "vk_icdGetPhysicalDeviceProcAddr";
    scene.driver("first").device("first").missing(optional).unlisted();
    scene.driver("last").device("last").unlisted();
    let outcome = scene.run(|vk| {
        let infos = [info(vk, "first"), info(vk, "bad"), info(vk, "last")];
        assert_eq!(names(vk, EXCLUSIVE, &infos), Ok(vec!["last".into(), "first".into()]));
    });
    outcome.ok().logged("ERROR | DRIVER", message);
    outcome
}

/// DRV-83, APP-104: a direct driver without a look-up function is skipped.
#[test]
fn drv_083_an_entry_without_a_function() {
    case(|scene| {
        scene.driver("direct").device("direct").unlisted();
        let outcome = scene.run(|vk| {
            assert_eq!(
                names(vk, EXCLUSIVE, &[Info::default(), info(vk, "direct")]),
                Ok(vec!["direct".into()])
            );
        });
        outcome.ok().logged(
            "ERROR | DRIVER",
            "loader_add_direct_driver: VkDirectDriverLoadingInfoLUNARG structure at index 0 contains a NULL pointer for the pfnGetInstanceProcAddr member, skipping.",
        );
    });
}

/// DRV-83, APP-104: the loader skips a direct driver if its look-up function lacks a required function.
#[test]
fn drv_083_an_entry_without_required_functions() {
    case(|scene| {
        for (number, command) in [
            "vk_icdNegotiateLoaderICDInterfaceVersion",
            "vkCreateInstance",
            "vkEnumerateInstanceExtensionProperties",
        ]
        .iter()
        .enumerate()
        {
            let name = format!("bad{number}");
            scene.driver(&name).device("bad").missing(command).unlisted();
            let outcome = scene.run(|vk| {
                assert_eq!(
                    names(vk, EXCLUSIVE, &[info(vk, &name)]),
                    Err(vk::Result::ERROR_INCOMPATIBLE_DRIVER)
                );
            });
            let message = format!(
                "loader_add_direct_driver: Could not get '{command}' from VkDirectDriverLoadingInfoLUNARG structure at index 0, skipping."
            );
            outcome.ok().logged("ERROR | DRIVER", &message);
        }
    });
}

/// DRV-83, APP-104: a direct driver that negotiates an interface version below 7 is skipped.
#[test]
fn drv_083_an_entry_of_an_older_interface() {
    case(|scene| {
        scene.driver("bad").device("bad").interface(6).unlisted();
        one_bad_entry(
            scene,
            "loader_add_direct_driver: VkDirectDriverLoadingInfoLUNARG structure at index 1 supports interface version 6, which is incompatible with the Loader Driver Interface version that supports the VK_LUNARG_direct_driver_loading extension, skipping.",
        );
    });
}

/// DRV-83, APP-104: a failed negotiation with a direct driver causes the message about an incompatible interface version.
#[test]
fn drv_083_an_entry_that_rejects_the_loader() {
    case(|scene| {
        scene
            .driver("bad")
            .device("bad")
            .line("negotiate_result", -9)
            .unlisted();
        one_bad_entry(
            scene,
            "loader_add_direct_driver: VkDirectDriverLoadingInfoLUNARG structure at index 1 supports interface version 7, which is incompatible with the Loader Driver Interface version that supports the VK_LUNARG_direct_driver_loading extension, skipping.",
        );
    });
}

/// DRV-84: the loader queries the version of each direct driver, and skips the driver if the query fails.
#[test]
fn drv_084_a_failing_version_query_skips_the_entry() {
    case(|scene| {
        scene
            .driver("bad")
            .device("bad")
            .fail("vkEnumerateInstanceVersion", -3)
            .unlisted();
        scene
            .driver("none")
            .device("none")
            .missing("vkEnumerateInstanceVersion")
            .unlisted();
        let outcome = scene.run(|vk| {
            let infos = [info(vk, "bad"), info(vk, "none")];
            assert_eq!(names(vk, EXCLUSIVE, &infos), Ok(vec!["none".into()]));
        });
        outcome.ok();
    });
}

/// DRV-85: the log contains the address of the look-up function of each used direct driver.
#[test]
fn drv_085_a_used_entry_is_logged_with_its_function() {
    case(|scene| {
        scene.driver("direct").device("direct").unlisted();
        let outcome = scene.run(|vk| {
            let infos = [info(vk, "direct")];
            let function = infos[0]
                .pfn_get_instance_proc_addr
                .map_or(0, |function| function as usize);
            vk.say("function", shown_address(function));
            names(vk, EXCLUSIVE, &infos).expect("vkCreateInstance");
        });
        let function = outcome.ok().said("function")[0].to_owned();
        outcome.logged(
            "INFO | DRIVER",
            &format!("loader_add_direct_driver: Adding driver found in index 0 of VkDirectDriverLoadingListLUNARG::pDrivers structure. pfnGetInstanceProcAddr was set to {function}"),
        );
    });
}

/// DRV-87: vkCreateInstance accepts extensions that only direct drivers have.
#[test]
fn drv_087_extensions_of_direct_drivers_count() {
    case(|scene| {
        scene.driver("found").device("found");
        scene
            .driver("direct")
            .device("direct")
            .extension("VK_KHR_surface")
            .unlisted();
        let outcome = scene.run(|vk| {
            assert!(
                !vk.extensions()
                    .expect("the query succeeds")
                    .contains(&"VK_KHR_surface".into())
            );
            let infos = [info(vk, "direct")];
            let list = vk::DirectDriverLoadingListLUNARG::default()
                .mode(INCLUSIVE)
                .drivers(&infos);
            let spec = vk.spec().extensions(&[EXTENSION, "VK_KHR_surface"]).next(&list);
            assert_eq!(spec.create().err(), None);
        });
        outcome.ok();
    });
}

/// DRV-85, DRV-242: messages about a direct driver have a fixed text in place of the library's name.
#[test]
fn drv_085_a_direct_driver_that_fails_is_reported() {
    case(|scene| {
        found_and_direct(scene);
        scene
            .driver("bad")
            .device("bad")
            .fail("vkCreateInstance", -3)
            .unlisted();
        let outcome = scene.run(|vk| {
            let infos = [info(vk, "bad"), info(vk, "direct")];
            assert_eq!(names(vk, INCLUSIVE, &infos), Ok(vec!["found".into(), "direct".into()]));
        });
        outcome
            .ok()
            .logged_with("WARNING", "direct driver #0. Skipping this driver.");
    });
}

/// DRV-238: the loader never closes the libraries of direct drivers.
#[test]
fn drv_238_direct_drivers_are_not_closed() {
    case(|scene| {
        scene.driver("direct").device("direct").unlisted();
        let outcome = scene.run(|vk| {
            names(vk, EXCLUSIVE, &[info(vk, "direct")]).expect("vkCreateInstance");
            vk.mark("destroyed");
        });
        let outcome = outcome.ok();
        let journal = outcome.journal();
        let destroyed = journal.iter().position(|line| *line == "== destroyed");
        let unloaded = journal.iter().position(|line| line.starts_with("direct unload"));
        assert!(unloaded > destroyed, "{}", outcome.all());
    });
}
