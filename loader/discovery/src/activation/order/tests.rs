//! Tests of properties that the order of layers must have.

use super::*;
use crate::env::Environment;
use crate::journal::Source;
use crate::journal::testing::Lines;
use crate::layers::UserOrder;
use crate::manifest::layer::ManifestOrder;
use crate::manifest::{LayerManifest, Names};
use crate::testing::World;
use crate::time_limit::ends_in_time;
use crate::version::ApiVersion;

const SIX: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

/// Returns an explicit layer whose manifest declares the words in `above` and `below`.
fn layer(name: &str, above: &[&str], below: &[&str]) -> LayerManifest {
    let texts = |words: &[&str]| words.iter().map(|&word| word.into()).collect();
    LayerManifest {
        manifest: format!("/{name}.json").as_str().into(),
        source: Source::BuildTime,
        implicit: false,
        name: name.into(),
        api_version: ApiVersion::new(1, 1),
        implementation_version: 1,
        description: "".into(),
        body: crate::manifest::layer::LayerBody::Library("lib.so".into()),
        functions: Default::default(),
        instance_extensions: Vec::new(),
        device_extensions: Vec::new(),
        disable_environment: None,
        enable_environment: None,
        pre_instance_functions: Default::default(),
        overrides: Default::default(),
        order: ManifestOrder {
            above: texts(above),
            below: texts(below),
        },
    }
}

/// Returns the result of a search that found `layers` in the given order.
fn found(layers: impl IntoIterator<Item = LayerManifest>) -> DiscoveredLayers {
    DiscoveredLayers {
        layers: layers.into_iter().collect(),
        overriding: Names::default(),
        ..Default::default()
    }
}

fn plain(names: &[&str]) -> DiscoveredLayers {
    found(names.iter().map(|name| layer(name, &[], &[])))
}

/// Returns the names after sorting. `enabled_by` returns the reason why the layer with a name is active.
fn sorted_by(list: &DiscoveredLayers, enabled_by: impl Fn(&str) -> EnabledBy, lines: &Lines) -> Vec<String> {
    let name = |index: usize| list.layers[index].name.to_string();
    let chosen = |index| ChosenLayer {
        index,
        enabled_by: enabled_by(&name(index)),
    };
    let mut chain: Vec<_> = (0..list.layers.len()).map(chosen).collect();
    let before = chain.clone();
    let moved = sort(list, &mut chain, Purpose::Instance, &Journal::new(lines)).unwrap();
    assert_eq!(moved, chain != before);
    chain.iter().map(|layer| name(layer.index)).collect()
}

fn sorted(list: &DiscoveredLayers) -> String {
    sorted_by(list, |_| EnabledBy::LayersEnable, &Lines::default()).concat()
}

fn by_user(names: &[&str], order: &str) -> String {
    let mut list = plain(names);
    list.order.variable = order.into();
    sorted(&list)
}

