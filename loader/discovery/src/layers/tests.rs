//! Tests of scans: order, duplicates, filters, the override layer, meta-layers and settings.

use super::*;
use crate::env::Environment;
use crate::journal::LogBits;
use crate::journal::testing::Lines;
use crate::search::Search;
use crate::settings::LayerEntry;
use crate::testing::{EXECUTABLE, World, components, entry, names, settings};
use crate::time_limit::ends_in_time;

const WARN: LogBits = LogBits::WARN;
const WARN_LAYER: LogBits = LogBits::WARN.with(LogBits::LAYER);
const INFO_LAYER: LogBits = LogBits::INFO.with(LogBits::LAYER);
const OVERRIDE: &str = "VK_LAYER_LUNARG_override";

/// Writes an override layer.
fn override_layer(world: &World, file: &str, more: &str) {
    let more = if more.contains("component_layers") {
        more.to_owned()
    } else {
        components(&[]) + more
    };
    world.implicit(file, OVERRIDE, &more);
}

#[test]
fn lay_18_lay_22_implicit_first_and_sorted() {
    let world = World::create();
    world.explicit("a", "VK_LAYER_e1", "");
    world.implicit("b", "VK_LAYER_i2", "");
    world.implicit("B", "VK_LAYER_i1", "");
    assert_eq!(world.names(), ["VK_LAYER_i1", "VK_LAYER_i2", "VK_LAYER_e1"]);
}

#[test]
fn lay_31_lay_32_first_of_each_name_is_kept() {
    let world = World::create();
    let kept = world.implicit("a", "VK_LAYER_x", "");
    let mut dropped = vec![world.implicit("b", "VK_LAYER_x", "")];
    dropped.extend(["a", "b"].map(|file| world.explicit(file, "VK_LAYER_x", "")));
    world.explicit("c", "VK_LAYER_X", "");
    let list = world.scan();
    assert_eq!(names(&list), ["VK_LAYER_x", "VK_LAYER_X"]);
    assert_eq!(list.layers[0].manifest, kept);
    for path in dropped {
        let line = format!("Removing layer VK_LAYER_x ({path}) because it is a duplicate of VK_LAYER_x ({kept})");
        assert!(world.lines.has(WARN, &line));
    }
}

#[test]
fn lay_122_lay_125_disable_removes_and_enable_and_allow_shield() {
    let mut world = World::create();
    world.implicit("a", "VK_LAYER_i", "");
    world.explicit("a", "VK_LAYER_e", "");
    let all = ["VK_LAYER_i", "VK_LAYER_e"];
    let cases: &[(&str, &str, &str, &[&str])] = &[
        ("", "", "", &all),
        ("~all~", "", "", &[]),
        ("~implicit~", "", "", &all[1..]),
        ("~explicit~", "", "", &all[..1]),
        ("*_E", "", "", &all[..1]),
        ("*", "*_e", "", &all[1..]),
        ("*", "", "*_i", &all[..1]),
        ("~odd~", "", "", &all),
    ];
    for (disable, enable, allow, expected) in cases {
        world.set("VK_LOADER_LAYERS_DISABLE", disable);
        world
            .set("VK_LOADER_LAYERS_ENABLE", enable)
            .set("VK_LOADER_LAYERS_ALLOW", allow);
        assert_eq!(world.names(), *expected, "{disable} {enable} {allow}");
    }
    let line =
        "Layer \"VK_LAYER_e\" forced disabled because name matches filter of env var 'VK_LOADER_LAYERS_DISABLE'.";
    assert!(world.lines.has(WARN_LAYER, line));
}

