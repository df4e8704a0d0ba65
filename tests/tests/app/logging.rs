//! Tests of the output on standard error (APP-230 to APP-236).

use loader_tests::{Outcome, Scene, case, is_loaded, is_peer};

/// Runs a program that causes messages of every level: an error, warnings, information, debug and category lines.
fn run(scene: &mut Scene, debug: Option<&str>) -> Outcome {
    match debug {
        Some(value) => scene.env("VK_LOADER_DEBUG", value),
        None => scene.unset("VK_LOADER_DEBUG"),
    };
    let outcome = scene.run(|vk| {
        let instance = vk.instance_with("1.1", &[]);
        drop(instance.device(instance.first(), &[]));
    });
    outcome.ok();
    outcome
}

fn noisy(scene: &mut Scene) {
    scene
        .driver("a")
        .interface(4)
        .device_with("one", |device| device.extension("VK_KHR_swapchain"));
    scene.driver("gone").library_path("/nowhere/at/all.so");
    scene.driver("filtered").device("two");
    scene.env("VK_LOADER_DRIVERS_DISABLE", "filtered*");
}

/// Returns the sorted headers of all loader lines, without duplicates.
fn headers(outcome: &Outcome) -> Vec<String> {
    let lines = outcome
        .stderr
        .lines()
        .filter_map(|line| line.strip_prefix("[Vulkan Loader] "));
    let mut headers: Vec<String> = lines
        .filter_map(|line| Some(line.split_once(": ")?.0.trim().to_owned()))
        .collect();
    headers.sort_unstable();
    headers.dedup();
    headers
}

/// APP-230, APP-233: if `VK_LOADER_DEBUG` is unset or has no known word, a run without fatal errors prints nothing.
#[test]
fn app_230_nothing_is_printed_unasked() {
    case(|scene| {
        noisy(scene);
        for value in [
            None,
            Some(""),
            Some("nonsense"),
            Some(",,"),
            Some("ALL"),
            Some(" all"),
            Some("errors"),
        ] {
            let outcome = run(scene, value);
            assert_eq!(outcome.stderr, "", "{value:?}");
        }
    });
}

/// APP-230, APP-231: each word of `VK_LOADER_DEBUG` selects its bit. A line is printed if any of its bits is selected.
#[test]
fn app_231_each_word_selects_its_lines() {
    case(|scene| {
        noisy(scene);
        let rows: &[(&str, &[&str])] = &[
            ("error", &["ERROR", "ERROR | DRIVER"]),
            ("warn", &["WARNING", "WARNING | DRIVER"]),
            // On Windows, messages about drivers concern the order of adapters, and messages about layers concern the registry.
            (
                "info",
                if cfg!(windows) {
                    &["INFO", "INFO | LAYER"]
                } else {
                    &["INFO", "INFO | DRIVER"]
                },
            ),
            ("debug", &["DEBUG | DRIVER"]),
            ("layer", &["DRIVER", "LAYER"]),
            ("perf", &[]),
        ];
        for (word, expected) in rows {
            let outcome = run(scene, Some(word));
            let found = headers(&outcome);
            let expected: Vec<String> = expected.iter().map(|header| String::from(*header)).collect();
            assert_eq!(found, expected, "{word}\n{}", outcome.stderr);
        }
    });
}

/// APP-230, APP-283: in `VK_LOADER_DEBUG`, the word `driver`, its older spellings, prefixes, and lists select the correct lines.
#[test]
fn app_230_words_prefixes_and_lists() {
    case(|scene| {
        noisy(scene);
        let lines = |outcome: Outcome| outcome.stderr.lines().count();
        let mut count = |value: &str| lines(run(scene, Some(value)));
        let all = count("all");
        let (driver, layer, info, error, debug, warn) = (
            count("driver"),
            count("layer"),
            count("info"),
            count("error"),
            count("debug"),
            count("warn"),
        );
        for (value, expected) in [
            ("a", all),
            ("al", all),
            ("implem", driver),
            ("icd", driver),
            ("dr", driver),
            ("im", driver),
            ("ic", driver),
            ("d", debug),
            ("de", debug),
            ("i", info),
            ("in", info),
            ("l", layer),
            ("e", error),
            ("w", warn),
            ("nonsense,error", error),
            (",,warn,,", warn),
            ("error,error", error),
        ] {
            assert_eq!(count(value), expected, "{value}");
        }
        assert!(count("error,warn") == error + warn && all > driver && all > info);
    });
}

