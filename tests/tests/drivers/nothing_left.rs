//! Tests of the error line if no driver or device remains (APP-89a).

#[cfg(unix)]
use std::fs;

use loader_tests::ash::vk;
use loader_tests::vk::Messages;
use loader_tests::{Outcome, Scene, Vk, case};

const UTILS: &str = "VK_EXT_debug_utils";
/// Level of the message about an instance creation that finds no driver.
const CREATION: &str = "ERROR | DRIVER";
/// Beginnings of the message about an instance creation without a driver. The loader writes the first text before it calls the layers, and
/// the second text at the end of the layer chain.
const ABOVE: &str = "vkCreateInstance: Found no drivers!";
const BELOW: &str = "terminator_CreateInstance: Found no drivers!";
/// Beginning of the message about an empty device list.
const DEVICES: &str = "setup_loader_term_phys_devs:  Failed to detect any valid GPUs in the current config";
/// End of the messages about missing drivers and devices if `vkloader` is installed.
const MORE: &str = " (vkloader explain tells more)";

fn refused(vk: &Vk) {
    assert_eq!(vk.spec().create().err(), Some(vk::Result::ERROR_INCOMPATIBLE_DRIVER));
}

/// Requests exclusive direct drivers, and passes an empty list.
#[cfg(unix)]
fn without_given_drivers(vk: &Vk) {
    let exclusive = vk::DirectDriverLoadingModeLUNARG::EXCLUSIVE;
    let list = vk::DirectDriverLoadingListLUNARG::default().mode(exclusive);
    let made = vk
        .spec()
        .extensions(&["VK_LUNARG_direct_driver_loading"])
        .next(&list)
        .create();
    assert_eq!(made.err(), Some(vk::Result::ERROR_INCOMPATIBLE_DRIVER));
}

fn without_devices(vk: &Vk) {
    let devices = vk.instance().devices();
    assert_eq!(devices.err(), Some(vk::Result::ERROR_INITIALIZATION_FAILED));
}

/// Adds a driver whose library does not exist. Returns the message about this library.
fn lost(scene: &mut Scene, name: &str) -> String {
    scene.driver(name).library_path("/nowhere/libnone.so");
    let manifest = scene.manifest(name).display().to_string();
    format!("/nowhere/libnone.so named by {manifest}: ")
}

/// Checks that a line of this level begins with the text.
#[track_caller]
fn begins(outcome: &Outcome, level: &str, text: &str) {
    let log = outcome.ok().log(level);
    assert!(
        log.iter().any(|line| line.starts_with(text)),
        "{text}\n{}",
        outcome.all()
    );
}

#[test]
fn app_089a_a_library_that_does_not_open_is_named() {
    case(|scene| {
        let cause = lost(scene, "a");
        let outcome = scene.run(refused);
        begins(&outcome, CREATION, &format!("{ABOVE} {cause}"));
        outcome.not_logged(MORE);
    });
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[test]
fn app_089a_the_systems_words_name_the_file_once() {
    case(|scene| {
        let cause = lost(scene, "a");
        let words = "cannot open shared object file: No such file or directory";
        scene
            .run(refused)
            .ok()
            .logged(CREATION, &format!("{ABOVE} {cause}{words}"));
    });
}

#[test]
fn app_089a_the_first_of_several_is_named() {
    case(|scene| {
        scene.file("drivers/b.json", "{");
        let cause = lost(scene, "c");
        lost(scene, "d");
        let list = ["b", "c", "d"].map(|name| scene.manifest(name).display().to_string());
        scene.env("VK_DRIVER_FILES", list.join(":"));
        let outcome = scene.run(refused);
        begins(&outcome, CREATION, &format!("{ABOVE} {cause}"));
    });
}

#[test]
fn app_089a_a_manifest_is_named() {
    case(|scene| {
        let (broken, missing) = (scene.file("broken.json", "{"), scene.path("missing.json"));
        for (path, words) in [(&broken, "invalid json"), (&missing, "not found")] {
            scene.env("VK_DRIVER_FILES", path);
            let cause = format!("{ABOVE} {} named by VK_DRIVER_FILES: {words}", path.display());
            scene.run(refused).ok().logged(CREATION, &cause);
        }
    });
}

#[test]
fn app_089a_a_filter_is_named() {
    case(|scene| {
        scene.driver("a").device("one");
        let manifest = scene.manifest("a").display().to_string();
        for (variable, words) in [
            ("VK_LOADER_DRIVERS_DISABLE", "disabled by VK_LOADER_DRIVERS_DISABLE"),
            ("VK_LOADER_DRIVERS_SELECT", "not selected by VK_LOADER_DRIVERS_SELECT"),
        ] {
            let value = if variable.ends_with("DISABLE") { "a*" } else { "b*" };
            scene.env(variable, value);
            let outcome = scene.run(refused);
            begins(
                &outcome,
                CREATION,
                &format!("{ABOVE} {manifest} named by VK_DRIVER_FILES: {words}"),
            );
            scene.unset(variable);
        }
    });
}

#[test]
fn app_089a_a_search_that_finds_nothing_says_so() {
    case(|scene| {
        let outcome = scene.run(refused);
        let line = format!("{ABOVE} There is no driver manifest where the loader looks");
        outcome.ok().logged(CREATION, &line);
        let empty = scene.folder("empty");
        for variable in ["VK_ICD_FILENAMES", "VK_DRIVER_FILES"] {
            scene.env(variable, &empty);
            let line = format!("{ABOVE} {variable} leads to no driver manifest");
            scene.run(refused).ok().logged(CREATION, &line);
        }
    });
}

#[test]
fn app_089a_a_driver_that_makes_no_instance_is_named() {
    case(|scene| {
        scene.driver("a").device("one").fail("vkCreateInstance", -9);
        let cause = format!("{}: creation failed with VkResult -9", scene.library("a").display());
        let outcome = scene.run(refused);
        outcome.ok().logged(CREATION, &format!("{BELOW} {cause}"));
        // The scan runs before the creation of instances. If two decisions explain the failure equally well, the message names the decision
        // of the scan.
        let lost = lost(scene, "b");
        let outcome = scene.run(refused);
        begins(&outcome, CREATION, &format!("{BELOW} {lost}"));
    });
}

#[test]
fn app_089a_drivers_without_devices_are_named() {
    case(|scene| {
        scene.driver("a");
        scene.driver("b");
        let outcome = scene.run(without_devices);
        let line = format!("{DEVICES} No driver has a device: libmock_b.so, libmock_a.so");
        outcome.ok().logged("ERROR", &line);
    });
}

#[test]
fn app_089a_what_creation_dropped_explains_missing_devices() {
    case(|scene| {
        let cause = lost(scene, "a");
        scene.driver("b");
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            for _ in 0..2 {
                let devices = instance.devices();
                assert_eq!(devices.err(), Some(vk::Result::ERROR_INITIALIZATION_FAILED));
            }
        });
        begins(&outcome, "ERROR", &format!("{DEVICES} {cause}"));
        let told = outcome.log("ERROR").iter().filter(|line| line.contains(&cause)).count();
        assert_eq!(told, 2, "{}", outcome.all());
    });
}

