//! Tests of the log of the layers between the application and the drivers (LAY-260 to LAY-263).

use loader_tests::{Outcome, Scene, case, log_column};
use serde_json::{Value, json};

use crate::kit::{Layer, place};

/// Returns the lines of a call stack, from its header to its last line.
fn stack<'o>(outcome: &'o Outcome, header: &str, last: &str) -> Vec<&'o str> {
    let column = log_column();
    let texts: Vec<&str> = outcome.stderr.lines().filter_map(|line| line.get(column..)).collect();
    let begin = texts.iter().position(|text| *text == header);
    let begin = begin.unwrap_or_else(|| panic!("no `{header}`\n{}", outcome.all()));
    let length = texts[begin..].iter().position(|text| text.trim() == last);
    texts[begin..=begin + length.unwrap_or_else(|| panic!("no `{last}`\n{}", outcome.all()))].to_vec()
}

/// Returns the expected lines for a layer of the call stack.
fn block(scene: &Scene, short: &str, kind: &str, by: &str, more: &[&str]) -> Vec<String> {
    let folder = if kind == "Implicit" { "implicit" } else { "explicit" };
    let mut lines = vec![
        format!("   VK_LAYER_{short}"),
        format!("           Type: {kind}"),
        format!("           Enabled By: {by}"),
    ];
    lines.extend(more.iter().map(|line| format!("               {line}")));
    lines.push(format!(
        "           Manifest: {}",
        scene.text_path(&format!("layers/{short}/vulkan/{folder}_layer.d/{short}.json"))
    ));
    lines.push(format!(
        "           Library:  {}",
        scene.text_path(&format!("libraries/liblayer_{short}.so"))
    ));
    lines.push("     ||".into());
    lines
}

/// LAY-260, LAY-261, LAY-262, LAY-134, APP-101: the log contains the call stack of an instance.
#[test]
fn lay_260_the_call_stack_of_an_instance_is_told() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::implicit("plain"),
                Layer::implicit("switched").enabled_by("SWITCH", "on please"),
                Layer::explicit("variable"),
                Layer::explicit("filter"),
                Layer::explicit("application"),
            ],
        );
        scene
            .env("SWITCH", "on please")
            .env("VK_INSTANCE_LAYERS", "VK_LAYER_variable");
        scene.env("VK_LOADER_LAYERS_ENABLE", "*filter");
        let outcome = scene.run(|vk| {
            drop(
                vk.spec()
                    .layer("VK_LAYER_application")
                    .create()
                    .expect("vkCreateInstance"),
            )
        });
        let mut expected: Vec<String> = [
            "vkCreateInstance layer callstack setup to:",
            "   <Application>",
            "     ||",
            "   <Loader>",
            "     ||",
        ]
        .map(String::from)
        .into();
        let switched = [
            "Disable Env Var:  DISABLE_switched",
            "This layer was enabled because Env Var SWITCH was set to Value on please",
        ];
        expected.extend(block(
            scene,
            "plain",
            "Implicit",
            "Implicit Layer",
            &["Disable Env Var:  DISABLE_plain"],
        ));
        expected.extend(block(scene, "switched", "Implicit", "Implicit Layer", &switched));
        expected.extend(block(
            scene,
            "variable",
            "Explicit",
            "Environment Variable VK_INSTANCE_LAYERS",
            &[],
        ));
        expected.extend(block(
            scene,
            "filter",
            "Explicit",
            "Environment Variable VK_LOADER_LAYERS_ENABLE",
            &[],
        ));
        expected.extend(block(scene, "application", "Explicit", "By the Application", &[]));
        expected.push("   <Drivers>".into());
        outcome.ok();
        let have = stack(&outcome, "vkCreateInstance layer callstack setup to:", "<Drivers>");
        assert_eq!(have, expected, "{}", outcome.all());
    });
}

/// LAY-260: the trace lists the layers of the call stack, each with the reason why it is active.
#[test]
fn lay_260_the_chain_is_in_the_trace() {
    case(|scene| {
        place(
            scene,
            &[
                Layer::implicit("plain"),
                Layer::explicit("variable"),
                Layer::explicit("filter"),
                Layer::explicit("application"),
            ],
        );
        let trace = scene.path("trace");
        scene
            .env("VK_LOADER_TRACE", &trace)
            .env("VK_INSTANCE_LAYERS", "VK_LAYER_variable")
            .env("VK_LOADER_LAYERS_ENABLE", "*filter");
        let outcome = scene.run(|vk| {
            let spec = vk.spec().layer("VK_LAYER_application");
            let instance = spec.create().expect("vkCreateInstance");
            drop(instance.device(instance.first(), &[]));
        });
        outcome.ok();
        let text = std::fs::read_to_string(&trace).expect("a trace");
        let records = text
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        let chains: Vec<Value> = records.filter(|record| record["event"] == "chain").collect();
        let calls: Vec<_> = chains.iter().map(|chain| chain["call"].clone()).collect();
        assert_eq!(calls, ["vkCreateInstance", "vkCreateDevice"]);
        let layer = |short: &str, implicit: bool, by: &str| {
            let kind = if implicit { "implicit" } else { "explicit" };
            let manifest = format!("layers/{short}/vulkan/{kind}_layer.d/{short}.json");
            json!({
                "name": format!("VK_LAYER_{short}"),
                "implicit": implicit,
                "enabled-by": by,
                "manifest": scene.text_path(&manifest),
                "library": scene.text_path(&format!("libraries/liblayer_{short}.so")),
            })
        };
        let expected = json!([
            layer("plain", true, "implicit"),
            layer("variable", false, "VK_INSTANCE_LAYERS"),
            layer("filter", false, "VK_LOADER_LAYERS_ENABLE"),
            layer("application", false, "application"),
        ]);
        for chain in &chains {
            assert_eq!(chain["layers"], expected, "{}", chain["call"]);
        }
    });
}

