//! Result of a child: its exit status, its output, and the drivers' records.

use std::fs;
use std::path::Path;

use crate::library::log_column;
use crate::process::Ended;
use crate::system::{ABORTED, is_crash, settle};

/// Result of a child's run.
pub struct Outcome {
    ending: String,
    stdout: String,
    /// Standard error of the child.
    pub stderr: String,
    journal: String,
}

impl Outcome {
    pub(crate) fn new(ended: Ended, journal: String) -> Self {
        let ending = match ended.status {
            None => "killed: it ran too long".into(),
            Some(status) => crate::system::ending(status),
        };
        Outcome {
            ending,
            stdout: settle(ended.stdout),
            stderr: settle(ended.stderr),
            journal: settle(journal),
        }
    }

    pub(crate) fn write(&self, folder: &Path) {
        let files = [&self.ending, &self.stdout, &self.stderr, &self.journal];
        fs::create_dir_all(folder).expect("folders can be made");
        for (name, text) in ["ending", "stdout", "stderr", "journal"].iter().zip(files) {
            fs::write(folder.join(name), text).expect("scratch files can be written");
        }
    }

    pub(crate) fn read(folder: &Path) -> Self {
        let text = |name: &str| fs::read_to_string(folder.join(name)).expect("an earlier run left its outcome");
        Outcome {
            ending: text("ending"),
            stdout: text("stdout"),
            stderr: text("stderr"),
            journal: text("journal"),
        }
    }

    /// Checks that the child's closure ran to its end, and that every driver object was destroyed before its library was closed.
    #[track_caller]
    pub fn ok(&self) -> &Self {
        self.ran();
        let leaks: Vec<&str> = self.journal.lines().filter(|line| is_leak(line)).collect();
        assert!(
            leaks.is_empty(),
            "drivers were left with live objects: {leaks:?}\n{}",
            self.all()
        );
        self
    }

    /// Checks that the child's closure ran to its end. Objects of drivers can still exist.
    #[track_caller]
    pub fn ran(&self) -> &Self {
        assert!(
            self.ending == "success",
            "the child ended with {}\n{}",
            self.ending,
            self.all()
        );
        self
    }

    /// Checks that `abort` ended the process after a line that contains `text`.
    #[track_caller]
    pub fn aborted(&self, text: &str) -> &Self {
        assert!(
            self.ending == ABORTED,
            "the child ended with {}, not by abort\n{}",
            self.ending,
            self.all()
        );
        assert!(
            self.stderr.contains(text),
            "no `{text}` before the abort\n{}",
            self.all()
        );
        // The output must not contain a panic, because a panic in a debug build aborts the process too.
        assert!(
            !self.stderr.contains("panicked at"),
            "the child did not end by itself\n{}",
            self.all()
        );
        self
    }

    /// Checks that a signal ended the process. The signal can come from an abort of the loader.
    #[track_caller]
    pub fn crashed(&self) -> &Self {
        assert!(
            is_crash(&self.ending),
            "the child ended with {}\n{}",
            self.ending,
            self.all()
        );
        self
    }

    /// Returns a text that describes the end of the child.
    pub fn ending(&self) -> &str {
        &self.ending
    }

    /// Returns the text of each log line of this level, in order.
    pub fn log(&self, level: &str) -> Vec<&str> {
        let header = header(level);
        self.stderr
            .lines()
            .filter_map(|line| line.strip_prefix(&header))
            .collect()
    }

    /// Checks that a log line consists of the padded header of `level` (for example `WARNING | DRIVER`) and `text`.
    #[track_caller]
    pub fn logged(&self, level: &str, text: &str) -> &Self {
        assert!(
            self.log(level).contains(&text),
            "no {level} line `{text}`\n{}",
            self.all()
        );
        self
    }

    /// Checks that a log line of this level contains `text`.
    #[track_caller]
    pub fn logged_with(&self, level: &str, text: &str) -> &Self {
        let hit = self.log(level).iter().any(|have| have.contains(text));
        assert!(hit, "no {level} line with `{text}`\n{}", self.all());
        self
    }

    /// Checks that no line on standard error contains `text`.
    #[track_caller]
    pub fn not_logged(&self, text: &str) -> &Self {
        assert!(!self.stderr.contains(text), "`{text}` was logged\n{}", self.all());
        self
    }

    /// Returns the values that the child reported under `key` with [`Vk::say`](crate::Vk::say), in order.
    pub fn said(&self, key: &str) -> Vec<&str> {
        let lines = self
            .stdout
            .lines()
            .filter_map(|line| line.strip_prefix("say ")?.split_once('='));
        lines.filter(|(have, _)| *have == key).map(|(_, value)| value).collect()
    }

    /// Returns all journal lines: `<driver> <call> <arguments>`, and the child's marks as `== <mark>`.
    pub fn journal(&self) -> Vec<&str> {
        self.journal.lines().collect()
    }

    /// Returns the journal lines of `call` in `driver`, without these two names.
    pub fn calls(&self, driver: &str, call: &str) -> Vec<&str> {
        let lines = self
            .journal
            .lines()
            .filter_map(|line| line.strip_prefix(driver)?.strip_prefix(' '));
        let lines = lines.filter_map(|line| line.strip_prefix(call));
        lines
            .filter(|rest| rest.is_empty() || rest.starts_with(' '))
            .map(str::trim_start)
            .collect()
    }

    /// Returns the journal lines between two marks.
    #[track_caller]
    pub fn between(&self, from: &str, to: &str) -> Vec<&str> {
        let lines = self.journal();
        let place = |mark: &str| lines.iter().position(|line| *line == format!("== {mark}"));
        match (place(from), place(to)) {
            (Some(from), Some(to)) => lines[from + 1..to].to_vec(),
            _ => panic!("the marks {from} and {to} are not both in the journal\n{}", self.all()),
        }
    }

    /// Returns all output and records, for the message of a failed assertion.
    pub fn all(&self) -> String {
        let Outcome {
            ending,
            stdout,
            stderr,
            journal,
        } = self;
        format!("--- ending: {ending}\n--- stdout\n{stdout}--- stderr\n{stderr}--- journal\n{journal}")
    }
}

/// Returns the header of a log line, padded to the column of the text (APP-232).
fn header(level: &str) -> String {
    let column = log_column();
    let prefix = if column == 18 { "" } else { "[Vulkan Loader] " };
    format!("{:<column$}", format!("{prefix}{level}: "))
}

fn is_leak(line: &str) -> bool {
    line.contains(" unload live=[") && !line.ends_with("live=[]") || line.contains(" FOREIGN ")
}
