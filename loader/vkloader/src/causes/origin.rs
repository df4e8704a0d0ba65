//! Finds the origin of a variable: the process that set it, and the file that sets it in every session.

mod blamed;

use super::scripts;
use crate::library_folder;
use crate::regular;
use crate::report::{Dropped, Fact, Kind, Report};
use crate::variables::Variables;
pub(crate) use blamed::add_origin;
pub(super) use blamed::{add_all, takes_out_of};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Upper bound on the ancestor processes that are examined.
const MOST: usize = 32;

/// ID of the first process of a system or container.
const FIRST: u32 = 1;

/// Files that set variables for sessions, relative to the root.
const FILES: [&str; 10] = [
    "etc/environment",
    "etc/security/pam_env.conf",
    "etc/profile",
    "etc/bash.bashrc",
    "etc/zsh/zshenv",
    "etc/zsh/zshrc",
    "etc/zshenv",
    "etc/csh.cshrc",
    "etc/fish/config.fish",
    FLATPAK,
];
/// Folders with files that set variables for sessions, relative to the root.
const FOLDERS: [&str; 4] = [
    "etc/environment.d",
    "usr/lib/environment.d",
    "etc/profile.d",
    "etc/systemd/user.conf.d",
];
/// Files that set variables for a user, relative to the home folder.
const OWN_FILES: [&str; 20] = [
    ".pam_environment",
    ".profile",
    ".bash_profile",
    ".bash_login",
    ".bashrc",
    ".bash_aliases",
    ".zshenv",
    ".zprofile",
    ".zshrc",
    ".zlogin",
    ".config/fish/config.fish",
    ".xprofile",
    ".xsessionrc",
    ".xinitrc",
    ".config/hypr/hyprland.conf",
    ".config/uwsm/env",
    ".config/labwc/environment",
    ".config/nushell/env.nu",
    ".config/nushell/config.nu",
    ".tcshrc",
];
/// Folders with files that set variables for a user, relative to the home folder.
const OWN_FOLDERS: [&str; 3] = [
    ".config/environment.d",
    ".config/plasma-workspace/env",
    ".config/fish/conf.d",
];

/// File that describes a sandbox of Flatpak, relative to the root.
const FLATPAK: &str = ".flatpak-info";

/// Origin of a variable.
pub(super) struct Origin {
    /// Sentences about the origin, each with `true` if it is a file that sets the variable in each session; empty if the origin is unknown.
    words: Vec<(String, bool)>,
    /// Command that replaces `unset` in remedies, if the shell of the user cannot remove the variable.
    instead: Option<String>,
    /// Remedy for the next sessions, if a file sets the variable in each session.
    lasting: Option<String>,
}

impl Origin {
    /// Returns the origin of a variable of the program. `is_flatpak` is `true` in a sandbox of Flatpak.
    pub(super) fn of(name: &str, variables: &Variables, is_flatpak: bool) -> Self {
        let value = variables.nonempty(name);
        let value = value.as_deref();
        if variables.has(name) {
            let script = in_files(scripts::of(&scripts::command()).into_iter(), name, value);
            let place = script.map(|(path, line)| format!("line {line} of {}", path.display()));
            return Self {
                words: vec![(
                    match &place {
                        Some(place) => format!("{place} sets it"),
                        None => "set by the program or a script that starts it, not by the shell of vkloader".into(),
                    },
                    false,
                )],
                instead: Some(format!(
                    "remove {name} from {}",
                    place
                        .as_deref()
                        .unwrap_or("the script or command that starts the program")
                )),
                lasting: None,
            };
        }
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let proc = Path::new("/proc");
        if let Some(found) = Self::of_wrapper(proc, std::process::id(), (name, value)) {
            return found;
        }
        let process = process(proc, std::process::id(), name);
        let file = file(Path::new("/"), home.as_deref(), (name, value));
        let set_by = |(path, line): &(PathBuf, usize)| (format!("{}, line {line}, sets it", path.display()), true);
        let process = process.map(|words| (words, false));
        Self {
            words: process.into_iter().chain(file.as_ref().map(set_by)).collect(),
            // The shell of a user is outside of the sandbox, so its variables are not those of the program.
            instead: is_flatpak.then(|| {
                let application = flatpak_application();
                format!("flatpak override --user --unset-env={name} {application}")
            }),
            lasting: file.map(|(path, line)| format!("remove line {line} of {}", path.display())),
        }
    }

    /// Returns the origin of a variable that a script sets for the command that it starts. Returns `None` if the variable comes from another process,
    /// or if a shell without a script has it too, because its user can unset it there.
    fn of_wrapper(proc: &Path, own: u32, (name, value): (&str, Option<&str>)) -> Option<Self> {
        let ancestry = Ancestry::of(proc, own, name)?;
        let setter = ancestry.setter?;
        let mut others = ancestry.holders.iter().skip(1);
        if others.any(|holder| is_bare_shell(&words_of(proc, *holder))) {
            return None;
        }
        let (path, line) = in_files(scripts::of(&words_of(proc, setter)).into_iter(), name, value)?;
        let place = format!("line {line} of {}", path.display());
        Some(Self {
            words: vec![(
                format!("{place} sets it, which process {} runs", called(proc, setter)),
                false,
            )],
            instead: Some(format!("remove {name} from {place}")),
            lasting: None,
        })
    }