/// LAY-260: without layers, the logged call stack lists only the application, the loader and the drivers.
#[test]
fn lay_260_without_layers_the_call_stack_is_empty() {
    case(|scene| {
        place(scene, &[]);
        let outcome = scene.run(|vk| drop(vk.instance()));
        outcome.ok();
        let have = stack(&outcome, "vkCreateInstance layer callstack setup to:", "<Drivers>");
        assert_eq!(
            have[1..],
            ["   <Application>", "     ||", "   <Loader>", "     ||", "   <Drivers>"]
        );
    });
}

/// LAY-262: the logged call stack marks components of a meta-layer.
#[test]
fn lay_262_components_are_told_as_such() {
    case(|scene| {
        place(scene, &[Layer::explicit("a"), Layer::meta("m", &["VK_LAYER_a"])]);
        let outcome = scene.run(|vk| drop(vk.spec().layer("VK_LAYER_m").create().expect("vkCreateInstance")));
        outcome.ok();
        let have = stack(&outcome, "vkCreateInstance layer callstack setup to:", "<Drivers>");
        assert!(
            have.contains(&"           Enabled By: Meta Layer (Vulkan Configurator)"),
            "{have:?}"
        );
        assert!(!have.contains(&"   VK_LAYER_m"), "{have:?}");
    });
}

/// LAY-263: the log contains the call stack of each device.
#[test]
fn lay_263_the_call_stack_of_a_device_is_told() {
    case(|scene| {
        place(
            scene,
            &[Layer::implicit("i").enabled_by("SWITCH", "1"), Layer::explicit("a")],
        );
        scene.env("SWITCH", "1");
        let outcome = scene.run(|vk| {
            let instance = vk.spec().layer("VK_LAYER_a").create().expect("vkCreateInstance");
            drop(instance.device(instance.first(), &[]));
        });
        outcome.ok();
        let mut expected: Vec<String> = [
            "vkCreateDevice layer callstack setup to:",
            "   <Application>",
            "     ||",
            "   <Loader>",
            "     ||",
        ]
        .map(String::from)
        .into();
        expected.extend(block(
            scene,
            "i",
            "Implicit",
            "Implicit Layer",
            &["Disable Env Var:  DISABLE_i"],
        ));
        expected.extend(block(scene, "a", "Explicit", "By the Application", &[]));
        expected.push("   <Device>".into());
        let have = stack(&outcome, "vkCreateDevice layer callstack setup to:", "<Device>");
        assert_eq!(have, expected, "{}", outcome.all());
        let driver = format!(
            "       Using \"gpu-driver\" with driver: \"{}\"",
            scene.library("driver").display()
        );
        assert!(
            outcome.stderr.lines().any(|line| line.ends_with(&driver)),
            "{}",
            outcome.all()
        );
    });
}

/// LAY-263: in the call stack of a device, the first and last lines also have the category of drivers, but the lines of layers do not.
#[test]
fn lay_263_layer_lines_of_a_device_s_call_stack_are_of_layers_alone() {
    case(|scene| {
        place(scene, &[Layer::explicit("a")]);
        scene.env("VK_LOADER_DEBUG", "driver");
        let outcome = scene.run(|vk| {
            let instance = vk.spec().layer("VK_LAYER_a").create().expect("vkCreateInstance");
            drop(instance.device(instance.first(), &[]));
        });
        outcome.ok();
        assert!(
            outcome.stderr.contains("vkCreateDevice layer callstack setup to:"),
            "{}",
            outcome.all()
        );
        assert!(outcome.stderr.contains("   <Device>"), "{}", outcome.all());
        outcome.not_logged("   VK_LAYER_a").not_logged("Library:  ");
        let frame = outcome.log("DRIVER").iter().filter(|line| **line == "     ||").count();
        assert_eq!(frame, 2, "what is behind a layer belongs to it: {}", outcome.all());
    });
}
