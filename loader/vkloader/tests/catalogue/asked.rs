//! Machines for tests of catalogues, and functions that run commands on these machines.

use crate::machine::{BRIEF, Machine, built, library};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Returns a machine whose user has folders for caches and temporary files.
pub(crate) fn machine() -> Machine {
    let mut machine = Machine::new();
    for (variable, folder) in [("XDG_CACHE_HOME", "cache"), ("TMPDIR", "temporary")] {
        let path = machine.path(folder);
        fs::create_dir_all(&path).expect("a folder");
        machine.variable(variable, path.display().to_string());
    }
    fs::create_dir_all(machine.path("root")).expect("a folder");
    machine
}

pub(crate) fn file(machine: &Machine) -> PathBuf {
    let name = format!("catalogue-{}.bin", catalogue::ARCHITECTURE);
    machine.path("cache/vulkan-loader").join(name)
}

pub(crate) fn command(machine: &Machine, words: &[&str]) -> Command {
    let mut command = machine.command(&["catalogue"]);
    command
        .args(words)
        .arg("--user")
        .arg("--root")
        .arg(machine.path("root"));
    if ["update", "verify"].contains(&words[0]) {
        command.arg("--library").arg(library());
    }
    command
}

pub(crate) fn run(machine: &Machine, words: &[&str]) -> Output {
    command(machine, words).output().expect("it can be started")
}

/// Runs a command that must succeed, and returns its output.
pub(crate) fn good(machine: &Machine, words: &[&str]) -> String {
    let output = run(machine, words);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        output.status.success(),
        "{words:?}: {}{}",
        text(&output.stdout),
        text(&output.stderr)
    );
    text(&output.stdout)
}

pub(crate) fn written(machine: &Machine) -> Value {
    unpack(&file(machine))
}

/// Returns the content of a catalogue file as JSON.
pub(crate) fn unpack(path: &Path) -> Value {
    catalogue::unpack(&fs::read(path).expect("it was written")).expect("it is a catalogue")
}

/// Replaces the catalogue of a machine.
pub(crate) fn write(machine: &Machine, known: &Value) {
    fs::write(file(machine), catalogue::pack(known)).expect("a file");
}

/// Returns the entry of a driver, or null if the catalogue does not contain the driver.
pub(crate) fn driver(known: &Value, name: &str) -> Value {
    let is = |driver: &&Value| {
        let manifest = driver["manifest"]["path"].as_str();
        manifest.is_some_and(|path| path.ends_with(&format!("/{name}.json")))
    };
    let found = known["drivers"].as_array().expect("a list").iter().find(is);
    found.cloned().unwrap_or_default()
}

/// Adds a driver whose library has the name of a Mesa driver.
pub(crate) fn radeon(machine: &Machine, lines: &str) -> PathBuf {
    let library = machine.path("libraries/libvulkan_radeon.so");
    fs::copy(built("libmock_driver.so"), &library).expect("cargo built the mock driver");
    let journal = machine.path("journal");
    let text = format!("ordinal 0\n{BRIEF}journal {}\n{lines}\n", journal.display());
    machine.file("libraries/libvulkan_radeon.conf", text);
    machine.manifest("radeon", &library, "");
    library
}

/// Returns the number of times that a driver was asked to create an instance.
pub(crate) fn instances(machine: &Machine) -> usize {
    let journal = fs::read_to_string(machine.path("journal")).unwrap_or_default();
    journal.matches("vkCreateInstance").count()
}