    /// Adds the origin to a finding, and adapts the remedy of the finding.
    pub(super) fn add_to(&self, dropped: &mut Dropped, name: &str) {
        let facts = self.words.iter().map(|(words, is_file)| {
            let kind = Kind::Origin {
                variable: name.into(),
                is_file: *is_file,
            };
            Fact::new(kind, format!("{name}: {words}"))
        });
        let new: Vec<Fact> = facts.filter(|fact| !dropped.findings.contains(fact)).collect();
        dropped.findings.extend(new);
        let unset = format!("unset {name}");
        if let Some(instead) = &self.instead {
            dropped.advice = dropped.advice.replace(&unset, instead);
        }
        if let Some(lasting) = self.lasting.as_ref().filter(|_| unsets(&dropped.advice, name)) {
            let advice = dropped.advice.trim_end_matches('.');
            let link = if advice.contains(LASTING) { ", and " } else { LASTING };
            dropped.advice = format!("{advice}{link}{lasting}");
        }
    }
}

/// Words before the remedy for new sessions.
const LASTING: &str = "; for new sessions, ";

/// Returns `true` if a remedy contains a command that unsets the variable `name`, alone or together with others.
fn unsets(advice: &str, name: &str) -> bool {
    let names = |rest: &str| {
        let end = rest.find([',', ';', '.']).unwrap_or(rest.len());
        rest[..end].split(' ').any(|word| word == name)
    };
    advice.split("unset ").skip(1).any(names)
}

/// Returns a sentence about the origin of a value that a variable has in the program.
pub(crate) fn of_value(name: &str, value: &str) -> Option<String> {
    let value = library_folder::without(value)?;
    let own = std::env::var(name).ok();
    let variables = if own.as_deref() == Some(value) {
        Variables::default()
    } else {
        Variables::with(name, value)
    };
    let origin = Origin::of(name, &variables, false);
    // A file that sets the variable in each session comes last.
    origin.words.into_iter().next_back().map(|(words, _)| words)
}

/// Returns the name of the Flatpak application in whose sandbox this process runs.
pub(super) fn flatpak_application() -> String {
    let text = regular::text(Path::new("/").join(FLATPAK)).unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("name="));
    name.unwrap_or("APPLICATION").into()
}

/// Extension of Flatpak's runtime with Mesa's drivers.
pub(super) const GL: &str = "org.freedesktop.Platform.GL.default";

/// Returns the version of Flatpak's runtime `org.freedesktop.Platform` in the description of a sandbox. The extensions for this runtime have
/// the same versions.
fn runtime_version(description: &str) -> Option<&str> {
    let runtime = description.lines().find_map(|line| line.strip_prefix("runtime="))?;
    let (_, version) = runtime
        .strip_prefix("runtime/org.freedesktop.Platform/")?
        .split_once('/')?;
    Some(version.trim())
}

/// Names the Flatpak application and the version of its runtime in remedies for a sandbox of Flatpak.
pub(super) fn name_application(report: &mut Report) {
    if report.runs_in(&["flatpak"]) {
        let name = flatpak_application();
        let text = regular::text(Path::new("/").join(FLATPAK)).unwrap_or_default();
        let extension = runtime_version(&text).map_or(GL.into(), |version| format!("{GL}//{version}"));
        for one in &mut report.dropped {
            one.advice = one
                .advice
                .replace(" APPLICATION", &format!(" {name}"))
                .replace(GL, &extension);
        }
    }
}

/// Returns the process that set the variable: the parent of the oldest ancestor that was started with the variable.
fn process(proc: &Path, own: u32, name: &str) -> Option<String> {
    let ancestry = Ancestry::of(proc, own, name)?;
    let Some(setter) = ancestry.setter else {
        // The first process of a system has the variables of the kernel's command line, and the first one of a container those of its image.
        return (own != FIRST && ancestry.holders.ends_with(&[FIRST]))
            .then(|| "set when the container or session was started, for example by ENV in its image".into());
    };
    Some(format!(
        "set by process {}, or in a command that it ran",
        called(proc, setter)
    ))
}

/// A process and its ancestors that were started with a variable.
struct Ancestry {
    /// The processes that have the variable, the youngest first.
    holders: Vec<u32>,
    /// Parent of the oldest of them, which was started without the variable; `None` if the oldest has no parent.
    setter: Option<u32>,
}

impl Ancestry {
    /// Returns `None` if this user may not read the variables of an ancestor, or if there are too many ancestors.
    fn of(proc: &Path, own: u32, name: &str) -> Option<Self> {
        let mut holders = vec![own];
        while holders.len() <= MOST {
            let parent = parent(proc, *holders.last()?).filter(|&parent| parent != 0);
            match parent {
                Some(parent) if has(proc, parent, name)? => holders.push(parent),
                setter => return Some(Self { holders, setter }),
            }
        }
        None
    }
}

