//! What packages install beside the program: manual pages and completions have every command, and are the same each time.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn run(words: &[&str]) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_vkloader"))
        .args(words)
        .output()
        .expect("it runs");
    assert!(output.status.success(), "{words:?}: {output:?}");
    output
}

/// The commands that `--help` names.
fn commands() -> Vec<String> {
    let help = String::from_utf8(run(&["--help"]).stdout).expect("text");
    help.lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next().map(str::to_owned))
        .filter(|name| !name.is_empty() && name != "help")
        .collect()
}

/// The files below a folder, with what is in them.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for place in ["bash", "fish", "man", "zsh"] {
        for entry in fs::read_dir(folder.join(place)).expect(place) {
            let path = entry.expect("an entry").path();
            let name = path
                .strip_prefix(folder)
                .expect("below it")
                .to_string_lossy()
                .into_owned();
            found.push((name, fs::read(&path).expect("it was written")));
        }
    }
    found.sort();
    found
}

fn written() -> Vec<(String, Vec<u8>)> {
    let scratch = tempfile::tempdir().expect("a folder");
    let folder = scratch.path().join("pages");
    run(&["pages", folder.to_str().expect("plain")]);
    files(&folder)
}

#[test]
fn each_command_has_a_page_and_its_completions() {
    let (commands, files) = (commands(), written());
    assert!(commands.iter().any(|name| name == "explain"), "{commands:?}");
    let text = |name: &str| {
        let file = files.iter().find(|(file, _)| file == name);
        String::from_utf8_lossy(&file.unwrap_or_else(|| panic!("no {name}")).1).into_owned()
    };
    text("man/vkloader.1");
    for command in &commands {
        assert!(text(&format!("man/vkloader-{command}.1")).contains("SYNOPSIS"));
        for shell in ["bash/vkloader.bash", "fish/vkloader.fish", "zsh/_vkloader"] {
            assert!(text(shell).contains(command), "{shell} has no {command}");
        }
    }
    // What only other commands use is no page for readers.
    assert!(
        !files
            .iter()
            .any(|(name, _)| name.contains("probe") || name.contains("help"))
    );
}

#[test]
fn the_same_program_writes_the_same_bytes() {
    assert_eq!(written(), written());
}

#[test]
fn help_and_version_are_no_failures() {
    for word in ["--help", "-h", "--version", "-V", "help"] {
        assert!(!run(&[word]).stdout.is_empty(), "{word}");
    }
}
