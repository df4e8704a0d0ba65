//! Tests of the folders on Linux, and of the files in these folders that the loader reads as manifests (DRV-21 to DRV-23).

use loader_tests::symlink;
use std::fs;

use loader_tests::{Vk, case};

fn names(vk: &Vk) -> Vec<String> {
    vk.instance().device_names()
}

/// DRV-21, APP-213: the base directories are searched in the documented order.
#[test]
fn drv_021_the_base_directories_in_their_order() {
    case(|scene| {
        for (name, folder) in [
            ("data-dirs", "1"),
            ("data-home", "2"),
            ("config-dirs", "3"),
            ("config-home", "4"),
        ] {
            scene
                .driver(folder)
                .device(name)
                .folder(&format!("xdg/{name}/vulkan/icd.d"));
        }
        scene.unset("VK_DRIVER_FILES");
        // The order of devices is the reverse of the scan order.
        scene
            .run(|vk| assert_eq!(names(vk), ["data-dirs", "data-home", "config-dirs", "config-home"]))
            .ok();
    });
}

/// DRV-21, DRV-22: without `XDG_DATA_HOME` and `XDG_CONFIG_HOME`, the loader uses the home folder. The loader treats an empty variable as
/// unset.
#[test]
fn drv_021_home_stands_in_for_the_home_variables() {
    case(|scene| {
        scene.driver("a").device("config").folder("home/.config/vulkan/icd.d");
        scene
            .driver("b")
            .device("data")
            .folder("home/.local/share/vulkan/icd.d");
        scene
            .unset("VK_DRIVER_FILES")
            .unset("XDG_CONFIG_HOME")
            .unset("XDG_DATA_HOME");
        scene.run(|vk| assert_eq!(names(vk), ["data", "config"])).ok();
        scene.env("XDG_CONFIG_HOME", "").env("XDG_DATA_HOME", "");
        scene.run(|vk| assert_eq!(names(vk), ["data", "config"])).ok();
    });
}

/// DRV-21: if `XDG_DATA_HOME` and `XDG_CONFIG_HOME` are set, the loader does not search the folders below `HOME`.
#[test]
fn drv_021_home_is_not_searched_beside_the_home_variables() {
    case(|scene| {
        scene.driver("a").device("config").folder("home/.config/vulkan/icd.d");
        scene
            .driver("b")
            .device("data")
            .folder("home/.local/share/vulkan/icd.d");
        scene.driver("c").device("right").folder("xdg/data-home/vulkan/icd.d");
        scene.unset("VK_DRIVER_FILES");
        scene.run(|vk| assert_eq!(names(vk), ["right"])).ok();
    });
}

/// DRV-21: without `HOME`, the loader still searches the other folders.
#[test]
fn drv_021_without_home_the_rest_is_still_searched() {
    case(|scene| {
        scene.driver("a").device("one").folder("xdg/data-dirs/vulkan/icd.d");
        scene
            .unset("VK_DRIVER_FILES")
            .unset("XDG_CONFIG_HOME")
            .unset("XDG_DATA_HOME")
            .unset("HOME");
        let outcome = scene.run(|vk| assert_eq!(names(vk), ["one"]));
        outcome.ok().not_logged("      /.config");
    });
}

/// DRV-21: if `XDG_DATA_DIRS` and `XDG_CONFIG_DIRS` are unset, the logged locations include their defaults.
#[test]
fn drv_021_the_lists_have_their_defaults() {
    case(|scene| {
        scene
            .unset("VK_DRIVER_FILES")
            .unset("XDG_CONFIG_DIRS")
            .unset("XDG_DATA_DIRS")
            // The default folders can contain drivers of this machine. The filter prevents the loader from opening these drivers.
            .env("VK_LOADER_DRIVERS_DISABLE", "*")
            .env("VK_LOADER_LAYERS_DISABLE", "~all~");
        let outcome = scene.run(|vk| drop(vk.spec().create()));
        let outcome = outcome.ran();
        for folder in ["/etc/xdg", "/etc", "/usr/local/share", "/usr/share"] {
            outcome.logged("DRIVER", &format!("      {folder}/vulkan/icd.d"));
        }
    });
}

