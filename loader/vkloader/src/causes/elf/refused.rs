//! Explains why the dynamic linker rejected a file. The linker's message names the file: the driver, or a library that the driver needs.

use super::closure::{self, Closure, Identity};
use super::damage::damaged;
use super::{messages, shown, tls};
use crate::causes::limits::{Limits, own_remedy};
use crate::mounts::Mounts;
use crate::paths::file_name;
use crate::report::{Dropped, Fact, Kind};
use crate::shell::word;
use rustix::fs::{Access, StatVfsMountFlags, access};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Reason for a rejection.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Why {
    /// The file is not a complete library.
    Damaged,
    /// The kernel refused to map the file into memory.
    Unmapped,
    /// The user may not read the file, or may not search its folder.
    Closed,
    /// The process has reached its limit on open files.
    Full,
}

/// Texts that follow the file's name in messages of the dynamic linker, each with its meaning.
const MESSAGES: [(&str, Why); 9] = [
    (": file too short", Why::Damaged),
    (": invalid ELF header", Why::Damaged),
    (": cannot read file data", Why::Damaged),
    (": failed to map segment from shared object", Why::Unmapped),
    (": cannot map zero-fill pages", Why::Unmapped),
    (": cannot allocate memory", Why::Unmapped),
    (": cannot create shared object descriptor", Why::Unmapped),
    (": cannot open shared object file: Permission denied", Why::Closed),
    (": cannot open shared object file: Too many open files", Why::Full),
];

/// Adds to the finding about `library` the reason why a file was rejected. The file is `library`, or a library that it needs. `words` is
/// the message of the dynamic linker. Returns `false` if the message names no such file.
pub(super) fn explain(dropped: &mut Dropped, words: &str, library: &Path, (own, limits): (Identity, &Limits)) -> bool {
    if let Some((file, row)) = messages::find(words).and_then(|(name, row)| Some((find(name, library, own)?, row))) {
        let advice = row.remedy.replace("FILE", &word(&shown(&file)));
        let advice = advice.replace(messages::BYTES, &tls::needed(&file, own).to_string());
        insert(dropped, (&file, library), (Kind::Sentence, row.finding), advice);
        return true;
    }
    let Some((file, why)) = rejected(words).and_then(|(name, why)| Some((find(name, library, own)?, why))) else {
        return false;
    };
    // The remedy may remove the file's folder from `LD_LIBRARY_PATH`, if the dynamic linker then finds another file of the same name.
    let other = closure::replacement(&file, library, own);
    let in_variable = file.parent().filter(|_| other.is_some()).map(shown);
    let (kind, (finding, advice)) = match why {
        Why::Damaged => return damaged(dropped, &file, library, own),
        Why::Unmapped => (Kind::Sentence, Facts::about(&file, in_variable, limits).finding(&file)),
        Why::Closed => (Kind::Sentence, closed(&file)),
        Why::Full => (Kind::Limit, limits.of_open_files()),
    };
    insert(dropped, (&file, library), (kind, &finding), advice);
    true
}

/// Adds the reason why `file` was rejected, which is `library` or a library that it needs.
fn insert(dropped: &mut Dropped, (file, library): (&Path, &Path), (kind, finding): (Kind, &str), advice: String) {
    let needed_by = if file == library {
        String::new()
    } else {
        format!(", which {} needs", file_name(&shown(library)))
    };
    let words = format!("{}{needed_by}: {finding}", shown(file));
    dropped.findings.insert(0, Fact::new(kind, words));
    dropped.advice = advice;
}

/// Returns the path of the rejected file in a message, if the message contains a path.
pub(super) fn named_path(words: &str) -> Option<PathBuf> {
    let (name, _) = rejected(words)?;
    name.contains('/').then(|| name.into())
}

/// Returns the name of the rejected file in a message, and the reason for the rejection.
fn rejected(words: &str) -> Option<(&str, Why)> {
    MESSAGES.iter().find_map(|&(message, why)| {
        let before = &words[..words.find(message)?];
        let name = before.rsplit(": ").next()?;
        (!name.is_empty()).then_some((name, why))
    })
}

