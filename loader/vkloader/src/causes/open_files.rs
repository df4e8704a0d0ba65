//! Explains failures in a process, or on a system, that has too many open files.

use super::limits::{Limits, OPEN_FILES};
use crate::events::{Event, Record};
use crate::regular;
use crate::report::{Dropped, Fact, Kind, Report, codes};
use reasons::Code;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// Limit on open files below which drivers may fail. Drivers open their libraries, device nodes and caches.
const FEW_FILES: u64 = 64;

/// Codes of findings about failures that the limit on open files can cause.
const MAY_LACK_FILES: [&str; 8] = [
    codes::DEVICE_NOT_CREATED.name,
    "device.enumeration-failed",
    "driver.creation-failed",
    "driver.extension-query-failed",
    "driver.negotiation-refused",
    "driver.no-global-function",
    "driver.not-opened",
    "layer-library.not-opened",
];

/// Remedy for a system that has too many open files.
const OF_SYSTEM: &str = "Raise the limit of the system: sysctl fs.file-max=2097152 (/proc/sys/fs/file-nr has the number of open files and the limit), and \
    end the process that has most files open.";

/// The limit that a failed call reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Full {
    /// The limit of the process.
    Process,
    /// The limit of the whole system.
    System,
}

impl Full {
    /// Returns the limit that a message of the system is about.
    fn of(words: &str) -> Option<Self> {
        let (_, rest) = words.split_once("Too many open files")?;
        Some(if rest.starts_with(" in system") {
            Self::System
        } else {
            Self::Process
        })
    }

    /// Returns the owner of the open files, as the subject of a sentence.
    fn owner(self) -> &'static str {
        match self {
            Self::Process => "The program",
            Self::System => "The system",
        }
    }

    /// Returns the finding and the remedy.
    fn words(self, limits: &Limits) -> (String, String) {
        match self {
            Self::Process => limits.of_open_files(),
            Self::System => (
                "the system has as many open files as it may have (fs.file-max)".into(),
                OF_SYSTEM.into(),
            ),
        }
    }
}

/// Adds the limit on open files to the findings that it may have caused.
pub(super) fn explain(report: &mut Report, records: &[&Record]) {
    let mut searched = records.iter().filter_map(|record| match &record.event {
        Event::Searched(searched) => searched.system.as_deref(),
        _ => None,
    });
    let full = searched.find_map(Full::of);
    let Report {
        dropped,
        limits,
        inside,
        ..
    } = report;
    for one in dropped.iter_mut() {
        of_part(one, limits);
    }
    if let Some(full) = full {
        // In a sandbox, a file of this name may be another one.
        dropped.retain(|one| inside.is_some() || !is_absent(one));
        dropped.iter_mut().for_each(|one| of_search(one, full, limits));
    }
}

/// Adds the limit to the finding about a driver, layer or device, if the limit was reached or is too low for drivers.
fn of_part(dropped: &mut Dropped, limits: &Limits) {
    let is_known = || dropped.findings.iter().any(|fact| *fact.kind() == Kind::Limit);
    if !MAY_LACK_FILES.contains(&dropped.code.as_str()) || is_known() {
        return;
    }
    let full = dropped.findings.iter().find_map(|fact| Full::of(fact));
    let is_low = limits.open_files().is_some_and(|most| most < FEW_FILES);
    let (words, remedy) = match full {
        Some(Full::System) => Full::System.words(limits),
        None if !is_low => return,
        _ => {
            let most = limits
                .open_files()
                .map_or_else(String::new, |most| format!(" to {most}"));
            let words = format!("the number of open files of a process is limited{most} ({OPEN_FILES})");
            (words, limits.remedy_for_files())
        }
    };
    dropped.findings.insert(0, Fact::new(Kind::Limit, words));
    dropped.advice = format!("{remedy} If that does not help: {}", dropped.advice);
}

/// Makes the limit the reason of a finding, if a search reached the limit: the search found no driver, or a file that this user may read was not opened.
fn of_search(dropped: &mut Dropped, full: Full, limits: &Limits) {
    let owner = full.owner();
    // Opening a pipe could wait for ever.
    let is_readable = || path_of(dropped).is_file() && regular::open(path_of(dropped)).is_ok();
    let reason = if dropped.code == codes::DRIVER_NONE_INSTALLED.name {
        format!("{owner} has too many open files, so the search for drivers could not read its folders.")
    } else if dropped.code == Code::FileNotOpened.name() && is_readable() {
        format!("{owner} has too many open files, so the file could not be opened.")
    } else {
        return;
    };
    let (finding, advice) = full.words(limits);
    dropped.reason = reason;
    dropped.findings.insert(0, Fact::new(Kind::Limit, finding));
    dropped.advice = advice;
}

/// Returns `true` for a finding that a file was not opened, if there is no such file. The call then failed for another reason than the file.
fn is_absent(dropped: &Dropped) -> bool {
    let is_missing = || fs::metadata(path_of(dropped)).is_err_and(|error| error.kind() == ErrorKind::NotFound);
    dropped.code == Code::FileNotOpened.name() && is_missing()
}

fn path_of(dropped: &Dropped) -> &Path {
    Path::new(dropped.file.as_deref().unwrap_or(&dropped.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OF_PROCESS: &str = "Too many open files (os error 24)";

    #[test]
    fn the_limit_of_the_system_is_told_from_that_of_the_process() {
        for (words, expected) in [
            (OF_PROCESS, Some(Full::Process)),
            ("Too many open files in system (os error 23)", Some(Full::System)),
            ("No such file or directory", None),
        ] {
            assert_eq!(Full::of(words), expected, "{words}");
        }
        let mut found = codes::DEVICE_NOT_CREATED.about("card");
        found.findings.push("a.so: Too many open files in system");
        of_part(&mut found, &Limits::default());
        assert!(found.advice.contains("fs.file-max"), "{}", found.advice);
    }

    #[test]
    fn a_file_that_a_full_process_did_not_open_is_not_closed_to_the_user() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = |name: &str| folder.path().join(name).display().to_string();
        std::fs::write(place("settings.json"), "{}").expect("a file");
        let not_opened = |name: &str| Dropped {
            code: Code::FileNotOpened.name().into(),
            ..codes::SETTINGS_ACTIVE.about(place(name))
        };
        let searched = r#"{"event": "searched", "process": 1, "thread": "1", "time": 1, "for": "driver", "folder": "/etc/vulkan/icd.d",
            "source": {"kind": "default"}, "manifests": 0, "system": "Too many open files (os error 24)"}"#;
        let record: Record = serde_json::from_str(searched).expect("a record");
        let mut report = Report {
            dropped: vec![
                not_opened("settings.json"),
                not_opened("nothing.json"),
                codes::DRIVER_NONE_INSTALLED.about_any("no driver"),
            ],
            ..Report::default()
        };
        explain(&mut report, &[&record]);
        let reasons: Vec<&str> = report.dropped.iter().map(|one| one.reason.as_str()).collect();
        let [settings, search] = &reasons[..] else {
            panic!("{reasons:?}")
        };
        assert_eq!(
            *settings,
            "The program has too many open files, so the file could not be opened."
        );
        assert!(search.contains("could not read its folders"), "{search}");
        assert!(report.dropped.iter().all(|one| !one.advice.contains("permission")));
    }
}