#[test]
fn lay_161_lay_162_bi_34_meta_layers_that_are_removed() {
    ends_in_time(|| {
        let world = World::create();
        world.explicit("a", "VK_LAYER_a", "");
        let old = r#","api_version":"1.0.9""#;
        world.explicit("b", "VK_LAYER_old", old);
        world.explicit("m1", "VK_LAYER_missing", &components(&["VK_LAYER_a", "VK_LAYER_none"]));
        world.explicit("m2", "VK_LAYER_newer", &components(&["VK_LAYER_old"]));
        world.explicit("m3", "VK_LAYER_self", &components(&["VK_LAYER_self"]));
        world.explicit("m4", "VK_LAYER_ring1", &components(&["VK_LAYER_ring2"]));
        world.explicit("m5", "VK_LAYER_ring2", &components(&["VK_LAYER_a", "VK_LAYER_ring1"]));
        world.explicit("m0", "VK_LAYER_outer", &components(&["VK_LAYER_missing"]));
        world.explicit("m6", "VK_LAYER_late", &components(&["VK_LAYER_missing"]));
        world.explicit(
            "m7",
            "VK_LAYER_good",
            &(components(&["VK_LAYER_old", "VK_LAYER_a"]) + old),
        );
        assert_eq!(world.names(), ["VK_LAYER_a", "VK_LAYER_old", "VK_LAYER_good"]);
        let start = "verify_meta_layer_component_layers: Meta-layer";
        let cases = [
            (WARN, format!("{start} VK_LAYER_missing can't find component layer VK_LAYER_none at index 1.  Skipping this layer.")),
            (WARN, format!("{start} uses API version 1.1, but component layer 0 has API version 1.0 that is lower.  Skipping this layer.")),
            (WARN, format!("{start} VK_LAYER_self lists itself in its component layer list at index 0.  Skipping this layer.")),
            (WARN, "verify_meta_layer_component_layers: Recursive dependency between Meta-layer VK_LAYER_ring2 and  Meta-layer VK_LAYER_ring1.  Skipping this layer.".into()),
            (WARN, format!("{start} VK_LAYER_late can't find component layer VK_LAYER_missing at index 0.  Skipping this layer.")),
            (LogBits::DEBUG, "Removing meta-layer VK_LAYER_outer from instance layer list since it appears invalid.".into()),
            (INFO_LAYER, "Meta-layer \"VK_LAYER_good\" all 2 component layers appear to be valid.".into()),
            (LogBits::LAYER, "  [1] VK_LAYER_a".into()),
        ];
        for (bits, line) in cases {
            assert!(world.lines.has(bits, &line), "{line}");
        }
    });
}

#[test]
fn lay_163_lay_164_diamonds_are_valid_and_extensions_add_up() {
    let world = World::create();
    let extensions = |name: &str| {
        format!(
            r#","instance_extensions":[{{"name":"I_{name}","spec_version":"1"}},{{"name":"I_both","spec_version":"2"}}],
            "device_extensions":[{{"name":"D_{name}","spec_version":"1","entrypoints":["vkX"]}}]"#
        )
    };
    world.explicit("a", "VK_LAYER_a", &extensions("a"));
    world.explicit("l", "VK_LAYER_left", &(components(&["VK_LAYER_a"]) + &extensions("l")));
    world.explicit("r", "VK_LAYER_right", &components(&["VK_LAYER_a"]));
    world.explicit("t", "VK_LAYER_top", &components(&["VK_LAYER_left", "VK_LAYER_right"]));
    let list = world.scan();
    assert_eq!(list.layers.len(), 4);
    let top = list.find(b"VK_LAYER_top").unwrap();
    let instance: Vec<String> = top
        .instance_extensions
        .iter()
        .map(|known| known.name.to_string())
        .collect();
    assert_eq!(instance, ["I_l", "I_both", "I_a"]);
    let device: Vec<usize> = top
        .device_extensions
        .iter()
        .map(|known| known.entrypoints.len())
        .collect();
    assert_eq!(device, [0, 0]);
    let lines = [
        "Meta-layer VK_LAYER_top component layer VK_LAYER_left adding instance extension I_both",
        "Meta-layer VK_LAYER_top component layer VK_LAYER_right adding device extension D_a",
    ];
    assert!(lines.iter().all(|line| world.lines.has(LogBits::DEBUG, line)));
    let nested = "verify_meta_layer_component_layers: Adding meta-layer VK_LAYER_top which also contains meta-layer VK_LAYER_left";
    assert!(world.lines.has(LogBits::INFO, nested));
}

