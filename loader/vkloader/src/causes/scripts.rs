//! Finds the scripts that start a program, and the lines that set or remove variables in them.

use crate::itself;
use crate::regular;
use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Upper bound on the number of scripts that are read.
const MOST: usize = 16;
/// Upper bound on the size of a script in bytes.
const LARGEST: u64 = 1 << 20;
/// Programs that run the file of their first argument as a script, whatever its first line is.
const INTERPRETERS: [&str; 2] = ["python3", "perl"];
/// Shells, which also run the file of their first argument as a script.
pub(super) const SHELLS: [&str; 9] = ["sh", "bash", "dash", "ash", "zsh", "ksh", "fish", "csh", "tcsh"];
/// Words with which a shell runs the lines of another file.
const READING: [&str; 2] = [".", "source"];
/// Beginnings of the commands that start a program without the variables of the shell.
const CLEARING: [&str; 5] = [
    "env -i ",
    "env - ",
    "env --ignore-environment ",
    "unset VK_LOADER_TRACE",
    "exec -c ",
];

/// Returns the program and the arguments that the command line of this process names after `--`.
pub(super) fn command() -> Vec<OsString> {
    let mut words = std::env::args_os().skip_while(|word| word != "--");
    words.next();
    words.collect()
}

/// Returns the scripts that a command runs, with the scripts that these run or read.
pub(super) fn of(command: &[OsString]) -> Vec<PathBuf> {
    let Some((program, arguments)) = command.split_first() else {
        return Vec::new();
    };
    let program = itself::find(program);
    let name = program.as_ref().and_then(|path| path.file_name()?.to_str());
    let is_interpreter = name.is_some_and(|name| INTERPRETERS.contains(&name) || SHELLS.contains(&name));
    let mut files = arguments.iter().map(PathBuf::from);
    let is_option = |path: &PathBuf| path.to_string_lossy().starts_with('-');
    let first = files.clone().find(|path| !is_option(path));
    let first = first.filter(|path| is_interpreter && path.is_file());
    let found = program.into_iter().chain(&mut files).filter(|path| is_script(path));
    let mut found: Vec<PathBuf> = found.chain(first).collect();
    let mut place = 0;
    while let Some(script) = found.get(place).cloned().filter(|_| found.len() < MOST) {
        for next in started_by(&script) {
            if !found.contains(&next) {
                found.push(next);
            }
        }
        place += 1;
    }
    found
}

/// Returns the scripts that a script runs or reads. In a line with variables, a path may also be a file beside the script, because scripts
/// name their own folder in this way.
fn started_by(script: &Path) -> Vec<PathBuf> {
    let text = text(script);
    let folder = script.parent().unwrap_or(Path::new("/"));
    let mut found = Vec::new();
    for line in text.lines().filter(|line| !line.trim_start().starts_with('#')) {
        let mut reads = false;
        let words = line.split([' ', '\t', '"', '\'', ';', '&', '|', '(', ')', '`']);
        for word in words.filter(|word| !word.is_empty()) {
            reads |= READING.contains(&word);
            let Some((_, name)) = word.rsplit_once('/') else {
                continue;
            };
            let beside = Some(folder.join(name)).filter(|_| line.contains('$'));
            let paths = beside.into_iter().chain([PathBuf::from(word)]);
            found.extend(
                paths
                    .into_iter()
                    .find(|path| is_script(path) || reads && path.is_file()),
            );
        }
    }
    found
}

/// Returns the first line that starts a program without the variables of the shell: the script, the number of the line, and the command.
pub(crate) fn clearing(command: &[OsString]) -> Option<(PathBuf, usize, &'static str)> {
    of(command).into_iter().find_map(|script| {
        let text = text(&script);
        let clears = |line: &str| {
            CLEARING
                .into_iter()
                .find(|start| !line.starts_with('#') && line.contains(start))
        };
        let mut lines = text.lines().map(str::trim).enumerate();
        let (line, start) = lines.find_map(|(line, text)| Some((line, clears(text)?)))?;
        Some((script, line + 1, start.trim_end()))
    })
}

/// Returns the text of a file that is not too large; empty for other files.
pub(super) fn text(file: &Path) -> String {
    let is_small = fs::metadata(file).is_ok_and(|status| status.is_file() && status.len() < LARGEST);
    is_small.then(|| regular::text(file).ok()).flatten().unwrap_or_default()
}