/// Returns the number of a process, and its name in parentheses.
fn called(proc: &Path, process: u32) -> String {
    let called = regular::text(proc.join(process.to_string()).join("comm")).unwrap_or_default();
    format!("{process} ({})", called.trim())
}

/// Returns the command line of a process.
fn words_of(proc: &Path, process: u32) -> Vec<OsString> {
    let bytes = regular::read(proc.join(process.to_string()).join("cmdline")).unwrap_or_default();
    let words = bytes.split(|&byte| byte == 0).filter(|word| !word.is_empty());
    words.map(|word| OsStr::from_bytes(word).to_owned()).collect()
}

/// Returns `true` for the command line of a shell that reads its commands from a terminal: it has options only.
fn is_bare_shell(words: &[OsString]) -> bool {
    let Some((program, options)) = words.split_first() else {
        return false;
    };
    // The name of a shell at login begins with a hyphen.
    let name = Path::new(program).file_name().unwrap_or_default().to_string_lossy();
    let is_option = |word: &OsString| word.as_bytes().starts_with(b"-") && word != "-c";
    scripts::SHELLS.contains(&name.trim_start_matches('-')) && options.iter().all(is_option)
}

/// Returns `Some(true)` if a process was started with the variable; `None` if this user may not read the process's environment.
fn has(proc: &Path, process: u32, name: &str) -> Option<bool> {
    let bytes = regular::read(proc.join(process.to_string()).join("environ")).ok()?;
    let mut variables = bytes.split(|&byte| byte == 0);
    Some(variables.any(|variable| {
        let rest = variable.strip_prefix(name.as_bytes());
        rest.is_some_and(|rest| rest.starts_with(b"="))
    }))
}

fn parent(proc: &Path, process: u32) -> Option<u32> {
    let status = regular::text(proc.join(process.to_string()).join("status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("PPid:"))?;
    line.trim().parse().ok()
}

/// Returns the file that sets the variable to its value, and the number of the line.
fn file(root: &Path, home: Option<&Path>, (name, value): (&str, Option<&str>)) -> Option<(PathBuf, usize)> {
    in_files(of_sessions(root, home).into_iter(), name, value)
}

/// Files and folders with limits of users, relative to the root.
const OF_LIMITS: [&str; 2] = ["etc/security/limits.conf", "etc/security/limits.d"];

/// Returns the file that limits the processes of a session, and the number of the line. `option` is the option of the shell's command ulimit,
/// and `item` is the word in the files of PAM.
pub(super) fn of_limit(root: &Path, home: Option<&Path>, option: char, item: &str) -> Option<(PathBuf, usize)> {
    let is_option = |word: &str| word.starts_with('-') && word.contains(option);
    let is_command = |line: &str| {
        let mut words = line.split_whitespace().skip_while(|word| *word != "ulimit").skip(1);
        !line.trim_start().starts_with('#') && words.any(is_option)
    };
    let is_row = |line: &str| {
        let mut words = line.split_whitespace();
        !line.trim_start().starts_with('#') && words.nth(2) == Some(item)
    };
    let of_pam = OF_LIMITS.iter().flat_map(|path| {
        let path = root.join(path);
        let mut within = names_in(&path);
        within.push(path);
        within
    });
    let in_shell = line_in(of_sessions(root, home).into_iter(), is_command);
    in_shell.or_else(|| line_in(of_pam, is_row))
}

/// Returns the paths in a folder, sorted.
fn names_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// Returns the files that sessions read when they begin.
fn of_sessions(root: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = FILES.iter().map(|file| root.join(file)).collect();
    let mut folders: Vec<PathBuf> = FOLDERS.iter().map(|folder| root.join(folder)).collect();
    if let Some(home) = home {
        files.extend(OWN_FILES.iter().map(|file| home.join(file)));
        folders.extend(OWN_FOLDERS.iter().map(|folder| home.join(folder)));
    }
    files.extend(folders.iter().flat_map(|folder| names_in(folder)));
    files
}

/// Returns the first file with a line that fits, and the number of the line.
fn line_in(mut files: impl Iterator<Item = PathBuf>, fits: impl Fn(&str) -> bool) -> Option<(PathBuf, usize)> {
    files.find_map(|file| {
        let line = scripts::text(&file).lines().position(&fits)?;
        Some((file, line + 1))
    })
}

/// Returns the first file that sets the variable, if possible to its value, and the line.
fn in_files(mut files: impl Iterator<Item = PathBuf>, name: &str, value: Option<&str>) -> Option<(PathBuf, usize)> {
    files.find_map(|file| {
        let line = scripts::text(&file)
            .lines()
            .position(|line| scripts::sets(line, name, value))?;
        Some((file, line + 1))
    })
}

#[cfg(test)]
mod tests;
