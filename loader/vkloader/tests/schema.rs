//! Validates real traces and reports against the schemas in `docs`.

mod machine;

use boon::{Compiler, SchemaIndex, Schemas};
use machine::Machine;
use machine::library;
use serde_json::Value;

/// Compiles a schema of the documentation.
fn schema(name: &str) -> (Schemas, SchemaIndex) {
    let file = format!("{}/../../docs/{name}", env!("CARGO_MANIFEST_DIR"));
    let schema: Value = serde_json::from_slice(&std::fs::read(file).expect("the schema is there")).expect("JSON");
    let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
    compiler.add_resource(name, schema).expect("a schema");
    let compiled = compiler.compile(name, &mut schemas).expect("a valid schema");
    (schemas, compiled)
}

/// Validates every record of a run of the probe, and returns the kinds of events.
fn events(machine: &mut Machine) -> Vec<String> {
    let trace = machine.path("trace");
    machine.variable("VK_LOADER_TRACE", trace.to_str().expect("plain"));
    machine.run(&["probe", library().to_str().expect("plain")]);
    let (schemas, compiled) = schema("trace.schema.json");
    let text = std::fs::read_to_string(&trace).expect("a trace");
    let mut found: Vec<String> = Vec::new();
    for line in text.lines() {
        let record: Value = serde_json::from_str(line).expect("a line is JSON");
        if let Err(error) = schemas.validate(&record, compiled) {
            panic!("{line}\n{error:#}");
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
    let (schemas, compiled) = schema("trace.schema.json");
    for wrong in [
        r#"{"event": "driver"}"#,
        r#"{"event": "message", "time": 1, "process": 1, "thread": "1", "text": "x"}"#,
        r#"{"event": "decision", "time": 1, "process": 1, "thread": "1", "subject": "layer", "name": "", "source": {"kind": "build"}, "verdict": "dropped"}"#,
    ] {
        let record: Value = serde_json::from_str(wrong).expect("JSON");
        assert!(schemas.validate(&record, compiled).is_err(), "{wrong}");
    }
}

#[test]
fn reports_are_as_their_schema_says() {
    let (schemas, compiled) = schema("explain.schema.json");
    let check = |machine: &Machine| {
        let report = machine.explain().report;
        assert_eq!(report["schema"], 1);
        if let Err(error) = schemas.validate(&report, compiled) {
            panic!("{report:#}\n{error:#}");
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
    // The report on a supervised program has the same form.
    let library = library();
    let library = library.to_str().expect("plain");
    let program = [env!("CARGO_BIN_EXE_vkloader"), "probe", library];
    let output = machine.run(&[&["explain", "--json", "--"], &program[..]].concat());
    let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
    if let Err(error) = schemas.validate(&report, compiled) {
        panic!("{report:#}\n{error:#}");
    }
    assert_eq!(report["crash"]["culprit"], "driver", "{report:#}");
}

#[test]
fn a_chain_of_layers_is_as_its_schema_says() {
    let (schemas, compiled) = schema("layers.schema.json");
    let mut machine = Machine::new();
    machine.driver("good", "device one");
    let library = library();
    let words = ["layers", "--json", "--library", library.to_str().expect("plain")];
    let chain = |machine: &Machine| -> Value {
        let output = machine.run(&words);
        let chain = serde_json::from_slice(&output.stdout).expect("JSON");
        if let Err(error) = schemas.validate(&chain, compiled) {
            panic!("{chain:#}\n{error:#}");
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
    assert!(schemas.validate(&wrong, compiled).is_err());
}

/// Returns the settings file that `docs/settings.md` shows.
fn settings() -> Value {
    let file = format!("{}/../../docs/settings.md", env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(file).expect("the page is there");
    let example = page.split("```json\n").nth(1).and_then(|rest| rest.split("```").next());
    serde_json::from_str(example.expect("the page has an example")).expect("JSON")
}

#[test]
fn the_settings_file_of_the_guide_is_as_its_schema_says() {
    let (schemas, compiled) = schema("settings.schema.json");
    let file = settings();
    if let Err(error) = schemas.validate(&file, compiled) {
        panic!("{error:#}");
    }
    for wrong in [
        "/settings_array/1/layers/0/path",
        "/settings_array/1/device_configurations/0/deviceUUID/0",
    ] {
        let mut file = file.clone();
        *file.pointer_mut(wrong).expect("a member") = Value::Bool(true);
        assert!(schemas.validate(&file, compiled).is_err(), "{wrong}");
    }
}
