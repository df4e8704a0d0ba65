//! Crashes of programs that another program started.

use crate::{Wrong, crash_of, has_compiler};

/// `timeout` sends itself the signal that ended the program.
#[test]
fn a_wrapper_that_repeats_the_signal_is_not_blamed() {
    if !has_compiler() {
        return;
    }
    let wrong = Wrong::built();
    let program = wrong.program();
    for (words, culprit) in [
        ("driver call write", "driver"),
        ("program listed write", "program"),
        ("program begin abort", "program"),
    ] {
        let machine = wrong.machine(words, "");
        let script = format!("{program}; kill -$(($? - 128)) $$");
        for wrapper in [&["/usr/bin/timeout", "60", &program][..], &["/bin/sh", "-c", &script]] {
            let explained = Wrong::explain(&machine, &[], wrapper);
            let crash = crash_of(&explained);
            assert_eq!(crash["culprit"], culprit, "{words} {wrapper:?}: {crash:#}");
            assert_eq!(crash["executable"], program, "{words} {wrapper:?}: {crash:#}");
        }
    }
}

/// The process has no trace of its own.
#[test]
fn a_child_that_crashed_explains_the_failure_of_its_parent() {
    if !has_compiler() {
        return;
    }
    let wrong = Wrong::built();
    let machine = wrong.machine("program child write", "");
    machine.driver("card", "device card");
    let explained = Wrong::explain(&machine, &[], &[&wrong.program()]);
    assert_eq!(explained.first(), "program.child-crashed");
    let reason = explained.found("program.child-crashed")["reason"].to_string();
    assert!(
        reason.contains("which the program started") && reason.contains("signal 11 (SIGSEGV)"),
        "{:#}",
        explained.report
    );
    assert_eq!(explained.report["crash"], serde_json::Value::Null);
    let machine = wrong.machine("program nothing none", "");
    let explained = Wrong::explain(&machine, &[], &[&wrong.program()]);
    assert!(!explained.report.to_string().contains("program.child-crashed"));
}
