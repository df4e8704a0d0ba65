//! Programs that end themselves: C++ exceptions, handlers of faults that exit, and sanitizers.

use crate::machine::{Machine, skip};
use crate::{Wrong, has_compiler};
use std::process::Command;

/// A program or a driver throws an exception that no handler catches.
#[test]
fn an_exception_is_told_with_its_type_and_message() {
    if !has_compiler() {
        return;
    }
    let wrong = Wrong::built();
    for (words, culprit) in [
        ("program created throw", "program"),
        ("program thread throw", "program"),
        ("driver thread throw", "driver"),
        ("driver create noexcept", "driver"),
    ] {
        let machine = wrong.machine(words, "");
        let explained = Wrong::explain(&machine, &[], &[&wrong.program()]);
        let crash = &explained.report["crash"];
        assert_eq!(crash["culprit"], culprit, "{words}: {crash:#}");
        let reason = explained.report["dropped"][0]["reason"].to_string();
        if cfg!(target_pointer_width = "64") {
            assert_eq!(crash["exception"]["type"], "std::runtime_error", "{words}: {crash:#}");
            let message = if words.ends_with("noexcept") {
                "not allowed"
            } else {
                "thrown"
            };
            assert_eq!(crash["exception"]["message"], message, "{words}: {crash:#}");
        }
        assert!(reason.contains("nothing caught the C++ exception"), "{words}: {reason}");
    }
    // No call failed, so that the active layer did not cause the exception.
    let machine = wrong.machine("program created throw", "");
    let explained = Wrong::explain(&machine, &[], &[&wrong.program()]);
    assert!(
        !explained.findings().contains("a layer may") && !explained.advice().contains("without the layer"),
        "{:#}",
        explained.report["dropped"][0]
    );
    // An abort without an exception is not told as one.
    let machine = wrong.machine("program created abort", "");
    let explained = Wrong::explain(&machine, &[], &[&wrong.program()]);
    assert!(
        explained.report["crash"]["exception"].is_null(),
        "{:#}",
        explained.report["crash"]
    );
    let found = explained.report["dropped"][0].to_string();
    assert!(!found.contains("C++ exception"));
    // No call failed, so that the active layer is not suspected.
    assert!(
        !found.contains("a layer may") && explained.advice().starts_with("Read the last message"),
        "{found}"
    );
}

/// A program that finds no graphics card ends with an exception. The variable that leaves out the driver of the card comes first.
#[test]
fn a_filter_comes_before_the_exception_of_a_program_that_finds_no_card() {
    if !has_compiler() {
        return;
    }
    let wrong = Wrong::built();
    let mut machine = wrong.machine("program listed throw", "");
    machine.driver("soft", "device soft\ndevice.type 4");
    machine.driver("card", "device card");
    let first = |machine: &Machine| {
        let explained = Wrong::explain(machine, &[], &[&wrong.program()]);
        assert_eq!(explained.report["crash"]["culprit"], "program");
        explained.first().to_owned()
    };
    assert_eq!(first(&machine), "program.crashed");
    machine.variable("VK_LOADER_DRIVERS_DISABLE", "card*");
    assert_eq!(first(&machine), "driver-manifest.disabled");
    // Without a list of devices, nothing shows that the program missed one.
    machine.variable("WRONG", "program created throw");
    assert_eq!(first(&machine), "program.crashed");
}

/// Crash reporters of programs handle a fault, and then end the program with a status.
#[test]
fn a_fault_whose_handler_exits_is_told_as_a_crash() {
    if !has_compiler() {
        return;
    }
    let wrong = Wrong::built();
    let machine = wrong.machine("driver call write", "HANDLER=exit");
    let explained = Wrong::explain(&machine, &[], &[&wrong.program()]);
    let crash = &explained.report["crash"];
    assert_eq!(
        (&crash["culprit"], &crash["signal"]),
        (&"driver".into(), &libc::SIGSEGV.into()),
        "{:#}",
        explained.report
    );
    assert_eq!(explained.first(), "program.crashed");
}

/// AddressSanitizer ends a program with a status. A library that was built with it needs its runtime first.
#[test]
fn an_error_that_a_sanitizer_found_is_told_with_its_culprit() {
    if !has_compiler() {
        return;
    }
    let wrong = Wrong::built();
    let build = |name: &str, source: &str, words: &[&str]| {
        let path = wrong.path(name);
        let source = format!("{}/tests/culprit/{source}.cpp", env!("CARGO_MANIFEST_DIR"));
        let owner = source
            .rsplit('/')
            .next()
            .and_then(|file| file.split('.').next())
            .unwrap_or_default()
            .to_owned();
        let folder = if owner == "program" { "own" } else { "libraries" };
        let (links, brought) = (wrong.path(folder), format!("-lbrought_{owner}"));
        let status = Command::new("c++")
            .args([
                "-O1",
                "-w",
                "-fPIC",
                "-fsanitize=address",
                &format!("-DOWNER={owner}"),
                &source,
                "-o",
            ])
            .arg(&path)
            .arg(format!("-L{}", links.display()))
            .args([
                &brought,
                &format!("-Wl,-rpath,{}", links.display()),
                "-ldl",
                "-lpthread",
            ])
            .args(words)
            .status();
        status.is_ok_and(|status| status.success()).then_some(path)
    };
    let (Some(program), Some(driver)) = (
        build("checked", "program", &[]),
        build("libchecked.so", "driver", &["-shared"]),
    ) else {
        return skip("AddressSanitizer is not installed with the compiler");
    };
    let explain = |words: &str, program: &str, driver: &std::path::Path, preload: &str| {
        let mut machine = wrong.machine(words, "");
        machine.manifest("wrong", driver, "");
        if !preload.is_empty() {
            machine.variable("LD_PRELOAD", preload);
        }
        Wrong::explain(&machine, &[], &[program])
    };
    let checked = program.to_str().expect("plain");
    // The runtime may be a part of the program.
    let linked = build("linked", "program", &["-static-libasan"]);
    for program in [Some(&program), linked.as_ref()].into_iter().flatten() {
        let explained = explain(
            "program created copy",
            program.to_str().expect("plain"),
            &wrong.path("libraries/libdriver.so"),
            "",
        );
        let crash = &explained.report["crash"];
        assert_eq!(
            (&crash["culprit"], &crash["sanitizer"]),
            (&"program".into(), &"AddressSanitizer".into()),
            "{:#}",
            explained.report
        );
    }
    let explained = explain("driver create copy", checked, &driver, "");
    let crash = &explained.report["crash"];
    assert_eq!(
        (&crash["culprit"], &crash["sanitizer"]),
        (&"driver".into(), &"AddressSanitizer".into()),
        "{:#}",
        explained.report
    );
    // Without an error, the supervisor does not make the search for leaks fail.
    let explained = explain("", checked, &wrong.path("libraries/libdriver.so"), "");
    assert!(explained.report["crash"].is_null(), "{:#}", explained.report);
    // The runtime is not first.
    let explained = explain("", &wrong.program(), &driver, "");
    let crash = &explained.report["crash"];
    assert_eq!(
        (&crash["culprit"], &crash["sanitizer"]),
        (&"driver".into(), &"AddressSanitizer".into()),
        "{:#}",
        explained.report
    );
    let advice = explained.advice();
    let runtime = advice
        .split_once("LD_PRELOAD=")
        .and_then(|(_, rest)| rest.split(' ').next());
    let runtime = runtime.unwrap_or_else(|| panic!("{advice}"));
    let explained = explain("", &wrong.program(), &driver, runtime);
    assert!(explained.report["crash"].is_null(), "{:#}", explained.report);
}
