//! Tests of the logged folders of the normal search, and of manifests with paths of any length (LAY-10 to LAY-33).

use loader_tests::{Outcome, case};

use crate::kit::{Layer, chain, place};

/// Returns the logged folders for a kind of layer, in their order.
fn told<'o>(outcome: &'o Outcome, kind: &str) -> Vec<&'o str> {
    let lines = outcome.log("LAYER");
    let head = format!("Searching for {kind} layer manifest files");
    let begin = lines.iter().position(|line| *line == head);
    let begin = begin.unwrap_or_else(|| panic!("no `{head}`\n{}", outcome.all()));
    assert_eq!(lines[begin + 1], "   In following locations:");
    let folders = lines[begin + 2..].iter().take_while(|line| line.starts_with("      "));
    folders.map(|line| line.trim_start()).collect()
}

/// LAY-11, LAY-10, LAY-21: without variables, the loader searches the default folders.
#[test]
fn lay_11_the_folders_of_an_empty_environment() {
    case(|scene| {
        place(scene, &[]);
        for name in ["XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "XDG_DATA_HOME", "XDG_DATA_DIRS"] {
            scene.unset(name);
        }
        let home = scene.text_path("home");
        let outcome = scene.run(|vk| drop(vk.layers()));
        for kind in ["implicit", "explicit"] {
            let bases = [
                &format!("{home}/.config"),
                "/etc/xdg",
                "/usr/local/etc",
                "/etc",
                &format!("{home}/.local/share"),
                "/usr/local/share",
                "/usr/share",
            ];
            let expected = bases.map(|base| format!("{base}/vulkan/{kind}_layer.d"));
            assert_eq!(told(outcome.ok(), kind), expected);
        }
    });
}

/// LAY-11: the loader treats an empty variable as unset, also a variable that contains a list of folders.
#[test]
fn lay_11_empty_lists_fall_back() {
    case(|scene| {
        place(scene, &[]);
        scene.env("XDG_CONFIG_DIRS", "").env("XDG_DATA_DIRS", "");
        let outcome = scene.run(|vk| drop(vk.layers()));
        let folders = told(outcome.ok(), "explicit");
        for base in ["/etc/xdg", "/usr/local/share", "/usr/share"] {
            let folder = format!("{base}/vulkan/explicit_layer.d");
            assert!(folders.contains(&folder.as_str()), "{folders:?}");
        }
    });
}

/// LAY-20: a manifest can have every path that the system can open.
#[test]
fn lay_20_a_manifest_may_have_any_path_that_the_system_takes() {
    case(|scene| {
        let folder = (0..12).fold("deep".to_string(), |path, _| format!("{path}/{}", "x".repeat(200)));
        place(scene, &[Layer::explicit("a").folder(&folder)]);
        let file = scene.text_path(&format!("{folder}/a.json"));
        assert!(file.len() > 2047);
        scene.env("VK_LAYER_PATH", &file);
        let outcome = scene.run(|vk| {
            assert_eq!(vk.layers().expect("layers"), ["VK_LAYER_a"]);
            drop(vk.spec().layer("VK_LAYER_a").create().expect("vkCreateInstance"));
        });
        assert_eq!(chain(outcome.ok()), ["VK_LAYER_a"]);
    });
}

/// LAY-16: if `VK_LAYER_PATH` names a folder and a file in it, the loader reads the file once.
#[test]
fn lay_16_a_manifest_that_is_found_twice_is_read_once() {
    case(|scene| {
        place(
            scene,
            &[Layer::explicit("a").folder("here"), Layer::explicit("b").folder("here")],
        );
        let here = scene.text_path("here");
        for (paths, expected) in [
            (format!("{here}:{here}/a.json"), ["VK_LAYER_a", "VK_LAYER_b"]),
            (format!("{here}/b.json:{here}"), ["VK_LAYER_b", "VK_LAYER_a"]),
            (format!("{here}:{here}/"), ["VK_LAYER_a", "VK_LAYER_b"]),
        ] {
            scene.env("VK_LAYER_PATH", paths);
            scene
                .run(|vk| assert_eq!(vk.layers().expect("layers"), expected))
                .ok()
                .not_logged("duplicate");
        }
    });
}
