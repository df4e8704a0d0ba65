//! Tests of the search for layers (LAY-1 to LAY-6, LAY-10 to LAY-33, LAY-60 to LAY-67).

use loader_tests::case;

use crate::kit::{EXPLICIT, IMPLICIT, Layer, chain, loads, place};

/// LAY-1, LAY-2, LAY-62: a layer is implicit or explicit because of the folder of its manifest.
#[test]
fn lay_1_the_folder_decides_whether_a_layer_is_implicit() {
    case(|scene| {
        // The two manifests differ only in the name, and the manifest in the implicit folder is active without a request.
        place(scene, &[Layer::implicit("a"), Layer::implicit("b").folder(EXPLICIT)]);
        let outcome = scene.run(|vk| drop(vk.instance()));
        assert_eq!(chain(outcome.ok()), ["VK_LAYER_a"]);
    });
}

/// LAY-2: an explicit layer is active if the application enables it.
#[test]
fn lay_2_an_explicit_layer_works_when_it_is_asked_for() {
    case(|scene| {
        place(scene, &[Layer::explicit("a"), Layer::explicit("b")]);
        let outcome = scene.run(|vk| drop(vk.spec().layer("VK_LAYER_b").create().expect("vkCreateInstance")));
        assert_eq!(chain(outcome.ok()), ["VK_LAYER_b"]);
    });
}

/// LAY-62: layers of `VK_LAYER_PATH` are explicit, and need no disable variable.
#[test]
fn lay_62_layers_of_layer_path_are_explicit_and_need_no_disable_variable() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::implicit("a").folder("here"),
                Layer::explicit("b")
                    .folder("here")
                    .member("enable_environment", r#"{"NEVER": "1"}"#),
            ],
        );
        let here = scene.path("here");
        scene.env("VK_LAYER_PATH", here).env("DISABLE_a", "1");
        let outcome = scene.run(|vk| {
            assert_eq!(vk.layers().expect("layers"), ["VK_LAYER_a", "VK_LAYER_b"]);
            let spec = vk.spec().layer("VK_LAYER_b").layer("VK_LAYER_a");
            drop(spec.create().expect("vkCreateInstance"));
        });
        assert_eq!(chain(outcome.ok()), ["VK_LAYER_b", "VK_LAYER_a"]);
    });
}

/// LAY-6: enumerating layers loads no library.
#[test]
fn lay_6_enumeration_loads_no_library() {
    case(|scene| {
        place(scene, &[Layer::implicit("a"), Layer::explicit("b")]);
        let outcome = scene.run(|vk| {
            assert_eq!(vk.layers().expect("layers").len(), 2);
            vk.extensions().expect("extensions");
            vk.version();
        });
        assert!(loads(outcome.ok()).is_empty(), "{:?}", outcome.journal());
    });
}

/// LAY-11, LAY-10, LAY-18: the loader searches the base directories in the documented order.
#[test]
fn lay_11_base_directories_come_in_their_order() {
    case(|scene| {
        let folders = [
            "xdg/config-home/vulkan/explicit_layer.d",
            "one/vulkan/explicit_layer.d",
            "two/vulkan/explicit_layer.d",
            "xdg/data-home/vulkan/explicit_layer.d",
            "three/vulkan/explicit_layer.d",
            "four/vulkan/explicit_layer.d",
        ];
        // The names are in the opposite order of the folders, so sorting by name would reverse the expected list.
        let names = ["f", "e", "d", "c", "b", "a"];
        let layers: Vec<_> = folders
            .iter()
            .zip(names)
            .map(|(folder, name)| Layer::explicit(name).folder(folder))
            .collect();
        place(scene, &layers);
        let (config, data) = (
            format!("{}:{}", scene.text_path("one"), scene.text_path("two")),
            format!("{}/:{}", scene.text_path("three"), scene.text_path("four")),
        );
        scene.env("XDG_CONFIG_DIRS", config).env("XDG_DATA_DIRS", data);
        let expected = [
            "VK_LAYER_f",
            "VK_LAYER_e",
            "VK_LAYER_d",
            "VK_LAYER_c",
            "VK_LAYER_b",
            "VK_LAYER_a",
        ];
        scene
            .run(move |vk| assert_eq!(vk.layers().expect("layers"), expected))
            .ok();
    });
}

/// LAY-11: folders below `HOME` are searched if the XDG variables are unset.
#[test]
fn lay_11_home_takes_the_place_of_unset_xdg_folders() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::explicit("data").folder("home/.local/share/vulkan/explicit_layer.d"),
                Layer::explicit("config").folder("home/.config/vulkan/explicit_layer.d"),
            ],
        );
        scene.unset("XDG_CONFIG_HOME").env("XDG_DATA_HOME", "");
        scene
            .run(|vk| assert_eq!(vk.layers().expect("layers"), ["VK_LAYER_config", "VK_LAYER_data"]))
            .ok();
    });
}

