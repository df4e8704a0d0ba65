//! Tests of the trace of `VK_LOADER_TRACE` (docs/trace.md). The tests in `loader/vkloader` check the form of records, because that crate
//! contains the schema.

mod output;

use loader_tests::{Scene, case, linker_words};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Returns the records of a trace.
fn records(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap_or_default();
    assert!(text.is_empty() || text.ends_with('\n'), "the last line has its end");
    let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    text.lines().map(parse).collect()
}

/// Iterates over the records of an event.
fn of<'a>(records: &'a [Value], event: &'a str) -> impl Iterator<Item = &'a Value> {
    records.iter().filter(move |record| record["event"] == event)
}

fn named<'a>(records: &'a [Value], event: &'a str, key: &'a str, part: &'a str) -> Vec<&'a Value> {
    let has = move |record: &&Value| record[key].as_str().is_some_and(|text| text.contains(part));
    of(records, event).filter(has).collect()
}

fn two_drivers(scene: &mut Scene) {
    scene.driver("a").device("one").device("two");
    scene.driver("gone").library_path("/nowhere/at/all.so");
}

/// The trace lists calls, decisions, drivers and devices, each with the known facts.
#[test]
fn trace_tells_calls_decisions_drivers_and_devices() {
    case(|scene| {
        two_drivers(scene);
        let trace = scene.path("trace");
        scene.env("VK_LOADER_TRACE", &trace).unset("VK_LOADER_DEBUG");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &[]);
            assert_eq!(instance.device_names(), ["one", "two"]);
            drop(instance.device(instance.first(), &[]));
        });
        assert_eq!(outcome.ok().stderr, "", "the trace is not the log");
        let mode = fs::metadata(&trace).expect("the file is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let records = records(&trace);
        assert_eq!(records[0]["event"], "loaded");
        assert_eq!(records[0]["schema"], 1);
        assert!(
            records[0]["library"]
                .as_str()
                .is_some_and(|path| path.contains("libvulkan"))
        );
        let variables = records[0]["variables"].as_array().expect("a list");
        assert!(variables.iter().any(|variable| variable["name"] == "VK_DRIVER_FILES"));
        for call in [
            "vkCreateInstance",
            "vkEnumeratePhysicalDevices",
            "vkCreateDevice",
            "vkDestroyDevice",
            "vkDestroyInstance",
        ] {
            let ends = named(&records, "end", "name", call);
            assert!(ends.iter().any(|end| end["step"] == "call"), "{call}");
            assert_eq!(ends.len(), named(&records, "begin", "name", call).len(), "{call}");
        }
        let gone = named(&records, "decision", "name", "/nowhere/at/all.so");
        assert_eq!(gone.len(), 1);
        assert_eq!(gone[0]["code"], "driver.not-opened");
        assert!(gone[0]["path"].as_str().is_some_and(|path| path.ends_with("gone.json")));
        assert_eq!(gone[0]["source"]["variable"], "VK_DRIVER_FILES");
        let words = gone[0]["details"]["system"].as_str().expect("the system's words");
        assert!(words.contains(linker_words::MISSING), "{words}");
        assert!(
            gone[0]["text"]
                .as_str()
                .is_some_and(|text| text.starts_with("loader_icd_scan:"))
        );
        let kept = named(&records, "decision", "name", "libmock_a.so");
        assert_eq!(kept[0]["verdict"], "kept");
        let driver = named(&records, "driver", "library", "libmock_a.so");
        assert_eq!(driver[0]["result"], 0);
        let places: Vec<_> = of(&records, "device")
            .map(|device| (device["place"].as_u64(), device["name"].as_str()))
            .collect();
        assert!(
            places.ends_with(&[(Some(0), Some("one")), (Some(1), Some("two"))]),
            "{places:?}"
        );
    });
}

