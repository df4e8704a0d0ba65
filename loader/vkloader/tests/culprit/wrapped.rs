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