/// Returns the names in all possible orders.
fn permutations(names: &[&'static str]) -> Vec<Vec<&'static str>> {
    let Some((&first, rest)) = names.split_first() else {
        return vec![Vec::new()];
    };
    let insert =
        |order: Vec<&'static str>| (0..names.len()).map(move |at| [&order[..at], &[first], &order[at..]].concat());
    permutations(rest).into_iter().flat_map(insert).collect()
}

#[test]
fn lay_330_all_permutations_of_six_layers() {
    let all = permutations(&SIX);
    assert_eq!(all.len(), 720);
    for order in &all {
        let declared = order.join(">");
        assert_eq!(
            by_user(&SIX, &declared),
            order.concat(),
            "the order is the declared one"
        );
        assert_eq!(
            by_user(order, "a > b > c > d > e > f"),
            "abcdef",
            "the declared order does not depend on the order in which layers were found"
        );
        assert_eq!(
            sorted(&plain(order)),
            order.concat(),
            "nothing moves without a declaration"
        );
        let chain = order.windows(2).map(|pair| (pair[0], pair[1]));
        let manifest = |name: &&str| {
            let next = chain.clone().find(|(above, _)| above == name);
            layer(
                name,
                next.as_ref()
                    .map(|(_, below)| core::slice::from_ref(below))
                    .unwrap_or_default(),
                &[],
            )
        };
        assert_eq!(sorted(&found(SIX.iter().map(manifest))), order.concat(), "of manifests");
    }
}

#[test]
fn lay_330_a_layer_moves_only_as_far_as_it_must() {
    for (order, expected) in [
        ("d>b", "acdbef"),
        ("f>a", "bcdefa"),
        ("a>f", "abcdef"),
        ("e>b,d>a", "cdaebf"),
        ("f>*", "fabcde"),
        ("*>a", "bcdefa"),
        ("c>*>a", "cbdefa"),
        ("e", "abcdef"),
        (">,>a>,,", "abcdef"),
        ("x>a>y", "abcdef"),
        ("d>x>b", "acdbef"),
        ("F>A", "bcdefa"),
        ("d>b>d", "acdbef"),
    ] {
        assert_eq!(by_user(&SIX, order), expected, "{order}");
    }
}

#[test]
fn lay_331_kinds_and_patterns() {
    let mut list = plain(&["ea", "ib", "ec", "id"]);
    for layer in &mut list.layers {
        layer.implicit = layer.name.starts_with(b"i");
    }
    for (order, expected) in [
        ("implicit>explicit", "ibideaec"),
        ("~Implicit~ > ~explicit~", "ibideaec"),
        ("explicit>implicit", "eaecibid"),
        ("ec>implicit>explicit", "ecibidea"),
        ("i*>ea", "ibecidea"),
        ("*c>*", "eceaibid"),
        ("~implicit>*", "eaibecid"),
    ] {
        list.order.variable = order.into();
        assert_eq!(sorted(&list), expected, "{order}");
    }
}

#[test]
fn lay_334_the_strongest_declaration_counts() {
    // Columns: the value of `VK_LOADER_LAYERS_ORDER`, the settings file, the manifest of layer `a`, the reason why the layers are active,
    // the expected order.
    let cases: &[(&str, &str, &str, EnabledBy, &str)] = &[
        ("", "", "b", EnabledBy::LayersEnable, "ba"),
        ("", "", "b", EnabledBy::Implicit, "ba"),
        ("", "a>b", "b", EnabledBy::Implicit, "ab"),
        ("a>b", "", "b", EnabledBy::Implicit, "ab"),
        ("a>b", "b>a", "", EnabledBy::Implicit, "ab"),
        ("b>a", "a>b", "", EnabledBy::Implicit, "ba"),
        ("", "", "b", EnabledBy::Application, "ab"),
        ("b>a", "", "", EnabledBy::Application, "ab"),
        ("", "", "b", EnabledBy::InstanceLayers, "ab"),
        ("b>a", "", "", EnabledBy::InstanceLayers, "ba"),
        ("", "", "b", EnabledBy::MetaLayer, "ab"),
        ("b>a", "", "", EnabledBy::MetaLayer, "ba"),
    ];
    for (variable, settings, below, enabled_by, expected) in cases {
        let mut list = found([layer("a", &[], &[below]), layer("b", &[], &[])]);
        list.order.variable = (*variable).into();
        list.order.settings = vec![(*settings).into()];
        let order = sorted_by(&list, |_| *enabled_by, &Lines::default()).concat();
        assert_eq!(order, *expected, "{variable} {settings} {below} {enabled_by:?}");
    }
}

#[test]
fn lay_334_an_application_keeps_its_order_in_every_permutation() {
    let who = |name: &str| match name {
        "b" | "d" | "e" => EnabledBy::Application,
        _ => EnabledBy::Implicit,
    };
    for order in permutations(&SIX) {
        let mut list = plain(&SIX);
        list.order.variable = order.join(">").as_str().into();
        let all = sorted_by(&list, who, &Lines::default()).concat();
        let asked: String = all.chars().filter(|name| "bde".contains(*name)).collect();
        assert_eq!(asked, "bde", "{order:?} {all}");
        let mut sorted: Vec<char> = all.chars().collect();
        sorted.sort_unstable();
        assert_eq!(sorted, ['a', 'b', 'c', 'd', 'e', 'f'], "no layer is lost");
    }
}

#[test]
fn lay_334_the_list_of_a_settings_file_beats_manifests() {
    let mut list = found([layer("a", &[], &["b", "c"]), layer("b", &[], &[]), layer("c", &[], &[])]);
    list.ordered_by_settings = true;
    list.layers[0].source = Source::Settings;
    list.layers[1].source = Source::Settings;
    let order = sorted_by(&list, |_| EnabledBy::Settings, &Lines::default()).concat();
    assert_eq!(order, "cab", "a stays above b, and goes below c, which is not listed");
    list.order.variable = "b>a".into();
    assert_eq!(
        sorted_by(&list, |_| EnabledBy::Settings, &Lines::default()).concat(),
        "bca"
    );
}

#[test]
fn lay_334_equal_names_of_a_settings_file_keep_their_order() {
    let mut list = found([layer("a", &[], &[]), layer("b", &["a"], &[]), layer("a", &[], &["b"])]);
    for (place, manifest) in list.layers.iter_mut().enumerate() {
        manifest.manifest = format!("/{place}.json").as_str().into();
        manifest.implicit = place == 2;
    }
    list.ordered_by_settings = true;
    for (order, expected) in [
        ("b>a", [1, 0, 2]),
        ("implicit>explicit", [0, 2, 1]),
        ("implicit>b", [0, 2, 1]),
        ("", [1, 0, 2]),
    ] {
        list.order.variable = order.into();
        let enabled_by = EnabledBy::Settings;
        let mut chain: Vec<_> = (0..3).map(|index| ChosenLayer { index, enabled_by }).collect();
        let lines = Lines::default();
        sort(&list, &mut chain, Purpose::Instance, &Journal::new(&lines)).unwrap();
        assert_eq!(
            chain.iter().map(|layer| layer.index).collect::<Vec<_>>(),
            expected,
            "{order}"
        );
        let told = lines
            .take()
            .into_iter()
            .any(|(_, line)| line.contains("lists the name twice, in this order"));
        assert_eq!(told, order.starts_with("implicit"), "{order}");
    }
}

#[test]
fn lay_335_a_cycle_of_a_hundred() {
    ends_in_time(|| {
        let names: Vec<String> = (0..100).map(|number| format!("n{number:02}")).collect();
        let next = |at: usize| names[(at + 1) % names.len()].as_str();
        let list = found((0..names.len()).map(|at| layer(&names[at], &[next(at)], &[])));
        let lines = Lines::default();
        let order = sorted_by(&list, |_| EnabledBy::Implicit, &lines);
        assert_eq!(order, names, "only the last declaration is ignored");
        let warn = LogBits::WARN | LogBits::LAYER;
        let first = "Layer order: ignoring \"n99\" above \"n00\": the order in /n99.json (n00). It contradicts:";
        assert!(lines.has(warn, first));
        for (above, below) in names.iter().zip(&names[1..]) {
            let line = format!("   \"{above}\" above \"{below}\": the order in /{above}.json ({below})");
            assert!(lines.has(warn, &line), "{line}");
        }
        // The user's declaration decides which of the other declarations is ignored.
        let mut list = list;
        list.order.variable = "n50>n49".into();
        let order = sorted_by(&list, |_| EnabledBy::Implicit, &Lines::default());
        assert_eq!(order[..3], ["n50", "n51", "n52"]);
        assert_eq!(order[99], "n49");
    });
}

#[test]
fn lay_335_contradictions_are_counted_beyond_sixteen() {
    ends_in_time(|| {
        let names: Vec<String> = (0..40).map(|number| format!("n{number:02}")).collect();
        let list = found(names.iter().map(|name| layer(name, &["*"], &[])));
        let lines = Lines::default();
        assert_eq!(sorted_by(&list, |_| EnabledBy::Implicit, &lines), names);
        let warn = LogBits::WARN | LogBits::LAYER;
        assert!(lines.has(warn, "Layer order: 23 more contradictions are ignored"));
    });
}

#[test]
fn lay_336_ten_thousand_words_lose_nothing() {
    ends_in_time(|| {
        let mut words: Vec<String> = (0..10_000).map(|number| format!("nobody{number}")).collect();
        words[9] = "d".into();
        words[9_998] = "b".into();
        let mut list = plain(&SIX);
        list.order.variable = words.join(">").as_str().into();
        let lines = Lines::default();
        assert_eq!(sorted_by(&list, |_| EnabledBy::Implicit, &lines).concat(), "acdbef");
        let warn = LogBits::WARN | LogBits::LAYER;
        let line =
            "Layer order: no layer with a library has this name: VK_LOADER_LAYERS_ORDER (nobody0), and 9997 more";
        assert!(lines.has(warn, line));
        list.order.variable = words.join(",").as_str().into();
        let lines = Lines::default();
        assert_eq!(sorted_by(&list, |_| EnabledBy::Implicit, &lines).concat(), "abcdef");
        assert!(lines.has(
            warn,
            "it puts nothing above or below: VK_LOADER_LAYERS_ORDER (nobody0), and 9999 more"
        ));
        assert_eq!(lines.take().len(), 2);
    });
}

#[test]
fn more_layers_than_the_limit_keep_their_order() {
    ends_in_time(|| {
        for (count, moves) in [(MAX_ORDERED_LAYERS, true), (MAX_ORDERED_LAYERS + 1, false)] {
            let names: Vec<String> = (0..count).map(|number| format!("n{number}")).collect();
            let mut list = found(names.iter().map(|name| layer(name, &[], &[])));
            list.order.variable = "n1>n0".into();
            let order = sorted_by(&list, |_| EnabledBy::Implicit, &Lines::default());
            assert_eq!(order[0], if moves { "n1" } else { "n0" });
        }
    });
}

#[test]
fn every_relation_of_many_layers_ends_in_time() {
    ends_in_time(|| {
        let mut list = found((0..400).map(|number| layer(&format!("n{number}"), &["*1"], &["*2", "n*"])));
        for (number, layer) in list.layers.iter_mut().enumerate() {
            layer.implicit = number % 2 == 0;
        }
        list.order.variable = "explicit>implicit".into();
        let order = sorted_by(&list, |_| EnabledBy::Implicit, &Lines::default());
        assert_eq!(order.len(), 400);
        let kind = |name: &String| name[1..].parse::<usize>().unwrap() % 2;
        assert!(order.iter().map(kind).is_sorted_by(|one, other| one >= other));
    });
}

#[test]
fn lay_337_each_move_is_logged_with_its_declaration() {
    let mut list = found([
        layer("a", &[], &[]),
        layer("b", &[], &["d"]),
        layer("c", &[], &[]),
        layer("d", &[], &[]),
    ]);
    list.order.variable = "c>a".into();
    let lines = Lines::default();
    assert_eq!(sorted_by(&list, |_| EnabledBy::Implicit, &lines).concat(), "cadb");
    let info = LogBits::INFO | LogBits::LAYER;
    for line in [
        "Layer order: \"a\" goes below \"c\": VK_LOADER_LAYERS_ORDER (c>a)",
        "Layer order: \"b\" goes below \"d\": the order in /b.json (d)",
    ] {
        assert!(lines.has(info, line), "{line}");
    }
    let lines = Lines::default();
    list.order = UserOrder {
        settings: vec!["c>a".into(), "a".into()],
        path: "/s.json".into(),
        ..Default::default()
    };
    sorted_by(&list, |_| EnabledBy::Implicit, &lines);
    assert!(lines.has(
        info,
        "Layer order: \"a\" goes below \"c\": layer_order in /s.json (c>a)"
    ));
    let warn = LogBits::WARN | LogBits::LAYER;
    assert!(lines.has(
        warn,
        "Layer order: it puts nothing above or below: layer_order in /s.json (a)"
    ));
}

#[test]
fn lay_333_hostile_values_of_order_mean_nothing() {
    for (order, expected) in [
        (r#"{"below":["VK_LAYER_b"]}"#, "ba"),
        (r#"{"above":[],"below":["VK_LAYER_b"]}"#, "ba"),
        (r#"{"BELOW":["VK_LAYER_B",7,"x"]}"#, "ba"),
        (r#"{"below":[7,"VK_LAYER_b"]}"#, "ab"),
        (r#"{"below":"VK_LAYER_b"}"#, "ab"),
        (r#"{"below":{"x":"VK_LAYER_b"}}"#, "ab"),
        (r#"[{"below":["VK_LAYER_b"]}]"#, "ab"),
        (
            r#"{"below":["","~x~","VK_LAYER_a","VK_LAYER_a>VK_LAYER_b","\u0000VK_LAYER_b"]}"#,
            "ab",
        ),
        (r#"{"below":null,"above":true}"#, "ab"),
        ("null", "ab"),
        ("7", "ab"),
        (r#""VK_LAYER_b""#, "ab"),
        ("[]", "ab"),
    ] {
        let world = World::create();
        world.explicit("a", "VK_LAYER_a", &format!(r#","order":{order}"#));
        world.explicit("b", "VK_LAYER_b", "");
        let names = sorted_by(&world.scan(), |_| EnabledBy::LayersEnable, &Lines::default());
        assert_eq!(names.concat().replace("VK_LAYER_", ""), expected, "{order}");
    }
}

#[test]
fn lay_338_functions_before_instances_follow_the_same_order() {
    let pre = crate::manifest::layer::PreInstanceFunctions {
        enumerate_instance_version: Some("f".into()),
        ..Default::default()
    };
    let mut list = plain(&["a", "none", "b", "c"]);
    for layer in &mut list.layers {
        if layer.name != "none" {
            layer.pre_instance_functions = crate::manifest::layer::PreInstanceFunctions {
                enumerate_instance_version: pre.enumerate_instance_version.clone(),
                ..Default::default()
            };
        }
    }
    // The loader calls the last layer first.
    for (order, expected) in [
        ("", [0, 1, 2, 3]),
        ("c>b>a", [0, 1, 2, 3]),
        ("a>c", [3, 1, 0, 2]),
        ("a>b>c", [3, 1, 2, 0]),
        ("none>c", [0, 1, 2, 3]),
    ] {
        list.order.variable = order.into();
        let mut active = [0, 1, 2, 3];
        sort_called_last_first(&list, &mut active, &Journal::new(&Lines::default())).unwrap();
        assert_eq!(active, expected, "{order}");
    }
}

#[test]
fn lay_339_an_elevated_process_reads_no_order() {
    let source = crate::env::Fixed::new(&[("VK_LOADER_LAYERS_ORDER", "a>b")]);
    let read = |environment: &Environment<'_>| UserOrder::read(environment, None).unwrap();
    assert!(!read(&Environment::new(&source)).is_empty());
    assert!(read(&Environment::new(&source.elevated())).is_empty());
}
