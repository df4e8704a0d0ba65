//! Tests of manifests that a search finds twice (DRV-11).

use loader_tests::{Scene, Vk, case};
use serde_json::Value;

/// Returns the names of the devices in scan order.
fn names(vk: &Vk) -> Vec<String> {
    vk.instance_with("1.1", &[]).device_names()
}

/// Adds two drivers to the same folder. The search finds them in the order of their file names. No variable names the drivers.
fn two_drivers(scene: &mut Scene) {
    scene.driver("a").device("one").unlisted();
    scene.driver("b").device("two").unlisted();
    scene.env("VK_LOADER_DISABLE_SELECT", "1");
}

/// DRV-11: if `VK_DRIVER_FILES` names a folder and a file in it, the loader reads the file once.
#[test]
fn drv_011_a_file_of_a_listed_folder_is_one_driver() {
    case(|scene| {
        two_drivers(scene);
        let folder = scene.text_path("drivers");
        for (files, expected) in [
            (format!("{folder}:{folder}/a.json"), ["two", "one"]),
            (format!("{folder}/b.json:{folder}"), ["one", "two"]),
            (
                format!("{folder}/b.json:{folder}:{folder}/b.json:{folder}/a.json"),
                ["one", "two"],
            ),
        ] {
            scene.env("VK_DRIVER_FILES", &files);
            let outcome = scene.run(|vk| assert_eq!(names(vk), expected, "{files}"));
            let lines = outcome.ok().log("DRIVER");
            for name in ["a", "b"] {
                let read = format!("Found ICD manifest file {folder}/{name}.json");
                let times = lines.iter().filter(|line| line.starts_with(&read)).count();
                assert_eq!(times, 1, "{}", outcome.all());
                assert_eq!(outcome.calls(name, "load").len(), 1, "{}", outcome.all());
            }
        }
    });
}

/// DRV-11, DRV-16: the loader reads a file once if `VK_ADD_DRIVER_FILES` names the file and the search also finds the file.
#[test]
fn drv_011_an_added_file_that_is_found_anyway_is_one_driver() {
    case(|scene| {
        let folder = "xdg/data-home/vulkan/icd.d";
        scene.driver("a").device("one").folder(folder).unlisted();
        scene.driver("b").device("two").folder(folder).unlisted();
        scene.env("VK_LOADER_DISABLE_SELECT", "1").unset("VK_DRIVER_FILES");
        scene.env("VK_ADD_DRIVER_FILES", scene.manifest("b"));
        let outcome = scene.run(|vk| {
            for _ in 0..2 {
                vk.extensions().expect("extensions");
            }
            assert_eq!(names(vk), ["one", "two"]);
        });
        outcome.ok();
    });
}

/// DRV-11: the trace contains the used path and the skipped path, so that `vkloader explain` can report both paths.
#[test]
fn drv_011_the_trace_tells_a_repeated_manifest() {
    case(|scene| {
        two_drivers(scene);
        let (folder, trace) = (scene.text_path("drivers"), scene.path("trace"));
        scene
            .env("VK_DRIVER_FILES", format!("{folder}/b.json:{folder}"))
            .env("VK_LOADER_TRACE", &trace);
        let outcome = scene.run(|vk| assert_eq!(names(vk), ["one", "two"]));
        outcome.ok();
        let text = std::fs::read_to_string(trace).expect("the trace is there");
        let records = text
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).expect("a record"));
        let about =
            |record: &Value| record["subject"] == "driver-manifest" && record["name"] == format!("{folder}/b.json");
        let told: Vec<String> = records
            .filter(about)
            .map(|record| format!("{} {}", record["verdict"], record["code"]))
            .collect();
        assert_eq!(told, [r#""dropped" "file.found-before""#, r#""kept" null"#]);
    });
}

/// DRV-11: the loader reports a missing manifest once, even if `VK_DRIVER_FILES` names it twice.
#[test]
fn drv_011_a_missing_file_is_told_once() {
    case(|scene| {
        scene.driver("a").device("one").unlisted();
        let missing = scene.text_path("none.json");
        scene.env(
            "VK_DRIVER_FILES",
            format!("{missing}:{missing}:{}", scene.manifest("a").display()),
        );
        let outcome = scene.run(|vk| drop(vk.instance()));
        let errors = outcome.ok().log("ERROR");
        assert_eq!(
            errors.iter().filter(|line| line.contains("none.json")).count(),
            1,
            "{}",
            outcome.all()
        );
    });
}