/// APP-232: log lines have exactly the form that APP-232 defines: the loader's name, the padded level and category, and the text.
#[test]
fn app_232_the_form_of_a_line() {
    case(|scene| {
        noisy(scene);
        let outcome = run(scene, Some("all"));
        let library = "/nowhere/at/all.so";
        for line in [
            "[Vulkan Loader] DRIVER:         Searching for driver manifest files".to_owned(),
            format!("[Vulkan Loader] DEBUG | DRIVER: Searching for ICD drivers named {library}"),
            format!("[Vulkan Loader] ERROR | DRIVER: loader_icd_scan: Failed loading library associated with ICD JSON {library}. Ignoring this JSON"),
            "[Vulkan Loader] WARNING | DRIVER: Driver \"filtered.json\" ignored because it was disabled by env var 'VK_LOADER_DRIVERS_DISABLE'".to_owned(),
        ] {
            assert!(outcome.stderr.lines().any(|have| have == line), "{line}\n{}", outcome.stderr);
        }
        assert!(
            outcome.stderr.lines().all(|line| line.starts_with("[Vulkan Loader] ")),
            "{}",
            outcome.stderr
        );
    });
}

/// APP-10: the first line of the log is the banner.
#[test]
fn app_010_the_banner_comes_first() {
    case(|scene| {
        let outcome = scene.run(|vk| {
            let (major, minor, patch) = vk.version();
            vk.say("version", format_args!("{major}.{minor}.{patch}"));
        });
        let version = outcome.ok().said("version")[0];
        assert_eq!(
            outcome.log("INFO").first(),
            Some(&format!("Vulkan Loader Version {version}").as_str())
        );
        let first = outcome.stderr.lines().next().unwrap_or_default();
        assert!(first.ends_with(&format!("Vulkan Loader Version {version}")), "{first}");
    });
}

/// APP-9, APP-230a: `VK_LOADER_DEBUG` is read each time the library is loaded, and `dlclose` unloads the library.
#[test]
fn app_230a_every_load_reads_the_variable() {
    case(|scene| {
        scene.driver("a").device("one");
        scene.env("VK_LOADER_DEBUG", "info");
        let outcome = scene.run(|vk| {
            drop(vk.instance());
            let present = || is_loaded("libvulkan.so", "vulkan-1.dll");
            assert!(present());
            let mut other = vk.again();
            // The process has opened the library twice, so the library is unloaded only after both handles are closed.
            vk.say("kept", present());
            other.reload(|| {});
        });
        outcome.ok();
    });
}

/// APP-216: a change of `VK_LOADER_DEBUG` after the library was loaded has no effect.
#[test]
fn app_216_the_variable_is_read_at_load() {
    case(|scene| {
        scene.driver("a").device("one");
        scene.unset("VK_LOADER_DEBUG");
        let outcome = scene.run(|vk| {
            vk.set_env("VK_LOADER_DEBUG", Some("all"));
            drop(vk.instance());
        });
        assert_eq!(outcome.ok().stderr, "");
    });
}

/// APP-231, APP-232: each part of a log line's header is a known level or category.
#[test]
fn app_232_headers_are_of_the_known_kinds() {
    case(|scene| {
        noisy(scene);
        let outcome = run(scene, Some("all"));
        let known = ["ERROR", "WARNING", "INFO", "DEBUG", "PERF", "DRIVER", "LAYER"];
        for header in headers(&outcome) {
            assert!(header.split(" | ").all(|word| known.contains(&word)), "{header}");
        }
        assert!(is_peer() || headers(&outcome).len() >= 6, "{:?}", headers(&outcome));
    });
}