/// Devices in the trace have their identifiers. The driver's query function that reports them does not matter.
#[test]
fn trace_has_the_identifiers_of_devices() {
    case(|scene| {
        let properties = "VK_KHR_get_physical_device_properties2";
        scene
            .driver("a")
            .device_with("one", |device| device.uuids(3, 10))
            .device("bare");
        scene
            .driver("old")
            .api("1.0.0")
            .extension(properties)
            .device_with("two", |device| device.line("uuid", 4));
        scene.driver("older").api("1.0.0").device("three");
        let trace = scene.path("trace");
        scene.env("VK_LOADER_TRACE", &trace);
        let outcome = scene.run(|vk| assert_eq!(vk.instance_with("1.1", &[]).device_names().len(), 4));
        outcome.ok();
        let records = records(&trace);
        let told = |name: &str| {
            let found = named(&records, "device", "name", name);
            let last = found.last().unwrap_or_else(|| panic!("no {name}"));
            let text = |key: &str| last[key].as_str().map(String::from);
            (text("device-uuid"), text("driver-uuid"))
        };
        let digits = |byte: &str| Some(byte.repeat(16));
        assert_eq!(told("one"), (digits("03"), digits("0a")));
        assert_eq!(told("bare"), (None, None));
        assert_eq!(told("two"), (digits("04"), digits("00")));
        assert_eq!(told("three"), (None, None));
    });
}

/// For a filter, the trace names the variable, and the pattern that matched.
#[test]
fn trace_tells_the_pattern_that_matched() {
    case(|scene| {
        scene.driver("a").device("one");
        scene.driver("unwanted").device("two");
        let name = "VK_LAYER_wrap";
        scene.file(
            "xdg/data-home/vulkan/explicit_layer.d/wrap.json",
            r#"{"file_format_version": "1.2.0", "layer": {"name": "VK_LAYER_wrap", "type": "GLOBAL", "library_path": "./none.so",
            "api_version": "1.1.0", "implementation_version": "1", "description": ""}}"#,
        );
        let trace = scene.path("trace");
        scene
            .env("VK_LOADER_TRACE", &trace)
            .env("VK_LOADER_DRIVERS_DISABLE", "none,*WANTED*,u*")
            .env("VK_LOADER_LAYERS_DISABLE", "~explicit~");
        let outcome = scene.run(|vk| {
            drop(vk.layers());
            drop(vk.instance_with("1.1", &[]));
        });
        outcome.ok();
        let records = records(&trace);
        let dropped = |part: &str| {
            let dropped = named(&records, "decision", "name", part);
            let found = dropped.iter().find(|decision| decision["verdict"] == "dropped");
            found.unwrap_or_else(|| panic!("{part} in {records:#?}"))["details"].clone()
        };
        let expected = |variable: &str, pattern: &str| serde_json::json!({ "variable": variable, "pattern": pattern });
        assert_eq!(
            dropped("unwanted.json"),
            expected("VK_LOADER_DRIVERS_DISABLE", "*WANTED*")
        );
        assert_eq!(dropped(name), expected("VK_LOADER_LAYERS_DISABLE", "~explicit~"));
    });
}

/// If a driver matches no pattern of the select filter, the trace names the variable of the filter.
#[test]
fn trace_tells_the_variable_that_selected_others() {
    case(|scene| {
        scene.driver("a").device("one");
        scene.driver("unwanted").device("two");
        let trace = scene.path("trace");
        scene
            .env("VK_LOADER_TRACE", &trace)
            .env("VK_LOADER_DRIVERS_SELECT", "a*");
        scene.run(|vk| drop(vk.instance_with("1.1", &[]))).ok();
        let records = records(&trace);
        let decisions = named(&records, "decision", "name", "unwanted.json");
        assert_eq!(
            decisions[0]["details"],
            serde_json::json!({ "variable": "VK_LOADER_DRIVERS_SELECT" })
        );
    });
}

