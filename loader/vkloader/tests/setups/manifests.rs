//! Set-ups with driver manifests that are missing, invalid, or for other programs.

use super::{Machine, Row, good, try_all};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

/// Path of the invalid manifest.
const FILE: &str = "data/vulkan/icd.d/bad.json";

fn write(machine: &mut Machine, text: &str) {
    machine.file(FILE, text);
}

/// Reinstalls the driver with a valid manifest.
fn reinstall(machine: &mut Machine) {
    machine.driver("bad", "device one");
}

/// Installs a driver whose manifest has one further member.
fn with_member(machine: &mut Machine, member: &str) {
    machine.driver("bad", "device one");
    machine.manifest("bad", &machine.path("libraries/libmock_bad.so"), member);
}

/// Makes a named pipe that no process writes to.
fn make_pipe(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status();
    assert!(made.expect("mkfifo is there").success());
}

const OTHER_SIZE: &str = if cfg!(target_pointer_width = "64") {
    r#", "library_arch": "32""#
} else {
    r#", "library_arch": "64""#
};

pub(super) const ROWS: &[Row] = &[
    Row::new("no driver is installed", |_| {}, "driver.none-installed")
        .about("vulkan/icd.d")
        .remedy("", good),
    Row::new(
        "a manifest is cut off",
        |machine| write(machine, "{\"ICD\": "),
        "file.invalid-json",
    )
    .about("bad.json")
    .remedy("Correct the file", reinstall),
    Row::new("a manifest is empty", |machine| write(machine, ""), "file.invalid-json")
        .about("bad.json")
        .remedy("Reinstall the package", reinstall),
    Row::new(
        "a manifest has a comma too many",
        |machine| write(machine, "{\"ICD\": {},}"),
        "file.invalid-json",
    )
    .about("bad.json")
    .remedy("Remove the comma at line 1, column 11 of the file", reinstall),
    Row::new(
        "a manifest has bytes that are no text",
        |machine| drop(machine.file(FILE, b"\xFF\xFE{")),
        "file.invalid-json",
    )
    .about("bad.json")
    .remedy("Correct the file", reinstall),
    Row::new(
        "a manifest has no object ICD",
        |machine| write(machine, r#"{"file_format_version": "1.0.0"}"#),
        "driver-manifest.no-icd",
    )
    .about("bad.json")
    .remedy("Reinstall the driver", reinstall),
    Row::new(
        "a manifest names no library",
        |machine| {
            write(
                machine,
                r#"{"file_format_version": "1.0.0", "ICD": {"api_version": "1.3.0"}}"#,
            )
        },
        "driver-manifest.no-library-path",
    )
    .about("bad.json")
    .remedy("library_path", reinstall),
    Row::new(
        "a manifest names an empty library",
        |machine| {
            write(
                machine,
                r#"{"file_format_version": "1.0.0", "ICD": {"library_path": "", "api_version": "1.3.0"}}"#,
            )
        },
        "driver-manifest.empty-library-path",
    )
    .about("bad.json")
    .remedy("Reinstall the driver", reinstall),
    Row::new(
        "a manifest has no API version",
        |machine| {
            write(
                machine,
                r#"{"file_format_version": "1.0.0", "ICD": {"library_path": "libx.so"}}"#,
            )
        },
        "driver-manifest.no-api-version",
    )
    .about("bad.json")
    .remedy("api_version", reinstall),
    Row::new(
        "a manifest has no version of its own",
        |machine| {
            write(
                machine,
                r#"{"ICD": {"library_path": "libx.so", "api_version": "1.3.0"}}"#,
            )
        },
        "driver-manifest.no-format-version",
    )
    .about("bad.json")
    .remedy("file_format_version", reinstall),
    Row::new(
        "the manifest of a layer lies with those of drivers",
        |machine| {
            let layer = machine.layer("stray");
            fs::rename(layer, machine.path(FILE)).expect("moved");
        },
        "driver-manifest.of-layer",
    )
    .about("bad.json")
    .remedy("Move the file to a layer folder", |machine| {
        fs::rename(
            machine.path(FILE),
            machine.path("data/vulkan/implicit_layer.d/bad.json"),
        )
        .expect("moved");
    })
    .gone(),
    Row::new(
        "a manifest that gives the wrong word size for its library",
        |machine| with_member(machine, OTHER_SIZE),
        "driver-manifest.architecture",
    )
    .about("bad.json")
    .remedy("Remove the member library_arch", |machine| with_member(machine, "")),
    Row::new(
        "a portability driver",
        |machine| with_member(machine, r#", "is_portability_driver": true"#),
        "driver-manifest.portability",
    )
    .about("bad.json")
    .remedy("VK_KHR_portability_enumeration", reinstall)
    .gone(),
    Row::new(
        "a folder has the name of a manifest",
        |machine| fs::create_dir(machine.path(FILE)).expect("a folder"),
        "file.not-regular",
    )
    .about("bad.json")
    .remedy("JSON file", |machine| {
        fs::remove_dir(machine.path(FILE)).expect("removed");
        reinstall(machine);
    }),
    Row::new(
        "a named pipe has the name of a manifest",
        |machine| make_pipe(&machine.path(FILE)),
        "file.not-regular",
    )
    .about("is a named pipe")
    .remedy("Remove it: rm ", |machine| {
        fs::remove_file(machine.path(FILE)).expect("removed");
        reinstall(machine);
    }),
    Row::new(
        "a manifest is a link to the null device",
        |machine| symlink("/dev/null", machine.path(FILE)).expect("a link"),
        "file.not-regular",
    )
    .about("is a link to /dev/null, which is a device")
    .remedy("remove the link (rm ", |machine| {
        fs::remove_file(machine.path(FILE)).expect("removed");
        reinstall(machine);
    }),
    Row::new(
        "a link leads to no manifest",
        |machine| symlink("/nowhere/bad.json", machine.path(FILE)).expect("a link"),
        "file.not-found",
    )
    .about("bad.json")
    .remedy("Bring /nowhere/bad.json back", |machine| {
        fs::remove_file(machine.path(FILE)).expect("removed");
        reinstall(machine);
    }),
    Row::new(
        "two manifests name one library",
        |machine| {
            good(machine);
            machine.manifest("again", &machine.path("libraries/libmock_good.so"), "");
        },
        "driver.named-twice",
    )
    .about("again.json")
    .remedy("Remove all but one", |machine| {
        fs::remove_file(machine.path("data/vulkan/icd.d/again.json")).expect("removed");
    })
    .gone(),
    Row::new(
        "a manifest leads to a library that is gone",
        |machine| drop(machine.manifest("bad", Path::new("/nowhere/libgone.so"), "")),
        "driver.not-opened",
    )
    .about("bad.json")
    .remedy("Reinstall the package", reinstall),
    Row::new(
        "a manifest leads to a bare name that is nowhere",
        |machine| drop(machine.manifest("bad", Path::new("libvklt-nowhere.so.1"), "")),
        "driver.not-opened",
    )
    .about("libvklt-nowhere.so.1 is in no folder")
    .remedy("correct library_path", reinstall),
    Row::new(
        "a manifest leads to a device",
        |machine| drop(machine.manifest("bad", Path::new("/dev/null"), "")),
        "driver.not-opened",
    )
    .about("/dev/null is not a file")
    .remedy("Correct library_path", reinstall),
];

#[test]
fn each_cause_in_a_manifest_is_named_and_its_remedy_helps() {
    try_all(ROWS);
}

/// A security policy refuses to open the manifest, or to list its folder, although their permissions allow it.
#[test]
fn manifests_that_a_security_policy_refuses_are_named() {
    for (refused, code) in [
        ("data/vulkan/icd.d/good.json", "file.not-opened"),
        ("data/vulkan/icd.d/", "search.folder-closed"),
    ] {
        let mut machine = Machine::new();
        good(&mut machine);
        let refused = machine.path(refused).display().to_string();
        let Some(landlock) = machine.landlock() else { return };
        // `vkloader` must be able to read its own files. Only folders that exist at the start are permitted.
        let scratch = machine.path("scratch");
        fs::create_dir(&scratch).expect("a folder");
        machine.variable("TMPDIR", scratch.to_str().expect("plain"));
        machine.start_behind(&[&landlock, &refused]);
        let explained = machine.explain();
        assert_eq!(explained.first(), code, "{:?}", explained.codes());
        let advice = explained.advice();
        assert!(advice.starts_with("A security policy forbids it"), "{advice}");
        machine.start_with(Vec::new());
        assert_eq!(machine.explain().code, 0);
    }
}
