//! Programs that create an instance and do not ask for devices, and programs that the dynamic linker ends.

use super::machine::{Explained, Machine};
use super::{change, of_program, with_library};
use std::process::Command;

/// Returns a program that creates an instance, and then ends with the status `status`.
fn ending(machine: &Machine, status: u8) -> String {
    let program = with_library(machine, "libother.so.1");
    let end = format!("if (made) return {status}; if (list(made");
    change(machine, "libother.so.1", "if (list(made", &end);
    program
}

fn head(machine: &Machine, program: &str) -> String {
    let library = super::library();
    let words = ["explain", "--library", library.to_str().expect("plain"), "--", program];
    let words = [&words[..], &[library.to_str().expect("plain"), "device"]].concat();
    String::from_utf8_lossy(&machine.run(&words).stdout).into_owned()
}

/// Without a call that lists devices, the trace has none, although programs get them.
#[test]
fn a_program_that_asks_for_no_devices_has_no_fault() {
    let machine = Machine::new();
    machine.driver("good", "device one");
    let program = ending(&machine, 0);
    let explained = of_program(&machine, &program, &["device"]);
    assert_eq!(
        (explained.code, explained.verdict()),
        (0, "hardware"),
        "{:#}",
        explained.report
    );
    assert_eq!(explained.devices(), ["one"]);
    assert_eq!(explained.codes(), ["program.listed-none"]);
    let text = head(&machine, &program).replace("\n  ", " ");
    assert!(
        text.contains("did not ask for devices; 1 device can be used."),
        "{text}"
    );
    let library = super::library();
    let words = [
        "explain",
        "--json",
        "--no-try",
        "--",
        &program,
        library.to_str().expect("plain"),
        "device",
    ];
    let output = machine.run(&words);
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(2), "the devices are unknown: {said}");
    let program = ending(&machine, 3);
    let explained = of_program(&machine, &program, &["device"]);
    assert_eq!(explained.first(), "program.failed", "{:#}", explained.report);
    assert_eq!(explained.devices(), ["one"]);
}

#[test]
fn the_devices_of_a_program_that_asks_for_none_come_with_their_causes() {
    let machine = Machine::new();
    machine.manifest("gone", std::path::Path::new("/nowhere/libgone.so"), "");
    machine.driver("idle", "");
    let program = ending(&machine, 0);
    let explained = of_program(&machine, &program, &["device"]);
    assert_eq!(
        (explained.code, explained.verdict()),
        (1, "nothing"),
        "{:#}",
        explained.report
    );
    assert!(
        explained.codes().contains(&"driver.no-devices"),
        "{:?}",
        explained.codes()
    );
}

/// The dynamic linker looks for a function when the program calls it.
#[test]
fn a_function_that_the_loader_lacks_is_named() {
    let machine = Machine::new();
    machine.driver("good", "device one");
    let build = |words: &[&str], text: &str| {
        let source = machine.file("text.c", text);
        let made = Command::new("cc").arg(source).args(words).status();
        assert!(made.expect("a compiler").success());
    };
    let path = |name: &str| machine.path(name).display().to_string();
    let (stub, program) = (path("libvulkan.so.1"), path("linked"));
    build(
        &["-shared", "-fPIC", "-Wl,-soname,libvulkan.so.1", "-o", &stub],
        "int vkNowhereEXT(void) { return 0; }\n",
    );
    build(
        &[&stub, "-Wl,-z,lazy", "-o", &program],
        "int vkNowhereEXT(void);\nint main(void) { return vkNowhereEXT(); }\n",
    );
    std::fs::remove_file(&stub).expect("just built");
    let library = super::library();
    let explained: Explained = machine.explain_with(&["--library", library.to_str().expect("plain"), "--", &program]);
    assert_eq!(explained.first(), "loader.failed", "{:#}", explained.report);
    let reason = explained.report["dropped"][0]["reason"].to_string();
    assert!(reason.contains("lacks vkNowhereEXT"), "{reason}");
    let advice = explained.advice();
    assert!(advice.starts_with("Update the loader"), "{advice}");
}

/// Only standard error is shown beside the program, but a second run has both streams.
#[test]
fn lines_on_standard_output_are_quoted_for_a_program_that_failed_early() {
    let mut machine = Machine::new();
    machine.driver("good", "device one");
    machine.variable("DISPLAY", ":987");
    let script = "echo no Vulkan here; exit 3";
    let explained = machine.explain_with(&["--", "/bin/sh", "-c", script]);
    assert_eq!(explained.first(), "program.failed-early", "{:#}", explained.report);
    let findings = explained.findings();
    assert!(findings.contains("no Vulkan here"), "{findings}");
    assert!(findings.contains("there is no display: DISPLAY is :987"), "{findings}");
    assert!(
        !explained.advice().contains("printed nothing"),
        "{}",
        explained.advice()
    );
    let wine = machine.file("wine", format!("#!/bin/sh\n{script}\n"));
    std::fs::set_permissions(&wine, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("the owner may");
    let explained = machine.explain_with(&["--", wine.to_str().expect("plain")]);
    assert_eq!(explained.first(), "display.missing", "{:#}", explained.report);
}

/// Some programs only ask whether Vulkan is there.
#[test]
fn a_program_that_listed_no_devices_is_no_sign_of_missing_ones() {
    let machine = Machine::new();
    machine.driver("good", "device one");
    let program = with_library(&machine, "libother.so.1");
    let explained = of_program(&machine, &program, &["device"]);
    assert_eq!(explained.code, 0, "{:#}", explained.report);
    change(&machine, "libother.so.1", "if (list(", "return 0; if (list(");
    let explained = of_program(&machine, &program, &["device"]);
    assert_eq!(
        (explained.code, explained.devices()),
        (0, vec!["one"]),
        "{:#}",
        explained.report
    );
    assert!(
        explained.codes().contains(&"program.listed-none"),
        "{:?}",
        explained.codes()
    );
}