/// Returns the file that the dynamic linker found for `name`, which is a path, the name of `library`, or the name of a library that
/// `library` needs.
fn find(name: &str, library: &Path, own: Identity) -> Option<PathBuf> {
    if name.contains('/') {
        return Some(name.into());
    }
    if library.file_name().is_some_and(|own| own == name) {
        return Some(library.into());
    }
    let found = Closure::of(library, own).found;
    let by_name = |path: &PathBuf| path.file_name().is_some_and(|file| file == name);
    found.into_iter().find(by_name).or_else(|| closure::locate(name, own))
}

/// Returns the first folder on a path that this user may not search.
pub(crate) fn closed_folder(path: &Path) -> Option<&Path> {
    let mut folders: Vec<&Path> = path.ancestors().skip(1).filter(|folder| folder.is_absolute()).collect();
    folders.reverse();
    folders
        .into_iter()
        .take_while(|folder| folder.is_dir())
        .find(|folder| access(*folder, Access::EXEC_OK).is_err())
}

/// Returns the finding and the remedy for a file that the user may not read.
pub(in crate::causes) fn closed(file: &Path) -> (String, String) {
    match closed_folder(file) {
        Some(folder) => (
            format!("this user may not search the folder {}", shown(folder)),
            format!("Let this user search the folder: chmod o+x {}", word(&shown(folder))),
        ),
        None => unreadable(file, std::fs::metadata(file).map_or(0, |status| status.mode())),
    }
}

/// Returns the finding and the remedy for a file that a process could not read. `mode` has the permissions of the file.
fn unreadable(file: &Path, mode: u32) -> (String, String) {
    match mode & 0o004 {
        0 => (
            "this user may not read the file".into(),
            format!("Let this user read the file: chmod o+r {}", word(&shown(file))),
        ),
        _ => by_policy(),
    }
}

/// Returns `true` if a file's permissions let this process use the file as `wanted` says. Some security policies refuse to open a file that the system
/// reports as accessible, and others only contradict the permissions for all users.
pub(in crate::causes) fn is_permitted(file: &Path, wanted: Access) -> bool {
    let for_all = wanted.bits();
    access(file, wanted).is_ok() || std::fs::metadata(file).is_ok_and(|status| status.mode() & for_all == for_all)
}

/// Returns the finding and the remedy for a file that the system refuses to open although its permissions allow it.
pub(in crate::causes) fn by_policy() -> (String, String) {
    (
        "its permissions allow it, and the system refuses it".into(),
        "A security policy forbids it (AppArmor, SELinux, Landlock, or that of a container): look for a denial in the kernel's log (dmesg), and \
         permit the file there."
            .into(),
    )
}

/// Facts that determine why the kernel did not map a file.
#[derive(Default)]
struct Facts {
    /// Mount point of the file's file system, if the mount has the option `noexec`.
    noexec: Option<String>,
    /// Limit on the address space of a process.
    limit: Option<String>,
    /// `true` on a system with SELinux.
    selinux: bool,
    /// Folder of the file, if `LD_LIBRARY_PATH` contains that folder and the dynamic linker finds another file without that folder.
    in_variable: Option<String>,
}

impl Facts {
    fn about(file: &Path, in_variable: Option<String>, limits: &Limits) -> Self {
        Self {
            noexec: forbidding_mount(file),
            limit: limits.of_address_space(),
            selinux: Path::new("/sys/fs/selinux").exists(),
            in_variable,
        }
    }