/// The trace contains the duration of each call into a driver, including the last call.
#[test]
fn trace_times_calls_of_drivers() {
    case(|scene| {
        scene.driver("a").api("1.1").device("one");
        let trace = scene.path("trace");
        scene.env("VK_LOADER_TRACE", &trace);
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &[]);
            drop(instance.device(instance.first(), &[]));
        });
        outcome.ok();
        let records = records(&trace);
        let timed: Vec<_> = named(&records, "end", "library", "libmock_a.so")
            .into_iter()
            .filter(|end| end["nanoseconds"].is_u64())
            .filter_map(|end| end["name"].as_str())
            .collect();
        for call in [
            "vk_icdNegotiateLoaderICDInterfaceVersion",
            "vkEnumerateInstanceExtensionProperties",
            "vkEnumerateInstanceVersion",
            "vkCreateInstance",
            "vkEnumeratePhysicalDevices",
            "vkCreateDevice",
            "vkDestroyInstance",
        ] {
            assert!(timed.contains(&call), "{call} is not in {timed:?}");
        }
    });
}

/// For each step that begins, the trace also contains the end, with the time and the result of the step.
#[test]
fn trace_tells_how_each_step_ended() {
    case(|scene| {
        scene.driver("a").api("1.1").device("one").device("two");
        scene.driver("gone").library_path("/nowhere/at/all.so");
        scene.driver("refuses").line("negotiate_result", -9);
        scene
            .driver("fails")
            .api("1.1")
            .device("none")
            .fail("vkCreateInstance", -3);
        let trace = scene.path("trace");
        scene.env("VK_LOADER_TRACE", &trace);
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &[]);
            assert!(instance.device_extensions(instance.first()).is_ok() && instance.groups().is_ok());
            drop(instance.device(instance.first(), &[]));
        });
        outcome.ok();
        let records = records(&trace);
        let step = |record: &Value| ["thread", "step", "name", "library"].map(|key| record[key].to_string());
        let mut open = Vec::new();
        for record in &records {
            match record["event"].as_str() {
                Some("begin") => open.push(step(record)),
                Some("end") => {
                    assert_eq!(open.pop(), Some(step(record)), "{record}");
                    assert!(record["nanoseconds"].is_u64(), "{record}");
                }
                _ => {}
            }
        }
        assert!(open.is_empty(), "{open:?}");
        let ended = |step: &str, name: &str, library: &str, key: &str| {
            let ends = named(&records, "end", "name", name).into_iter();
            let mut values: Vec<_> = ends
                .filter(|end| end["step"] == step && end["library"].as_str().unwrap_or_default().contains(library))
                .map(|end| end[key].to_string())
                .collect();
            values.dedup();
            values.join(" ")
        };
        assert_eq!(ended("open", "libmock_a.so", "", "opened"), "true");
        assert_eq!(ended("open", "/nowhere/at/all.so", "", "opened"), "false");
        let negotiation = "vk_icdNegotiateLoaderICDInterfaceVersion";
        assert_eq!(ended("driver", negotiation, "libmock_a.so", "agreed"), "true");
        assert_eq!(ended("driver", negotiation, "libmock_refuses.so", "agreed"), "false");
        for function in [
            "vkEnumerateInstanceExtensionProperties",
            "vkCreateInstance",
            "vkEnumeratePhysicalDevices",
            "vkEnumeratePhysicalDeviceGroups",
            "vkEnumerateDeviceExtensionProperties",
            "vkCreateDevice",
        ] {
            assert_eq!(ended("driver", function, "libmock_a.so", "result"), "0", "{function}");
        }
        assert_eq!(ended("driver", "vkCreateInstance", "libmock_fails.so", "result"), "-3");
        assert_eq!(
            ended("driver", "vkEnumeratePhysicalDevices", "libmock_a.so", "devices"),
            "2"
        );
        for function in ["vkCreateInstance", "vkCreateDevice"] {
            assert_eq!(ended("chain", function, "", "result"), "0", "{function}");
        }
    });
}

