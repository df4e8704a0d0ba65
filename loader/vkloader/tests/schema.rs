//! Tests that validate real traces and reports against the schemas in `docs`.

mod machine;
mod validated;

use machine::library;
use machine::{Machine, vkloader};
use serde_json::{Value, json};
use validated::Schema;

/// Validates every record in the trace of a probe. Returns the kinds of events.
fn events(machine: &mut Machine) -> Vec<String> {
    let trace = machine.path("trace");
    machine.variable("VK_LOADER_TRACE", trace.to_str().expect("plain"));
    machine.run(&["probe", library().to_str().expect("plain")]);
    let schema = Schema::read("docs/trace.schema.json");
    let text = std::fs::read_to_string(&trace).expect("a trace");
    let mut found: Vec<String> = Vec::new();
    for line in text.lines() {
        let record: Value = serde_json::from_str(line).expect("a line is JSON");
        if let Err(error) = schema.validate(&record) {
            panic!("{line}\n{error}");
        }
        found.push(record["event"].as_str().expect("an event").into());
    }
    found.sort_unstable();
    found.dedup();
    found
}

#[test]
fn every_kind_of_record_is_as_the_schema_says() {
    let mut machine = Machine::new();
    machine.driver("good", "device one\ndevice two");
    machine.driver("empty", "");
    machine.driver("unwanted", "device three");
    machine.variable("VK_LOADER_DRIVERS_DISABLE", "nothing,*WANTED*");
    machine.manifest("gone", "/nowhere/libgone.so".as_ref(), "");
    machine.manifest("other", "/nowhere/lib.so".as_ref(), r#", "library_arch": "16""#);
    machine.file("data/vulkan/icd.d/broken.json", "{");
    machine.layer("gone");
    machine.layer("off");
    machine.layer("last");
    machine.variable("VK_LOADER_LAYERS_ORDER", "VK_LAYER_last>VK_LAYER_gone");
    machine.variable("OFF_off", "1");
    let caches = machine.path("cache").display().to_string();
    machine.variable("XDG_CACHE_HOME", caches);
    machine.variable("VK_LOADER_CATALOGUE", "on");
    let library = library();
    let library = library.to_str().expect("plain");
    assert!(
        machine
            .run(&["catalogue", "update", "--user", "--library", library])
            .status
            .success()
    );
    let all = [
        "begin",
        "catalogue",
        "chain",
        "decision",
        "device",
        "driver",
        "end",
        "layer",
        "loaded",
        "message",
        "offers",
        "order",
        "searched",
    ];
    assert_eq!(events(&mut machine), all);
}

#[test]
fn the_schema_refuses_what_is_no_record() {
    let schema = Schema::read("docs/trace.schema.json");
    for wrong in [
        r#"{"event": "driver"}"#,
        r#"{"event": "message", "time": 1, "process": 1, "thread": "1", "text": "x"}"#,
        r#"{"event": "decision", "time": 1, "process": 1, "thread": "1", "subject": "layer", "name": "", "source": {"kind": "build"}, "verdict": "dropped"}"#,
    ] {
        let record: Value = serde_json::from_str(wrong).expect("JSON");
        assert!(schema.validate(&record).is_err(), "{wrong}");
    }
}

#[test]
fn reports_are_as_their_schema_says() {
    let schema = Schema::read("docs/explain.schema.json");
    let check = |machine: &Machine| {
        let report = machine.explain().report;
        assert_eq!(report["schema"], 1);
        if let Err(error) = schema.validate(&report) {
            panic!("{report:#}\n{error}");
        }
    };
    check(&Machine::new());
    let mut machine = Machine::new();
    machine.driver(
        "good",
        "run vkCreateInstance echo words >&2\ndevice one\ndevice.uuid 1\ndevice two\ndevice.vendor 7",
    );
    machine.driver("empty", "");
    machine.driver("bad", "fail vkCreateInstance -3");
    machine.manifest("gone", "/nowhere/libgone.so".as_ref(), "");
    machine.layer("gone");
    machine.working_layer("implicit", "drops", "devices drop-first", "");
    machine.working_layer("explicit", "idle", "", "");
    check(&machine);
    machine.variable("VK_LOADER_VENDOR_ID_FILTER", "9");
    machine.variable("VK_LOADER_LAYERS_ENABLE", "*idle*");
    check(&machine);
    let machine = Machine::new();
    machine.driver("crash", "crash vkCreateInstance");
    check(&machine);
    // The report about a supervised program has the same format.
    let library = library();
    let library = library.to_str().expect("plain");
    let program = [vkloader(), "probe", library];
    let output = machine.run(&[&["explain", "--json", "--"], &program[..]].concat());
    let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
    if let Err(error) = schema.validate(&report) {
        panic!("{report:#}\n{error}");
    }
    assert_eq!(report["crash"]["culprit"], "driver", "{report:#}");
}

#[test]
fn a_chain_of_layers_is_as_its_schema_says() {
    let schema = Schema::read("docs/layers.schema.json");
    let mut machine = Machine::new();
    machine.driver("good", "device one");
    let library = library();
    let words = ["layers", "--json", "--library", library.to_str().expect("plain")];
    let chain = |machine: &Machine| -> Value {
        let output = machine.run(&words);
        let chain = serde_json::from_slice(&output.stdout).expect("JSON");
        if let Err(error) = schema.validate(&chain) {
            panic!("{chain:#}\n{error}");
        }
        chain
    };
    assert_eq!(chain(&machine)["layers"], Value::Array(Vec::new()));
    let (overlay, effects) = ("VK_LAYER_MANGOHUD_overlay", "VK_LAYER_VKBASALT_post_processing");
    machine.working_layer("implicit", "MANGOHUD_overlay", "", "");
    machine.working_layer("implicit", "VKBASALT_post_processing", "", "");
    let warned = chain(&machine);
    assert_eq!(warned["layers"][0]["name"], overlay, "{warned:#}");
    assert_eq!(warned["warnings"][0]["above"], overlay, "{warned:#}");
    let order = warned["order"].as_str().expect("a remedy").to_owned();
    assert_eq!(order, format!("{effects}>{overlay}"));
    machine.variable("VK_LOADER_LAYERS_ORDER", order);
    let sorted = chain(&machine);
    assert_eq!(sorted["warnings"], Value::Array(Vec::new()), "{sorted:#}");
    assert_eq!(sorted["layers"][0]["name"], effects, "{sorted:#}");
    let mut wrong = sorted;
    wrong["layers"][0]["enabled_by"] = "magic".into();
    assert!(schema.validate(&wrong).is_err());
}

/// Returns the complete settings file in `docs/settings.md`, which is the last example of the page.
fn settings() -> Value {
    let file = format!("{}/../../docs/settings.md", env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(file).expect("the page is there");
    let example = page
        .rsplit("```json\n")
        .next()
        .and_then(|rest| rest.split("```").next());
    serde_json::from_str(example.expect("the page has an example")).expect("JSON")
}

#[test]
fn the_settings_file_of_the_guide_is_as_its_schema_says() {
    let schema = Schema::read("docs/settings.schema.json");
    let file = settings();
    if let Err(error) = schema.validate(&file) {
        panic!("{error}");
    }
    for wrong in [
        "/settings_array/1/layers/0/path",
        "/settings_array/1/device_configurations/0/deviceUUID/0",
    ] {
        let mut file = file.clone();
        *file.pointer_mut(wrong).expect("a member") = Value::Bool(true);
        assert!(schema.validate(&file).is_err(), "{wrong}");
    }
}

#[test]
fn each_keyword_of_a_schema_accepts_and_refuses() {
    for (schema, good, wrong) in [
        (json!({"items": false}), json!([]), json!([1])),
        (json!({"type": "null"}), json!(null), json!(0)),
        (json!({"type": "boolean"}), json!(true), json!("true")),
        (json!({"type": "string"}), json!(""), json!([])),
        (json!({"type": "array"}), json!([]), json!({})),
        (json!({"type": "object"}), json!({}), json!([])),
        (json!({"type": "number"}), json!(1.5), json!("1.5")),
        (json!({"type": "integer"}), json!(1.0), json!(1.5)),
        (json!({"type": ["null", "integer"]}), json!(-1), json!("")),
        (json!({"const": "a"}), json!("a"), json!("b")),
        (json!({"enum": ["a", 1]}), json!(1), json!("b")),
        (
            json!({"required": ["a", "b"]}),
            json!({"a": 1, "b": 1, "c": 1}),
            json!({"b": 1}),
        ),
        (
            json!({"properties": {"a": {"type": "null"}}}),
            json!({"b": 1}),
            json!({"a": 1}),
        ),
        (
            json!({"properties": {"a": true}, "additionalProperties": {"const": 1}}),
            json!({"a": 2, "b": 1}),
            json!({"a": 2, "b": 2}),
        ),
        (json!({"minProperties": 1}), json!({"a": 1}), json!({})),
        (json!({"items": {"minimum": 2}}), json!([2, 3]), json!([2, 1])),
        (json!({"minItems": 1}), json!([1]), json!([])),
        (json!({"maxItems": 1}), json!([1]), json!([1, 2])),
        (json!({"minLength": 2}), json!("\u{e4}b"), json!("\u{e4}")),
        (json!({"maxLength": 1}), json!("\u{e4}"), json!("ab")),
        (json!({"minimum": 1}), json!(1), json!(0)),
        (json!({"maximum": 1}), json!(1), json!(2)),
        (json!({"pattern": "^[a-c]{2}$"}), json!("ab"), json!("abc")),
        (json!({"pattern": "b"}), json!("abc"), json!("ac")),
        (json!({"not": {"const": 1}}), json!(2), json!(1)),
        (json!({"allOf": [{"minimum": 1}, {"maximum": 2}]}), json!(2), json!(3)),
        (json!({"anyOf": [{"const": 1}, {"const": 2}]}), json!(2), json!(3)),
        (
            json!({"if": {"minimum": 5}, "then": {"maximum": 6}}),
            json!(4),
            json!(7),
        ),
        (
            json!({"$ref": "#/$defs/a", "$defs": {"a": {"const": 1}}}),
            json!(1),
            json!(2),
        ),
    ] {
        let told = schema.to_string();
        let schema = Schema::new(schema);
        assert_eq!(schema.validate(&good), Ok(()), "{told}");
        assert!(schema.validate(&wrong).is_err(), "{told}");
    }
    for wrong in [
        json!({"properties": {"a": {"oneOf": []}}}),
        json!({"type": "text"}),
        json!({"pattern": "["}),
        json!({"$ref": "#/$defs/a"}),
    ] {
        let told = wrong.to_string();
        assert!(std::panic::catch_unwind(|| Schema::new(wrong)).is_err(), "{told}");
    }
}

#[test]
fn the_schema_has_every_reason_to_open_a_driver_at_once() {
    let schema = Schema::read("docs/trace.schema.json");
    for (_, word, _) in catalogue::Opening::ALL {
        let record = json!({
            "event": "catalogue", "time": 1, "process": 1, "thread": "1", "library": "", "use": "none", "opened": word, "name": "",
        });
        assert_eq!(schema.validate(&record), Ok(()), "{word}");
    }
    let wrong = json!({"event": "catalogue", "time": 1, "process": 1, "thread": "1", "library": "", "use": "none", "opened": "x"});
    assert!(schema.validate(&wrong).is_err());
}