    /// Returns the finding and the remedy. Facts about the file take precedence over facts about the process. Without any fact, the finding
    /// is a guess.
    fn finding(&self, file: &Path) -> (String, String) {
        match (&self.noexec, &self.limit) {
            (Some(mount), _) => {
                let first = match &self.in_variable {
                    Some(folder) => format!("Take {folder} out of LD_LIBRARY_PATH"),
                    None => "Install the driver and its libraries in another file system".into(),
                };
                (
                    "it is in a file system that is mounted with noexec, so its code may not run".into(),
                    format!(
                        "{first}, or mount this one without noexec: mount -o remount,exec {}",
                        word(mount)
                    ),
                )
            }
            (None, Some(limit)) => (format!("memory had no space for it: {limit}"), own_remedy()),
            (None, None) if self.selinux => (
                "its code may not run: a security policy, such as that of SELinux, may forbid it".into(),
                format!(
                    "Look for the denial (ausearch -m avc), and restore the label of the file: restorecon -v {}",
                    word(&shown(file))
                ),
            ),
            (None, None) => (
                "the kernel did not map it into memory: memory may be short, or a security policy forbids it".into(),
                "Check whether memory is short (free -h), and look for a denial in the kernel's log (dmesg).".into(),
            ),
        }
    }
}

/// Returns the mount point of the file system that contains a file, if the mount has the option `noexec`.
pub(crate) fn forbidding_mount(file: &Path) -> Option<String> {
    let flags = rustix::fs::statvfs(file).ok()?.f_flag;
    flags.contains(StatVfsMountFlags::NOEXEC).then(|| mount_point(file))
}

/// Returns the mount point of the file system that contains a file.
pub(crate) fn mount_point(file: &Path) -> String {
    let file = std::fs::canonicalize(file).unwrap_or_else(|_| file.into());
    let mounts = Mounts::of_this_process();
    mounts
        .holding(&file)
        .map_or_else(|| shown(&file), |mount| shown(&mount.point))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_the_file_that_was_rejected() {
        for (words, expected) in [
            (
                "/lib/libLLVM.so.1: file too short",
                Some(("/lib/libLLVM.so.1", Why::Damaged)),
            ),
            (
                "/opt/libx.so: /lib/libLLVM.so.1: invalid ELF header",
                Some(("/lib/libLLVM.so.1", Why::Damaged)),
            ),
            (
                "libLLVM.so.1: failed to map segment from shared object: Operation not permitted",
                Some(("libLLVM.so.1", Why::Unmapped)),
            ),
            (
                "libz.so: cannot open shared object file: Permission denied",
                Some(("libz.so", Why::Closed)),
            ),
            (
                "libz.so: cannot open shared object file: No such file or directory",
                None,
            ),
            (": file too short", None),
        ] {
            assert_eq!(rejected(words), expected, "{words}");
        }
    }

    #[test]
    fn a_policy_is_blamed_if_the_permissions_allow_it() {
        for (mode, words) in [
            (0o100_600, "chmod o+r /x"),
            (0o100_640, "chmod o+r /x"),
            (0o100_644, "AppArmor"),
        ] {
            let (_, advice) = unreadable(Path::new("/x"), mode);
            assert!(advice.contains(words), "{mode:o}: {advice}");
        }
    }

    #[test]
    fn what_is_certain_is_blamed_before_what_is_a_guess() {
        let mut facts = Facts {
            noexec: Some("/run/x".into()),
            limit: Some("a limit".into()),
            selinux: true,
            in_variable: Some("/run/x/lib".into()),
        };
        let mut advice = || {
            let (_, advice) = facts.finding(Path::new("/run/x/lib/libz.so"));
            let now = (facts.in_variable.take(), facts.noexec.is_some(), facts.limit.is_some());
            match now {
                (Some(_), ..) => {}
                (None, true, _) => facts.noexec = None,
                (None, false, true) => facts.limit = None,
                _ => facts.selinux = false,
            }
            advice
        };
        for expected in [
            "Take /run/x/lib out of LD_LIBRARY_PATH, or mount",
            "Install the driver and its libraries in another file system, or mount this one without noexec: mount -o remount,exec /run/x",
            "ulimit -v unlimited",
            "restorecon -v /run/x/lib/libz.so",
            "dmesg",
        ] {
            let advice = advice();
            assert!(advice.contains(expected), "{advice}");
        }
    }
}