/// The trace contains the process, the searched folders, the drivers' extensions, and the kinds of messages.
#[test]
fn trace_tells_where_it_looked_and_what_it_is() {
    case(|scene| {
        scene.driver("a").api("1.1").device("one").extension("VK_KHR_surface");
        let folder = scene.text_path("xdg/data-home/vulkan/explicit_layer.d");
        scene.file("xdg/data-home/vulkan/explicit_layer.d/broken.json", "{");
        let trace = scene.path("trace");
        scene.env("VK_LOADER_TRACE", &trace);
        let outcome = scene.run(|vk| {
            assert!(vk.layers().is_ok());
            drop(vk.instance_with("1.1", &[]));
        });
        outcome.ok();
        let records = records(&trace);
        assert_eq!(
            (&records[0]["elevated"], &records[0]["word-size"]),
            (&false.into(), &usize::BITS.into())
        );
        assert!(records[0]["executable"].is_string() && records[0]["version"].is_string());
        let searched = named(&records, "searched", "folder", &folder);
        assert_eq!(
            (&searched[0]["for"], &searched[0]["manifests"], &searched[0]["source"]),
            (
                &"explicit layer".into(),
                &1.into(),
                &serde_json::json!({"kind": "variable", "variable": "XDG_DATA_HOME"})
            )
        );
        let offers = named(&records, "offers", "library", "libmock_a.so");
        assert_eq!(offers[0]["extensions"][0]["name"], "VK_KHR_surface");
        assert!(offers[0]["interface-version"].is_u64() && offers[0]["extensions"][0]["version"].is_u64());
        let driver = named(&records, "driver", "library", "libmock_a.so");
        assert_eq!(driver[0]["source"]["variable"], "VK_DRIVER_FILES");
        assert_eq!(
            (&driver[0]["api-version"], &driver[0]["extensions"]),
            (&"1.1.0".into(), &1.into())
        );
        assert!(driver[0]["interface-version"].is_u64());
        let found = named(&records, "message", "text", "Found ICD manifest file");
        assert_eq!(found[0]["kinds"], serde_json::json!([{"kind": "DRIVER"}]));
        let broken = named(&records, "decision", "name", "broken.json");
        assert_eq!(broken[0]["kinds"], serde_json::json!([{"kind": "ERROR"}]));
    });
}

/// The trace contains the rule that ordered devices: the chosen device, the type, or only the drivers' order.
#[test]
fn trace_tells_what_ordered_devices() {
    case(|scene| {
        scene
            .driver("a")
            .device_with("processor", |device| device.kind(4).ids(1, 2))
            .device_with("card", |device| device.kind(2).ids(3, 4))
            .device_with("other", |device| device.kind(2).ids(3, 4));
        let rules = |scene: &mut Scene, select: &str| -> Vec<String> {
            let trace = scene.path(&format!("trace {}", select.len()));
            scene
                .env("VK_LOADER_DEVICE_SELECT", select)
                .env("VK_LOADER_TRACE", &trace);
            scene.run(|vk| drop(vk.instance_with("1.1", &[]).device_names())).ok();
            let records = records(&trace);
            let rule = |device: &Value| {
                format!(
                    "{} {}",
                    device["name"].as_str().unwrap_or(""),
                    device["rule"].as_str().unwrap_or("")
                )
            };
            of(&records, "device").map(rule).collect()
        };
        let unchosen = rules(scene, "");
        assert!(
            unchosen.ends_with(&["card reported".into(), "other type".into(), "processor type".into()]),
            "{unchosen:?}"
        );
        let chosen = rules(scene, "0x1:0x2");
        assert!(
            chosen.ends_with(&[
                "processor selected".into(),
                "card reported".into(),
                "other reported".into()
            ]),
            "{chosen:?}"
        );
        const WORDS: &str = "3:4,1:2";
        scene.env("VK_LOADER_VISIBLE_DEVICES", WORDS);
        let by_variable = rules(scene, " ");
        assert!(
            by_variable.ends_with(&[
                "card reported".into(),
                "other visible".into(),
                "processor visible".into()
            ]),
            "{by_variable:?}"
        );
        scene.file(
            "xdg/config-home/vulkan/loader_settings.d/vk_loader_settings.json",
            r#"{"file_format_version": "1.0.0", "settings": {"visible_devices": ["1:2", "3:4"]}}"#,
        );
        let by_file = rules(scene, "  ");
        assert!(
            by_file.ends_with(&[
                "processor visible-in-file".into(),
                "card reported".into(),
                "other reported".into()
            ]),
            "{by_file:?}"
        );
    });
}

