//! A summary for bug reports, of at most fifteen lines. The summary does not contain the name of the user.

use super::terminal::plain;
use crate::paths::file_name;
use crate::regular;
use crate::report::{OtherWordSize, Report, Verdict};
use std::fmt::Write as _;
use std::path::Path;

/// Upper bound on the number of lines of a summary.
const MOST: usize = 15;
/// Upper bound on the number of devices, and of findings, that have a separate line.
const MOST_OF_A_KIND: usize = 4;
/// Upper bound on the number of characters of a line.
const LONGEST: usize = 300;

/// Returns the summary of a report.
pub(crate) fn summary(report: &Report) -> String {
    let mut lines = vec![report.headline()];
    if let Some(loader) = &report.loader {
        let path = loader.path.as_deref().unwrap_or("an unknown file");
        let owner = loader.owner.as_deref().unwrap_or("no package");
        lines.push(format!(
            "loader: {} {path} ({owner}), {} bit",
            loader.version, loader.word_size
        ));
    }
    lines.extend(others(report));
    lines.push(format!("system: {}", system()));
    let devices = report.devices.iter().map(|device| {
        let state = if device.is_usable { "" } else { ", cannot be created" };
        let driver = file_name(&device.driver);
        format!(
            "device: {} ({}, Vulkan {}, {driver}{state})",
            device.name, device.kind, device.api_version
        )
    });
    lines.extend(limited(devices.collect(), "devices"));
    let findings = report.dropped.iter().filter(|dropped| !dropped.is_noise());
    let findings = findings.map(|dropped| format!("{}: {}: {}", dropped.code, dropped.name, dropped.reason));
    lines.extend(limited(findings.collect(), "findings"));
    let stack = report.crash.iter().flat_map(|crash| crash.stack()).collect::<Vec<_>>();
    let listed =
        |title: &str, names: Vec<String>| (!names.is_empty()).then(|| format!("{title}: {}", names.join(", ")));
    lines.extend(listed("stack", stack));
    lines.extend(listed(
        "layers",
        report.layers.iter().map(|layer| layer.name.clone()).collect(),
    ));
    lines.extend(listed(
        "hardware",
        report.hardware.iter().map(ToString::to_string).collect(),
    ));
    if report.verdict == Verdict::Nothing {
        lines.extend(listed(
            "failed",
            report.failed.iter().map(ToString::to_string).collect(),
        ));
    }
    lines.truncate(MOST);
    let mut text = String::new();
    for line in lines {
        let short: String = plain(&without_user(&line)).chars().take(LONGEST).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{short}");
    }
    text.trim_end().into()
}

/// Returns lines about the loader that programs use, if it is not the examined one, and about programs of the other word size.
fn others(report: &Report) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(other) = &report.other_loader {
        let count = match (other.is_compared, other.differences.len()) {
            (true, 1) => ", 1 difference".into(),
            (true, count) => format!(", {count} differences"),
            (false, _) => String::new(),
        };
        match other.path {
            Some(_) => lines.push(format!("programs get: {}{count}", other.line())),
            None => lines.push(other.title().into()),
        }
    }
    lines.extend(report.other_word_size.iter().map(OtherWordSize::line));
    lines
}

/// Returns the first lines, and a line with the number of omitted lines.
fn limited(mut lines: Vec<String>, noun: &str) -> Vec<String> {
    if lines.len() > MOST_OF_A_KIND {
        let more = lines.len() - MOST_OF_A_KIND + 1;
        lines.truncate(MOST_OF_A_KIND - 1);
        lines.push(format!("and {more} more {noun}"));
    }
    lines
}

/// Returns a line with the kernel and the distribution.
fn system() -> String {
    let kernel = rustix::system::uname();
    let word = |text: &std::ffi::CStr| text.to_string_lossy().into_owned();
    let release = regular::text("/etc/os-release").unwrap_or_default();
    let name = release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="));
    let name = name.unwrap_or("unknown distribution").trim_matches('"');
    format!(
        "{name}, {} {} {}",
        word(kernel.sysname()),
        word(kernel.release()),
        word(kernel.machine())
    )
}

