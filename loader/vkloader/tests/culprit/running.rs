//! Tests that a supervised program runs like an unsupervised one.

use super::machine::{Machine, behind, library, skip};
use super::{Wrong, has_compiler};
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use steady::{ending, eventually};

/// Returns the arguments that make `vkloader` run a shell script under `explain`.
fn arguments<'a>(library: &'a Path, script: &'a str) -> [&'a str; 7] {
    let library = library.to_str().expect("plain");
    ["explain", "--library", library, "--", "/bin/sh", "-c", script]
}

/// Runs a shell script under `explain`, on a machine with a driver.
fn explained(machine: &Machine, script: &str) -> Output {
    machine.run(&arguments(&library(), script))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns the letter for the state of a process in `/proc`.
fn state(process: &str) -> char {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("State:"));
    line.and_then(|line| line.trim().chars().next()).unwrap_or('X')
}

/// Starts a script under `explain`. Returns the process, and the process ID that the script writes to a file.
fn started(machine: &Machine, script: &str) -> (Child, String) {
    let file = machine.path("number");
    let script = format!("echo $$ >{0}.new; mv {0}.new {0}; {script}", file.display());
    let mut command = machine.command(&arguments(&library(), &script));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let child = command.spawn().expect("it starts");
    eventually("the program is started", || file.exists());
    (child, fs::read_to_string(&file).expect("a number").trim().into())
}

fn send(signal: &str, process: &str) {
    let sent = Command::new("kill").args([signal, process]).status();
    assert!(sent.expect("kill is there").success(), "{signal} {process}");
}

#[test]
fn handlers_of_the_program_run_and_decide() {
    let machine = Machine::new();
    let output = explained(&machine, "trap 'echo caught; exit 3' SEGV; kill -SEGV $$; sleep 60");
    assert!(text(&output.stdout).contains("caught"), "{}", text(&output.stdout));
    assert!(!text(&output.stderr).contains("crash"), "{}", text(&output.stderr));
}

#[test]
fn statuses_and_output_are_those_of_the_program() {
    let machine = Machine::new();
    let output = explained(&machine, "echo words; exit 7");
    let said = text(&output.stdout);
    assert!(
        said.starts_with("words\nx The program failed before it used Vulkan"),
        "{said}"
    );
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("The program ended with status 7"), "{said}");
}

#[test]
fn programs_that_gain_privileges_keep_them() {
    let mut machine = Machine::new();
    let copy = machine.path("privileged");
    steady::copy_program(Path::new("/usr/bin/id"), &copy, 0o4755);
    if !machine.unprivileged() {
        return;
    }
    let copy = copy.display();
    for script in [
        format!("{copy} -u"),
        format!("exec {copy} -u"),
        format!("cd {}; ./privileged -u; true", machine.path("").display()),
    ] {
        let output = explained(&machine, &script);
        let said = text(&output.stdout);
        assert!(
            said.starts_with("0\n! The program ended normally, and left no trace"),
            "{script}: {said}"
        );
    }
}

#[test]
fn programs_may_supervise_others() {
    if !Path::new("/usr/bin/strace").exists() {
        return skip("a program that supervises others: strace is not installed");
    }
    let machine = Machine::new();
    let file = machine.path("calls");
    explained(&machine, &format!("strace -f -o {} /bin/true; true", file.display()));
    let calls = fs::read_to_string(&file).unwrap_or_default();
    assert!(calls.contains("+++ exited with 0 +++"), "{calls}");
}

#[test]
fn where_nobody_may_supervise_the_report_says_so() {
    if !has_compiler() || !Path::new("/usr/bin/strace").exists() {
        return skip("a process that may not supervise: strace is not installed");
    }
    let wrong = Wrong::built();
    let machine = wrong.machine("driver create write", "");
    let (library, program) = (library(), wrong.program());
    let words = [
        "explain",
        "--json",
        "--library",
        library.to_str().expect("plain"),
        "--",
        &program,
    ];
    let own = machine.command(&words);
    // strace cannot supervise a process that vkloader already supervises.
    let output = behind(&["/usr/bin/strace", "-f", "-o", "/dev/null"], &own)
        .output()
        .expect("it runs");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a report");
    let crash = &report["crash"];
    assert_eq!(
        (&crash["culprit"], &crash["unsupervised"]),
        (&"unknown".into(), &"not-permitted".into()),
        "{report:#}"
    );
    // The report still names the driver of the last call in the trace.
    let name = report["dropped"][0]["name"].as_str().expect("a name");
    assert!(name.ends_with("libdriver.so"), "{report:#}");
}

#[test]
fn a_program_can_be_stopped_and_continued() {
    let machine = Machine::new();
    let (mut child, number) = started(&machine, "for i in 1 2 3 4; do sleep 0.1; done");
    send("-STOP", &number);
    eventually("the program is stopped", || matches!(state(&number), 't' | 'T'));
    send("-CONT", &number);
    ending(&mut child);
}

#[test]
fn a_program_goes_on_when_vkloader_is_killed() {
    let mut machine = Machine::new();
    // A killed vkloader cannot remove its temporary files.
    let folder = machine.path("temporary");
    fs::create_dir(&folder).expect("a folder");
    machine.variable("TMPDIR", folder.to_str().expect("plain"));
    let (mut child, number) = started(&machine, "while :; do sleep 0.1; done");
    child.kill().expect("it runs");
    ending(&mut child);
    eventually("the program has no supervisor", || {
        let status = fs::read_to_string(format!("/proc/{number}/status")).unwrap_or_default();
        status.contains("TracerPid:\t0\n")
    });
    eventually("the program runs", || matches!(state(&number), 'S' | 'R'));
    send("-KILL", &number);
}

#[test]
fn what_a_program_leaves_running_goes_on() {
    let machine = Machine::new();
    let file = machine.path("left");
    explained(
        &machine,
        &format!("sleep 300 >/dev/null 2>&1 & echo $! >{}", file.display()),
    );
    let number = fs::read_to_string(&file).expect("a number");
    assert!(matches!(state(number.trim()), 'S' | 'R'));
    send("-KILL", number.trim());
}
