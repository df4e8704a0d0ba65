//! Finds the programs that a command starts through other programs, scripts and links.

use crate::itself;
use crate::regular;
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::Path;

/// Upper bound on the number of programs and scripts between the command and a program.
const DEEPEST: usize = 4;
/// Upper bound on the number of commands of a script that are examined.
const MOST: usize = 200;
/// Upper bound on the bytes of a script that are read.
const LONGEST: u64 = 64 << 10;

const SHELLS: [&str; 5] = ["sh", "bash", "dash", "zsh", "ksh"];
/// Programs that start the program in their arguments.
const STARTING: [&str; 10] = [
    "env",
    "nohup",
    "nice",
    "setsid",
    "gamemoderun",
    "mangohud",
    "prime-run",
    "stdbuf",
    "dbus-run-session",
    "xvfb-run",
];
/// Words of a shell that may stand before a command.
const BEFORE: [&str; 8] = ["exec", "then", "else", "do", "if", "!", "{", "("];

/// A program that a command starts.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Started {
    /// Name of the program's file.
    pub(super) file: String,
    /// Name by which the program was called.
    pub(super) called: String,
    pub(super) arguments: Vec<String>,
}

/// Returns the programs that a command may start. The program of the command itself comes first.
pub(super) fn by(command: &[OsString]) -> Vec<Started> {
    let words: Vec<String> = command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let mut found = Vec::new();
    add(&words, DEEPEST, &mut found);
    found
}

/// Adds the programs of one command, given as its words.
fn add(words: &[String], depth: usize, found: &mut Vec<Started>) {
    let is_assignment = |word: &&String| word.split_once('=').is_some_and(|(name, _)| !name.contains('/'));
    let start = words
        .iter()
        .take_while(|word| is_assignment(word) || BEFORE.contains(&word.as_str()))
        .count();
    let Some((program, arguments)) = words[start..].split_first() else {
        return;
    };
    if found.len() >= MOST || depth == 0 {
        return;
    }
    let called = file_name(Path::new(program));
    let mut push = |file: String| {
        found.push(Started {
            file,
            called: called.clone(),
            arguments: arguments.to_vec(),
        });
    };
    push(called.clone());
    let path = itself::find(OsStr::new(program));
    let real = path.and_then(|path| std::fs::canonicalize(path).ok());
    if let Some(real) = real.as_deref().map(file_name).filter(|real| *real != called) {
        push(real);
    }
    if SHELLS.contains(&called.as_str()) {
        let place = arguments
            .iter()
            .position(|word| word.starts_with('-') && word.ends_with('c'));
        match place.and_then(|place| arguments.get(place + 1)) {
            Some(text) => add_lines(text, depth - 1, found),
            None => add(&arguments[options(arguments)..], depth - 1, found),
        }
    } else if STARTING.contains(&called.as_str()) {
        add(&arguments[options(arguments)..], depth - 1, found);
    } else if let Some(text) = real.and_then(|real| script(&real)) {
        add_lines(&text, depth - 1, found);
    }
}

/// Returns the number of options at the beginning of a list of arguments.
fn options(arguments: &[String]) -> usize {
    arguments.iter().take_while(|word| word.starts_with('-')).count()
}

/// Adds the programs of all commands in a script.
fn add_lines(text: &str, depth: usize, found: &mut Vec<Started>) {
    let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
    for command in lines.flat_map(|line| line.split([';', '&', '|'])) {
        let words = command.split_whitespace();
        let words: Vec<String> = words.map(|word| word.trim_matches(['"', '\'']).into()).collect();
        add(&words, depth, found);
    }
}

/// Returns the text of a script.
fn script(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    let file = regular::open(path).ok().filter(|_| path.is_file())?;
    file.take(2).read_to_end(&mut bytes).ok()?;
    if bytes != b"#!" {
        return None;
    }
    regular::open(path).ok()?.take(LONGEST).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes[2..]).into_owned())
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(command: &[&str]) -> Vec<String> {
        let command: Vec<OsString> = command.iter().map(OsString::from).collect();
        by(&command).into_iter().map(|one| one.file).collect()
    }

    #[test]
    fn launchers_are_found_through_scripts_shells_and_links() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name).display().to_string();
        let text = "#!/bin/sh\n# docker run x\nif true; then\n  A=1 exec /usr/bin/flatpak run --branch=stable org.example.Game \"$@\"\nfi\n";
        std::fs::write(path("game"), text).expect("a script");
        let has = |command: &[&str], name: &str| files(command).iter().any(|file| file == name);
        assert!(has(&[&path("game")], "flatpak"));
        assert!(!has(&[&path("game")], "docker"));
        assert!(has(&["env", "-i", "A=1", &path("game")], "flatpak"));
        assert!(has(&["sh", "-c", "cd /; exec flatpak run org.example.Game"], "flatpak"));
        assert!(has(&["bash", &path("game")], "flatpak"));
        std::fs::write(path("snap"), "").expect("a file");
        std::os::unix::fs::symlink(path("snap"), path("editor")).expect("a link");
        assert!(has(&[&path("editor")], "snap"));
        assert_eq!(files(&[]), Vec::<String>::new());
        assert!(!has(&["echo", "flatpak"], "flatpak"));
    }
}
