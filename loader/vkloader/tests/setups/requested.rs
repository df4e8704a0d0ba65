//! Set-ups in which a program asks for a layer that is installed, and does not get the layer.

use super::{Machine, good};
use crate::machine::{Explained, library, vkloader};
use std::fs;
use std::os::unix::fs::MetadataExt;

/// A set-up, and the expected report.
struct Row {
    name: &'static str,
    setup: fn(&mut Machine),
    /// The layer that the program asks for.
    layer: &'static str,
    code: &'static str,
    /// Text that the sentence of the first finding must contain. `ROOT` stands for the folder of the machine.
    about: &'static str,
    /// Text that the remedy must contain. `ROOT` stands for the folder of the machine.
    remedy: &'static str,
    /// The change by which a user carries out the remedy.
    follow: fn(&mut Machine),
}

const LEFT_OUT: &str = "instance.layer-left-out";
const MISSING: &str = "instance.layer-missing";
const ODD: &str = "VK_LAYER_odd";
/// Folder of layers in an installation of the SDK.
const IN_SDK: &str = "sdk/1.4/x86_64/share/vulkan/explicit_layer.d";

/// Moves the manifest of a working layer to `folder`.
fn layer_in(machine: &Machine, folder: &str) {
    let manifest = machine.working_layer("explicit", "odd", "", "");
    let folder = machine.path(folder);
    fs::create_dir_all(&folder).expect("folders");
    fs::rename(manifest, folder.join("odd.json")).expect("moved");
}

/// Sets a variable to a path on the machine.
fn path_in(machine: &mut Machine, name: &str, path: &str) {
    machine.unset(name);
    let path = machine.path(path).display().to_string();
    machine.variable(name, path);
}

