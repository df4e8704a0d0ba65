//! Tests of the variables that name drivers, and of the actions and messages of a scan (DRV-7 to DRV-20).

use loader_tests::ash::vk;
use loader_tests::{Vk, case};

/// Returns the names of the devices, in their order.
fn names(vk: &Vk) -> Vec<String> {
    vk.instance().device_names()
}

/// DRV-143, DRV-10, APP-119: without sorting, the list begins with the devices of the driver that was found last.
#[test]
fn drv_143_devices_come_in_reverse_scan_order() {
    case(|scene| {
        scene.driver("a").device("one").device("two");
        scene.driver("b").device("three");
        scene.env("VK_LOADER_DISABLE_SELECT", "1");
        scene.run(|vk| assert_eq!(names(vk), ["three", "one", "two"])).ok();
    });
}

/// DRV-8, DRV-63: the loader opens each library, negotiates with it and queries it, in the order of the manifests.
#[test]
fn drv_008_drivers_are_opened_in_manifest_order() {
    case(|scene| {
        scene.driver("z").device("one");
        scene.driver("a").device("two");
        let outcome = scene.run(|vk| vk.instance().destroy());
        let journal = outcome.ok().journal();
        let negotiation = "vk_icdNegotiateLoaderICDInterfaceVersion offered=7";
        let expected = [
            "z load",
            &format!("z {negotiation}"),
            "a load",
            &format!("a {negotiation}"),
        ];
        assert_eq!(journal[..4], expected, "{}", outcome.all());
    });
}

/// DRV-9: without a driver, instance creation fails, and the extension query succeeds.
#[test]
fn drv_009_no_driver_fails_creation_but_not_the_extension_query() {
    case(|scene| {
        let outcome = scene.run(|vk| {
            let extensions = vk.extensions().expect("the query succeeds without drivers");
            assert!(
                extensions.iter().any(|name| name == "VK_EXT_debug_utils"),
                "{extensions:?}"
            );
            assert!(vk.layers().is_ok());
            assert_eq!(vk.spec().create().err(), Some(vk::Result::ERROR_INCOMPATIBLE_DRIVER));
        });
        outcome
            .ok()
            .logged_with("ERROR | DRIVER", "vkCreateInstance: Found no drivers!");
    });
}

/// DRV-7, APP-216: a scan does not use the result of an earlier scan.
#[test]
fn drv_007_every_scan_is_fresh() {
    case(|scene| {
        scene.driver("a").device("one").unlisted();
        scene.driver("b").device("two").unlisted();
        scene.env("VK_DRIVER_FILES", "");
        let (a, b) = (scene.manifest("a"), scene.manifest("b"));
        let outcome = scene.run(move |vk| {
            for (path, name) in [(&a, "one"), (&b, "two"), (&a, "one")] {
                vk.set_env("VK_DRIVER_FILES", path.to_str());
                assert_eq!(names(vk), [name]);
            }
        });
        outcome.ok();
    });
}

/// DRV-11, DRV-54: two manifests of the same library are two drivers, and the devices appear twice.
#[test]
fn drv_011_two_manifests_of_one_library_are_two_drivers() {
    case(|scene| {
        scene.driver("a").device("one");
        let again = scene.text_path("libraries/libmock_a.so");
        scene.driver("b").library_path(&again);
        scene.run(|vk| assert_eq!(names(vk), ["one", "one"])).ok();
    });
}

/// DRV-11: the loader searches a folder once if a list contains the folder twice.
#[test]
fn drv_011_equal_search_paths_are_searched_once() {
    case(|scene| {
        scene.driver("a").device("one").unlisted();
        let folder = scene.text_path("drivers");
        scene.env("VK_DRIVER_FILES", format!("{folder}:{folder}"));
        scene.run(|vk| assert_eq!(names(vk), ["one"])).ok();
    });
}

