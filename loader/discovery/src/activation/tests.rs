//! Tests of the order of active layers, and of the reasons why they are active.

use super::*;
use crate::journal::testing::Lines;
use crate::settings::{Control, LayerEntry, Settings};
use crate::testing::{World, components, entry, settings};
use crate::time_limit::ends_in_time;

const WARN: LogBits = LogBits::WARN.with(LogBits::LAYER);
const ERROR: LogBits = LogBits::ERROR.with(LogBits::LAYER);

struct Active {
    app: Vec<String>,
    chain: Vec<String>,
    reasons: Vec<EnabledBy>,
    lines: Lines,
    activation: Activation,
    list: DiscoveredLayers,
}

fn activate_with(world: &World, settings: Option<&Settings>, application: &[&str]) -> Active {
    let list = world.scan_with(settings);
    let variables = world.variables();
    let environment = Environment::new(&variables);
    let application: Vec<&[u8]> = application.iter().map(|name| name.as_bytes()).collect();
    let request = Request {
        list: &list,
        environment: &environment,
        application: &application,
    };
    let lines = Lines::default();
    let activation = activate(&request, &Journal::new(&lines)).unwrap();
    let short = |layers: &[ChosenLayer]| {
        let names = layers.iter().map(|layer| list.layers[layer.index].name.to_string());
        names
            .map(|name| name.trim_start_matches("VK_LAYER_").to_owned())
            .collect()
    };
    Active {
        app: short(&activation.app),
        chain: short(&activation.chain),
        reasons: activation.app.iter().map(|layer| layer.enabled_by).collect(),
        lines,
        activation,
        list,
    }
}

fn activated(world: &World, application: &[&str]) -> Active {
    activate_with(world, None, application)
}

#[test]
fn lay_130_app_224_when_an_implicit_layer_is_active() {
    let on = r#","enable_environment":{"ON":"yes"}"#;
    // Columns: `true` if the layer has an enable variable, the variables that are set, the expected result.
    type Case<'a> = (bool, &'a [(&'a str, &'a str)], bool);
    let cases: &[Case<'_>] = &[
        (false, &[], true),
        (true, &[], false),
        (true, &[("ON", "yes")], true),
        (true, &[("ON", "YES")], false),
        (true, &[("ON", "yes ")], false),
        (false, &[("OFF_a", "")], false),
        (true, &[("ON", "yes"), ("OFF_a", "0")], false),
        (true, &[("VK_LOADER_LAYERS_ENABLE", "*_a")], true),
        (
            true,
            &[("VK_LOADER_LAYERS_ENABLE", "*_a"), ("VK_LOADER_LAYERS_DISABLE", "*")],
            true,
        ),
        (false, &[("VK_LOADER_LAYERS_ENABLE", "*_a"), ("OFF_a", "")], false),
    ];
    for (with_enable, variables, expected) in cases {
        let mut world = World::create();
        world.implicit("a", "VK_LAYER_a", if *with_enable { on } else { "" });
        for (name, value) in *variables {
            world.set(name, value);
        }
        let active = activated(&world, &[]);
        assert_eq!(active.app.len(), usize::from(*expected), "{variables:?}");
    }
    let mut world = World::create();
    world.implicit("a", "VK_LAYER_a", on);
    world.set("VK_LOADER_LAYERS_ENABLE", "*");
    let line = "Implicit layer \"VK_LAYER_a\" forced enabled due to env var 'VK_LOADER_LAYERS_ENABLE'.";
    assert!(activated(&world, &[]).lines.has(WARN, line));
}