/// Removes the name of the user from a text: replaces the home folder by `~`, and folders with the name of a user by `USER`. Keeps these
/// names in folders of the system, because a user may have the name of a package.
fn without_user(text: &str) -> String {
    let value = |name| std::env::var(name).unwrap_or_default();
    let users = ["USER", "LOGNAME", "SUDO_USER"].map(value);
    without(text, &value("HOME"), &users)
}

/// Folders whose subfolders have the names of users.
const OF_USERS: [&str; 5] = ["/home/", "/var/home/", "/run/user/", "/media/", "/run/media/"];

fn without(text: &str, home: &str, users: &[String]) -> String {
    let home = home.trim_end_matches('/');
    let mut text = text.to_owned();
    if Path::new(home).components().count() > 1 {
        text = with_folder(&text, home, "~", |_| true);
    }
    for user in users.iter().filter(|user| !user.is_empty() && *user != "root") {
        text = with_folder(&text, &format!("/{user}"), "/USER", is_in_home);
    }
    for folder in OF_USERS {
        let mut rest = text.as_str();
        let mut clean = String::new();
        while let Some(at) = rest.find(folder) {
            let end = at + folder.len();
            clean += &rest[..end];
            clean += "USER";
            rest = &rest[end + rest[end..].find(ends_name).unwrap_or(rest.len() - end)..];
        }
        text = clean + rest;
    }
    text
}

/// Returns `true` for a character that can follow the name of a folder in a text.
fn ends_name(character: char) -> bool {
    matches!(character, '/' | ' ' | ':' | ',' | ')' | ';' | '"' | '\'')
}

/// Folders below which users keep files of their own.
const HOMES: [&str; 8] = [
    "/home",
    "/root",
    "/srv",
    "/mnt",
    "/media",
    "/run/media",
    "/var/home",
    "/Users",
];

/// Returns `true` if a text ends in a path that is below one of the folders in [`HOMES`]. `~` stands for the home folder.
fn is_in_home(text: &str) -> bool {
    let begins = |at: &usize| {
        let before = text[..*at].chars().next_back();
        before.is_none_or(|character| character != '/' && ends_name(character) || matches!(character, '(' | '='))
    };
    let mut starts = text.rmatch_indices(['/', '~']).map(|(at, _)| at);
    let path = starts.find(begins).map_or("", |at| &text[at..]);
    path.starts_with('~') || HOMES.iter().any(|home| Path::new(path).starts_with(home))
}

/// Replaces the path of a folder, but not the beginning of a longer name. `fits` examines the text before the path.
fn with_folder(text: &str, folder: &str, new: &str, fits: impl Fn(&str) -> bool) -> String {
    let mut clean = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(folder) {
        let (before, after) = (&rest[..at], &rest[at + folder.len()..]);
        let is_whole = after.chars().next().is_none_or(ends_name);
        let all_before = &text[..text.len() - rest.len() + at];
        clean += before;
        clean += if is_whole && fits(all_before) { new } else { folder };
        rest = after;
    }
    clean + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_users_do_not_stay() {
        let users = ["ann".into(), String::new(), "root".into()];
        for (text, expected) in [
            ("/home/ann/x.json, /home/bob", "~/x.json, /home/USER"),
            ("/home/anna/x.json", "/home/USER/x.json"),
            ("/run/user/1000/bus", "/run/user/USER/bus"),
            ("/media/ann/Games/it", "/media/USER/Games/it"),
            ("/run/media/bob/disk: x", "/run/media/USER/disk: x"),
            (
                "/srv/ann/x, /srv/annex/x, /srv/ann",
                "/srv/USER/x, /srv/annex/x, /srv/USER",
            ),
            ("/root/x, /usr/lib", "/root/x, /usr/lib"),
            ("/srv/x, /usr/lib/ann/libx.so", "/srv/x, /usr/lib/ann/libx.so"),
            ("(/mnt/My Games/ann/x)", "(/mnt/My Games/USER/x)"),
            ("/home/ann/old/ann", "~/old/USER"),
        ] {
            assert_eq!(without(text, "/home/ann/", &users), expected);
        }
    }

    #[test]
    fn what_is_too_much_is_counted() {
        let lines = (0..6).map(|number| number.to_string()).collect();
        assert_eq!(limited(lines, "devices"), ["0", "1", "2", "and 3 more devices"]);
    }
}
