//! A test of the table in tests/service.md, which names the case for each attack.

use std::fs;
use std::path::{Path, PathBuf};

/// Adds the sources below a folder to `found`.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|kind| kind == "rs" || kind == "py") {
            found.push(path);
        }
    }
}

#[test]
fn every_case_in_the_table_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    for folder in ["loader", "tests"] {
        sources(&root.join(folder), &mut found);
    }
    let all: String = found.iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    let table = fs::read_to_string(root.join("tests/service.md")).unwrap();
    let cells = table
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    let named = cells
        .filter_map(|row| row.split_once(" | "))
        .flat_map(|(_, cases)| cases.split('`').skip(1).step_by(2));
    let named: Vec<_> = named.collect();
    assert!(named.len() > 60, "{named:?}");
    for case in named {
        let is_declared = |word: &str| all.contains(&format!("{word} {case}("));
        assert!(is_declared("fn") || is_declared("def"), "{case}");
    }
}
