//! Tests that the one-file form of `vkloader` leaves no folder. A shell replaces the static program in these tests.

mod machine;

use machine::{Machine, library, skip, vkloader};
use std::process::{Command, Output};

/// Starts `vkloader` in the same way as the static program: in a folder whose name contains the process ID. `shell` contains the words that
/// start a script, and `run` is the end of the script's text.
fn unpacked(machine: &Machine, shell: &[&str], run: &str) -> Output {
    let place = machine.path("unpacked");
    std::fs::create_dir_all(&place).expect("a folder");
    let script = format!(
        "d='{}'/vkloader-$$-x; mkdir \"$d\"; cp '{}' \"$d/vkloader\"; cp '{}' \"$d/libvulkan.so.1\"; {run}",
        place.display(),
        vkloader(),
        library().display()
    );
    let (program, words) = shell.split_first().expect("a shell");
    let output = Command::new(program).args(words).args(["-c", &script]).output();
    let output = output.expect("it can be started");
    let left: Vec<_> = std::fs::read_dir(&place).expect("a folder").flatten().collect();
    assert!(left.is_empty(), "{left:?} {}", String::from_utf8_lossy(&output.stderr));
    output
}

const VERSION: &str = "exec \"$d/vkloader\" --version";

#[test]
fn the_folder_is_removed_at_the_end() {
    let machine = Machine::new();
    for run in [
        VERSION,
        "exec \"$d/vkloader\" nonsense",
        "exec \"$d/vkloader\" run -- true",
    ] {
        unpacked(&machine, &["sh"], run);
    }
}

/// The signal arrives before `vkloader` can remove its folder. In the one-file form, a static program therefore starts `vkloader` with the
/// signal blocked.
#[test]
fn a_signal_before_the_program_starts_leaves_nothing() {
    let machine = Machine::new();
    let held = ["env", "--block-signal=TERM"];
    if !Command::new(held[0])
        .args([held[1], "true"])
        .status()
        .is_ok_and(|status| status.success())
    {
        return skip("env cannot hold back a signal here");
    }
    let output = unpacked(
        &machine,
        &[held[0], held[1], "bash"],
        &format!("kill -TERM $$; {VERSION}"),
    );
    assert_eq!(output.status.code(), Some(0), "the handler records the signal");
    // The program that `vkloader` starts does not inherit the blocked signal, so SIGTERM ends that program.
    let run = "exec \"$d/vkloader\" run -- sh -c 'kill -TERM $$; exit 3'";
    let output = unpacked(&machine, &[held[0], held[1], "bash"], run);
    assert_eq!(output.status.code(), None, "{output:?}");
}

/// On a system without `/proc`, `vkloader` cannot find its own file, and the first word of its command line does not name the folder
/// either.
#[test]
fn a_system_without_proc_keeps_no_folder() {
    let machine = Machine::new();
    let words = ["bwrap", "--bind", "/", "/", "--dev", "/dev", "--tmpfs", "/proc"];
    if !Command::new(words[0])
        .args(&words[1..])
        .arg("true")
        .status()
        .is_ok_and(|status| status.success())
    {
        return skip("bwrap makes no namespace here");
    }
    let shell = [&words[..], &["bash"]].concat();
    let output = unpacked(&machine, &shell, "exec -a elsewhere \"$d/vkloader\" --version");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}