/// DRV-23, APP-213: each of the four XDG variables is a list. The loader puts a slash between an element and the suffix `vulkan/icd.d`.
#[test]
fn drv_023_all_four_variables_are_lists() {
    case(|scene| {
        let list = |name: &str| {
            format!(
                ":{}/:{}:",
                scene.text_path(&format!("{name}-1")),
                scene.text_path(&format!("{name}-2"))
            )
        };
        let values: Vec<String> = ["ch", "cd", "dh", "dd"].map(list).into();
        for (variable, value) in ["XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "XDG_DATA_HOME", "XDG_DATA_DIRS"]
            .iter()
            .zip(&values)
        {
            scene.env(variable, value);
        }
        for name in ["ch", "cd", "dh", "dd"] {
            for number in ["1", "2"] {
                let place = format!("{name}-{number}");
                scene
                    .driver(&place)
                    .device(&place)
                    .folder(&format!("{place}/vulkan/icd.d"));
            }
        }
        let first = scene.text_path("ch-1/vulkan/icd.d");
        scene.unset("VK_DRIVER_FILES");
        let expected = ["dd-2", "dd-1", "dh-2", "dh-1", "cd-2", "cd-1", "ch-2", "ch-1"];
        let outcome = scene.run(|vk| assert_eq!(names(vk), expected));
        outcome.ok().logged("DRIVER", &format!("      {first}"));
    });
}

/// DRV-23, APP-214: an element of `XDG_DATA_DIRS` that ends in `.json` names one file.
#[test]
fn drv_023_an_element_may_be_a_manifest() {
    case(|scene| {
        scene.driver("a").device("one").unlisted();
        let manifest = scene.manifest("a");
        scene.unset("VK_DRIVER_FILES").env("XDG_DATA_DIRS", manifest);
        scene.run(|vk| assert_eq!(names(vk), ["one"])).ok();
    });
}

/// DRV-12: manifests of a folder are sorted by the bytes of their file names.
#[test]
fn drv_012_files_of_a_directory_are_sorted_by_name() {
    case(|scene| {
        for name in ["m", "a", "Z", "10", "9", "b-", "b"] {
            scene.driver(name).device(name).folder("many");
        }
        let folder = scene.path("many");
        scene.env("VK_DRIVER_FILES", folder);
        // This is the reverse of the scan order 10 9 Z a b- b m: `-` sorts before the `.` of `b.json`.
        scene
            .run(|vk| assert_eq!(names(vk), ["m", "b", "b-", "a", "Z", "9", "10"]))
            .ok();
    });
}

/// DRV-13: the loader reads only files whose names end in `.json`.
#[test]
fn drv_013_only_names_that_end_in_json_count() {
    case(|scene| {
        scene.driver("a").device("one").folder("place");
        let text = format!(
            r#"{{"file_format_version": "1.0.0", "ICD": {{"library_path": "{}", "api_version": "1.0.0"}}}}"#,
            scene.text_path("libraries/libmock_a.so")
        );
        for name in ["b.JSON", "c.json.bak", "d.json~", "e.jsonx", "json", "f"] {
            scene.file(&format!("place/{name}"), &text);
        }
        scene.file("place/below/g.json", &text);
        let folder = scene.path("place");
        scene.env("VK_DRIVER_FILES", folder);
        scene.run(|vk| assert_eq!(names(vk), ["one"])).ok();
    });
}

/// DRV-13: the loader follows symbolic links to files and to folders. A manifest can have the name `.json`.
#[test]
fn drv_013_links_are_followed() {
    case(|scene| {
        scene.driver("a").device("one").unlisted();
        let (link, folder) = (scene.path("links/.json"), scene.path("folder-link"));
        let (target, links) = (scene.manifest("a"), scene.folder("links"));
        scene.on_disk(|| {
            symlink(target, link).expect("a link can be made");
            symlink(links, &folder).expect("a link can be made");
        });
        scene.env("VK_DRIVER_FILES", &folder);
        let outcome = scene.run(|vk| assert_eq!(names(vk), ["one"]));
        // DRV-6a: the loader uses the assembled path unchanged.
        outcome
            .ok()
            .logged("DRIVER", &format!("      {}/.json", folder.display()));
    });
}

/// DRV-6a, APP-218: the path of a folder is exactly the text in the variable.
#[test]
fn drv_006a_paths_are_used_as_given() {
    case(|scene| {
        scene.driver("a").device("one").unlisted();
        let odd = format!("{}/libraries/../drivers/./", scene.text_path("."));
        scene.env("VK_DRIVER_FILES", &odd);
        let outcome = scene.run(|vk| assert_eq!(names(vk), ["one"]));
        outcome.ok().logged("DRIVER", &format!("      {odd}"));
    });
}

/// DRV-13, DRV-250: files with names of manifests that are not regular files never block the scan.
#[test]
fn drv_013_what_is_no_regular_file_never_blocks() {
    case(|scene| {
        scene.driver("z").device("one").folder("place");
        scene.folder("place/a.json");
        let (fifo, zero) = (scene.path("place/b.json"), scene.path("place/c.json"));
        scene.on_disk(|| {
            let made = std::process::Command::new("mkfifo")
                .arg(&fifo)
                .status()
                .expect("mkfifo runs");
            assert!(made.success());
            symlink("/dev/zero", &zero).expect("a link can be made");
            symlink("/nowhere/at/all", zero.with_file_name("d.json")).expect("a link can be made");
        });
        let folder = scene.path("place");
        scene.env("VK_DRIVER_FILES", folder);
        let outcome = scene.run(|vk| assert_eq!(names(vk), ["one"]));
        let errors = outcome.ok().log("ERROR");
        for name in ["a.json", "b.json", "c.json", "d.json"] {
            assert!(
                errors.iter().any(|line| line.contains(name)),
                "no ERROR about {name}\n{}",
                outcome.all()
            );
        }
    });
}

/// DRV-250: the loader skips an unreadable manifest. The test uses a link to itself, because the superuser can open every file but not this
/// link.
#[test]
fn drv_250_a_manifest_that_cannot_be_opened_is_skipped() {
    case(|scene| {
        scene.driver("z").device("one").folder("place");
        let odd = scene.path("place/a.json");
        scene.on_disk(|| {
            fs::create_dir_all(odd.parent().expect("a folder")).expect("folders can be made");
            symlink(&odd, &odd).expect("a link can be made");
        });
        let folder = scene.path("place");
        scene.env("VK_DRIVER_FILES", folder);
        let outcome = scene.run(|vk| assert_eq!(names(vk), ["one"]));
        outcome.ok().logged(
            "ERROR",
            &format!("loader_get_json: Failed to open JSON file {}", odd.display()),
        );
    });
}
