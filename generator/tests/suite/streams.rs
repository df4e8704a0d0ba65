//! Tests of the program with arguments of every form, and with output streams that accept no data (GEN-3).
use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, Output, Stdio};

fn vkgen(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vkgen"));
    command.args(arguments).current_dir(crate::common::repository());
    command
}

fn run(arguments: &[&str]) -> Output {
    vkgen(arguments).output().expect("the program runs")
}

/// Returns the exit code and the text on standard error. A panic makes the test fail.
fn ending(output: &Output) -> (Option<i32>, String) {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!text.contains("panicked"), "{text}");
    (output.status.code(), text)
}

/// Command lines of all subcommands and options that print.
const PRINTING: [&[&str]; 7] = [
    &["dump"],
    &["explain", "vkCmdDraw"],
    &["diff", "registry/snapshot", "registry/snapshot"],
    &["emit"],
    &["--help"],
    &["diff", "-h"],
    &["--version"],
];

#[test]
fn gen_3_help_and_version_are_no_errors() {
    for arguments in [
        &["--help"][..],
        &["-h"],
        &["help"],
        &["help", "diff"],
        &["emit", "--help"],
        &["diff", "-h"],
    ] {
        let output = run(arguments);
        assert_eq!(ending(&output), (Some(0), String::new()), "{arguments:?}");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains("Usage: vkgen"), "{arguments:?}: {text}");
    }
    for flag in ["--version", "-V"] {
        let output = run(&[flag]);
        assert_eq!(ending(&output), (Some(0), String::new()));
        let expected = format!("vkgen {}\n", env!("CARGO_PKG_VERSION"));
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
    }
}

#[test]
fn gen_3_values_stand_behind_a_space_or_an_equals_sign() {
    for arguments in [
        &["dump", "--snapshot", "registry/snapshot"][..],
        &["dump", "--snapshot=registry/snapshot"],
        &["--", "dump"],
    ] {
        let (code, text) = ending(&run(arguments));
        assert_eq!(
            code,
            Some(if arguments[0] == "--" { 3 } else { 0 }),
            "{arguments:?}: {text}"
        );
    }
    for arguments in [
        &["dump", "--snapshot"][..],
        &["dump", "--snapshot=a", "--snapshot=b"],
        &["dump", "--snap=a"],
        &[],
    ] {
        let (code, text) = ending(&run(arguments));
        assert_eq!(code, Some(3), "{arguments:?}: {text}");
        assert!(text.contains("--help"), "{arguments:?}: {text}");
    }
}

#[test]
fn gen_3_a_full_output_is_an_error() {
    for arguments in PRINTING {
        let full = OpenOptions::new().write(true).open("/dev/full").expect("the device");
        let output = vkgen(arguments).stdout(full).output().expect("the program runs");
        let (code, text) = ending(&output);
        assert_eq!(code, Some(3), "{arguments:?}: {text}");
        assert!(text.starts_with("standard output: "), "{arguments:?}: {text}");
    }
}

#[test]
fn gen_3_a_reader_that_went_away_is_an_error() {
    for arguments in PRINTING {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let output = vkgen(arguments).stdout(writer).output().expect("the program runs");
        let (code, text) = ending(&output);
        assert_eq!(code, Some(3), "{arguments:?}: {text}");
        assert!(text.starts_with("standard output: "), "{arguments:?}: {text}");
    }
}

#[test]
fn gen_3_complaints_that_nobody_can_read_keep_their_exit_code() {
    for (arguments, expected) in [(&["juggle"][..], 3), (&["dump", "--snapshot=nowhere"], 3)] {
        let full = File::options().write(true).open("/dev/full").expect("the device");
        let status = vkgen(arguments).stdout(Stdio::null()).stderr(full).status();
        assert_eq!(
            status.expect("the program runs").code(),
            Some(expected),
            "{arguments:?}"
        );
    }
}

#[test]
fn gen_3_arguments_that_are_no_text_are_refused() {
    let bytes = |text: &[u8]| OsStr::from_bytes(text).to_owned();
    let words = |words: &[&[u8]]| words.iter().map(|word| bytes(word)).collect::<Vec<OsString>>();
    for arguments in [
        words(&[b"\xff"]),
        words(&[b"explain", b"\xff"]),
        words(&[b"dump", b"--\xff"]),
        words(&[b"dump", b"--snapshot", b"\xff"]),
        words(&[b"diff", b"\xff", b"\xfe"]),
    ] {
        let output = vkgen(&[]).args(&arguments).output().expect("the program runs");
        let (code, text) = ending(&output);
        assert_eq!(code, Some(3), "{arguments:?}: {text}");
        assert!(!text.is_empty(), "{arguments:?}");
    }
}