/// LAY-11: folders below `HOME` are not searched if the XDG variables are set.
#[test]
fn lay_11_home_folders_are_skipped_when_the_xdg_folders_are_set() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::explicit("a").folder("home/.local/share/vulkan/explicit_layer.d"),
                Layer::explicit("b").folder("home/.config/vulkan/explicit_layer.d"),
            ],
        );
        scene.run(|vk| assert!(vk.layers().expect("layers").is_empty())).ok();
    });
}

/// LAY-11: without `HOME`, the loader does not search the folders in the home directory.
#[test]
fn lay_11_without_home_the_rows_that_need_it_vanish() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::explicit("a").folder("home/.local/share/vulkan/explicit_layer.d"),
                Layer::explicit("b").folder(EXPLICIT),
            ],
        );
        scene.unset("XDG_CONFIG_HOME").unset("XDG_DATA_HOME").unset("HOME");
        let data = scene.path("xdg/data-home");
        scene.env("XDG_DATA_DIRS", data);
        scene
            .run(|vk| assert_eq!(vk.layers().expect("layers"), ["VK_LAYER_b"]))
            .ok();
    });
}

/// LAY-14: in a list of folders, the loader skips empty elements, and uses relative paths.
#[test]
fn lay_14_empty_segments_are_skipped_and_relative_ones_are_used() {
    case(|scene| {
        place(
            scene,
            &[Layer::explicit("a").folder("here"), Layer::explicit("root").folder(".")],
        );
        scene.env("VK_LAYER_PATH", "::here::");
        scene
            .run(|vk| assert_eq!(vk.layers().expect("layers"), ["VK_LAYER_a"]))
            .ok();
    });
}

/// LAY-15, LAY-63: an element of `VK_LAYER_PATH` that ends in `.json` names one manifest.
#[test]
fn lay_15_a_segment_that_ends_in_json_is_one_manifest() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::explicit("a").folder("here"),
                Layer::explicit("b").folder("here"),
                Layer::explicit("c").folder("."),
            ],
        );
        let file = scene.text_path("here/b.json");
        scene.env("VK_LAYER_PATH", format!("c.json:{file}"));
        scene
            .run(|vk| assert_eq!(vk.layers().expect("layers"), ["VK_LAYER_c", "VK_LAYER_b"]))
            .ok();
    });
}

/// LAY-15: XDG variables can name manifests too.
#[test]
fn lay_15_xdg_variables_may_name_manifests_too() {
    case(|scene| {
        place(
            scene,
            &[Layer::explicit("a").folder("here"), Layer::explicit("b").folder("here")],
        );
        let file = scene.path("here/b.json");
        scene.env("XDG_DATA_DIRS", file);
        scene
            .run(|vk| assert!(vk.layers().expect("layers").contains(&"VK_LAYER_b".into())))
            .ok();
    });
}

/// LAY-16: the loader reads a folder once if a list contains the folder twice.
#[test]
fn lay_16_a_folder_given_twice_is_read_once() {
    case(|scene| {
        place(scene, &[Layer::explicit("a").folder("here")]);
        let here = scene.text_path("here");
        scene.env("VK_LAYER_PATH", format!("{here}:{here}"));
        scene
            .run(|vk| assert_eq!(vk.layers().expect("layers"), ["VK_LAYER_a"]))
            .ok()
            .not_logged("duplicate");
    });
}

/// LAY-16, LAY-31: the loader treats two spellings of a path as two folders.
#[test]
fn lay_16_paths_are_compared_as_text() {
    case(|scene| {
        place(scene, &[Layer::explicit("a").folder("here")]);
        let (here, there) = (scene.text_path("here"), scene.text_path("there"));
        scene.on_disk(|| loader_tests::symlink("here", scene.path("there")).expect("links can be made"));
        scene.env("VK_LAYER_PATH", format!("{here}:{there}"));
        scene
            .run(|vk| assert_eq!(vk.layers().expect("layers"), ["VK_LAYER_a"]))
            .ok()
            .logged_with("WARNING", "Removing layer VK_LAYER_a (");
    });
}

