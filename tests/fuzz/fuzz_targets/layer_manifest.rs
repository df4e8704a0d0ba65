//! Fuzzes layer manifests, with the rules for implicit and explicit layers. The scan must find the valid layer beside the input, names must
//! fit into their fields in the API, and the activation must return each layer once.
#![no_main]

use std::collections::BTreeSet;
use std::sync::LazyLock;

use discovery::activation::{self, Request};
use discovery::env::Environment;
use discovery::journal::{Decision, Journal, LogBits};
use discovery::layers::{Extent, LayerScan};
use discovery::manifest::LayerManifest;
use discovery::manifest::layer::OVERRIDE_LAYER;
use discovery::search::Executable;
use discovery::search::Search;
use discovery::{Activation, DiscoveredLayers};
use libfuzzer_sys::fuzz_target;
use loader_fuzz::{Files, Lines, Variables, check_json, twice};

const GOOD: &[u8] = br#"{"file_format_version":"1.2.0","layer":{"name":"VK_LAYER_good","type":"GLOBAL",
    "library_path":"./l.so","api_version":"1.1.0","implementation_version":"1","description":"good"}}"#;

static FILES: LazyLock<Files> = LazyLock::new(|| {
    let files = Files::create();
    files.write("explicit/z.json", GOOD);
    files
});

/// Results of a scan, and of an instance that requests every layer.
type Scan = (DiscoveredLayers, Activation, Vec<Decision>, Vec<(LogBits, Vec<u8>)>);

fn scan() -> Scan {
    let variables = Variables::none()
        .with("VK_IMPLICIT_LAYER_PATH", FILES.text("implicit"))
        .with("VK_LAYER_PATH", FILES.text("explicit"));
    let environment = Environment::new(&variables);
    let lines = Lines::default();
    let mut journal = Journal::new(&lines);
    let scan = LayerScan {
        search: &Search::new(&environment),
        settings: None,
        executable: &Executable::running(),
    };
    let list = scan.run(Extent::All, &mut journal).expect("memory suffices");
    let names: Vec<&[u8]> = list.reported().map(|layer| layer.name.as_bytes()).collect();
    let request = Request {
        list: &list,
        environment: &environment,
        application: &names,
    };
    let activation = activation::activate(&request, &journal).expect("memory suffices");
    (list, activation, journal.decisions().to_vec(), lines.take())
}

fn check_layer(layer: &LayerManifest) {
    assert!(layer.name.len() <= 254 && layer.description.len() <= 254);
    assert_eq!(layer.api_version.variant(), 0);
    assert_eq!(layer.disable_environment.is_some(), layer.implicit);
    assert!(layer.implicit || layer.enable_environment.is_none());
    for extension in &layer.instance_extensions {
        assert!(extension.name.len() <= 254);
    }
    for extension in &layer.device_extensions {
        assert!(extension.name.len() <= 254);
    }
}

fuzz_target!(|text: &[u8]| {
    check_json(text);
    FILES.write("implicit/a.json", text);
    FILES.write("explicit/a.json", text);
    let (list, activation, decisions, _) = twice(scan);
    list.reported().for_each(check_layer);
    // An override layer changes the search, even if it is dropped because its components are missing.
    let overridden = decisions.iter().any(|decision| decision.name == OVERRIDE_LAYER);
    assert!(
        overridden || list.find(b"VK_LAYER_good").is_some(),
        "the good layer is found"
    );
    let names: BTreeSet<&[u8]> = list.reported().map(|layer| layer.name.as_bytes()).collect();
    assert_eq!(names.len(), list.layers.len(), "each name once");
    for part in [&activation.app, &activation.chain] {
        let indices: BTreeSet<usize> = part.iter().map(|layer| layer.index).collect();
        assert_eq!(indices.len(), part.len(), "each layer once");
    }
    for layer in &activation.chain {
        assert!(
            list.layers[layer.index].library_path().is_some(),
            "no meta-layer in the chain"
        );
    }
});