/// Returns `true` for a program that a shell or another interpreter runs.
fn is_script(path: &Path) -> bool {
    let mut beginning = [0; 2];
    if !fs::metadata(path).is_ok_and(|status| status.is_file()) {
        return false;
    }
    let read = regular::open(path).and_then(|mut file| file.read_exact(&mut beginning));
    read.is_ok() && beginning == *b"#!"
}

/// Returns `true` if a line sets the variable `name`: `NAME=`, `export NAME=`, `NAME DEFAULT=` or `set -x NAME`. If `value` is known, the line must be
/// able to lead to it.
pub(super) fn sets(line: &str, name: &str, value: Option<&str>) -> bool {
    let line = line.trim();
    if line.starts_with('#') {
        return false;
    }
    let mut words = line
        .split(|character: char| character.is_whitespace() || matches!(character, '=' | ';' | ',' | '.' | '"' | '\''));
    let first = line.split_whitespace().next().unwrap_or_default();
    let assigns = line.contains('=') || first == "set" || first == "setenv";
    assigns && words.any(|word| word == name) && value.is_none_or(|value| leads_to(line, name, value))
}

/// Returns `true` if a line that sets the variable `name` may lead to `value`.
fn leads_to(line: &str, name: &str, value: &str) -> bool {
    let after = line.find(name).map_or(line, |at| &line[at + name.len()..]);
    if !after.contains(['$', '`', '~', '\\', '%', '@']) {
        return after.contains(value);
    }
    let is_extended = [format!("${name}"), format!("${{{name}")]
        .iter()
        .any(|own| after.contains(own));
    // A line that extends the variable sets it only if the value has one of the folders that the line adds.
    let parts = || value.split([':', ' ', ';']);
    let mut added = after.split([':', ' ', ';', '"', '\'', '=', ',', '}']);
    let adds = |word: &str| match word.find('/') {
        Some(0) => parts().any(|part| part == word),
        Some(at) => parts().any(|part| part.ends_with(&word[at..])),
        None => false,
    };
    !is_extended || added.any(adds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_set_a_variable() {
        for (line, expected) in [
            ("export VK_X=1", true),
            ("VK_X DEFAULT=1", true),
            ("set -gx VK_X 1", true),
            ("env = VK_X,/a.json", true),
            ("$env.VK_X = '/a.json'", true),
            ("# VK_X=1", false),
            ("echo VK_X", false),
            ("VK_XY=1", false),
        ] {
            assert_eq!(sets(line, "VK_X", None), expected, "{line}");
        }
    }

    #[test]
    fn a_line_that_cannot_lead_to_the_value_does_not_set_it() {
        let of_flatpak =
            r#"export XDG_DATA_DIRS="${new_dirs:+${new_dirs}:}${XDG_DATA_DIRS:-/usr/local/share:/usr/share}""#;
        for (line, name, value, expected) in [
            (of_flatpak, "XDG_DATA_DIRS", "/snap/game/12/usr/share", false),
            ("XDG_DATA_DIRS=/snap/game", "XDG_DATA_DIRS", "/snap/game", true),
            ("VK_X=/a.json", "VK_X", "/b.json", false),
            ("VK_X=$HOME/a.json", "VK_X", "/home/ann/a.json", true),
            ("LD_X=/opt/a:$LD_X", "LD_X", "/opt/a:/opt/b", true),
            ("LD_X=/opt/a:$LD_X", "LD_X", "/opt/b", false),
            ("LD_X=\"$HOME/lib:${LD_X}\"", "LD_X", "/home/ann/lib:/opt/b", true),
        ] {
            assert_eq!(sets(line, name, Some(value)), expected, "{line}");
        }
    }

    #[test]
    fn scripts_that_scripts_run_or_read_are_found() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::write(&path, text).expect("a file");
            path
        };
        let first = write(
            "run.sh",
            "#!/bin/sh\n. \"$(dirname \"$0\")/settings\"\nexec \"$HERE/next.sh\"\n",
        );
        let settings = write("settings", "export VK_X=1\n");
        let next = write("next.sh", "#!/bin/sh\nexec env -i /usr/bin/true\n");
        let bare = write("bare", ". ./none\n");
        let words = |words: &[&Path]| -> Vec<OsString> { words.iter().map(|word| word.into()).collect() };
        assert_eq!(of(&words(&[&first])), [first.clone(), settings, next.clone()]);
        assert_eq!(of(&words(&[Path::new("sh"), &bare])), [bare]);
        assert_eq!(clearing(&words(&[&first])), Some((next, 2, "env -i")));
    }
}