/// BI-36: a scan checks at most as many extensions of components as `docs/limits.md` states.
#[test]
fn bi_36_a_scan_looks_at_65536_extensions_of_components() {
    let world = World::create();
    let extension = |name: &str| format!(r#"{{"name":"{name}","spec_version":"1"}}"#);
    let many: Vec<String> = (0..1024).map(|number| extension(&format!("I_{number}"))).collect();
    let member = |list: &str| format!(r#","instance_extensions":[{list}]"#);
    world.explicit("a", "VK_LAYER_many", &member(&many.join(",")));
    world.explicit("b", "VK_LAYER_late", &member(&extension("I_late")));
    let gets_the_last_one = |count: usize| {
        let all = [vec!["VK_LAYER_many"; count], vec!["VK_LAYER_late"]].concat();
        world.explicit("m", "VK_LAYER_meta", &components(&all));
        let list = world.scan();
        let meta = list.find(b"VK_LAYER_meta").unwrap();
        *meta.instance_extensions.last().unwrap().name == *b"I_late"
    };
    assert!(gets_the_last_one(63));
    assert!(!gets_the_last_one(64));
}

#[test]
fn bi_5_bi_36_app_249_many_meta_layers() {
    ends_in_time(|| {
        let world = World::create();
        world.explicit("a", "VK_LAYER_a", "");
        let chain = |index: usize| format!("VK_LAYER_{index}");
        for index in 0..200 {
            let (next, after) = (chain(index + 1), chain(index + 2));
            world.explicit(&format!("m{index:03}"), &chain(index), &components(&[&next, &after]));
        }
        world.explicit("z0", &chain(200), &components(&["VK_LAYER_a"; 1000]));
        world.explicit("z1", &chain(201), &components(&[]));
        assert_eq!(world.names().len(), 203);
        let all: Vec<String> = (0..40).map(|index| format!("VK_LAYER_k{index}")).collect();
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        for name in &all {
            world.explicit(name, name, &components(&all));
        }
        assert_eq!(world.names().len(), 203);
    });
}

#[test]
fn lay_171_to_lay_173_bi_37_which_override_layer() {
    let global = r#","app_keys":[]"#;
    let ours = r#","app_keys":["/other","/bin/app"]"#;
    let other = r#","app_keys":["/other"]"#;
    let not_used = "--Override layer found but not used because app '/bin/app' is not in 'app_keys' list!";
    let key = "Using the override layer for app key /bin/app";
    let used_global = "Using the global override layer";
    let cases: &[(&[&str], Option<&str>, &[&str])] = &[
        (&[""], Some("a"), &[used_global]),
        (&[global, ""], Some("a"), &[used_global]),
        (&[global, ours, ours, other], Some("b"), &[key]),
        (&[other, global], Some("b"), &[not_used, used_global]),
        (&[other], None, &[not_used]),
    ];
    for (manifests, expected, lines) in cases {
        let world = World::create();
        for (file, more) in ["a", "b", "c", "d"].iter().zip(*manifests) {
            override_layer(&world, file, more);
        }
        let list = world.scan();
        let found = list
            .layers
            .iter()
            .map(|layer| layer.manifest.clone())
            .collect::<Vec<_>>();
        let expected: Vec<Text> = expected
            .iter()
            .map(|file| world.scratch.path(&format!("implicit/{file}.json")))
            .collect();
        assert_eq!(found, expected, "{manifests:?} for {EXECUTABLE}");
        assert!(
            lines.iter().all(|line| world.lines.has(INFO_LAYER, line)),
            "{manifests:?}"
        );
    }
}

#[test]
fn lay_64_lay_175_lay_176_override_paths() {
    let mut world = World::create();
    world.explicit("a", "VK_LAYER_usual", "");
    let special = world.layer("special/s", "VK_LAYER_special", r#","disable_environment":{"X":""}"#);
    let folder = world.scratch.path("special");
    override_layer(
        &world,
        "o",
        &format!(r#","override_paths":["{folder}","","{special}"]"#),
    );
    let list = world.scan();
    assert_eq!(names(&list), [OVERRIDE, "VK_LAYER_special"]);
    assert!(!list.layers[1].implicit);
    let explicit = world.scratch.path("explicit");
    let line = format!(
        "Ignoring VK_LAYER_PATH. The Override layer is active and has override paths set, which takes priority. \
         VK_LAYER_PATH is set to {explicit}"
    );
    assert!(world.lines.has(INFO_LAYER, &line));
    assert!(
        world
            .lines
            .has(WARN_LAYER, &format!("Override layer has override path {folder}"))
    );
    world.set("OFF_o", "");
    assert_eq!(world.names(), [OVERRIDE, "VK_LAYER_usual"], "LAY-179");
    world.unset("OFF_o");
    let missing = components(&["VK_LAYER_usual"]) + &format!(r#","override_paths":["{folder}"]"#);
    override_layer(&world, "o", &missing);
    assert_eq!(world.names(), ["VK_LAYER_special"], "LAY-176");
}

#[test]
fn lay_170_lay_177_lay_182_blacklist() {
    let mut world = World::create();
    world.implicit("a", "VK_LAYER_a", "");
    world.explicit("b", "VK_LAYER_b", "");
    override_layer(
        &world,
        "o",
        &format!(r#","blacklisted_layers":["VK_LAYER_a","VK_LAYER_b","{OVERRIDE}"]"#),
    );
    world.set("VK_LOADER_LAYERS_ENABLE", "*_b");
    assert_eq!(world.names(), [OVERRIDE]);
    assert!(world.lines.has(
        LogBits::DEBUG,
        "Override layer is active and layer VK_LAYER_a is in the blacklist"
    ));
    world.set("VK_LOADER_LAYERS_DISABLE", OVERRIDE);
    assert_eq!(world.names(), ["VK_LAYER_a", "VK_LAYER_b"], "LAY-179");
    let line = format!("Implicit layer \"{OVERRIDE}\" forced disabled because name matches filter of env var");
    assert!(world.lines.has(WARN_LAYER, &line), "LAY-130");
    world.unset("VK_LOADER_LAYERS_DISABLE");
    std::fs::remove_file(world.scratch.path("implicit/o.json").as_path()).unwrap();
    world.explicit(
        "o",
        OVERRIDE,
        &(components(&[]) + r#","blacklisted_layers":["VK_LAYER_a"]"#),
    );
    assert_eq!(world.names(), ["VK_LAYER_a", "VK_LAYER_b", OVERRIDE], "LAY-170");
}

#[test]
fn lay_150_lay_152_lay_153_layers_of_the_settings_file() {
    let world = World::create();
    let listed = world.explicit("e1", "VK_LAYER_e1", "");
    let other = world.layer("other/e1", "VK_LAYER_e1", r#","implementation_version":"2""#);
    let different = world.layer("other/x1", "VK_LAYER_e1", "").to_string();
    let text = std::fs::read_to_string(&different)
        .unwrap()
        .replace("lib.so", "second.so");
    std::fs::write(&different, text).unwrap();
    let implicit = world.implicit("i1", "VK_LAYER_i1", "");
    world.implicit("i2", "VK_LAYER_i2", "");
    world.explicit("e2", "VK_LAYER_e2", "");
    let on = |name: &str, path: &Text| entry(Control::On, name, path);
    let entries = [
        on("VK_LAYER_e1", &listed),
        on("VK_LAYER_e1", &other),
        on("VK_LAYER_e1", &different.as_str().into()),
        on("VK_LAYER_wrong", &implicit),
        on("VK_LAYER_e2", &world.scratch.path("explicit")),
        entry(Control::Off, "VK_LAYER_i2", &"/none.json".into()),
        entry(Control::Auto, "VK_LAYER_i1", &implicit),
    ];
    let list = world.scan_with(Some(&settings(&entries)));
    assert_eq!(names(&list), ["VK_LAYER_e1", "VK_LAYER_e1", "VK_LAYER_i1"]);
    let forced = &list.forced_on;
    assert_eq!(*forced, [true, true, false]);
    assert!(list.ordered_by_settings && list.layers[2].implicit);
    assert_eq!(list.off, [Text::from("VK_LAYER_i2")]);
    assert!(
        !world.lines.has(LogBits::LAYER, "Searching for"),
        "no folder is searched"
    );
}

#[test]
fn lay_130_lay_152_a_listed_override_layer_makes_nothing_active() {
    let world = World::create();
    world.implicit("a", "VK_LAYER_a", "");
    override_layer(&world, "o", &components(&["VK_LAYER_a"]));
    let marker = entry(Control::Unordered, "", &Text::default());
    let off = entry(Control::Off, OVERRIDE, &"/none.json".into());
    let overriding = |entries: &[LayerEntry]| world.scan_with(Some(&settings(entries))).overriding;
    assert_eq!(*overriding(core::slice::from_ref(&marker)), [Text::from("VK_LAYER_a")]);
    assert!(overriding(&[marker, off]).is_empty());
}

#[test]
fn lay_152_app_251_the_place_of_unlisted_layers() {
    let world = World::create();
    let listed = world.explicit("e1", "VK_LAYER_e1", "");
    for name in ["e0", "e2"] {
        world.explicit(name, &format!("VK_LAYER_{name}"), "");
    }
    world.implicit("i", "VK_LAYER_i", "");
    let marker = entry(Control::Unordered, "", &Text::default());
    let first = entry(Control::Auto, "VK_LAYER_e1", &listed);
    let off = entry(Control::Off, "VK_LAYER_e2", &listed);
    let cases: &[(&[LayerEntry], &[&str])] = &[
        (&[], &[]),
        (
            core::slice::from_ref(&marker),
            &["VK_LAYER_i", "VK_LAYER_e0", "VK_LAYER_e1", "VK_LAYER_e2"],
        ),
        (
            &[first.clone(), marker.clone(), off.clone()],
            &["VK_LAYER_e1", "VK_LAYER_i", "VK_LAYER_e0"],
        ),
        (
            &[marker.clone(), first.clone(), marker.clone(), off],
            &["VK_LAYER_i", "VK_LAYER_e0", "VK_LAYER_e1"],
        ),
        (&[first], &["VK_LAYER_e1"]),
    ];
    for (entries, expected) in cases {
        assert_eq!(
            names(&world.scan_with(Some(&settings(entries)))),
            *expected,
            "{entries:?}"
        );
    }
}

#[test]
fn app_247_settings_without_layers_leave_layers_alone() {
    let world = World::create();
    world.explicit("e", "VK_LAYER_e", "");
    let list = world.scan_with(Some(&Settings::default()));
    assert!(names(&list) == ["VK_LAYER_e"] && !list.ordered_by_settings);
}

#[test]
fn lay_274_commands_without_an_instance_search_explicit_layers_only_for_meta_layers() {
    let world = World::create();
    world.explicit("e", "VK_LAYER_e", "");
    world.implicit("i", "VK_LAYER_i", "");
    let variables = world.variables();
    let environment = Environment::new(&variables);
    let scan = || {
        let lines = Lines::default();
        let scan = LayerScan {
            search: &Search::new(&environment),
            settings: None,
            executable: &None.into(),
        };
        (
            names(&scan.run(Extent::Implicit, &mut Journal::new(&lines)).unwrap()),
            lines,
        )
    };
    let (found, lines) = scan();
    assert_eq!(found, ["VK_LAYER_i"]);
    assert!(!lines.has(LogBits::LAYER, "Searching for explicit layer manifest files"));
    world.implicit("m", "VK_LAYER_m", &components(&["VK_LAYER_e"]));
    assert_eq!(scan().0, ["VK_LAYER_i", "VK_LAYER_m", "VK_LAYER_e"]);
}
