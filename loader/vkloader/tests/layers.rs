//! Tests of the order of layers in the output of `vkloader layers` and `vkloader explain`.

mod machine;

use machine::{Machine, library};

const OVERLAY: &str = "VK_LAYER_MANGOHUD_overlay";
const EFFECTS: &str = "VK_LAYER_VKBASALT_post_processing";

/// Returns a machine with a driver and the implicit layers in `names`.
fn with_layers(names: &[&str]) -> Machine {
    let machine = Machine::new();
    machine.driver("good", "device one");
    for name in names {
        let short = name.strip_prefix("VK_LAYER_").expect("a usual name");
        machine.working_layer("implicit", short, "", "");
    }
    machine
}

/// Returns the output and exit status of `vkloader layers`.
fn layers(machine: &Machine, words: &[&str]) -> (String, i32) {
    let library = library();
    let mut all = vec!["layers", "--library", library.to_str().expect("plain")];
    all.extend(words);
    let output = machine.run(&all);
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (text, output.status.code().expect("it ends by itself"))
}

/// Checks that the text contains the parts in `parts`, in the same order.
#[track_caller]
fn assert_in_order(text: &str, parts: &[&str]) {
    let places: Vec<_> = parts.iter().map(|part| text.find(part)).collect();
    assert!(
        places.is_sorted() && places.iter().all(Option::is_some),
        "{parts:?} {text}"
    );
}

#[test]
fn the_chain_is_shown_from_the_program_to_the_drivers() {
    let mut machine = with_layers(&["VK_LAYER_a", "VK_LAYER_b"]);
    machine.working_layer("explicit", "asked", "", "");
    let (text, code) = layers(&machine, &["--layer", "VK_LAYER_asked"]);
    assert_eq!(code, 0, "{text}");
    let implicit = "it is implicit, and nothing switches it off";
    assert_in_order(
        &text,
        &[
            "Program",
            "VK_LAYER_a",
            implicit,
            "VK_LAYER_b",
            "VK_LAYER_asked",
            "the program",
            "Drivers",
        ],
    );
    assert!(!text.contains("order "), "{text}");
    machine.variable("VK_LOADER_LAYERS_ORDER", "VK_LAYER_b>VK_LAYER_a");
    let (text, _) = layers(&machine, &[]);
    let order = "below VK_LAYER_b: the variable VK_LOADER_LAYERS_ORDER";
    assert_in_order(&text, &["  VK_LAYER_b\n", "  VK_LAYER_a\n", order, "Drivers"]);
}

#[test]
fn a_bad_order_is_a_warning_with_a_remedy_that_works() {
    let mut machine = with_layers(&[OVERLAY, EFFECTS]);
    let (text, code) = layers(&machine, &[]);
    assert_eq!(code, 0, "{text}");
    let (checked, code) = layers(&machine, &["--check"]);
    assert_eq!((code, &checked), (1, &text));
    let words: Vec<&str> = text.split_whitespace().collect();
    let reason = "The effects also change the text of the overlay.";
    assert!(words.join(" ").contains(reason), "{text}");
    let remedy = text.split("-> VK_LOADER_LAYERS_ORDER='").nth(1).expect("a remedy");
    let remedy = remedy.split('\'').next().expect("the end of a word");
    assert_eq!(remedy, format!("{EFFECTS}>{OVERLAY}"));
    machine.variable("VK_LOADER_LAYERS_ORDER", remedy);
    let (text, code) = layers(&machine, &["--check"]);
    assert_eq!(code, 0, "{text}");
    assert!(!text.contains("->"), "{text}");
}

#[test]
fn explain_names_the_declaration_that_moved_a_layer() {
    let machine = with_layers(&["VK_LAYER_a"]);
    let manifest = machine.working_layer("implicit", "b", "", r#", "order": {"above": ["VK_LAYER_a"]}"#);
    let report = machine.explain().report;
    let layers = report["layers"].as_array().expect("a list");
    let names: Vec<_> = layers.iter().map(|layer| layer["name"].as_str()).collect();
    assert_eq!(names, [Some("VK_LAYER_b"), Some("VK_LAYER_a")]);
    let says = format!("below VK_LAYER_b: the order in {} (VK_LAYER_a)", manifest.display());
    assert_eq!(layers[1]["order"], says.as_str());
    assert!(layers[0].get("order").is_none());
}

#[test]
fn without_an_instance_there_is_no_chain() {
    let machine = Machine::new();
    let (text, code) = layers(&machine, &[]);
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("no instance could be created"), "{text}");
}

/// One value of `VK_LOADER_LAYERS_ORDER` prevents all warnings, including warnings about the positions of layers that the value moves, and
/// keeps the order that the user declared.
#[test]
fn several_warnings_have_one_remedy() {
    let names = [
        "VK_LAYER_OBS_a",
        "VK_LAYER_LS_frame_generation",
        OVERLAY,
        EFFECTS,
        "VK_LAYER_LUNARG_api_dump",
    ];
    let mut machine = with_layers(&[&names[..], &["VK_LAYER_z", "VK_LAYER_y"]].concat());
    machine.variable(
        "VK_LOADER_LAYERS_ORDER",
        [&names[..], &["VK_LAYER_z", "VK_LAYER_y"]].concat().join(">"),
    );
    let (text, code) = layers(&machine, &["--check"]);
    assert_eq!(code, 1, "{text}");
    assert!(text.matches("! ").count() > 3, "{text}");
    assert_eq!(text.matches("-> ").count(), 1, "{text}");
    let remedy = text.split("-> VK_LOADER_LAYERS_ORDER='").nth(1).expect("a remedy");
    let remedy = remedy.split('\'').next().expect("the end of a word").to_owned();
    machine.variable("VK_LOADER_LAYERS_ORDER", remedy);
    let (text, code) = layers(&machine, &["--check"]);
    assert_eq!(code, 0, "{text}");
    assert_in_order(&text, &["VK_LAYER_z", "VK_LAYER_y"]);
}

/// The program's list of layers takes precedence over the variable.
#[test]
fn an_order_that_only_the_program_changes_has_no_remedy() {
    let machine = Machine::new();
    machine.driver("good", "device one");
    for name in [OVERLAY, EFFECTS] {
        machine.working_layer(
            "explicit",
            name.strip_prefix("VK_LAYER_").expect("a usual name"),
            "",
            "",
        );
    }
    let (text, code) = layers(&machine, &["--check", "--layer", OVERLAY, "--layer", EFFECTS]);
    assert_eq!(code, 1, "{text}");
    assert!(!text.contains("->"), "{text}");
    let words: Vec<&str> = text.split_whitespace().collect();
    assert!(words.join(" ").contains("only the order of its own list"), "{text}");
    let (text, code) = layers(&machine, &["--check", "--layer", EFFECTS, "--layer", OVERLAY]);
    assert_eq!(code, 0, "{text}");
}
