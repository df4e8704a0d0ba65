//! Explains programs that fail before they open a Vulkan loader: scripts, launchers and sandboxes that cannot start the program.

use super::{own_loader, sentence};
use crate::child::{Ending, Finished};
use crate::events::Event;
use crate::itself;
use crate::names;
use crate::report::{Fact, Report, codes};
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

/// Upper bound on the number of printed lines that the finding quotes.
const MOST_LINES: usize = 3;

/// Remedy for a program that failed early and printed nothing.
const WITHOUT_LINES: &str = "It printed nothing, so look for an option such as --verbose, or for a file with its log. \
    The reason is in the program, or in what starts it (a script, a launcher, a sandbox), not in a driver.";

/// Returns `true` if it is known that a program opened neither a Vulkan loader nor a library of OpenGL, and that it brings no loader of its own.
pub(crate) fn opened_nothing(graphics: Option<&[String]>, program: &OsStr) -> bool {
    graphics.is_some_and(<[String]>::is_empty) && own_loader(program).is_none()
}

/// Returns the last lines that the processes of a run printed on standard error. If they printed nothing there, returns the last lines on standard
/// output.
pub(crate) fn last_lines(finished: &Finished) -> Vec<String> {
    let lines = finished.records.iter().rev().filter_map(|record| match &record.event {
        Event::Printed(text) if !text.trim().is_empty() => Some(text.clone()),
        _ => None,
    });
    let mut last: Vec<String> = lines.take(MOST_LINES).collect();
    if last.is_empty() {
        let output = String::from_utf8_lossy(&finished.output);
        let lines = output.lines().rev().filter(|line| !line.trim().is_empty());
        last = lines.take(MOST_LINES).map(String::from).collect();
    }
    last.reverse();
    last
}

/// Words that launchers print, each with a remedy.
const KNOWN: [(&str, &str); 2] = [
    (
        "AppImages require FUSE",
        "Start the AppImage without FUSE: PROGRAM --appimage-extract-and-run. Or install its library: libfuse2, libfuse2t64 in newer releases (Debian, \
         Ubuntu), fuse-libs (Fedora) or fuse2 (Arch).",
    ),
    (
        "user namespace",
        "The sandbox of the program needs user namespaces, which the system forbids: look at the settings kernel.unprivileged_userns_clone and \
         kernel.apparmor_restrict_unprivileged_userns of sysctl, or at the program's option for a start without a sandbox.",
    ),
];

/// Returns the remedy for a line that a launcher printed.
fn of_known_line(line: &str) -> Option<&'static str> {
    let mut known = KNOWN.iter();
    known.find(|(words, _)| line.contains(words)).map(|(_, advice)| *advice)
}

/// Returns a file that exists, although a shell printed that it is not found, and the reason why the kernel does not start it. A relative path in
/// the line may start at the current folder or at the folder of the program.
fn unstarted(line: &str, program: &OsStr) -> Option<(PathBuf, String)> {
    const MISSING: [&str; 3] = ["not found", "No such file or directory", "required file not found"];
    if !MISSING.iter().any(|words| line.contains(words)) {
        return None;
    }
    let program = itself::find(program).and_then(|program| std::fs::canonicalize(program).ok());
    let folder = program.as_deref().and_then(Path::parent).map(PathBuf::from);
    let folders: Vec<PathBuf> = [Some(PathBuf::from(".")), folder].into_iter().flatten().collect();
    let absent = io::Error::from_raw_os_error(libc::ENOENT);
    let words = line.split(|end: char| end.is_whitespace() || ":'`\u{2018}\u{2019}".contains(end));
    let mut paths = words
        .filter(|word| word.contains('/'))
        .flat_map(|word| folders.iter().map(move |folder| folder.join(word)))
        .filter_map(|path| std::fs::canonicalize(path).ok())
        .filter(|path| path.is_file() && Some(path) != program.as_ref());
    paths.find_map(|path| Some((path.clone(), crate::unstarted::why(&path, &absent)?)))
}

/// Makes the failure of a program that opened no Vulkan loader the first finding of the report. `lines` are the last lines that it printed, if they are known. All
/// findings about the system are removed, because the program did not reach it.
pub(crate) fn add(report: &mut Report, program: &OsStr, ending: Ending, lines: Option<&[String]>) {
    let mut found = codes::PROGRAM_FAILED_EARLY.about(Path::new(program).display().to_string());
    if let Ending::Status(status) = ending {
        let status = names::status(status);
        found.reason = format!("The program ended with {status}, before it opened a Vulkan loader.");
    }
    if lines.is_some_and(<[String]>::is_empty) {
        found.advice = WITHOUT_LINES.into();
    }
    let lines = lines.unwrap_or_default();
    if let Some(advice) = lines.iter().find_map(|line| of_known_line(line)) {
        found.advice = advice.into();
    }
    if let Some((path, why)) = lines.iter().find_map(|line| unstarted(line, program)) {
        let (reason, advice) = why.split_once("; ").unwrap_or((&why, ""));
        found.reason = format!("The program could not start {}: {reason}.", path.display());
        found.advice = sentence(advice);
    }
    let lines = lines.iter();
    found.findings.extend(lines.map(|line| Fact::printed(line)));
    report
        .dropped
        .retain(|one| one.subject == "program" && one.code != codes::PROGRAM_FAILED.name);
    report.dropped.insert(0, found);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_a_shell_does_not_find_although_it_exists_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let program = folder.path().join("game.sh");
        let inner = folder.path().join("game.bin");
        std::fs::write(&program, "#!/bin/sh\nexec ./game.bin\n").expect("a file");
        std::fs::write(&inner, "#!/opt/none/python3\n").expect("a file");
        for line in [
            "game.sh: 2: exec: ./game.bin: not found".to_owned(),
            format!(
                "game.sh: line 2: {}: cannot execute: required file not found",
                inner.display()
            ),
        ] {
            let (path, why) = unstarted(&line, program.as_os_str()).expect("a reason");
            assert!(path.ends_with("game.bin"), "{path:?}");
            assert!(
                why.starts_with("its interpreter /opt/none/python3 is not there"),
                "{why}"
            );
        }
        assert!(unstarted("game.sh: 2: ./none.bin: not found", program.as_os_str()).is_none());
        assert!(unstarted("a/b: fine", program.as_os_str()).is_none());
        assert!(of_known_line("AppImages require FUSE to run.").is_some());
    }
}
