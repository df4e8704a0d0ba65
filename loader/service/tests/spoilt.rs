//! Tests with invalid packages (LSV-49 to LSV-52). The service reports the reason in its state, and uses the device's next package.

mod machine;

use machine::{Machine, case, eventually, library, manifest};
use std::fs;
use std::os::unix::fs::symlink;

/// Name of the fault, a function that makes the package `a` invalid, and a word that the reported reason must contain.
type Row = (&'static str, fn(&Machine), &'static str);

/// All tested faults of packages.
const ROWS: &[Row] = &[
    (
        "no metadata",
        |m| fs::remove_file(m.path(METADATA)).unwrap(),
        "metadata.json",
    ),
    ("metadata is no JSON", |m| m.write(METADATA, "{"), "metadata.json"),
    (
        "metadata is too large",
        |m| m.write(METADATA, " ".repeat(70_000)),
        "70000 bytes",
    ),
    ("no manifest", |m| fs::remove_file(m.path(MANIFEST)).unwrap(), "m.json"),
    ("manifest is no JSON", |m| m.write(MANIFEST, "[]"), "m.json"),
    (
        "manifest is too large",
        |m| m.write(MANIFEST, " ".repeat(70_000)),
        "70000 bytes",
    ),
    (
        "name with a control character",
        |m| m.write(MANIFEST, manifest("x\\u001f.so")),
        "library_path",
    ),
    (
        "library is cut off",
        |m| {
            let whole = fs::read(machine::PROGRAM).unwrap();
            m.write(LIBRARY, &whole[..1 << 16]);
        },
        "cut off",
    ),
    ("path leads up", |m| metadata(m, "lib/../../x"), "rule of paths"),
    (
        "library is a link",
        |m| {
            fs::rename(m.path(LIBRARY), m.path("icd/a/contents/real.so")).unwrap();
            symlink("../real.so", m.path(LIBRARY)).unwrap();
        },
        "symbolic link",
    ),
    (
        "folder is a link",
        |m| {
            fs::rename(m.path("icd/a/contents/lib"), m.path("icd/a/contents/l")).unwrap();
            symlink("l", m.path("icd/a/contents/lib")).unwrap();
        },
        "symbolic link",
    ),
    (
        "package is a link",
        |m| {
            fs::rename(m.path("icd/a"), m.path("icd/elsewhere")).unwrap();
            symlink("elsewhere", m.path("icd/a")).unwrap();
        },
        "symbolic link",
    ),
    ("library is a folder", |m| metadata(m, "lib"), "rule of paths"),
    (
        "library is a pipe",
        |m| special(m, rustix::fs::FileType::Fifo, 0),
        "rule of paths",
    ),
    (
        "library is a device",
        |m| special(m, rustix::fs::FileType::CharacterDevice, 0x103),
        "rule of paths",
    ),
    (
        "library is no ELF file",
        |m| m.write(LIBRARY, "#!/bin/sh\n# long enough for a header"),
        "ELF",
    ),
    (
        "library is a program",
        |m| {
            let mut bytes = library(64, 100);
            bytes[16] = 2;
            m.write(LIBRARY, bytes);
        },
        "ELF",
    ),
    (
        "library is for other programs",
        |m| m.write(LIBRARY, library(32, 100)),
        "32-bit programs",
    ),
    (
        "library is too large",
        |m| {
            fs::File::options()
                .write(true)
                .open(m.path(LIBRARY))
                .unwrap()
                .set_len((1 << 30) + 1)
                .unwrap();
        },
        "1073741824",
    ),
    (
        "others may write the library",
        |m| m.set_mode(LIBRARY, 0o666),
        "others than root",
    ),
    (
        "others may write a folder",
        |m| m.set_mode("icd/a/contents/lib", 0o775),
        "others than root",
    ),
    (
        "others may write the package",
        |m| m.set_mode("icd/a", 0o777),
        "others than root",
    ),
    (
        "another's package",
        |m| std::os::unix::fs::chown(m.path("icd/a"), Some(54321), None).unwrap(),
        "owner 54321",
    ),
];

const METADATA: &str = "icd/a/metadata/metadata.json";
const MANIFEST: &str = "icd/a/contents/m.json";
const LIBRARY: &str = "icd/a/contents/lib/driver.so";

fn metadata(machine: &Machine, library: &str) {
    let text = format!(r#"{{"version":1,"file_path":"{library}","manifest_path":"m.json"}}"#);
    machine.write(METADATA, text);
}

fn special(machine: &Machine, kind: rustix::fs::FileType, device: u64) {
    fs::remove_file(machine.path(LIBRARY)).unwrap();
    let mode = rustix::fs::Mode::from_raw_mode(0o644);
    rustix::fs::mknodat(rustix::fs::CWD, machine.path(LIBRARY), kind, mode, device).unwrap();
}

/// LSV-52: for each invalid package, the service uses the device's next package and reports the reason in its state.
#[test]
fn lsv_52_a_spoilt_package_is_passed_over() {
    case(|mut machine| {
        machine.device("renderD128", "one");
        machine.package("a");
        machine.package("b");
        machine.start();
        for (what, spoil, word) in ROWS {
            eventually(&format!("a serves, before: {what}"), || {
                machine.manifests().iter().any(|name| name.ends_with("-liba.so.json"))
            });
            spoil(&machine);
            eventually(&format!("b serves, though: {what}"), || {
                machine.manifests().iter().any(|name| name.ends_with("-libb.so.json"))
            });
            let reason = machine.failure("a");
            assert!(reason.contains(word), "{what}: {reason}");
            let _ = fs::remove_file(machine.path("icd/a"));
            if machine.path("icd/elsewhere").exists() {
                fs::remove_dir_all(machine.path("icd/elsewhere")).unwrap();
            } else {
                machine.remove_package("a");
            }
            machine.package("a");
        }
    });
}

/// LSV-49: if users other than root may change the folder of packages, the service uses no package in it.
#[test]
fn lsv_49_a_root_that_others_may_change_has_no_packages() {
    case(|mut machine| {
        machine.package("soft");
        machine.set_mode("icd", 0o777);
        machine.start();
        machine.expect(&[]);
        assert!(machine.failure("soft").contains("others than root"));
    });
}
