//! Fuzzes lists of paths in environment variables: the folders and files that the loader searches, and the manifests that it finds. The
//! input consists of a byte of switches, and the values of the variables, separated by newlines. `@` means the scratch folder.
#![no_main]

use std::collections::BTreeSet;
use std::sync::LazyLock;

use discovery::env::variable::{Separator, TABLE};
use discovery::env::{Environment, Variable, split};
use discovery::journal::{Journal, Silence};
use discovery::search::{ManifestKind, Search, find};
use libfuzzer_sys::fuzz_target;
use loader_fuzz::{Files, Lines, Variables, twice};

/// Names of the variables whose values the input contains, in the order of the values.
const NAMES: [&str; 8] = [
    "VK_DRIVER_FILES",
    "VK_ADD_DRIVER_FILES",
    "VK_LAYER_PATH",
    "VK_ADD_LAYER_PATH",
    "XDG_CONFIG_HOME",
    "XDG_CONFIG_DIRS",
    "XDG_DATA_HOME",
    "XDG_DATA_DIRS",
];
const KINDS: [ManifestKind; 3] = [
    ManifestKind::Driver,
    ManifestKind::ImplicitLayer,
    ManifestKind::ExplicitLayer,
];

static FILES: LazyLock<Files> = LazyLock::new(|| {
    let files = Files::create();
    for name in [
        "a.json",
        "b.json",
        "not.txt",
        "vulkan/icd.d/c.json",
        "vulkan/explicit_layer.d/d.json",
    ] {
        files.write(name, b"{}");
    }
    std::env::set_current_dir(files.root()).expect("the folder is there");
    files
});

/// Returns a value whose items are all below the scratch folder.
fn value_of(text: &[u8]) -> Vec<u8> {
    let mut value = Vec::new();
    for item in text.split_inclusive(|&byte| byte == b':') {
        if item.starts_with(b"/") {
            value.push(b'.');
        }
        for &byte in item {
            match byte {
                b'@' => value.extend_from_slice(FILES.root_bytes()),
                _ => value.push(byte),
            }
        }
    }
    value
}

fn check_kind(kind: ManifestKind, environment: &Environment<'_>, with_variables: bool) {
    let places = || {
        Search::new(environment)
            .places(kind, with_variables, &Journal::new(&Silence))
            .expect("memory suffices")
    };
    let places = twice(places);
    let distinct: BTreeSet<&[u8]> = places.iter().map(|place| place.path).collect();
    assert_eq!(distinct.len(), places.len(), "each place once");
    assert!(places.iter().all(|place| !place.path.is_empty()));
    let lines = Lines::default();
    let found = twice(|| {
        find(kind, &places, &mut Journal::new(&lines))
            .expect("memory suffices")
            .found
    });
    let paths: BTreeSet<&[u8]> = found.iter().map(|file| file.path.as_bytes()).collect();
    assert_eq!(paths.len(), found.len(), "each file once");
    for file in &found {
        assert!(file.path.ends_with(b".json"));
        let named = distinct.contains(file.path.as_bytes());
        let inside = distinct.iter().any(|place| file.path.starts_with(place));
        assert!(named || inside, "what is found lies in a place");
    }
    // The log must list the path of every folder or file of the search.
    let told = lines.take();
    for place in places.iter() {
        let line = [b"      ", place.path].concat();
        assert!(told.iter().any(|(_, text)| text.ends_with(&line) || line.len() > 400));
    }
}

fn check_items(environment: &Environment<'_>, variable: Variable) {
    let value = environment.get(variable).unwrap_or_default();
    let separator = TABLE[variable as usize].separator;
    let items: Vec<&[u8]> = split(&value, separator).collect();
    assert!(items.iter().all(|item| !item.is_empty()));
    if separator == Separator::Path {
        assert_eq!(
            items.concat(),
            value.iter().copied().filter(|&byte| byte != b':').collect::<Vec<u8>>()
        );
    }
    let mut shown = Vec::new();
    environment.each_item(variable, |item| shown.push(item.to_vec()));
    assert_eq!(shown, items);
}

fuzz_target!(|input: &[u8]| {
    let Some((&switches, text)) = input.split_first() else {
        return;
    };
    // The target does not test paths with `..`, because they can be outside of the scratch folder.
    if text.windows(2).any(|two| two == b"..") {
        return;
    }
    let mut variables = Variables::none();
    for (index, part) in text.split(|&byte| byte == b'\n').take(NAMES.len()).enumerate() {
        if switches >> index & 1 == 1 {
            variables = variables.with(NAMES[index], value_of(part));
        }
    }
    let environment = Environment::new(&variables);
    for row in TABLE {
        check_items(&environment, row.variable);
    }
    for kind in KINDS {
        for with_variables in [true, false] {
            check_kind(kind, &environment, with_variables);
        }
    }
});