#[test]
fn lay_130_the_override_layer_activates_its_components() {
    let mut world = World::create();
    world.implicit("a", "VK_LAYER_a", r#","enable_environment":{"ON":"yes"}"#);
    world.implicit("o", "VK_LAYER_LUNARG_override", &components(&["VK_LAYER_a"]));
    world.set("OFF_a", "");
    assert_eq!(activated(&world, &[]).app, ["a", "LUNARG_override"]);
    world.set("OFF_o", "");
    assert!(activated(&world, &[]).app.is_empty());
    world.unset("OFF_o");
    std::fs::remove_file(world.scratch.path("implicit/o.json").as_path()).unwrap();
    world.implicit("m", "VK_LAYER_m", &components(&["VK_LAYER_a"]));
    let active = activated(&world, &[]);
    assert_eq!(
        (active.app, active.chain.len()),
        (vec!["m".to_owned()], 0),
        "LAY-166, LAY-167"
    );
}

#[test]
fn lay_140_app_91_the_four_steps() {
    let mut world = World::create();
    for name in ["i1", "i2", "i3"] {
        world.implicit(name, &format!("VK_LAYER_{name}"), "");
    }
    for name in ["e1", "e2", "e3", "e4"] {
        world.explicit(name, &format!("VK_LAYER_{name}"), "");
    }
    world.set("OFF_i3", "");
    world.set(
        "VK_INSTANCE_LAYERS",
        "VK_LAYER_e4:VK_LAYER_i2:VK_LAYER_none::VK_LAYER_e4",
    );
    world.set("VK_LOADER_LAYERS_ENABLE", "*_e3,*_e4");
    let names = ["VK_LAYER_e2", "VK_LAYER_i3", "VK_LAYER_i1", "VK_LAYER_e2"];
    let active = activated(&world, &names);
    assert_eq!(active.app, ["i1", "e4", "i2", "e3", "e2", "i3"]);
    assert_eq!(active.chain, active.app);
    use EnabledBy::{Application, Implicit, InstanceLayers, LayersEnable};
    let reasons = [
        Implicit,
        InstanceLayers,
        InstanceLayers,
        LayersEnable,
        Application,
        Application,
    ];
    assert_eq!(active.reasons, reasons);
    let defined = "env var 'VK_INSTANCE_LAYERS' defined and adding layers \
                   \"VK_LAYER_e4:VK_LAYER_i2:VK_LAYER_none::VK_LAYER_e4\"";
    assert!(active.lines.has(WARN, defined));
    let missing = "Layer \"VK_LAYER_none\" was not found but was requested by env var VK_INSTANCE_LAYERS!";
    assert!(active.lines.has(ERROR, missing));
    assert!(active.lines.has(
        WARN,
        "Layer \"VK_LAYER_e3\" forced enabled due to env var 'VK_LOADER_LAYERS_ENABLE'"
    ));
}

#[test]
fn lay_126_lay_141_names_are_whole_elements_and_disabled_layers_are_not_found() {
    let mut world = World::create();
    world.implicit("a", "VK_LAYER_a", "");
    world.explicit("ab", "VK_LAYER_ab", "");
    world.set("VK_INSTANCE_LAYERS", "VK_LAYER_ab");
    assert_eq!(activated(&world, &[]).app, ["a", "ab"]);
    world.set("VK_LOADER_LAYERS_DISABLE", "*_ab");
    let active = activated(&world, &[]);
    assert_eq!(active.app, ["a"]);
    assert!(active.lines.has(ERROR, "Layer \"VK_LAYER_ab\" was not found"));
}

#[test]
fn lay_144_what_an_application_may_ask_for() {
    let world = World::create();
    world.explicit("e", "VK_LAYER_e", "");
    let list = world.scan();
    for (name, expected) in [("VK_LAYER_e", true), ("VK_LAYER_E", false), ("", false)] {
        assert_eq!(list.can_be_requested(name.as_bytes()), expected, "{name}");
    }
}

#[test]
fn lay_146_lay_160_lay_165_meta_layers_expand_in_place() {
    let mut world = World::create();
    for name in ["a", "b", "c"] {
        world.explicit(name, &format!("VK_LAYER_{name}"), "");
    }
    world.implicit(
        "m",
        "VK_LAYER_m",
        &components(&["VK_LAYER_b", "VK_LAYER_n", "VK_LAYER_b"]),
    );
    world.explicit("n", "VK_LAYER_n", &components(&["VK_LAYER_c", "VK_LAYER_a"]));
    world.implicit("z", "VK_LAYER_z", "");
    let active = activated(&world, &["VK_LAYER_a"]);
    assert_eq!(active.app, ["b", "c", "a", "n", "m", "z"]);
    assert_eq!(active.chain, ["b", "c", "a", "z"]);
    use EnabledBy::{Implicit, MetaLayer};
    assert_eq!(
        active.reasons,
        [MetaLayer, MetaLayer, MetaLayer, MetaLayer, Implicit, Implicit]
    );
    world.set("OFF_m", "");
    assert_eq!(activated(&world, &["VK_LAYER_n"]).app, ["z", "c", "a", "n"], "LAY-168");
}

#[test]
fn lay_166_a_component_that_a_filter_removed() {
    let mut world = World::create();
    world.explicit("a", "VK_LAYER_a", "");
    world.explicit("b", "VK_LAYER_b", "");
    world.explicit("m", "VK_LAYER_m", &components(&["VK_LAYER_a", "VK_LAYER_b"]));
    world.explicit("o", "VK_LAYER_o", &components(&["VK_LAYER_m"]));
    world.set("VK_LOADER_LAYERS_DISABLE", "*_a");
    let active = activated(&world, &["VK_LAYER_o", "VK_LAYER_m"]);
    assert_eq!(
        active.app,
        ["b", "o"],
        "only the meta-layer that lost a component is not active"
    );
    let line =
        "Failed to find layer name \"VK_LAYER_a\" component layer \"VK_LAYER_a\" to activate (Policy #LLP_LAYER_7)";
    assert!(active.lines.has(WARN, line));
    assert!(
        active.list.find(b"VK_LAYER_m").is_some(),
        "the meta-layer is still enumerated"
    );
}

struct Listed {
    world: World,
    entries: Vec<LayerEntry>,
}

impl Listed {
    fn new(layers: &[(Control, &str, &str)]) -> Self {
        let world = World::create();
        let written = layers.iter().map(|(control, file, more)| {
            let name = format!("VK_LAYER_{file}");
            let path = if file.starts_with('i') {
                world.implicit(file, &name, more)
            } else {
                world.explicit(file, &name, more)
            };
            entry(*control, &name, &path)
        });
        let entries = written.collect();
        Self { world, entries }
    }

    fn activated(&self, application: &[&str]) -> Active {
        activate_with(&self.world, Some(&settings(&self.entries)), application)
    }
}

#[test]
fn lay_154_lay_155_settings_order_and_reasons() {
    use Control::{Auto, Off, On};
    let layers = [
        (Auto, "e1", ""),
        (On, "e2", ""),
        (Off, "e3", ""),
        (Auto, "i1", ""),
        (Auto, "e4", ""),
        (On, "i2", ""),
    ];
    let mut listed = Listed::new(&layers);
    listed
        .world
        .set("OFF_i2", "")
        .set("VK_INSTANCE_LAYERS", "VK_LAYER_none:VK_LAYER_e3:VK_LAYER_e1");
    let active = listed.activated(&["VK_LAYER_e4"]);
    assert_eq!(active.app, ["e1", "e2", "i1", "e4", "i2"]);
    use EnabledBy::{Application, Implicit, InstanceLayers, LayersEnable, Settings};
    assert_eq!(
        active.reasons,
        [InstanceLayers, Settings, Implicit, Application, Settings]
    );
    let line = "env var 'VK_INSTANCE_LAYERS' defined and adding layers: VK_LAYER_none:VK_LAYER_e3:VK_LAYER_e1";
    assert_eq!(active.lines.take(), [(WARN, line.to_owned())], "LAY-154a");
    listed.world.set("VK_INSTANCE_LAYERS", "");
    let line = "env var 'VK_INSTANCE_LAYERS' defined and adding layers: ";
    assert_eq!(listed.activated(&[]).lines.take(), [(WARN, line.to_owned())]);
    assert!(active.list.is_off(b"VK_LAYER_e3") && !active.list.can_be_requested(b"VK_LAYER_e3"));
    listed
        .world
        .set("VK_LOADER_LAYERS_DISABLE", "~implicit~")
        .set("VK_LOADER_LAYERS_ENABLE", "*_e1");
    assert_eq!(
        listed.activated(&["VK_LAYER_e4"]).app,
        ["e2", "i2"],
        "with a settings file, the disable filter takes precedence over the enable filter"
    );
    listed.world.set("VK_LOADER_LAYERS_DISABLE", "~explicit~");
    let active = listed.activated(&["VK_LAYER_e4"]);
    assert_eq!(active.app, ["e1", "e2", "i1", "e4", "i2"]);
    assert_eq!(active.reasons[0], LayersEnable);
}

#[test]
fn lay_156_bi_35_recursive_meta_layers_are_cut() {
    ends_in_time(|| {
        let ring1 = components(&["VK_LAYER_e", "VK_LAYER_m2"]);
        let ring2 = components(&["VK_LAYER_m1", "VK_LAYER_m2"]);
        let listed = Listed::new(&[
            (Control::On, "m1", &ring1),
            (Control::Auto, "m2", &ring2),
            (Control::Auto, "e", ""),
        ]);
        let active = listed.activated(&[]);
        assert_eq!(active.app, ["e", "m2", "m1"]);
        for name in ["m1", "m2"] {
            let line = format!(
                "loader_add_meta_layer: Meta-layer VK_LAYER_{name} recursively references itself through its component \
                 layers. Skipping the recursive reference."
            );
            assert!(active.lines.has(WARN, &line), "{name}");
        }
    });
}

#[test]
fn lay_166_settings_keep_a_component_that_the_filter_hits() {
    let meta = components(&["VK_LAYER_e", "VK_LAYER_f"]);
    let mut listed = Listed::new(&[
        (Control::On, "m", &meta),
        (Control::Auto, "e", ""),
        (Control::Auto, "f", ""),
    ]);
    listed.world.set("VK_LOADER_LAYERS_DISABLE", "*_e");
    let active = listed.activated(&[]);
    assert_eq!(active.app, ["f", "m"]);
    assert!(active.lines.has(
        WARN,
        "Meta Layer \"VK_LAYER_m\" component layer \"VK_LAYER_e\" disabled."
    ));
}

#[test]
fn lay_157_app_253_equal_names_of_the_settings_stay_in_their_order() {
    let mut listed = Listed::new(&[(Control::On, "a", ""), (Control::On, "b", "")]);
    let other = listed.world.layer("other/a", "VK_LAYER_a", "");
    let text = std::fs::read_to_string(other.as_path())
        .unwrap()
        .replace("lib.so", "second.so");
    std::fs::write(other.as_path(), text).unwrap();
    listed.entries.push(entry(Control::On, "VK_LAYER_a", &other));
    let active = listed.activated(&[]);
    assert_eq!(active.app, ["a", "b", "a"]);
    assert_eq!(active.chain, active.app);
    assert_eq!(active.activation.chain[2].index, 2);
}

#[test]
fn lay_270_lay_276_lay_322_without_an_instance() {
    let mut world = World::create();
    world.explicit("e", "VK_LAYER_e", "");
    world.implicit("a", "VK_LAYER_a", "");
    world.implicit("b", "VK_LAYER_b", "");
    world.implicit("m", "VK_LAYER_m", &components(&["VK_LAYER_e"]));
    world.set("OFF_b", "");
    let list = world.scan();
    let variables = world.variables();
    let environment = Environment::new(&variables);
    let lines = Lines::default();
    let journal = Journal::new(&lines);
    let name = |index: &usize| list.layers[*index].name.to_string();
    let active: Vec<String> = active_implicit(&list, &environment, &journal)
        .unwrap()
        .iter()
        .map(name)
        .collect();
    assert_eq!(active, ["VK_LAYER_a", "VK_LAYER_m"]);
    let listed = implicit_with_components(&list, &environment, &journal).unwrap();
    let listed: Vec<String> = listed.iter().map(name).collect();
    assert_eq!(listed, ["VK_LAYER_a", "VK_LAYER_m", "VK_LAYER_e"]);
}

#[test]
fn lay_132_older_layers() {
    let world = World::create();
    world.explicit("e", "VK_LAYER_e", "");
    let active = activated(&world, &["VK_LAYER_e"]);
    let journal = Journal::new(&active.lines);
    note_older_layers(&active.list, &active.activation, ApiVersion::new(1, 1), &journal);
    assert!(active.lines.take().is_empty());
    note_older_layers(&active.list, &active.activation, ApiVersion::new(1, 3), &journal);
    let line = "Layer VK_LAYER_e uses API version 1.1 which is older than the application specified API version of \
                1.3. May cause issues.";
    assert_eq!(active.lines.take(), [(WARN, line.to_owned())]);
}
