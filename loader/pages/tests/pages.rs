//! Tests of the manual pages and completions that packages install with the programs: the pages cover every command, and are reproducible.
#![cfg(target_os = "linux")]

use clap::{Command, CommandFactory};
use std::fs;
use std::path::Path;

/// Returns the command lines of the programs.
fn programs() -> [Command; 2] {
    [vkloader::command_line(), vk_loader_service::cli::Cli::command()]
}

/// Returns the paths and contents of the files below a folder.
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
    pages::write_others(&folder).expect("a folder can be written");
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
        // Section 8 is for programs that administrators run.
        let section = if name == "vk-loader-service" { "8" } else { "1" };
        text(&format!("man/{name}.{section}"));
        let shown = program.get_subcommands().filter(|command| !command.is_hide_set());
        let commands: Vec<&str> = shown.map(Command::get_name).collect();
        assert!(!commands.is_empty());
        for command in commands {
            assert!(text(&format!("man/{name}-{command}.{section}")).contains("SYNOPSIS"));
            for place in [
                format!("bash/{name}.bash"),
                format!("fish/{name}.fish"),
                format!("zsh/_{name}"),
            ] {
                assert!(text(&place).contains(command), "{place} has no {command}");
            }
        }
    }
    // Commands that are not meant for users have no page.
    assert!(
        !files
            .iter()
            .any(|(name, _)| name.contains("probe") || name.contains("help"))
    );
}

/// Calls a function with the name and text of each manual page.
fn each_page(mut call: impl FnMut(&str, &str)) {
    for (name, text) in written() {
        if let Some(name) = name.strip_prefix("man/") {
            call(name, &String::from_utf8_lossy(&text));
        }
    }
}

#[test]
fn each_page_has_the_sections_that_readers_look_for() {
    each_page(|name, text| {
        let mut wanted = vec!["NAME", "DESCRIPTION", "EXAMPLES", "SEE ALSO"];
        if name.ends_with(".1") || name.ends_with(".8") {
            wanted.extend(["SYNOPSIS", "EXIT STATUS"]);
        }
        for section in wanted {
            let lines = text
                .lines()
                .filter(|line| line.trim_matches('"') == format!(".SH {section}"));
            assert_eq!(lines.count(), 1, "{name}: {section}");
        }
    });
}

#[test]
fn the_page_of_the_library_has_every_variable() {
    each_page(|name, text| {
        if name == "vulkan-loader.7" {
            for row in promises::variable::TABLE {
                assert!(text.contains(row.name), "{}", row.name);
            }
            assert!(!text.contains('@'), "the page still has a placeholder");
        }
    });
}

#[test]
fn a_synopsis_has_values() {
    each_page(|name, text| {
        if name == "vkloader-explain.1" {
            for words in [
                r"[\fB\-\-html\fR \fIFILE\fR]",
                r"[\fB\-\-json\fR]",
                r"[\fB\-\-\fR \fIPROGRAM\fR ...]",
            ] {
                assert!(text.contains(words), "{words}: {text}");
            }
        }
    });
}

#[test]
fn the_same_programs_have_the_same_bytes() {
    assert_eq!(written(), written());
}
