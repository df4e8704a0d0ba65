//! Effects of a catalogue on programs and on `vkloader explain`.

use crate::asked::*;
use crate::machine::{Machine, library};
use serde_json::Value;
use std::fs;

#[test]
fn explain_says_what_the_catalogue_answered() {
    let mut machine = machine();
    machine.driver("a", "instance_extension VK_KHR_surface 25\ndevice one");
    machine.driver("bad", "crash vkCreateInstance");
    // The catalogue must be from this machine, because the loader ignores a crash that was recorded on another machine, and opens the
    // driver.
    let library = library();
    let library = library.to_str().expect("plain");
    let update = ["catalogue", "update", "--user", "--library", library];
    assert!(machine.run(&update).status.success());
    machine.variable("VK_LOADER_CATALOGUE", "on");
    let explained = machine.explain();
    assert_eq!((explained.code, explained.devices()), (0, vec!["one"]));
    assert_eq!(explained.first(), "catalogue.crashed");
    assert!(explained.advice().contains("vkloader catalogue update"));
    let one = &explained.report["catalogue"][0];
    assert!(
        one["library"]
            .as_str()
            .is_some_and(|path| path.ends_with("libmock_a.so"))
    );
    assert!(
        one["what"]
            .as_str()
            .is_some_and(|what| what.contains("It was not opened for its extensions"))
    );
    let output = machine.run(&["explain", "--library", library]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("The driver catalogue"));
}

/// Updates the user's own catalogue. Returns the devices that a program then receives.
fn updated(machine: &Machine, more: &[&str]) -> Vec<String> {
    let library = library();
    let mut words = vec![
        "catalogue",
        "update",
        "--user",
        "--library",
        library.to_str().expect("plain"),
    ];
    words.extend_from_slice(more);
    let output = machine.run(&words);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    devices(machine)
}

/// Returns the names of the devices that a program receives.
fn devices(machine: &Machine) -> Vec<String> {
    let mut names: Vec<String> = machine.explain().devices().into_iter().map(String::from).collect();
    names.sort();
    names
}

/// If the list of devices in an entry has become wrong, programs use the list until the next update without `--changed`.
#[test]
fn a_driver_of_the_table_without_a_device_is_not_opened() {
    let mut machine = machine();
    machine.variable("VK_LOADER_CATALOGUE", "on");
    machine.driver("a", "instance_extension VK_KHR_surface 25\ndevice one");
    let library = radeon(&machine, "instance_extension VK_KHR_display 23");
    assert_eq!(updated(&machine, &[]), ["one"]);
    let entry = driver(&written(&machine), "radeon");
    if entry["hardware"] != "absent" {
        return crate::machine::skip("a graphics card with the kernel driver amdgpu is in this machine");
    }
    let before = instances(&machine);
    let explained = machine.explain();
    assert_eq!(explained.first(), "catalogue.no-device");
    assert_eq!(
        instances(&machine),
        before + 1,
        "only the other driver created an instance"
    );
    // Adds a device to the driver's configuration. The file of the driver does not change.
    let lines = fs::read_to_string(library.with_extension("conf")).expect("it was written") + "device two\n";
    fs::write(library.with_extension("conf"), lines).expect("a file");
    assert_eq!(devices(&machine), ["one"]);
    assert_eq!(
        updated(&machine, &["--changed"]),
        ["one"],
        "nothing has changed that an update sees"
    );
    assert_eq!(updated(&machine, &[]), ["one", "two"]);
    machine.variable("VK_LOADER_CATALOGUE", "off");
    assert_eq!(devices(&machine), ["one", "two"]);
}

/// Programs that start while updates replace the file use the old or the new file.
#[test]
fn ten_programs_that_start_during_updates_are_answered() {
    let mut machine = machine();
    machine.driver("a", "instance_extension VK_KHR_surface 25\ndevice one");
    machine.variable("VK_LOADER_CATALOGUE", "on");
    updated(&machine, &[]);
    let library = library();
    let library = library.to_str().expect("plain");
    let start = |words: &[&str]| {
        let mut command = machine.command(words);
        command
            .args(["--library", library])
            .stdout(std::process::Stdio::piped());
        command.spawn().expect("it starts")
    };
    for _ in 0..3 {
        let updates: Vec<_> = (0..3)
            .map(|_| start(&["catalogue", "update", "--user", "--all"]))
            .collect();
        let programs: Vec<_> = (0..10).map(|_| start(&["explain", "--json"])).collect();
        for program in programs {
            let output = program.wait_with_output().expect("it ends");
            let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
            assert_eq!(report["devices"][0]["name"], "one", "{report:#}");
            assert!(
                report["catalogue"][0]["what"]
                    .as_str()
                    .is_some_and(|what| what.contains("It was not opened for its extensions")),
                "{report:#}"
            );
        }
        for update in updates {
            assert!(update.wait_with_output().expect("it ends").status.success());
        }
    }
}

#[test]
fn a_library_that_does_not_open_has_failed() {
    let machine = machine();
    let library = machine.file("libraries/libtext.so", "no library");
    machine.manifest("text", &library, "");
    good(&machine, &["update"]);
    let known = written(&machine);
    let text = driver(&known, "text");
    assert_eq!(
        (&text["outcome"], &text["reason"]),
        (&"failed".into(), &"driver.not-opened".into())
    );
    assert_eq!(text["extensions"], Value::Null);
}