const ROWS: [Row; 20] = [
    Row {
        name: "the manifest names a wrong word size",
        setup: |machine| drop(machine.working_layer("explicit", "odd", "", r#", "library_arch": "32""#)),
        layer: ODD,
        code: LEFT_OUT,
        about: "the member library_arch of the manifest is wrong",
        remedy: "Remove the member library_arch from ROOT/data/vulkan/explicit_layer.d/odd.json",
        follow: |machine| drop(machine.working_layer("explicit", "odd", "", "")),
    },
    Row {
        name: "a variable replaces the usual folders by one that does not exist",
        setup: |machine| {
            machine.working_layer("explicit", "odd", "", "");
            machine.variable("VK_LAYER_PATH", "/nowhere/explicit_layer.d");
        },
        layer: ODD,
        code: LEFT_OUT,
        about: "VK_LAYER_PATH names /nowhere/explicit_layer.d, which does not exist",
        remedy: "unset VK_LAYER_PATH, so that ROOT/data/vulkan/explicit_layer.d is searched",
        follow: |machine| machine.unset("VK_LAYER_PATH"),
    },
    Row {
        name: "a variable names a folder of the SDK without layers",
        setup: |machine| {
            layer_in(machine, IN_SDK);
            fs::create_dir_all(machine.path("sdk/1.4/x86_64/lib")).expect("a folder");
            path_in(machine, "VK_LAYER_PATH", "sdk/1.4/x86_64/lib");
        },
        layer: ODD,
        code: LEFT_OUT,
        about: "where the layer is not",
        remedy: "VK_LAYER_PATH=ROOT/sdk/1.4/x86_64/share/vulkan/explicit_layer.d PROGRAM",
        follow: |machine| path_in(machine, "VK_LAYER_PATH", IN_SDK),
    },
    Row {
        name: "a variable names a version of the SDK that was removed",
        setup: |machine| {
            layer_in(machine, IN_SDK);
            path_in(
                machine,
                "VK_ADD_LAYER_PATH",
                "sdk/1.3/x86_64/share/vulkan/explicit_layer.d",
            );
        },
        layer: ODD,
        code: LEFT_OUT,
        about: "VK_ADD_LAYER_PATH names ROOT/sdk/1.3",
        remedy: "VK_ADD_LAYER_PATH=ROOT/sdk/1.4/x86_64/share/vulkan/explicit_layer.d PROGRAM",
        follow: |machine| path_in(machine, "VK_ADD_LAYER_PATH", IN_SDK),
    },
    Row {
        name: "a variable names a folder with almost the right name",
        setup: |machine| {
            layer_in(machine, "none/mylayer");
            path_in(machine, "VK_ADD_LAYER_PATH", "none/mylayers");
        },
        layer: ODD,
        code: LEFT_OUT,
        about: "VK_ADD_LAYER_PATH names ROOT/none/mylayers, which does not exist",
        remedy: "VK_ADD_LAYER_PATH=ROOT/none/mylayer PROGRAM",
        follow: |machine| path_in(machine, "VK_ADD_LAYER_PATH", "none/mylayer"),
    },
    Row {
        name: "a variable names the folder above the layers",
        setup: |machine| {
            layer_in(machine, "none/own/layers");
            path_in(machine, "VK_ADD_IMPLICIT_LAYER_PATH", "none/own");
        },
        layer: ODD,
        code: LEFT_OUT,
        about: "VK_ADD_IMPLICIT_LAYER_PATH names ROOT/none/own, where the layer is not",
        remedy: "VK_ADD_IMPLICIT_LAYER_PATH=ROOT/none/own/layers PROGRAM",
        follow: |machine| path_in(machine, "VK_ADD_LAYER_PATH", "none/own/layers"),
    },
    Row {
        name: "a variable names a folder that does not exist, and no folder has the layer",
        setup: |machine| path_in(machine, "VK_ADD_LAYER_PATH", "none/mylayers"),
        layer: "VK_LAYER_VKBASALT_post_processing",
        code: MISSING,
        about: "and VK_ADD_LAYER_PATH names ROOT/none/mylayers, which does not exist",
        remedy: "Correct the path in VK_ADD_LAYER_PATH. If the layer is not there: install the layer: vkbasalt",
        follow: |_| {},
    },
    Row {
        name: "a variable moves the search away from the folder of the layer at home",
        setup: |machine| layer_in(machine, "none/.local/share/vulkan/explicit_layer.d"),
        layer: ODD,
        code: LEFT_OUT,
        about: "XDG_DATA_HOME is ROOT/data, which replaces ROOT/none/.local/share",
        remedy: "VK_ADD_LAYER_PATH=ROOT/none/.local/share/vulkan/explicit_layer.d PROGRAM",
        follow: |machine| {
            path_in(
                machine,
                "VK_ADD_LAYER_PATH",
                "none/.local/share/vulkan/explicit_layer.d",
            )
        },
    },
    Row {
        name: "the manifest of the layer has the wrong word size",
        setup: |machine| {
            let wrong = if cfg!(target_pointer_width = "64") { "32" } else { "64" };
            machine.working_layer("explicit", "odd", "", &format!(r#", "library_arch": "{wrong}""#));
        },
        layer: ODD,
        code: LEFT_OUT,
        about: "the member library_arch of the manifest is wrong",
        remedy: "Remove the member library_arch from ROOT/data/vulkan/explicit_layer.d/odd.json",
        follow: |machine| {
            machine.working_layer("explicit", "odd", "", "");
        },
    },
    Row {
        name: "no shell replaced ~ in a variable",
        setup: |machine| {
            layer_in(machine, "none/layers");
            machine.variable("VK_ADD_LAYER_PATH", "~/layers");
        },
        layer: ODD,
        code: LEFT_OUT,
        about: "VK_ADD_LAYER_PATH=~/layers leads to no manifest",
        remedy: "nothing replaces ~ by a home folder here: VK_ADD_LAYER_PATH=ROOT/none/layers PROGRAM",
        follow: |machine| path_in(machine, "VK_ADD_LAYER_PATH", "none/layers"),
    },
    Row {
        name: "a comma divides the folders of a variable",
        setup: |machine| {
            layer_in(machine, "none/layers");
            let folder = machine.path("none/layers").display().to_string();
            machine.variable("VK_LAYER_PATH", format!("/usr,{folder}"));
        },
        layer: ODD,
        code: LEFT_OUT,
        about: "leads to no manifest",
        remedy: "Divide paths by a colon: VK_LAYER_PATH=/usr:ROOT/none/layers PROGRAM",
        follow: |machine| path_in(machine, "VK_LAYER_PATH", "none/layers"),
    },
    Row {
        name: "an override layer names a folder of an SDK that was removed",
        setup: |machine| {
            machine.working_layer("explicit", "odd", "", "");
            machine.file(
                "data/vulkan/implicit_layer.d/VkLayer_override.json",
                r#"{"file_format_version": "1.1.2", "layer": {"name": "VK_LAYER_LUNARG_override", "type": "GLOBAL", "api_version": "1.3.0",
                "implementation_version": "1", "description": "", "component_layers": ["VK_LAYER_odd"], "override_paths": ["/nowhere/layers"],
                "disable_environment": {"OFF": "1"}}}"#,
            );
        },
        layer: ODD,
        code: LEFT_OUT,
        about: "sends the search to /nowhere/layers, which does not exist",
        remedy: "rm ROOT/data/vulkan/implicit_layer.d/VkLayer_override.json",
        follow: |machine| {
            fs::remove_file(machine.path("data/vulkan/implicit_layer.d/VkLayer_override.json")).expect("removed");
        },
    },
    Row {
        name: "a settings file lists the layers, without this one",
        setup: |machine| {
            machine.working_layer("explicit", "odd", "", "");
            fs::create_dir_all(machine.path("data/vulkan/loader_settings.d")).expect("folders");
            machine.file(
                "data/vulkan/loader_settings.d/vk_loader_settings.json",
                r#"{"file_format_version": "1.0.0", "settings": {"layers": [{"name": "VK_LAYER_x", "path": "/nowhere/x.json", "control": "on"}]}}"#,
            );
        },
        layer: ODD,
        code: LEFT_OUT,
        about: "lists the layers that programs get, and this one is not among them",
        remedy: "rm ROOT/data/vulkan/loader_settings.d/vk_loader_settings.json",
        follow: |machine| {
            fs::remove_file(machine.path("data/vulkan/loader_settings.d/vk_loader_settings.json")).expect("removed");
        },
    },
    Row {
        name: "only a variable that the loader does not read names the SDK",
        setup: |machine| {
            layer_in(machine, IN_SDK);
            path_in(machine, "VULKAN_SDK", "sdk/1.4/x86_64");
        },
        layer: ODD,
        code: LEFT_OUT,
        about: "the loader does not search ROOT/sdk/1.4/x86_64/share/vulkan/explicit_layer.d",
        remedy: "VK_ADD_LAYER_PATH=ROOT/sdk/1.4/x86_64/share/vulkan/explicit_layer.d PROGRAM",
        follow: |machine| path_in(machine, "VK_ADD_LAYER_PATH", IN_SDK),
    },
    Row {
        name: "the manifest is cut off",
        setup: |machine| {
            let manifest = machine.working_layer("explicit", "odd", "", "");
            let text = fs::read_to_string(&manifest).expect("just written");
            fs::write(manifest, &text[..text.len() - 2]).expect("written");
        },
        layer: ODD,
        code: LEFT_OUT,
        about: "its manifest ROOT/data/vulkan/explicit_layer.d/odd.json is not usable",
        remedy: "Correct the file",
        follow: |machine| {
            machine.working_layer("explicit", "odd", "", "");
        },
    },
    Row {
        name: "the settings file names a manifest that is gone",
        setup: |machine| {
            machine.working_layer("explicit", "odd", "", "");
            fs::create_dir_all(machine.path("data/vulkan/loader_settings.d")).expect("folders");
            let path = machine.path("sdk/odd.json");
            let text = format!(
                r#"{{"file_format_version": "1.0.0", "settings": {{"layers": [{{"name": "VK_LAYER_odd", "path": "{}", "control": "on"}}]}}}}"#,
                path.display()
            );
            machine.file("data/vulkan/loader_settings.d/vk_loader_settings.json", text);
        },
        layer: ODD,
        code: LEFT_OUT,
        about: "its manifest ROOT/sdk/odd.json is not usable",
        remedy: "rm ROOT/data/vulkan/loader_settings.d/vk_loader_settings.json",
        follow: |machine| {
            fs::remove_file(machine.path("data/vulkan/loader_settings.d/vk_loader_settings.json")).expect("removed");
        },
    },
    Row {
        name: "the library of the layer is gone",
        setup: |machine| {
            machine.working_layer("explicit", "odd", "", "");
            fs::remove_file(machine.path("libraries/libVkLayer_odd.so")).expect("removed");
        },
        layer: ODD,
        code: LEFT_OUT,
        about: "the system could not open the layer's library",
        remedy: "Reinstall the package that brings libVkLayer_odd.so",
        follow: |machine| {
            machine.working_layer("explicit", "odd", "", "");
        },
    },
    Row {
        name: "the program writes the name of the layer in another case",
        setup: |machine| {
            machine.working_layer("explicit", "odd", "", "");
        },
        layer: "VK_LAYER_Odd",
        code: MISSING,
        about: "VK_LAYER_Odd, which is not installed",
        remedy: "VK_LAYER_odd is installed",
        follow: |_| {},
    },
    Row {
        name: "the layer has another name today, and the folder of that layer is not searched",
        setup: |machine| {
            let manifest = machine.working_layer("explicit", "KHRONOS_validation", "", "");
            fs::create_dir_all(machine.path(IN_SDK)).expect("folders");
            fs::rename(manifest, machine.path(IN_SDK).join("validation.json")).expect("moved");
            path_in(machine, "VULKAN_SDK", "sdk/1.4/x86_64");
        },
        layer: "VK_LAYER_LUNARG_standard_validation",
        code: MISSING,
        about: "which is not installed",
        // The machine of the test may have the layer in a usual folder too, which then counts.
        remedy: "Also: Add the folder",
        follow: |_| {},
    },
    Row {
        name: "a variable replaces the usual folders, and no folder has the layer",
        setup: |machine| {
            machine.variable("VK_LAYER_PATH", "/nowhere");
        },
        layer: "VK_LAYER_VKBASALT_post_processing",
        code: MISSING,
        about: "which is not installed",
        remedy: "Also: unset VK_LAYER_PATH",
        follow: |_| {},
    },
];

/// Runs a program that asks for `layer`.
fn asked(machine: &Machine, layer: &str) -> Explained {
    let library = library();
    let library = library.to_str().expect("plain");
    let layer = format!("--layer={layer}");
    let words = [vkloader(), "probe", &layer, library];
    machine.explain_with(&[&["--library", library, "--"], &words[..]].concat())
}

#[test]
fn an_installed_layer_that_a_program_does_not_get_is_named_with_the_reason() {
    for row in ROWS {
        let mut machine = Machine::new();
        good(&mut machine);
        fs::create_dir_all(machine.path("none")).expect("a folder");
        (row.setup)(&mut machine);
        let with_root =
            |text: &str| text.replace("ROOT", machine.path("").to_str().expect("plain").trim_end_matches('/'));
        let explained = asked(&machine, row.layer);
        let first = &explained.report["dropped"][0];
        let reason = first["reason"].as_str().unwrap_or_default();
        let is_right = explained.first() == row.code
            && reason.contains(&with_root(row.about))
            && explained.advice().contains(&with_root(row.remedy));
        assert!(is_right, "{}: {first:#}", row.name);
        (row.follow)(&mut machine);
        if row.code == LEFT_OUT {
            let explained = asked(&machine, row.layer);
            assert_eq!(
                explained.devices(),
                ["one"],
                "{}: {:#}",
                row.name,
                explained.report["dropped"]
            );
        }
    }
}

#[test]
fn a_layer_that_a_variable_switches_on_is_named_with_what_leaves_it_out() {
    let mut machine = Machine::new();
    good(&mut machine);
    machine.working_layer("explicit", "odd", "", "");
    machine.working_layer("explicit", "other", "", "");
    for (name, value, path, remedy) in [
        (
            "VK_INSTANCE_LAYERS",
            "VK_LAYER_odd,VK_LAYER_other",
            None,
            "VK_INSTANCE_LAYERS=VK_LAYER_odd:VK_LAYER_other PROGRAM",
        ),
        (
            "VK_INSTANCE_LAYERS",
            "VK_LAYER_odd VK_LAYER_other",
            None,
            "VK_INSTANCE_LAYERS=VK_LAYER_odd:VK_LAYER_other PROGRAM",
        ),
        (
            "VK_INSTANCE_LAYERS",
            "VK_LAYER_ODD",
            None,
            "Correct the name: VK_INSTANCE_LAYERS=VK_LAYER_odd",
        ),
        (
            "VK_INSTANCE_LAYERS",
            "VK_LAYER_odd",
            Some("/nowhere"),
            "unset VK_LAYER_PATH, so that",
        ),
    ] {
        machine.variable(name, value);
        path.into_iter().for_each(|path| {
            machine.variable("VK_LAYER_PATH", path);
        });
        let explained = machine.explain();
        let all = explained.report["dropped"].as_array().expect("a list").iter();
        let mut found = all.filter(|one| one["code"] == "variable.no-match" && one["name"] == name);
        let advice = found
            .next()
            .map_or("nothing", |one| one["advice"].as_str().unwrap_or_default());
        assert!(advice.contains(remedy), "{value}: {advice}");
        machine.unset(name);
        machine.unset("VK_LAYER_PATH");
    }
}

/// Services and jobs of cron often have no `HOME`.
#[test]
fn a_layer_at_home_is_named_where_home_is_unset() {
    let mut machine = Machine::new();
    good(&mut machine);
    let home = machine.path("none").display().to_string();
    layer_in(&machine, "none/.local/share/vulkan/explicit_layer.d");
    fs::create_dir_all(machine.path("system/etc")).expect("folders");
    let user = fs::metadata(&home).expect("just made").uid();
    machine.file("system/etc/passwd", format!("ann:x:{user}:{user}::{home}:/bin/sh\n"));
    for name in ["HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"] {
        machine.variable(name, "");
    }
    machine.variable("XDG_DATA_DIRS", machine.path("data").display().to_string());
    if !machine.in_made_up_system(&["/etc/passwd"]) {
        return;
    }
    let explained = asked(&machine, ODD);
    let reason = explained.report["dropped"][0]["reason"].to_string();
    assert!(reason.contains("HOME is not set"), "{reason}");
    let advice = explained.advice();
    assert!(advice.ends_with(&format!("HOME={home} PROGRAM")), "{advice}");
    machine.variable("HOME", home);
    assert_eq!(asked(&machine, ODD).devices(), ["one"]);
}