/// DRV-11, DRV-44: the loader uses a driver once if the settings file lists it and a folder contains it too.
#[test]
fn drv_011_a_driver_of_the_settings_that_is_found_anyway_is_one_driver() {
    case(|scene| {
        two_drivers(scene);
        scene.env("VK_DRIVER_FILES", scene.path("drivers"));
        let manifest = loader_tests::json_path(&scene.manifest("b").display().to_string());
        scene.file(
            "xdg/config-home/vulkan/loader_settings.d/vk_loader_settings.json",
            format!(
                r#"{{"file_format_version": "1.0.0", "settings": {{"additional_drivers": [{{"path": "{manifest}"}}]}}}}"#
            ),
        );
        scene.run(|vk| assert_eq!(names(vk), ["one", "two"])).ok();
    });
}

mod links {
    use super::{Scene, case, names, two_drivers};
    use loader_tests::symlink;

    /// Adds two drivers, a symbolic link and a hard link to the manifest of driver `a`, and a symbolic link to the folder of the manifests.
    fn linked(scene: &mut Scene) {
        two_drivers(scene);
        // The first run writes the files that the links point to.
        scene.run(|vk| assert_ne!(vk.version().0, 0)).ok();
        scene.folder("links");
        scene.on_disk(|| {
            symlink(scene.manifest("a"), scene.path("links/link.json")).expect("a link");
            std::fs::hard_link(scene.manifest("a"), scene.path("links/same.json")).expect("a hard link");
            symlink("drivers", scene.path("alias")).expect("a link");
        });
    }

    /// DRV-11: the loader treats a link and its target as one driver.
    #[test]
    fn drv_011_a_link_and_its_target_are_one_driver() {
        case(|scene| {
            linked(scene);
            let path = |relative: &str| scene.text_path(relative);
            let rows = [
                [path("drivers/a.json"), path("links/link.json")],
                [path("links/link.json"), path("drivers/a.json")],
                [path("drivers/a.json"), path("links/same.json")],
                [path("drivers/a.json"), path("alias/a.json")],
                [path("drivers/a.json"), path("links/../drivers/a.json")],
                [path("drivers/a.json"), path("drivers//a.json")],
            ];
            for [first, second] in rows {
                scene.env("VK_DRIVER_FILES", format!("{first}:{second}"));
                let outcome = scene.run(|vk| {
                    for _ in 0..2 {
                        vk.extensions().expect("extensions");
                    }
                    assert_eq!(names(vk), ["one"], "{second}");
                });
                outcome.ok().logged(
                    "INFO | DRIVER",
                    &format!(
                        "loader_parse_icd_manifest: ICD JSON {second} is the same file as {first}, which was found before. \
                         Skipping ICD JSON."
                    ),
                );
            }
        });
    }

    /// DRV-11, DRV-52: a relative library path starts at the folder of the link. The link therefore names another library, and the loader
    /// treats it as another driver.
    #[test]
    fn drv_011_a_link_that_leads_to_another_library_is_another_driver() {
        case(|scene| {
            scene.driver("a").device("one").library_path("./liba.so").unlisted();
            let library = scene.library("a");
            scene.run(|vk| assert_ne!(vk.version().0, 0)).ok();
            let folders = ["drivers", "elsewhere", "empty"];
            for folder in folders {
                scene.folder(folder);
            }
            scene.on_disk(|| {
                for folder in &folders[1..] {
                    symlink("../drivers/a.json", scene.path(&format!("{folder}/a.json"))).expect("a link");
                }
                for folder in &folders[..2] {
                    std::fs::copy(&library, scene.path(&format!("{folder}/liba.so"))).expect("a copy");
                    std::fs::copy(
                        library.with_extension("conf"),
                        scene.path(&format!("{folder}/liba.conf")),
                    )
                    .expect("a copy");
                }
            });
            let rows: [(&[&str], &[&str]); 3] = [
                (&["drivers", "elsewhere"], &["one", "one"]),
                (&["empty", "drivers"], &["one"]),
                (&["drivers", "empty"], &["one"]),
            ];
            for (places, expected) in rows {
                let places: Vec<String> = places.iter().map(|place| scene.text_path(place)).collect();
                scene.env("VK_DRIVER_FILES", places.join(":"));
                scene.run(|vk| assert_eq!(names(vk), expected, "{places:?}")).ok();
            }
        });
    }

    /// DRV-11, DRV-26: if a filter rejects a path of a file, the loader still finds the file through its other path.
    #[test]
    fn drv_011_filters_come_before() {
        case(|scene| {
            linked(scene);
            let files = [scene.text_path("drivers/a.json"), scene.text_path("links/link.json")];
            scene.env("VK_DRIVER_FILES", files.join(":"));
            for (variable, pattern) in [
                ("VK_LOADER_DRIVERS_DISABLE", "a.json"),
                ("VK_LOADER_DRIVERS_DISABLE", "link.json"),
                ("VK_LOADER_DRIVERS_SELECT", "link.json"),
            ] {
                scene.env(variable, pattern);
                scene.run(|vk| assert_eq!(names(vk), ["one"], "{pattern}")).ok();
                scene.unset(variable);
            }
        });
    }
}
