//! Tests of the settings file: its paths, its content, and its messages (APP-240 to APP-262).

use loader_tests::{Scene, case};

/// Path of the settings file below a base folder, with the double slash that messages show.
pub(crate) const FILE: &str = "vulkan//loader_settings.d/vk_loader_settings.json";
pub(crate) const NONE: &str = "No valid vk_loader_settings.json file found, no loader settings will be active";

/// Writes a settings file with one object, which contains `members`, into a base folder. Returns the path of the file as messages contain
/// it.
pub(crate) fn write(scene: &Scene, base: &str, members: &str) -> String {
    let text = format!(r#"{{"file_format_version": "1.0.0", "settings": {{{members}}}}}"#);
    scene.file(&format!("{base}/{FILE}"), text);
    scene.text_path(&format!("{base}/{FILE}"))
}

/// APP-243: the log reports that there is no settings file.
#[test]
fn app_243_no_file_is_noted() {
    case(|scene| {
        scene.driver("a").device("one");
        scene.run(|vk| drop(vk.instance())).ok().logged("INFO", NONE);
    });
}

/// APP-240, APP-262: the loader searches each folder, and uses the first settings file.
#[test]
fn app_240_the_first_file_wins() {
    case(|scene| {
        scene.driver("a").device("one");
        let bases = ["xdg/config-home", "xdg/data-home", "xdg/config-dirs", "xdg/data-dirs"];
        for (number, base) in bases.iter().enumerate().rev() {
            let path = write(scene, base, r#""stderr_log": ["info"]"#);
            let outcome = scene.run(|vk| drop(vk.instance()));
            let text = format!("Using layer configurations found in loader settings from {path}");
            outcome.ok().logged("INFO", &text);
            let _ = number;
        }
    });
}

/// APP-240: without `XDG_CONFIG_HOME` and `XDG_DATA_HOME`, the loader searches folders below `HOME`.
#[test]
fn app_240_the_home_directory() {
    case(|scene| {
        scene.driver("a").device("one");
        scene.unset("XDG_CONFIG_HOME").unset("XDG_DATA_HOME");
        for base in ["home/.local/share", "home/.config"] {
            let path = write(scene, base, r#""stderr_log": ["info"]"#);
            let text = format!("Using layer configurations found in loader settings from {path}");
            scene.run(|vk| drop(vk.instance())).ok().logged("INFO", &text);
        }
    });
}

/// APP-241: the loader searches every folder of `XDG_CONFIG_DIRS`.
#[test]
fn app_241_later_elements_of_a_list_count() {
    case(|scene| {
        scene.driver("a").device("one");
        let list = format!("/nowhere:{}:{}", scene.text_path("first"), scene.text_path("second"));
        scene.env("XDG_CONFIG_DIRS", list);
        let path = write(scene, "second", r#""stderr_log": ["info"]"#);
        let text = format!("Using layer configurations found in loader settings from {path}");
        scene.run(|vk| drop(vk.instance())).ok().logged("INFO", &text);
    });
}

/// APP-240: the loader uses only the first file that exists, even if it cannot be read.
#[test]
fn app_240_an_unusable_file_hides_the_others() {
    case(|scene| {
        scene.driver("a").device("one");
        let other = write(scene, "xdg/data-home", r#""stderr_log": ["info"]"#);
        for text in ["{", "[]", "{}", r#"{"file_format_version": "1.0.0", "settings": {}}"#] {
            scene.file(&format!("xdg/config-home/{FILE}"), text);
            let outcome = scene.run(|vk| drop(vk.instance()));
            outcome.ok().not_logged("Using layer configurations").not_logged(&other);
        }
    });
}

/// APP-234, APP-245: the log levels of the settings file replace the levels of `VK_LOADER_DEBUG`.
#[test]
fn app_234_the_file_replaces_the_variable() {
    case(|scene| {
        scene.driver("a").device("one");
        write(scene, "xdg/config-home", r#""stderr_log": ["driver"]"#);
        for value in ["", "error", "info"] {
            scene.env("VK_LOADER_DEBUG", value);
            let outcome = scene.run(|vk| drop(vk.instance()));
            outcome
                .ok()
                .logged("DRIVER", "Searching for driver manifest files")
                .not_logged("LAYER:");
        }
        // If the settings file has no known level, `VK_LOADER_DEBUG` still has an effect.
        write(
            scene,
            "xdg/config-home",
            r#""stderr_log": ["", "Info", "inf", "nonsense"], "layers": []"#,
        );
        scene.env("VK_LOADER_DEBUG", "driver");
        let outcome = scene.run(|vk| drop(vk.instance()));
        outcome.ok().logged("DRIVER", "Searching for driver manifest files");
    });
}

/// APP-247: a file whose members have no valid value activates no settings, and the log reports this.
#[test]
fn app_247_a_file_without_effect() {
    case(|scene| {
        scene.driver("a").device("one");
        for members in [
            r#""stderr_log": []"#,
            r#""nothing": 1"#,
            r#""layers": 3"#,
            r#""stderr_log": ["", "nonsense"]"#,
            r#""device_configurations": {}"#,
        ] {
            let path = write(scene, "xdg/config-home", members);
            let outcome = scene.run(|vk| assert_eq!(vk.instance().device_names(), ["one"]));
            let text =
                format!("vk_loader_settings.json file found at \"{path}\" but did not contain any valid settings.");
            outcome.ok().logged("INFO", &text);
        }
    });
}

/// APP-248, APP-249: malformed settings files make no call fail.
#[test]
fn app_248_malformed_files() {
    case(|scene| {
        scene.driver("a").device("one");
        let path = format!("xdg/config-home/{FILE}");
        let deep = "[".repeat(100_000);
        let mixed = format!(
            r#"{{"file_format_version": "1", "settings": {{"stderr_log": [{}"x"]}}}}"#,
            "1, \"y\", ".repeat(50_000)
        );
        for text in [
            "",
            "{",
            "[]",
            "3",
            "\0\0\0",
            r#"{"settings": {"stderr_log": ["all"]}}"#,
            r#"{"file_format_version": "1.0.0"}"#,
            r#"{"file_format_version": 1, "settings": {"stderr_log": ["all"]}}"#,
            r#"{"file_format_version": "1.0.0", "settings": []}"#,
            r#"{"file_format_version": "1.0.0", "settings_array": {}}"#,
            r#"{"file_format_version": "1.0.0", "settings_array": [3]}"#,
            &deep,
            &mixed,
        ] {
            scene.file(&path, text);
            scene.env("VK_LOADER_DEBUG", "");
            let outcome = scene.run(|vk| {
                assert_eq!(vk.instance().device_names(), ["one"]);
                assert!(vk.layers().is_ok() && vk.extensions().is_ok());
            });
            assert_eq!(outcome.ok().stderr, "", "{text:.60}");
        }
    });
}

/// APP-246: the first object of the array whose `app_keys` match is used.
#[test]
fn app_246_application_keys() {
    case(|scene| {
        scene.driver("a").device("one");
        scene.env("VK_LOADER_DEBUG", "");
        let program = std::env::current_exe().expect("the program").display().to_string();
        let driver = r#""stderr_log": ["driver"]"#;
        let layer = r#""stderr_log": ["layer"]"#;
        let own = format!(r#""app_keys": ["/nowhere", {program:?}]"#);
        let other = r#""app_keys": ["/nowhere"]"#;
        let rows = [
            (format!("{{{driver}}}, {{{own}, {layer}}}"), "LAYER"),
            (format!("{{{own}, {layer}}}, {{{own}, {driver}}}"), "LAYER"),
            (format!("{{{other}, {layer}}}, {{{driver}}}, {{{layer}}}"), "DRIVER"),
            (format!("{{\"app_keys\": [], {layer}}}, {{{driver}}}"), "DRIVER"),
            (format!("{{{other}, {layer}}}"), ""),
            (format!("3, {{{driver}}}"), ""),
        ];
        for (objects, expected) in rows {
            let text = format!(
                r#"{{"file_format_version": "1.0.0", "settings_array": [{objects}], "settings": {{{driver}}}}}"#
            );
            scene.file(&format!("xdg/config-home/{FILE}"), text);
            let outcome = scene.run(|vk| drop(vk.instance()));
            let outcome = outcome.ok();
            assert_eq!(
                outcome.stderr.contains("Searching for driver manifest files"),
                expected == "DRIVER",
                "{objects}\n{}",
                outcome.stderr
            );
            assert_eq!(
                outcome.stderr.contains("Searching for explicit layer"),
                expected == "LAYER",
                "{objects}\n{}",
                outcome.stderr
            );
        }
    });
}

/// APP-246: a single settings object is used only if its `app_keys` match the program.
#[test]
fn app_246_application_keys_of_a_single_object() {
    case(|scene| {
        scene.driver("a").device("one");
        scene.env("VK_LOADER_DEBUG", "");
        let program = std::env::current_exe().expect("the program").display().to_string();
        for (key, used) in [("/nowhere", false), (program.as_str(), true)] {
            write(
                scene,
                "xdg/config-home",
                &format!(r#""app_keys": [{key:?}], "stderr_log": ["driver"]"#),
            );
            let outcome = scene.run(|vk| drop(vk.instance()));
            assert_eq!(outcome.ok().stderr.is_empty(), !used, "{key}\n{}", outcome.stderr);
        }
    });
}

/// APP-262, APP-84: the log shows the settings in consecutive lines.
#[test]
fn app_262_the_settings_are_logged() {
    case(|scene| {
        scene.driver("a").device("one");
        let path = write(
            scene,
            "xdg/config-home",
            r#""stderr_log": ["all"], "layers": [{"name": "VK_LAYER_x", "path": "/x.json", "control": "on"}, {"control": "unordered_layer_location"}], "additional_drivers": [{"path": "/y.json"}]"#,
        );
        scene.env("VK_LOADER_DEBUG", "");
        let outcome = scene.run(|vk| drop(vk.instance()));
        let log = outcome.ok().log("DEBUG");
        let start = log
            .iter()
            .position(|line| line.starts_with("Loader Settings Filters"))
            .expect("logged");
        let expected = [
            "Loader Settings Filters for Logging to Standard Error: ERROR | WARNING | INFO | DEBUG | PERF | DRIVER | LAYER",
            "Layer Configurations count = 2",
            "---- Layer Configuration [0] ----",
            "Name: VK_LAYER_x",
            "Path: /x.json",
            "Layer Type: Explicit",
            "Control: on",
            "---- Layer Configuration [1] ----",
            "Control: unordered_layer_location",
            "----",
            "Use Additional Drivers Exclusively = false",
            "Additional Driver Configurations count = 1",
            "---- Driver Configuration [0] ----",
            "Path: /y.json",
            "---------------------------------",
        ];
        assert_eq!(log[start..start + expected.len()], expected, "{}", outcome.all());
        outcome.logged(
            "INFO",
            &format!("Using layer configurations found in loader settings from {path}"),
        );
    });
}

/// APP-243: each instance creation reads the settings file again. After the removal of the file, its settings have no effect.
#[test]
fn app_243_the_file_is_read_anew() {
    case(|scene| {
        scene.driver("a").device("one");
        scene.driver("b").device("two").unlisted();
        let manifest = scene.text_path("drivers/b.json");
        let members = format!(r#""additional_drivers": [{{"path": "{manifest}"}}]"#);
        let path = write(scene, "xdg/config-home", &members);
        let outcome = scene.run(move |vk| {
            assert_eq!(vk.instance().device_names().len(), 2);
            std::fs::remove_file(&path).expect("removed");
            assert_eq!(vk.instance().device_names(), ["one"]);
        });
        outcome.ok();
    });
}