#[test]
fn app_089a_a_failing_enumeration_is_named() {
    case(|scene| {
        scene.driver("a").device("one").fail("vkEnumeratePhysicalDevices", -3);
        scene.driver("b");
        let library = scene.library("a").display().to_string();
        let outcome = scene.run(without_devices);
        let line = format!("{DEVICES} {library}: enumeration failed with VkResult -3");
        outcome.ok().logged("ERROR", &line);
    });
}

#[test]
fn app_089a_messengers_hear_it() {
    case(|scene| {
        scene.env("VK_LOADER_DEBUG", "");
        scene.driver("a");
        let cause = lost(scene, "b");
        let alone = scene.manifest("b");
        let outcome = scene.run(move |vk| {
            let messages = Messages::default();
            let instance = vk.instance_with("1.1", &[UTILS]);
            instance.messenger(&messages);
            assert!(instance.devices().is_err());
            assert_eq!(messages.with(&format!("{DEVICES} {cause}")).len(), 1);
            drop(instance);
            vk.set_env("VK_DRIVER_FILES", alone.to_str());
            let messages = Messages::default();
            assert!(vk.spec().next(&messages.create_info()).create().is_err());
            assert_eq!(messages.with(&format!("{ABOVE} {cause}")).len(), 1);
        });
        outcome.ok().not_logged("named by");
    });
}

#[test]
fn app_089a_success_says_nothing() {
    case(|scene| {
        lost(scene, "a");
        scene.driver("b").device("one");
        let outcome = scene.run(|vk| assert_eq!(vk.instance().device_names(), ["one"]));
        outcome.ok().not_logged("named by");
    });
}

/// The error line names `vkloader` if the program is installed beside the library, also in an elevated process.
#[cfg(unix)]
#[test]
fn app_089a_the_program_that_explains_is_named_where_it_is_installed() {
    case(|scene| {
        scene.driver("a");
        scene.copies_library().file("bin/vkloader", "");
        let outcome = scene.run(without_devices);
        outcome.ok().logged(
            "ERROR",
            &format!("{DEVICES} No driver has a device: libmock_a.so{MORE}"),
        );
        let program = scene.path("bin/vkloader");
        scene.on_disk(|| fs::remove_file(&program).expect("removed"));
        scene.run(without_devices).ok().not_logged(MORE);
    });
}

#[cfg(unix)]
#[test]
fn app_089a_an_elevated_process_is_told_the_same() {
    case(|scene| {
        scene.elevated().file("bin/vkloader", "");
        let outcome = scene.run(without_given_drivers);
        let line = format!("{ABOVE} The application gives no driver{MORE}");
        outcome.ok().logged(CREATION, &line);
    });
}

#[cfg(not(unix))]
loader_tests::left_out!(app_089a_the_program_that_explains_is_named_where_it_is_installed);
#[cfg(not(unix))]
loader_tests::left_out!(app_089a_an_elevated_process_is_told_the_same);
