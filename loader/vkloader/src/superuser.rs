//! Adds `sudo`, `doas` or a note to the commands of remedies that a user without privileges cannot run.

use crate::report::Report;
use crate::shell;
use rustix::fs::{Access, access};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Commands that only the superuser may run.
const COMMANDS: [&str; 37] = [
    "add-apt-repository",
    "addgroup",
    "akmods",
    "apk",
    "apt",
    "apt-get",
    "dkms",
    "dnf",
    "dpkg",
    "dracut",
    "envycontrol",
    "groupadd",
    "groupmod",
    "grub2-mkconfig",
    "grubby",
    "ldconfig",
    "mkinitcpio",
    "modprobe",
    "mokutil",
    "mount",
    "nixos-rebuild",
    "nvidia-modprobe",
    "pacman",
    "prime-select",
    "restorecon",
    "setcap",
    "setsebool",
    "steamos-readonly",
    "systemctl",
    "tee",
    "transactional-update",
    "ubuntu-drivers",
    "udevadm",
    "update-grub",
    "update-initramfs",
    "usermod",
    "zypper",
];
/// Commands of [`COMMANDS`] that every user may run with one of these words as the first argument.
const FREE: [(&str, &[&str]); 5] = [
    ("dkms", &["status"]),
    ("dpkg", &["-S", "-l", "-L"]),
    ("mokutil", &["--sb-state"]),
    ("pacman", &["-Q", "-Qo"]),
    ("systemctl", &["--user", "status", "show"]),
];
/// Commands that change the entry of a file in its folder.
const OF_FOLDERS: [&str; 7] = ["rm", "rmdir", "mv", "ln", "mkdir", "cp", "sed"];
/// Commands that only the owner of a file may run.
const OF_OWNERS: [&str; 3] = ["chmod", "chown", "chgrp"];
/// Ends of the text before a command.
const BEFORE: [&str; 10] = [":", ";", "&&", "|", ",", " run", " or", " then", "(then", "`"];

/// Programs that run a command as the superuser.
const PROGRAMS: [(&str, &str); 3] = [
    ("usr/bin/sudo", "sudo"),
    ("usr/bin/doas", "doas"),
    ("run/wrappers/bin/sudo", "sudo"),
];

/// Words before a command on a system without a program that runs commands as the superuser.
const NOTE: &str = "as root:";

/// Adds `sudo`, or what the system has in its place, to the remedies of a report, if this user is not the superuser.
pub(crate) fn complete(report: &mut Report) {
    if rustix::process::geteuid().is_root() {
        return;
    }
    let program = before(Path::new("/"));
    for dropped in &mut report.dropped {
        dropped.advice = with(program, &dropped.advice, &is_ours);
    }
}

/// Adds `sudo`, or what the system has in its place, to the commands in a text, if this user is not the superuser.
pub(crate) fn complete_text(text: &str) -> String {
    if rustix::process::geteuid().is_root() {
        return text.into();
    }
    with(before(Path::new("/")), text, &is_ours)
}

/// Returns the words before a command for the superuser, on the system whose root folder is `root`.
fn before(root: &Path) -> &'static str {
    let mut found = PROGRAMS.iter().filter(|(file, _)| root.join(file).exists());
    found.next().map_or(NOTE, |(_, program)| program)
}

/// Use of a path in a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    /// Changes the entry of the file in its folder.
    Entry,
    /// Changes the permissions of the file.
    Owner,
    /// Writes the file.
    Write,
}

/// Returns `true` if this user may use a file in this way.
fn is_ours(path: &Path, how: Use) -> bool {
    let is_writable = |path: &Path| access(path, Access::WRITE_OK).is_ok();
    let there = || path.ancestors().skip(1).find(|folder| folder.is_dir());
    match how {
        Use::Owner => {
            std::fs::symlink_metadata(path).is_ok_and(|status| status.uid() == rustix::process::geteuid().as_raw())
        }
        Use::Write if path.exists() => is_writable(path),
        Use::Entry | Use::Write => there().is_some_and(is_writable),
    }
}

/// Returns a remedy in which `program` comes before the commands that need the superuser. `is_ours` returns `true` if the user may use a file.
fn with(program: &str, advice: &str, is_ours: &dyn Fn(&Path, Use) -> bool) -> String {
    let mut text = String::with_capacity(advice.len());
    let mut rest = advice;
    while let Some(first) = rest.chars().next() {
        let is_start = text.is_empty() || text.ends_with(' ') || text.ends_with('(');
        if let Some(words) = redirected(rest).filter(|_| is_start && is_command(&text)) {
            let (command, path) = words;
            if !is_ours(Path::new(path), Use::Write) && program != NOTE {
                text.push_str(&format!("{command}| {program} tee {path}"));
                rest = &rest[command.len() + 1 + path.len()..];
                continue;
            }
        }
        // The note stands before the first command of several that belong together.
        let is_noted = text.trim_end().ends_with(NOTE) || program == NOTE && text.trim_end().ends_with("&&");
        if is_start && is_command(&text) && needs(rest, is_ours) && !is_noted {
            text.push_str(program);
            text.push(' ');
        }
        // A whole word, so that the beginning of a later word is seen.
        let end = rest.find(' ').map_or(rest.len(), |at| at + 1);
        let (word, after) = rest.split_at(end.max(first.len_utf8()));
        text.push_str(word);
        rest = after;
    }
    text
}