/// `VK_LOADER_DEVICE_SELECT` accepts PCI addresses, UUIDs, types, drivers and names, in order of preference. An invalid word causes one
/// warning and is ignored.
#[test]
fn select_by_place_uuid_type_driver_and_name() {
    case(|scene| {
        scene
            .driver("first")
            .device_with("plain", |device| device.api("1.2"))
            .device_with("placed", |device| {
                device.api("1.2").extension("VK_EXT_pci_bus_info").pci(1, 0x65, 0, 3)
            })
            .device_with("marked", |device| device.api("1.2").uuids(0xAB, 1));
        scene
            .driver("second")
            .device_with("processor", |device| device.kind(4).api("1.2"));
        let uuid = "uuid:".to_owned() + &"ab".repeat(16);
        for (select, first) in [
            ("", "placed"),
            ("pci:1:65:0.3", "placed"),
            ("name:PLA*,pci:1:65:0.3", "plain"),
            (uuid.as_str(), "marked"),
            ("type:cpu", "processor"),
            ("driver:MOCK_SECOND", "processor"),
            ("type:virtual,fastest,name:*ark*", "marked"),
        ] {
            scene.env("VK_LOADER_DEVICE_SELECT", select);
            let outcome = scene.run(|vk| assert_eq!(vk.instance_with("1.1", &[]).device_names()[0], first));
            outcome.ok();
            let warned = outcome
                .log("WARNING | DRIVER")
                .iter()
                .any(|line| line.contains("'fastest' is no way"));
            assert_eq!(warned, select.contains("fastest"), "{select}");
        }
    });
}

/// If an implicit layer is not active, the trace names the variable that would make it active.
#[test]
fn trace_tells_which_implicit_layer_waits_for_what() {
    case(|scene| {
        scene.driver("a").device("one");
        let layer = |name: &str, more: &str| {
            format!(
                r#"{{"file_format_version": "1.2.0", "layer": {{"name": "{name}", "type": "GLOBAL", "library_path": "./none.so", "api_version": "1.1.0",
                "implementation_version": "1", "description": "", "disable_environment": {{"OFF_{name}": "1"}}{more}}}}}"#
            )
        };
        let folder = "xdg/data-home/vulkan/implicit_layer.d";
        scene.file(&format!("{folder}/off.json"), layer("VK_LAYER_off", ""));
        scene.file(
            &format!("{folder}/waits.json"),
            layer("VK_LAYER_waits", r#", "enable_environment": {"ON": "1"}"#),
        );
        let trace = scene.path("trace");
        scene.env("VK_LOADER_TRACE", &trace).env("OFF_VK_LAYER_off", "1");
        scene.run(|vk| drop(vk.instance())).ok();
        let records = records(&trace);
        for (name, code, variable) in [
            ("VK_LAYER_off", "layer.switched-off", "OFF_VK_LAYER_off"),
            ("VK_LAYER_waits", "layer.not-switched-on", "ON"),
        ] {
            let found = named(&records, "layer", "name", name);
            assert_eq!(
                (&found[0]["code"], &found[0]["variable"]),
                (&code.into(), &variable.into())
            );
        }
        let chains: Vec<_> = of(&records, "chain").collect();
        assert_eq!(chains[0]["layers"], Value::Array(Vec::new()));
    });
}
