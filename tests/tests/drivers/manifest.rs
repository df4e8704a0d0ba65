//! Tests of driver manifests (DRV-46 to DRV-55).

use loader_tests::ash::vk;
use loader_tests::{Outcome, Scene, Vk, case};

fn names(vk: &Vk) -> Vec<String> {
    vk.instance().device_names()
}

/// Runs with a driver `odd` whose manifest is `text`, and a valid driver after it. `used` is `true` if the loader must use `odd`.
#[track_caller]
fn run(scene: &mut Scene, number: usize, text: &str, used: bool) -> Outcome {
    let name = format!("odd{number}");
    scene.driver(&name).device("odd").manifest_text(text).unlisted();
    let files = format!(
        "{}:{}",
        scene.manifest(&name).display(),
        scene.manifest("good").display()
    );
    scene.env("VK_DRIVER_FILES", files);
    let expected: &[&str] = if used { &["good", "odd"] } else { &["good"] };
    let outcome = scene.run(|vk| assert_eq!(names(vk), expected, "with {text:.200}"));
    outcome.ok();
    outcome
}

/// DRV-51, DRV-253: each invalid manifest is skipped with a message of its severity, which names the file.
#[test]
fn drv_051_rejected_manifests() {
    case(|scene| {
        scene.driver("good").device("good");
        let library = "\"library_path\": \"@LIBRARY@\"";
        let rows = [
            (
                "WARNING | DRIVER",
                format!(r#"{{"ICD": {{{library}, "api_version": "1.0.0"}}}}"#),
            ),
            (
                "WARNING | DRIVER",
                format!(r#"{{"file_format_version": 1, "ICD": {{{library}, "api_version": "1.0.0"}}}}"#),
            ),
            ("WARNING | DRIVER", r#"{"file_format_version": "1.0.0"}"#.into()),
            (
                "WARNING | DRIVER",
                r#"{"file_format_version": "1.0.0", "ICD": {"api_version": "1.0.0"}}"#.into(),
            ),
            (
                "WARNING | DRIVER",
                r#"{"file_format_version": "1.0.0", "ICD": {"library_path": "", "api_version": "1.0.0"}}"#.into(),
            ),
            (
                "WARNING | DRIVER",
                r#"{"file_format_version": "1.0.0", "ICD": {"library_path": 3, "api_version": "1.0.0"}}"#.into(),
            ),
            (
                "WARNING | DRIVER",
                format!(r#"{{"file_format_version": "1.0.0", "ICD": {{{library}}}}}"#),
            ),
            (
                "WARNING | DRIVER",
                format!(r#"{{"file_format_version": "1.0.0", "ICD": {{{library}, "api_version": 1}}}}"#),
            ),
        ];
        for (number, (level, text)) in rows.iter().enumerate() {
            let outcome = run(scene, number, text, false);
            outcome.logged_with(level, &format!("odd{number}.json"));
        }
    });
}

/// DRV-51, DRV-55, DRV-251: a manifest that is not a JSON object is skipped.
#[test]
fn drv_051_invalid_json() {
    case(|scene| {
        scene.driver("good").device("good");
        let whole = r#"{"file_format_version": "1.0.0", "ICD": {"library_path": "@LIBRARY@", "api_version": "1.0.0"}}"#;
        let rows = [
            String::new(),
            "{".into(),
            whole[..whole.len() - 1].into(),
            "nothing".into(),
            "[]".into(),
            "3".into(),
            "\"text\"".into(),
            "[".repeat(100_000),
            format!("{{\"a\": {}{}}}", "[".repeat(100_000), "]".repeat(100_000)),
        ];
        for (number, text) in rows.iter().enumerate() {
            let outcome = run(scene, number, text, false);
            let path = scene.text_path(&format!("drivers/odd{number}.json"));
            outcome.logged("ERROR", &format!("loader_get_json: Invalid JSON file {path}."));
        }
    });
}

/// DRV-251: the loader refuses a manifest of 40 MiB.
#[test]
fn drv_251_a_very_large_manifest_is_refused() {
    case(|scene| {
        scene.driver("good").device("good");
        let text = format!(
            r#"{{"file_format_version": "1.0.0", "ICD": {{"library_path": "@LIBRARY@", "api_version": "1.0.0"}}, "x": "{}"}}"#,
            "x".repeat(40 << 20)
        );
        run(scene, 0, &text, false).logged_with("ERROR", "odd0.json");
    });
}

/// DRV-51: a layer manifest in a folder of drivers causes no warning.
#[test]
fn drv_051_a_layer_manifest_is_skipped_silently() {
    case(|scene| {
        scene.driver("good").device("good");
        for (number, key) in ["layer", "layers"].iter().enumerate() {
            let text = format!(r#"{{"file_format_version": "1.2.0", "{key}": {{"name": "VK_LAYER_x"}}}}"#);
            let outcome = run(scene, number, &text, false);
            assert!(
                outcome.log("WARNING | DRIVER").is_empty() && outcome.log("ERROR").is_empty(),
                "{}",
                outcome.all()
            );
        }
    });
}

/// DRV-46: unknown members have no effect, the case of member names does not matter, and the loader uses the first of several equal
/// members.
#[test]
fn drv_046_members() {
    case(|scene| {
        scene.driver("good").device("good");
        let rows = [
            r#"{"file_format_version": "1.0.1", "more": [1, {}], "ICD": {"new": null, "library_path": "@LIBRARY@", "api_version": "1.3.280"}}"#,
            r#"{"File_Format_Version": "1.0.1", "icd": {"LIBRARY_PATH": "@LIBRARY@", "Api_Version": "1.3.280"}}"#,
            r#"{"file_format_version": "1.0.1", "ICD": {"library_path": "@LIBRARY@", "library_path": "/nowhere", "api_version": "1.3.280"}}"#,
        ];
        for (number, text) in rows.iter().enumerate() {
            run(scene, number, text, true);
        }
    });
}

/// DRV-47: the format version does not exclude a manifest.
#[test]
fn drv_047_any_format_version_is_used() {
    case(|scene| {
        scene.driver("good").device("good");
        for (number, version) in ["1.0.0", "1.0.1", "0.0.0", "abc", ""].iter().enumerate() {
            let text = format!(
                r#"{{"file_format_version": "{version}", "ICD": {{"library_path": "@LIBRARY@", "api_version": "1.3.280", "is_portability_driver": false}}}}"#
            );
            run(scene, number, &text, true);
        }
        let text =
            r#"{"file_format_version": "1.0.2", "ICD": {"library_path": "@LIBRARY@", "api_version": "1.3.280"}}"#;
        let outcome = run(scene, 9, text, true);
        let path = scene.text_path("drivers/odd9.json");
        let message =
            format!("loader_parse_icd_manifest: {path} has unknown icd manifest file version 1.0.2. May cause errors.");
        outcome.logged("INFO | DRIVER", &message);
    });
}

/// DRV-48, DRV-49: a manifest whose API version has a variant is skipped.
#[test]
fn drv_049_a_variant_is_skipped() {
    case(|scene| {
        scene.driver("good").device("good");
        for (number, version) in ["1.1.3.280", "1.0.01.1.0.0", "7.1.0"].iter().enumerate() {
            let text = format!(
                r#"{{"file_format_version": "1.0.0", "ICD": {{"library_path": "@LIBRARY@", "api_version": "{version}"}}}}"#
            );
            let variant = version.split('.').count() > 3;
            let outcome = run(scene, number, &text, !variant);
            if variant {
                let path = scene.text_path(&format!("drivers/odd{number}.json"));
                let message = format!(
                    "loader_parse_icd_manifest: Driver's ICD JSON {path} 'api_version' field contains a non-zero variant value of 1.  Skipping ICD JSON."
                );
                outcome.logged("INFO | DRIVER", &message);
            }
        }
    });
}

/// DRV-48: a manifest's API version can be any string.
#[test]
fn drv_048_version_strings_are_never_malformed() {
    case(|scene| {
        scene.driver("good").device("good");
        for (number, version) in ["abc", "", "1", "1.3", "001.003.0280", "1.3x.5", "1.3.280-dev"]
            .iter()
            .enumerate()
        {
            let text = format!(
                r#"{{"file_format_version": "1.0.0", "ICD": {{"library_path": "@LIBRARY@", "api_version": "{version}"}}}}"#
            );
            run(scene, number, &text, true);
        }
    });
}

/// DRV-50: the log names each manifest and its library.
#[test]
fn drv_050_each_file_is_logged_with_the_library_it_names() {
    case(|scene| {
        scene
            .driver("a")
            .device("one")
            .library_path("../libraries/libmock_a.so");
        let outcome = scene.run(|vk| assert_eq!(names(vk), ["one"]));
        let path = scene.text_path("drivers/a.json");
        outcome
            .ok()
            .logged_with("DRIVER", &format!("Found ICD manifest file {path}, version"));
        outcome.logged_with("DEBUG | DRIVER", "Searching for ICD drivers named");
    });
}

/// DRV-46, DRV-51: a manifest for another pointer size is skipped.
#[test]
fn drv_051_the_architecture_member() {
    case(|scene| {
        scene.driver("good").device("good");
        let (own, other) = if size_of::<usize>() == 8 { (64, 32) } else { (32, 64) };
        let own = format!("\"{own}\"");
        for (number, value) in [own.as_str(), "\"arm\"", "64", "null"].iter().enumerate() {
            let text = format!(
                r#"{{"file_format_version": "1.0.1", "ICD": {{"library_path": "@LIBRARY@", "api_version": "1.3.280", "library_arch": {value}}}}}"#
            );
            run(scene, number, &text, true);
        }
        let text = format!(
            r#"{{"file_format_version": "1.0.1", "ICD": {{"library_path": "@LIBRARY@", "api_version": "1.3.280", "library_arch": "{other}"}}}}"#
        );
        run(scene, 9, &text, false).logged(
            "INFO",
            "loader_parse_icd_manifest: Driver library architecture doesn't match the current running architecture, skipping this driver",
        );
    });
}

/// DRV-52: a relative library path with a separator starts at the manifest's folder.
#[test]
fn drv_052_a_path_with_a_separator_starts_at_the_manifest() {
    case(|scene| {
        scene
            .driver("a")
            .device("one")
            .library_path("../libraries/libmock_a.so");
        scene
            .driver("b")
            .device("two")
            .library_path("./../libraries/libmock_b.so");
        scene.run(|vk| assert_eq!(names(vk), ["two", "one"])).ok();
    });
}

/// DRV-52: a relative path starts at the folder in which the loader found the manifest. The loader does not resolve a link to the manifest.
#[test]
fn drv_052_links_of_the_manifest_are_not_resolved() {
    case(|scene| {
        scene
            .driver("a")
            .device("one")
            .library_path("../libraries/libmock_a.so")
            .folder("deep/er/drivers");
        let (target, link) = (
            scene.path("deep/er/drivers/a.json"),
            scene.folder("drivers").join("a.json"),
        );
        scene.env("VK_DRIVER_FILES", &link);
        scene.on_disk(|| loader_tests::symlink(target, link).expect("a link can be made"));
        scene.run(|vk| assert_eq!(names(vk), ["one"])).ok();
    });
}

/// DRV-52: the system searches for a library with a bare name.
#[test]
fn drv_052_a_bare_name_goes_to_the_system_search() {
    case(|scene| {
        scene.driver("a").device("one").library_path("libmock_a.so");
        let outcome = scene.run(|vk| {
            assert_eq!(vk.spec().create().err(), Some(vk::Result::ERROR_INCOMPATIBLE_DRIVER));
        });
        outcome.ok();
        let folder = scene.path("libraries");
        scene.env("LD_LIBRARY_PATH", folder);
        scene.run(|vk| assert_eq!(names(vk), ["one"])).ok();
    });
}

/// DRV-55: a manifest may begin with a byte order mark.
#[test]
fn drv_055_a_byte_order_mark_is_accepted() {
    case(|scene| {
        scene.driver("good").device("good");
        let text = "\u{feff}{\"file_format_version\": \"1.0.0\", \"ICD\": {\"library_path\": \"@LIBRARY@\", \"api_version\": \"1.3.280\"}}";
        run(scene, 0, text, true);
    });
}

/// DRV-254, DRV-241: drivers with invalid library paths are skipped.
#[test]
fn drv_254_odd_library_paths_are_skipped() {
    case(|scene| {
        scene.driver("good").device("good");
        let rows = [
            "\\u0000",
            "@LIBRARY@\\u0000.so",
            &"x/".repeat(5000),
            &"y".repeat(9000),
            "\\ud800",
            "/",
        ];
        for (number, path) in rows.iter().enumerate() {
            let text = format!(
                r#"{{"file_format_version": "1.0.0", "ICD": {{"library_path": "{path}", "api_version": "1.3.280"}}}}"#
            );
            run(scene, number, &text, false);
        }
    });
}

/// APP-249: a manifest with malformed text is skipped, and the other drivers still work.
#[test]
fn app_249_malformed_text_is_an_ordinary_skip() {
    case(|scene| {
        scene.driver("good").device("good");
        let rows = [
            "\0\0\0".into(),
            "{\"a\": \"\u{7}\u{1}\"".into(),
            "{\"unterminated".into(),
            "{\"a\": \"\\u84\"}".into(),
            "{\"a\": \"\\ud800\"}".into(),
            "{\"a\": 18446744073709551616e-39065906811251e}".into(),
            "{\"a\": 2e1701411834604692317}".into(),
            format!("{{\"a\": [{}\"x\"]}}", "1, \"y\", ".repeat(50_000)),
            "{\"file_format_version\": \"-2.1\", \"ICD\": \"no object\"}".into(),
            "{\"file_format_version\": \"5.9223372036854775807.--2\", \"ICD\": {\"library_path\": [], \"api_version\": {}}}".into(),
        ];
        for (number, text) in rows.iter().enumerate() {
            run(scene, number, text, false);
        }
    });
}

/// DRV-52, DRV-241: a path has at most 4,095 bytes. The loader never passes a longer path to the system.
#[test]
fn drv_052_a_library_path_of_4095_bytes_is_the_longest() {
    case(|scene| {
        scene.driver("good").device("good");
        scene.driver("far").device("far").unlisted();
        // The mock finds its configuration by its own path. The path of the configuration must be short enough too. The file extension of
        // the configuration is therefore shorter than the extension of the link.
        scene.folder("libraries");
        let link = scene.path("libraries/libmock_far.library");
        scene.on_disk(|| loader_tests::symlink("libmock_far.so", link).expect("a link can be made"));
        let fixed = format!("{}/../libraries/libmock_far.library", scene.text_path("drivers"));
        for (number, length) in [4095, 4096].into_iter().enumerate() {
            let path = format!("../libraries{}/libmock_far.library", "/".repeat(length - fixed.len()));
            let text = format!(
                r#"{{"file_format_version": "1.0.0", "ICD": {{"library_path": "{path}", "api_version": "1.3.280"}}}}"#
            );
            let file = scene
                .file(&format!("drivers/long{number}.json"), text)
                .display()
                .to_string();
            scene.env(
                "VK_DRIVER_FILES",
                format!("{file}:{}", scene.manifest("good").display()),
            );
            let expected: &[&str] = if length <= 4095 { &["good", "far"] } else { &["good"] };
            let outcome = scene.run(|vk| assert_eq!(names(vk), expected, "{length} bytes"));
            let refused = format!(
                "loader_parse_icd_manifest: ICD JSON {file} 'library_path' field is no usable path. Skipping ICD JSON."
            );
            if length <= 4095 {
                outcome.ok().not_logged(&refused)
            } else {
                outcome.ok().logged("WARNING | DRIVER", &refused)
            };
        }
    });
}
