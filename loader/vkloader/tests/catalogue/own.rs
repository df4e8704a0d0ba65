//! Tests of the user's own catalogue. If the system has no catalogue, programs read the user's own catalogue even if no variable is set.

use crate::asked::*;
use crate::closure::update;
use crate::machine::{Machine, library, skip};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Returns a machine with one driver, or `None` if the system has a catalogue.
fn machine_of_one() -> Option<Machine> {
    if Path::new(OsStr::from_bytes(catalogue::SYSTEM_FILE.to_bytes())).exists() {
        skip("this system has a driver catalogue");
        return None;
    }
    let machine = machine();
    machine.driver("a", "instance_extension VK_KHR_surface 25\ndevice one");
    Some(machine)
}

fn mark(machine: &Machine) -> PathBuf {
    machine.path("data/vulkan/icd.d").join(catalogue::USER_MARK)
}

/// Returns `true` if a program reads the driver's extensions from a catalogue.
fn is_read(machine: &Machine) -> bool {
    let report = machine.explain().report;
    let what = report["catalogue"][0]["what"].as_str().unwrap_or_default();
    what.contains("It was not opened for its extensions")
}

#[test]
fn an_update_marks_the_catalogue_for_programs() {
    let Some(machine) = machine_of_one() else { return };
    assert!(!is_read(&machine));
    update(&machine);
    assert!(is_read(&machine));
    assert!(!good(&machine, &["show"]).contains("ignores it"));
    fs::remove_file(mark(&machine)).expect("a file");
    assert!(!is_read(&machine));
    let shown = good(&machine, &["show"]);
    assert!(shown.contains("vulkan-loader.catalogue is missing"), "{shown}");
    update(&machine);
    assert!(is_read(&machine));
    good(&machine, &["clear"]);
    assert!(!mark(&machine).exists() && !is_read(&machine));
    good(&machine, &["clear"]);
}

/// The marker file is kept, because programs of another architecture find their catalogue through the same file.
#[test]
fn the_mark_stays_while_another_architecture_has_a_catalogue() {
    let machine = machine();
    machine.driver("a", "");
    update(&machine);
    let other = machine.file("cache/vulkan-loader/catalogue-vax.bin", "{}");
    good(&machine, &["clear"]);
    assert!(mark(&machine).is_file());
    fs::remove_file(other).expect("a file");
    good(&machine, &["clear"]);
    assert!(!mark(&machine).exists());
}

#[test]
fn a_catalogue_of_the_system_comes_before_the_users_own() {
    let machine = machine();
    machine.driver("a", "");
    update(&machine);
    let system = machine.path("root/var/cache/vulkan-loader");
    fs::create_dir_all(&system).expect("folders");
    let system = system.join(file(&machine).file_name().expect("a name"));
    fs::copy(file(&machine), &system).expect("a copy");
    let shown = good(&machine, &["show"]);
    let is_root = fs::metadata(&system).is_ok_and(|found| std::os::unix::fs::MetadataExt::uid(&found) == 0);
    let words = format!("ignores it: programs read {}", system.display());
    assert_eq!(shown.contains(&words), is_root, "{shown}");
    // If no entry of the system's file is valid, programs read the user's own file.
    machine.driver("a", "device one");
    good(&machine, &["update"]);
    let mut known = unpack(&system);
    known["drivers"][0]["library"]["identity"] = "0".into();
    fs::write(&system, catalogue::pack(&known)).expect("a file");
    let shown = good(&machine, &["show"]);
    assert!(!shown.contains(&words), "{shown}");
}

#[test]
fn a_mark_that_cannot_be_written_is_reported() {
    let mut machine = machine();
    machine.driver("a", "");
    let folder = machine.file("no-folder", "");
    machine.variable("XDG_DATA_HOME", folder.display().to_string());
    let output = run(&machine, &["update"]);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.success() && text.contains("only with VK_LOADER_CATALOGUE=on"),
        "{text}"
    );
    assert!(file(&machine).is_file());
}

/// Root refuses to work in a user's folder, because the user could have created a link to a system file in that folder.
#[test]
fn root_writes_nothing_into_the_folders_of_another_user() {
    if !steady::is_superuser() {
        return skip("only the superuser can give files away");
    }
    for folder in ["cache", "data"] {
        let machine = machine();
        machine.driver("a", "");
        let target = machine.file("target", "as it was");
        let place = machine.path(folder);
        fs::create_dir_all(place.join("vulkan-loader")).expect("a folder");
        let link = place.join("vulkan-loader/link");
        std::os::unix::fs::symlink(&target, link).expect("a link");
        std::os::unix::fs::chown(&place, Some(1234), None).expect("root may");
        for command in ["update", "clear"] {
            let mut words = vec!["catalogue", command, "--user"];
            let library = library();
            if command == "update" {
                words.extend(["--library", library.to_str().expect("plain")]);
            }
            let output = machine.run(&words);
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{command} {said}");
            assert!(said.contains("belongs to another user"), "{command} {said}");
        }
        assert!(!file(&machine).exists());
    }
}

/// An update fails if the value of a variable is not valid UTF-8. Programs could not compare the value, so they would also use the entries
/// without the variable.
#[test]
fn a_variable_that_is_not_text_stops_an_update() {
    let machine = machine();
    machine.driver("a", "");
    let library = library();
    let words = [
        "catalogue",
        "update",
        "--user",
        "--library",
        library.to_str().expect("plain"),
    ];
    let mut command = machine.command(&words);
    let output = command.env("LD_LIBRARY_PATH", OsStr::from_bytes(b"/a\xff"));
    let output = output.output().expect("it can be started");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("LD_LIBRARY_PATH is not text"), "{said}");
}