/// LAY-17: only files whose names end in `.json` are manifests.
#[test]
fn lay_17_only_names_that_end_in_json_are_manifests() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::explicit("good").folder("here"),
                Layer::explicit("deep").folder("here/deeper"),
            ],
        );
        for name in ["here/upper.JSON", "here/none", "here/text.json.txt", "here/x.jsonx"] {
            Layer::explicit("bad").put_as(scene, name);
        }
        Layer::explicit("dot").put_as(scene, "here/.json");
        Layer::explicit("link").put_as(scene, "elsewhere/target.txt");
        let (from, to) = (scene.path("elsewhere/target.txt"), scene.path("here/link.json"));
        scene.on_disk(|| loader_tests::symlink(from, to).expect("links can be made"));
        let here = scene.path("here");
        scene.env("VK_LAYER_PATH", here);
        scene
            .run(|vk| {
                let mut layers = vk.layers().expect("layers");
                layers.sort_unstable();
                assert_eq!(layers, ["VK_LAYER_dot", "VK_LAYER_good", "VK_LAYER_link"]);
            })
            .ok()
            .not_logged("here/none");
    });
}

/// LAY-18: the manifests of a folder are read in the order of their names.
#[test]
fn lay_18_manifests_of_a_folder_come_sorted_by_name() {
    case(|scene| {
        scene.usual_driver("driver");
        for (file, name) in [
            ("b", "3"),
            ("B", "1"),
            ("a", "2"),
            ("b-", "4"),
            ("c", "5"),
            ("~", "7"),
            ("ä", "8"),
            ("d", "6"),
        ] {
            Layer::explicit(name).put_as(scene, &format!("{EXPLICIT}/{file}.json"));
        }
        scene
            .run(|vk| {
                let names: Vec<String> = vk.layers().expect("layers");
                // "b-.json" sorts before "b.json": '-' is a smaller byte than '.'.
                assert_eq!(
                    names,
                    ["1", "2", "4", "3", "5", "6", "7", "8"].map(|name| format!("VK_LAYER_{name}"))
                );
            })
            .ok();
    });
}

/// LAY-19, APP-218: missing folders are skipped without a message.
#[test]
fn lay_19_missing_folders_are_skipped_silently() {
    case(|scene| {
        place(scene, &[Layer::explicit("a").folder(EXPLICIT)]);
        let data = scene.path("no/such/folder");
        scene.env("XDG_DATA_DIRS", data);
        let outcome = scene.run(|vk| assert_eq!(vk.layers().expect("layers"), ["VK_LAYER_a"]));
        assert!(outcome.ok().log("ERROR").is_empty());
    });
}

/// LAY-19, APP-218: the loader skips a file in place of a folder without a message.
#[test]
fn lay_19_a_file_in_the_place_of_a_folder_is_skipped_silently() {
    case(|scene| {
        place(scene, &[Layer::explicit("a").folder("here")]);
        scene.file("file", "text");
        let path = format!("{}:{}", scene.text_path("file"), scene.text_path("here"));
        scene.env("VK_LAYER_PATH", path);
        let outcome = scene.run(|vk| assert_eq!(vk.layers().expect("layers"), ["VK_LAYER_a"]));
        assert!(outcome.ok().log("ERROR").is_empty());
    });
}

/// LAY-21: the log lists the searched folders and the found files.
#[test]
fn lay_21_the_search_is_told() {
    case(|scene| {
        place(scene, &[Layer::explicit("a").folder("here")]);
        let here = scene.text_path("here");
        scene.env("VK_LAYER_PATH", &here);
        let file = scene.text_path("here/a.json");
        let outcome = scene.run(|vk| drop(vk.layers()));
        outcome
            .ok()
            .logged("LAYER", "Searching for implicit layer manifest files");
        outcome.logged("LAYER", "Searching for explicit layer manifest files");
        outcome.logged("LAYER", "   In following locations:");
        outcome.logged("LAYER", &format!("      {here}"));
        outcome.logged("LAYER", "   Found the following files:");
        outcome.logged("LAYER", &format!("      {file}"));
        outcome.logged("LAYER", "   Found no files");
    });
}

/// LAY-22: implicit layers come before explicit layers in the list.
#[test]
fn lay_22_implicit_layers_come_before_explicit_ones() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::explicit("a").folder("xdg/config-home/vulkan/explicit_layer.d"),
                Layer::implicit("z").folder("xdg/data-dirs/vulkan/implicit_layer.d"),
            ],
        );
        scene
            .run(|vk| assert_eq!(vk.layers().expect("layers"), ["VK_LAYER_z", "VK_LAYER_a"]))
            .ok();
    });
}

/// LAY-24: each layer query and each instance creation finds the manifests that exist at the time of the call.
#[test]
fn lay_24_each_call_reads_the_folders_anew() {
    case(|scene| {
        place(scene, &[Layer::explicit("a").folder(EXPLICIT)]);
        scene
            .run(|vk| {
                assert_eq!(vk.layers().expect("layers"), ["VK_LAYER_a"]);
                let (old, new) = (vk.path(EXPLICIT).join("a.json"), vk.path(EXPLICIT).join("b.json"));
                let text = std::fs::read_to_string(&old).expect("the manifest is there");
                std::fs::write(new, text.replace("VK_LAYER_a", "VK_LAYER_b")).expect("files can be written");
                std::fs::remove_file(old).expect("files can be removed");
                assert_eq!(vk.layers().expect("layers"), ["VK_LAYER_b"]);
                drop(vk.spec().layer("VK_LAYER_b").create().expect("vkCreateInstance"));
            })
            .ok();
    });
}