/// DRV-14, APP-236: the log lists the searched folders and the found files.
#[test]
fn drv_014_the_search_is_logged() {
    case(|scene| {
        scene.driver("a").device("one").unlisted();
        let (folder, file) = (scene.text_path("drivers"), scene.text_path("drivers/a.json"));
        scene.env("VK_DRIVER_FILES", format!("/nowhere at all:{folder}"));
        let outcome = scene.run(|vk| vk.instance().destroy());
        let log = outcome.ok().log("DRIVER");
        let start = log
            .iter()
            .position(|line| *line == "Searching for driver manifest files")
            .expect("the first line");
        let expected = [
            "   In following locations:".into(),
            "      /nowhere at all".into(),
            format!("      {folder}"),
            "   Found the following files:".into(),
            format!("      {file}"),
            format!("Found ICD manifest file {file}, version \"1.0.1\""),
        ];
        assert_eq!(log[start + 1..start + 6], expected[..5], "{}", outcome.all());
        assert!(
            log.iter()
                .any(|line| line.replace('"', "") == expected[5].replace('"', "")),
            "{}",
            outcome.all()
        );
    });
}

/// DRV-14: the log reports that the search found no files.
#[test]
fn drv_014_finding_nothing_is_logged() {
    case(|scene| {
        scene.env("VK_DRIVER_FILES", "/nowhere/else");
        let outcome = scene.run(|vk| drop(vk.spec().create()));
        outcome.ok().logged("DRIVER", "   Found no files");
    });
}

/// DRV-15: `VK_DRIVER_FILES` replaces the search in folders.
#[test]
fn drv_015_driver_files_replaces_the_directories() {
    case(|scene| {
        scene.driver("a").device("one");
        scene.driver("b").device("two").folder("xdg/data-home/vulkan/icd.d");
        scene.run(|vk| assert_eq!(names(vk), ["one"])).ok();
    });
}

/// DRV-15, APP-280: the older variable `VK_ICD_FILENAMES` works if `VK_DRIVER_FILES` is unset.
#[test]
fn drv_015_the_older_variable_works_alone() {
    case(|scene| {
        scene.driver("a").device("one").unlisted();
        scene.driver("b").device("two").folder("xdg/data-home/vulkan/icd.d");
        let manifest = scene.manifest("a");
        scene.unset("VK_DRIVER_FILES").env("VK_ICD_FILENAMES", manifest);
        scene.run(|vk| assert_eq!(names(vk), ["one"])).ok();
    });
}

/// DRV-15, APP-280: the older variable `VK_ICD_FILENAMES` is ignored if `VK_DRIVER_FILES` is set.
#[test]
fn drv_015_the_older_variable_is_ignored_beside_the_newer() {
    case(|scene| {
        scene.driver("a").device("one");
        scene.driver("b").device("two").unlisted();
        let manifest = scene.manifest("b");
        scene.env("VK_ICD_FILENAMES", manifest);
        scene.run(|vk| assert_eq!(names(vk), ["one"])).ok();
    });
}

/// DRV-16: the drivers of `VK_ADD_DRIVER_FILES` come before the drivers of the folders.
#[test]
fn drv_016_added_drivers_come_first_in_the_scan() {
    case(|scene| {
        scene.driver("a").device("one").unlisted();
        scene.driver("b").device("two").folder("xdg/config-home/vulkan/icd.d");
        let manifest = scene.manifest("a");
        scene.unset("VK_DRIVER_FILES").env("VK_ADD_DRIVER_FILES", manifest);
        scene.run(|vk| assert_eq!(names(vk), ["two", "one"])).ok();
    });
}

/// DRV-15, DRV-16: variables that add drivers are ignored if another variable replaces the search.
#[test]
fn drv_016_added_drivers_are_ignored_when_the_search_is_replaced() {
    case(|scene| {
        scene.driver("a").device("one").unlisted();
        scene.driver("b").device("two").unlisted();
        let (a, b) = (scene.manifest("a"), scene.manifest("b"));
        scene.env("VK_ADD_DRIVER_FILES", &a).env("VK_DRIVER_FILES", &b);
        scene.run(|vk| assert_eq!(names(vk), ["two"])).ok();
        scene.unset("VK_DRIVER_FILES").env("VK_ICD_FILENAMES", &b);
        scene.run(|vk| assert_eq!(names(vk), ["two"])).ok();
    });
}

/// DRV-17: `VK_DRIVER_FILES` and `VK_ADD_DRIVER_FILES` can contain both files and folders, and the loader skips empty elements.
#[test]
fn drv_017_an_element_is_a_file_or_a_folder() {
    case(|scene| {
        scene.driver("a").device("one").unlisted();
        scene.driver("b").device("two").folder("others");
        let value = format!(
            "::{}:::{}:",
            scene.text_path("drivers/a.json"),
            scene.text_path("others")
        );
        scene.env("VK_DRIVER_FILES", &value);
        scene.run(|vk| assert_eq!(names(vk), ["two", "one"])).ok();
        scene.unset("VK_DRIVER_FILES").env("VK_ADD_DRIVER_FILES", value);
        scene.run(|vk| assert_eq!(names(vk), ["two", "one"])).ok();
    });
}

