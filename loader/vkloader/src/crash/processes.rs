//! Processes in `/proc`, which may have the process IDs of another PID namespace than this process has. A sandbox may show the `/proc` of the
//! system around it, and a process in a sandbox may have further IDs of its own.

use rustix::process::Pid;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// IDs of a process or thread, one for each PID namespace from that of `/proc` to that of the process.
type Numbers = Vec<u32>;

/// State of a process.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Status {
    parent: u32,
    numbers: Numbers,
    has_ended: bool,
}

impl Status {
    /// Returns the state in the text of the file `status`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let value = |name| value(text, name);
        let numbers = value("NStgid").or_else(|| value("Tgid"))?;
        Some(Self {
            parent: value("PPid")?.parse().ok()?,
            numbers: numbers
                .split_whitespace()
                .filter_map(|word| word.parse().ok())
                .collect(),
            has_ended: value("State")?.starts_with(['Z', 'X']),
        })
    }
}

/// Returns the value of a line in the text of the file `status`.
fn value<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = text.lines().filter_map(|line| line.split_once(':'));
    lines.find(|(known, _)| *known == name).map(|(_, value)| value.trim())
}

/// All processes that `/proc` lists, by their numbers there.
#[derive(Debug, Default)]
pub(super) struct Processes(pub(super) BTreeMap<u32, Status>);

impl Processes {
    pub(super) fn all() -> Self {
        let status = |number: u32| {
            let text = fs::read_to_string(format!("/proc/{number}/status")).ok()?;
            Some((number, Status::parse(&text)?))
        };
        Self(numbers_in(Path::new("/proc")).filter_map(status).collect())
    }

    /// Returns the first running descendant of the process `own` for which `fits` returns `true`. `fits` receives all IDs of the process.
    pub(super) fn descendant(&self, own: u32, fits: impl Fn(&Numbers) -> bool) -> Option<u32> {
        let mut fitting = self
            .0
            .iter()
            .filter(|(_, status)| !status.has_ended && fits(&status.numbers));
        fitting
            .find(|(number, _)| self.is_below(**number, own))
            .map(|(number, _)| *number)
    }

    fn is_below(&self, mut number: u32, own: u32) -> bool {
        // Each step leads to a parent. A list that changed while it was read may have a circle of parents.
        self.0.iter().any(|_| {
            number = self.0.get(&number).map_or(0, |status| status.parent);
            number == own
        })
    }
}

/// Returns the numbers among the names in a folder.
fn numbers_in(folder: &Path) -> impl Iterator<Item = u32> + use<> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// This process in `/proc`.
#[derive(Clone, Copy, Debug)]
struct Own {
    number: u32,
    /// Number of PID namespaces between that of `/proc` and that of this process; 0 if both are the same.
    depth: usize,
}

/// Returns this process in `/proc`; `None` if `/proc` does not list it.
fn own() -> Option<Own> {
    static OWN: OnceLock<Option<Own>> = OnceLock::new();
    *OWN.get_or_init(|| {
        let number = fs::read_link("/proc/self").ok()?.to_str()?.parse().ok()?;
        let text = fs::read_to_string("/proc/self/status").ok()?;
        let numbers = Status::parse(&text)?.numbers;
        let depth = numbers.len().checked_sub(1)?;
        (numbers.last() == Some(&std::process::id())).then_some(Own { number, depth })
    })
}

/// Returns `true` if `/proc` lists this process, and therefore its descendants.
pub(super) fn are_visible() -> bool {
    own().is_some()
}

/// Returns the number in `/proc` of this process.
pub(super) fn own_number() -> Option<u32> {
    own().map(|own| own.number)
}

/// Returns the ID in the namespace of this process among the IDs of a process or thread, which the text `status` lists in the line `name`.
pub(super) fn own_level(text: &str, name: &str) -> Option<i64> {
    let depth = own().map_or(0, |own| own.depth);
    value(text, name)?.split_whitespace().nth(depth)?.parse().ok()
}

/// Returns the folder of a process or thread in `/proc`. If `/proc` does not list it, the folder does not exist.
pub(super) fn folder(thread: Pid) -> PathBuf {
    let number = thread.as_raw_nonzero().get().unsigned_abs();
    let usual = || PathBuf::from(format!("/proc/{number}"));
    match own() {
        Some(own) if own.depth == 0 => usual(),
        Some(own) => outer(number, own).unwrap_or_else(|| "/proc/none".into()),
        // If the list lacks this process, its numbers may be those of other processes.
        None => "/proc/none".into(),
    }
}

/// Returns the folder of a thread that has the ID `number` in the namespace of this process, if `/proc` has other IDs.
fn outer(number: u32, own: Own) -> Option<PathBuf> {
    let all = Processes::all();
    if let Some(process) = all.descendant(own.number, |numbers| numbers.get(own.depth) == Some(&number)) {
        return Some(format!("/proc/{process}").into());
    }
    let processes = all.0.keys().filter(|process| all.is_below(**process, own.number));
    let mut threads = processes.flat_map(|process| {
        let folder = PathBuf::from(format!("/proc/{process}/task"));
        numbers_in(&folder)
            .map(move |thread| folder.join(thread.to_string()))
            .collect::<Vec<_>>()
    });
    threads.find(|folder| {
        let text = fs::read_to_string(folder.join("status")).unwrap_or_default();
        own_level(&text, "NSpid") == Some(number.into())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A trace of a sandbox with process IDs of its own has the number 2, which outside belongs to a thread of the kernel.
    #[test]
    fn only_descendants_count() {
        let status = |text: &str| Status::parse(text).expect("a status");
        let kernel = status("Name:\tkthreadd\nState:\tS (sleeping)\nTgid:\t2\nPPid:\t0\nNStgid:\t2\n");
        let sandbox = status("Name:\tbwrap\nState:\tS (sleeping)\nTgid:\t70\nPPid:\t60\nNStgid:\t70\t1\n");
        let game = "Name:\tgame\nState:\tR (running)\nTgid:\t71\nPPid:\t70\nNStgid:\t71\t2\n";
        let mut all = Processes(BTreeMap::from([(2, kernel), (70, sandbox)]));
        let found = |all: &Processes, own| all.descendant(own, |numbers| numbers.last() == Some(&2));
        assert_eq!(found(&all, 60), None);
        all.0.insert(71, status(game));
        assert_eq!(found(&all, 60), Some(71));
        assert_eq!(found(&all, 61), None);
        all.0.insert(71, status(&game.replace("R (running)", "Z (zombie)")));
        assert_eq!(found(&all, 60), None);
        let circle = "Name:\tx\nState:\tR (running)\nTgid:\t70\nPPid:\t71\nNStgid:\t70\t1\n";
        all.0.insert(70, status(circle));
        all.0.insert(71, status(game));
        assert_eq!(found(&all, 60), None);
    }

    #[test]
    fn this_process_and_its_threads_have_folders() {
        let own = rustix::process::getpid();
        assert!(are_visible());
        assert!(fs::read_link(folder(own).join("exe")).is_ok_and(|path| Some(path) == std::env::current_exe().ok()));
        assert_eq!(own_level("NSpid:\t7\n", "NSpid"), Some(7));
        assert_eq!(own_level("Name:\tx\n", "NSpid"), None);
    }
}