/// LAY-30, LAY-31, APP-73: if several layers have the same name, the loader uses the first of them.
#[test]
fn lay_31_the_first_of_equal_names_stays() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::explicit("first").named("VK_LAYER_same").folder("1"),
                Layer::explicit("other").named("VK_LAYER_SAME").folder("3"),
                Layer::explicit("second").named("VK_LAYER_same").folder("2"),
            ],
        );
        let (one, two, three) = (scene.text_path("1"), scene.text_path("2"), scene.text_path("3"));
        scene.env("VK_LAYER_PATH", format!("{one}:{two}:{three}"));
        scene
            .run(|vk| assert_eq!(vk.layers().expect("layers"), ["VK_LAYER_same", "VK_LAYER_SAME"]))
            .ok()
            .logged(
                "WARNING",
                &format!(
                    "Removing layer VK_LAYER_same ({two}/second.json) because it is a duplicate of VK_LAYER_same \
                     ({one}/first.json)"
                ),
            );
    });
}

/// LAY-31, LAY-32: if three layers have the same name, the loader uses only one of them.
#[test]
fn lay_31_three_equal_names_leave_one() {
    case(|scene| {
        for folder in ["1", "2", "3"] {
            Layer::explicit(&format!("in{folder}"))
                .named("VK_LAYER_same")
                .folder(folder)
                .put(scene);
        }
        scene.usual_driver("driver");
        let paths = ["1", "2", "3"].map(|folder| scene.text_path(folder)).join(":");
        scene.env("VK_LAYER_PATH", paths);
        scene
            .run(|vk| assert_eq!(vk.layers().expect("layers"), ["VK_LAYER_same"]))
            .ok();
    });
}

/// LAY-32: an implicit layer takes precedence over an explicit layer with the same name.
#[test]
fn lay_32_an_implicit_layer_beats_an_explicit_one_of_its_name() {
    case(|scene| {
        let extension = |name: &str| format!(r#"[{{"name": "{name}", "spec_version": "1"}}]"#);
        place(
            scene,
            &[
                Layer::implicit("i")
                    .named("VK_LAYER_same")
                    .member("instance_extensions", extension("VK_EXT_kept")),
                Layer::explicit("e")
                    .named("VK_LAYER_same")
                    .member("instance_extensions", extension("VK_EXT_dropped")),
            ],
        );
        scene
            .run(|vk| {
                assert_eq!(vk.layers().expect("layers"), ["VK_LAYER_same"]);
                let list = vk.extension_versions(Some(c"VK_LAYER_same")).expect("extensions");
                assert_eq!(list, [("VK_EXT_kept".to_string(), 1)]);
            })
            .ok();
    });
}

/// LAY-17, BI-8: folders and pipes with names of manifests do not block the search.
#[test]
fn bi_8_folders_and_pipes_named_like_manifests_do_not_block() {
    case(|scene| {
        place(scene, &[Layer::implicit("a")]);
        scene.folder(&format!("{IMPLICIT}/folder.json"));
        let pipe = scene.path(&format!("{IMPLICIT}/pipe.json"));
        scene.on_disk(|| {
            let made = std::process::Command::new("mkfifo")
                .arg(pipe)
                .status()
                .expect("mkfifo can be run");
            assert!(made.success());
        });
        let device = scene.path(&format!("{IMPLICIT}/zero.json"));
        scene.on_disk(|| loader_tests::symlink("/dev/zero", device).expect("links can be made"));
        scene
            .run(|vk| assert_eq!(vk.layers().expect("layers"), ["VK_LAYER_a"]))
            .ok();
    });
}

/// LAY-75, BI-9: a manifest that cannot be opened causes an error line, and the layer query succeeds.
#[test]
fn bi_9_a_manifest_that_cannot_be_opened_is_an_error_in_the_log_only() {
    case(|scene| {
        place(scene, &[Layer::explicit("b")]);
        scene.folder(EXPLICIT);
        let link = scene.path(&format!("{EXPLICIT}/a.json"));
        let text = link.display().to_string();
        scene.on_disk(|| loader_tests::symlink("nowhere", link).expect("links can be made"));
        scene
            .run(|vk| assert_eq!(vk.layers().expect("layers"), ["VK_LAYER_b"]))
            .ok()
            .logged_with("ERROR", &format!("loader_get_json: Failed to open JSON file {text}"));
    });
}