/// DRV-17: a bare name in `VK_DRIVER_FILES` is relative to the current directory.
#[test]
fn drv_017_relative_elements_start_at_the_current_directory() {
    case(|scene| {
        scene.driver("a").device("one").unlisted();
        scene.driver("b").device("two").folder(".");
        scene.driver("c").device("three").folder("others");
        scene.env("VK_DRIVER_FILES", "drivers/a.json:b.json:others");
        scene.run(|vk| assert_eq!(names(vk), ["three", "two", "one"])).ok();
    });
}

/// DRV-18, APP-214a: an empty `VK_DRIVER_FILES` or `VK_ICD_FILENAMES` replaces the search too, so the loader finds no driver.
#[test]
fn drv_018_an_empty_value_still_replaces() {
    case(|scene| {
        scene.driver("a").device("one").folder("xdg/data-home/vulkan/icd.d");
        for variable in ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"] {
            scene.unset("VK_DRIVER_FILES").env(variable, "");
            let outcome =
                scene.run(|vk| assert_eq!(vk.spec().create().err(), Some(vk::Result::ERROR_INCOMPATIBLE_DRIVER)));
            outcome
                .ok()
                .logged_with("ERROR | DRIVER", "vkCreateInstance: Found no drivers!");
        }
    });
}

/// DRV-19: the log has an error line for a file in `VK_DRIVER_FILES` that does not exist.
#[test]
fn drv_019_a_listed_file_that_is_not_there_is_an_error_line() {
    case(|scene| {
        scene.driver("a").device("one").unlisted();
        let missing = scene.text_path("drivers/missing.json");
        scene.env(
            "VK_DRIVER_FILES",
            format!("{missing}:{}", scene.text_path("drivers/a.json")),
        );
        let outcome = scene.run(|vk| assert_eq!(names(vk), ["one"]));
        outcome
            .ok()
            .logged("ERROR", &format!("loader_get_json: Failed to open JSON file {missing}"));
    });
}

/// DRV-19: a folder in `VK_DRIVER_FILES` that does not exist is skipped without a message.
#[test]
fn drv_019_a_listed_folder_that_is_not_there_is_skipped_silently() {
    case(|scene| {
        scene.driver("a").device("one").unlisted();
        scene.env(
            "VK_DRIVER_FILES",
            format!("/nowhere/at/all:{}", scene.text_path("drivers")),
        );
        let outcome = scene.run(|vk| assert_eq!(names(vk), ["one"]));
        outcome.ok();
        assert!(
            outcome.log("ERROR").is_empty() && outcome.log("WARNING").is_empty(),
            "{}",
            outcome.all()
        );
    });
}

/// DRV-20: a very long element of `VK_DRIVER_FILES` has no effect on the other elements.
#[test]
fn drv_020_a_very_long_element_harms_nothing() {
    case(|scene| {
        scene.driver("a").device("one").unlisted();
        let long = "x".repeat(5000);
        scene.env(
            "VK_DRIVER_FILES",
            format!("/{long}.json:/{long}:{}", scene.text_path("drivers")),
        );
        scene.run(|vk| assert_eq!(names(vk), ["one"])).ok();
    });
}

/// DRV-267: if `VK_DRIVER_FILES` names hundreds of files, the loader tries all of them.
#[test]
fn drv_267_hundreds_of_listed_files_are_all_tried() {
    case(|scene| {
        scene.driver("last").device("one").unlisted();
        let mut value = String::new();
        for number in 0..400 {
            let path = scene.file(&format!("many/{number}.json"), "{");
            value += &format!("{}:", path.display());
        }
        value += &scene.text_path("drivers/last.json");
        scene.env("VK_DRIVER_FILES", value);
        let outcome = scene.run(|vk| assert_eq!(names(vk), ["one"]));
        let bad = outcome.ok().log("ERROR");
        assert!(
            bad.iter().filter(|line| line.contains("Invalid JSON file")).count() >= 400,
            "{}",
            outcome.all()
        );
    });
}
