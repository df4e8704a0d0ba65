//! What a reduced registry becomes, file by file.
//!
//! After a wanted change run the tests with `VKGEN_REFRESH=1` and review the difference of `expected/`.

mod common;

use common::{generate, policy, reduced, registry};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// APP-158: the word of a returned object is written; GEN-63: functions that no XML names.
#[test]
fn gen_61_a_reduced_registry_gives_the_expected_files() {
    let folder = reduced();
    let registry = registry(&folder.join("snapshot"));
    let text = fs::read_to_string(folder.join("policy.toml")).expect("its policy");
    let expected = folder.join("expected");
    let files = generate(&registry, &policy(&text));
    let refresh = std::env::var_os("VKGEN_REFRESH").is_some();
    let mut names = BTreeSet::new();
    for file in &files {
        let path = expected.join(&file.path);
        names.insert(file.path.clone());
        if refresh {
            fs::create_dir_all(path.parent().expect("a folder")).expect("a new folder");
            fs::write(&path, &file.text).expect("a new expectation");
        }
        let wanted = fs::read_to_string(&path).unwrap_or_default();
        assert!(
            wanted == file.text,
            "{} differs:\n{}",
            file.path,
            first_difference(&wanted, &file.text)
        );
    }
    let mut found = BTreeSet::new();
    collect(&expected, "", &mut found);
    assert_eq!(found, names, "an expectation without a file");
}

fn first_difference(wanted: &str, found: &str) -> String {
    let mut pairs = wanted.lines().zip(found.lines()).enumerate();
    match pairs.find(|(_, (wanted, found))| wanted != found) {
        Some((line, (wanted, found))) => format!("line {}\n- {wanted}\n+ {found}", line + 1),
        None => "one is longer".to_owned(),
    }
}

fn collect(folder: &Path, prefix: &str, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).expect("the expectations") {
        let entry = entry.expect("an entry");
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            collect(&entry.path(), &format!("{name}/"), found);
        } else {
            found.insert(name);
        }
    }
}
