//! Manual pages and completions that packages install with the programs: they cover every command, and are reproducible.
#![cfg(target_os = "linux")]

use clap::{Command, CommandFactory};
use std::fs;
use std::path::Path;

/// The command lines of the programs.
fn programs() -> [Command; 2] {
    [vkloader::command_line(), vk_loader_service::cli::Cli::command()]
}

/// The paths and contents of the files below a folder.
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
    for program in programs() {
        pages::write(program, &folder).expect("a folder can be written");
    }
    files(&folder)
}

#[test]
fn each_command_has_a_page_and_its_completions() {
    let files = written();
    let text = |name: &str| {
        let file = files.iter().find(|(file, _)| file == name);
        String::from_utf8_lossy(&file.unwrap_or_else(|| panic!("no {name}")).1).into_owned()
    };
    for program in programs() {
        let name = program.get_name();
        text(&format!("man/{name}.1"));
        let shown = program.get_subcommands().filter(|command| !command.is_hide_set());
        let commands: Vec<&str> = shown.map(Command::get_name).collect();
        assert!(!commands.is_empty());
        for command in commands {
            assert!(text(&format!("man/{name}-{command}.1")).contains("SYNOPSIS"));
            for place in [
                format!("bash/{name}.bash"),
                format!("fish/{name}.fish"),
                format!("zsh/_{name}"),
            ] {
                assert!(text(&place).contains(command), "{place} has no {command}");
            }
        }
    }
    // Commands for use by other commands have no page.
    assert!(
        !files
            .iter()
            .any(|(name, _)| name.contains("probe") || name.contains("help"))
    );
}

#[test]
fn the_same_programs_have_the_same_bytes() {
    assert_eq!(written(), written());
}
