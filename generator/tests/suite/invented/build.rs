//! Builds the library with invented tables and calls each invented command through it.

use super::oracle::Row;
use crate::common::repository;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;
use vkgen::emit::File;

fn run(command: &mut Command) {
    let status = command.status().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(status.success(), "{command:?} ends with {status}");
}

/// Builds a copy of the tree in its own target folder, and creates a device on the mock driver. Calls every command that belongs to no
/// platform, or to a platform that this build includes.
pub(crate) fn build_and_call(files: &[File], rows: &BTreeMap<String, Row>) {
    let place = repository().join("target/invented");
    let tree = place.join("tree");
    let _ = fs::remove_dir_all(&tree);
    fs::create_dir_all(&tree).expect("a folder");
    let copy = "git ls-files -z | xargs -0 cp --parents --preserve=mode,timestamps --target-directory \"$1\"";
    run(Command::new("bash")
        .args(["-c", copy, "copy"])
        .arg(&tree)
        .current_dir(repository()));
    for file in files {
        let path = tree.join("generated").join(&file.path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, &file.text).expect("an emitted file");
    }
    let target = place.join("target");
    run(Command::new(env!("CARGO"))
        .args([
            "build",
            "--locked",
            "-p",
            "vulkan-loader",
            "-p",
            "mock-driver",
            "--target-dir",
        ])
        .arg(&target)
        .current_dir(&tree));
    // If this variable is set, cargo uses a subfolder with its name.
    let subfolder = std::env::var("CARGO_BUILD_TARGET").unwrap_or_default();
    call(&place, &target.join(subfolder).join("debug"), rows);
}

fn call(place: &Path, built: &Path, rows: &BTreeMap<String, Row>) {
    let mut calls = String::new();
    let is_built = |row: &&Row| row.platform.as_deref().is_none_or(|word| word == "xcb");
    for (name, row) in rows.iter().filter(|(_, row)| is_built(row)) {
        writeln!(calls, "{name} {} {}", row.handle, row.params).expect("a string");
    }
    let list = place.join("calls.txt");
    fs::write(&list, calls).expect("a list");
    run(Command::new("python3")
        .arg(crate::common::crate_root().join("tests/suite/invented/calls.py"))
        .args([built, place, &list]));
}