/// Returns `true` if a command may follow a text.
fn is_command(before: &str) -> bool {
    let before = before.trim_end();
    let is_after = || {
        BEFORE
            .iter()
            .any(|end| before.ends_with(end) || before == end.trim_start())
    };
    before.is_empty() || before.ends_with('(') || is_after()
}

/// Returns the command `echo` with its blank, and the file to which the shell writes its output, if a text begins with such a command.
fn redirected(text: &str) -> Option<(&str, &str)> {
    text.strip_prefix("echo ")?;
    let at = text.find(" >/")?;
    let path = &text[at + 2..];
    let end = path.find([' ', ';', ',']).unwrap_or(path.len());
    let path = path[..end].trim_end_matches('.');
    // Another command may begin before the sign.
    let command = &text[..=at];
    (!command.contains(" && ") && !command.contains("; ")).then_some((command, path))
}

/// Returns `true` if a text begins with a command that needs the superuser.
fn needs(text: &str, is_ours: &dyn Fn(&Path, Use) -> bool) -> bool {
    let (name, rest) = text.split_once(' ').unwrap_or((text, ""));
    let name = name.trim_end_matches(['.', ',', ';', ')']);
    let first = rest.split([' ', ';', ',']).next().unwrap_or_default();
    if COMMANDS.contains(&name) {
        let free = FREE.iter().find(|(free, _)| *free == name);
        let is_free = free.is_some_and(|(_, words)| words.contains(&first));
        // Words of the sentence, such as the verb mount, are not commands.
        let is_verb = name == "mount" && !first.starts_with(['-', '/']);
        return !is_free && !is_verb;
    }
    let how = match name {
        _ if OF_OWNERS.contains(&name) => Use::Owner,
        _ if OF_FOLDERS.contains(&name) => Use::Entry,
        _ => return false,
    };
    let mut paths = paths(rest);
    if ["cp", "ln"].contains(&name) {
        // Only the last path of these commands is written.
        paths.drain(..paths.len().saturating_sub(1));
    }
    paths.iter().any(|path| !is_ours(Path::new(path), how))
}

/// Returns the absolute paths in the arguments of the command at the beginning of a text.
fn paths(mut text: &str) -> Vec<String> {
    let mut found = Vec::new();
    loop {
        text = text.trim_start();
        let (written, value) = shell::first_word(text);
        let is_last = written.ends_with([';', '.', ',']) || written.is_empty() || written == "&&";
        let value = value.trim_end_matches([';', ',']).trim_end_matches('.');
        if value.starts_with('/') {
            found.push(value.to_owned());
        }
        if is_last {
            return found;
        }
        text = &text[written.len()..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_without_sudo_gets_a_note() {
        let root = tempfile::tempdir().expect("a folder");
        assert_eq!(before(root.path()), NOTE);
        std::fs::create_dir_all(root.path().join("usr/bin")).expect("folders");
        std::fs::write(root.path().join("usr/bin/doas"), "").expect("a file");
        assert_eq!(before(root.path()), "doas");
        let advice = with(NOTE, "Search it: ldconfig && modprobe i915; or: rm /etc/x", &|_, _| {
            false
        });
        assert_eq!(
            advice,
            "Search it: as root: ldconfig && modprobe i915; or: as root: rm /etc/x"
        );
        let noted = "Make it again, as root: rm /dev/x && udevadm trigger";
        assert_eq!(with(NOTE, noted, &|_, _| false), noted);
    }

    #[test]
    fn commands_of_the_superuser_get_sudo() {
        let of_user = |path: &Path, _| path.starts_with("/home/ann");
        for (advice, expected) in [
            (
                "Add the user: usermod -aG render ann",
                "Add the user: sudo usermod -aG render ann",
            ),
            ("Remove it: rm /home/ann/x.json", "Remove it: rm /home/ann/x.json"),
            (
                "Remove it: rm '/etc/a b.json' && ldconfig",
                "Remove it: sudo rm '/etc/a b.json' && sudo ldconfig",
            ),
            (
                "Reinstall it: apt-get install --reinstall x; or remove it: rm /etc/x.json",
                "Reinstall it: sudo apt-get install --reinstall x; or remove it: sudo rm /etc/x.json",
            ),
            (
                "Search it: echo /a/b >/etc/ld.so.conf.d/v.conf && ldconfig; or for one program: A=1 PROGRAM",
                "Search it: echo /a/b | sudo tee /etc/ld.so.conf.d/v.conf && sudo ldconfig; or for one program: A=1 PROGRAM",
            ),
            (
                "Write one: mkdir -p /etc/v && echo '{\"a\": \"b\", \"c\": 1}' >/etc/v/x.json",
                "Write one: sudo mkdir -p /etc/v && echo '{\"a\": \"b\", \"c\": 1}' | sudo tee /etc/v/x.json",
            ),
            (
                "modprobe i915, or modprobe xe. Then",
                "sudo modprobe i915, or sudo modprobe xe. Then",
            ),
            (
                "on the host, or mount another file there",
                "on the host, or mount another file there",
            ),
            (
                "build it (dkms status): sudo systemctl edit x",
                "build it (dkms status): sudo systemctl edit x",
            ),
            (
                "from the file, run update-grub, and start",
                "from the file, run sudo update-grub, and start",
            ),
            ("Let it: chmod o+x /home/bob", "Let it: sudo chmod o+x /home/bob"),
            (
                "Correct the file: sed -i 's|a|b|' /home/ann/x",
                "Correct the file: sed -i 's|a|b|' /home/ann/x",
            ),
        ] {
            assert_eq!(with("sudo", advice, &of_user), expected);
        }
    }
}
