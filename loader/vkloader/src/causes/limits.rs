//! Limits that the system sets for a process.

use crate::child::Finished;
use crate::report::{Dropped, codes};
use rustix::process::{Resource, getrlimit};

/// Remedy for a limit on the address space.
pub(super) const REMEDY: &str = "Remove the limit: ulimit -v unlimited; in a service of systemd, LimitAS=infinity.";

/// Codes of findings about failures that a lack of memory can cause.
const MAY_LACK_MEMORY: [&str; 5] = [
    codes::PROGRAM_CRASHED.name,
    codes::INSTANCE_FAILED.name,
    codes::DEVICE_NOT_CREATED.name,
    codes::LOADER_FAILED.name,
    "driver.creation-failed",
];

/// Name of the limit on open files.
const OPEN_FILES: &str = "RLIMIT_NOFILE";
/// Part of the system's message about a process that reached the limit on open files.
const FULL: &str = "Too many open files";
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

/// Limits of the program that a report is about; `None` where there is no limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Limits {
    /// Size of the address space in bytes.
    address_space: Option<u64>,
    /// Number of open files.
    open_files: Option<u64>,
    /// Upper bound to which a process may raise the limit on open files.
    hard_open_files: Option<u64>,
}

/// The limits of this process, which a program inherits.
impl Default for Limits {
    fn default() -> Self {
        let open_files = getrlimit(Resource::Nofile);
        Self {
            address_space: getrlimit(Resource::As).current,
            open_files: open_files.current,
            hard_open_files: open_files.maximum,
        }
    }
}

impl Limits {
    /// Returns the limits of the process that the report is about, if it was supervised; otherwise the limits of this process.
    pub(crate) fn of(finished: &Finished) -> Self {
        finished.started().map_or_else(Self::default, |started| started.limits)
    }

    /// Reads the limits in the text of `/proc/PID/limits`.
    pub(crate) fn parse(text: &str) -> Self {
        let value = |name, column| {
            let line = text.lines().find_map(|line| line.strip_prefix(name))?;
            line.split_whitespace().nth(column)?.parse().ok()
        };
        Self {
            address_space: value("Max address space", 0),
            open_files: value("Max open files", 0),
            hard_open_files: value("Max open files", 1),
        }
    }

    /// Returns a sentence about the limit on the address space of a process; `None` if there is no limit.
    pub(super) fn of_address_space(&self) -> Option<String> {
        let bytes = self.address_space?;
        Some(format!(
            "the address space of a process is limited to {} KiB (RLIMIT_AS)",
            bytes / 1024
        ))
    }

    /// Returns the finding and the remedy for a process that may not open more files.
    pub(super) fn of_open_files(&self) -> (String, String) {
        let most = self.open_files;
        let limit = most.map_or_else(String::new, |most| format!(": at most {most} ({OPEN_FILES})"));
        (
            format!("the process may not open more files{limit}"),
            self.remedy_for_files(),
        )
    }

    /// Returns the remedy for a low limit on open files. A process may raise the soft limit up to the hard limit.
    fn remedy_for_files(&self) -> String {
        const ENOUGH: u64 = 4096;
        let soft = self.open_files.unwrap_or_default();
        let wanted = soft.saturating_mul(2).max(ENOUGH);
        match self.hard_open_files {
            Some(hard) if hard <= soft => format!(
                "Raise the hard limit, which is {hard}, as the superuser: sudo prlimit --nofile={wanted} --pid $$ in the shell that starts the \
                 program; in a service of systemd, LimitNOFILE={wanted}."
            ),
            hard => {
                let target = hard.map_or(wanted, |hard| wanted.min(hard));
                let hard = hard.map_or_else(|| "infinity".into(), |hard| hard.to_string());
                format!("Raise the limit: ulimit -Sn {target}; in a service of systemd, LimitNOFILE={target}:{hard}.")
            }
        }
    }
}

/// Adds the limit on open files to a finding, if the limit was reached or is too low for drivers.
fn explain_files(dropped: &mut Dropped, limits: &Limits) {
    let says = |words| dropped.findings.iter().any(|finding| finding.contains(words));
    if !MAY_LACK_FILES.contains(&dropped.code.as_str()) || says(OPEN_FILES) {
        return;
    }
    let is_low = limits.open_files.is_some_and(|most| most < FEW_FILES);
    if is_low || says(FULL) {
        let most = limits.open_files.map_or_else(String::new, |most| format!(" to {most}"));
        dropped.findings.insert(
            0,
            format!("the number of open files of a process is limited{most} ({OPEN_FILES})"),
        );
        dropped.advice = format!(
            "{} If that does not help: {}",
            limits.remedy_for_files(),
            dropped.advice
        );
    }
}

/// Adds the limits that may have caused the failure to a finding.
pub(super) fn explain(dropped: &mut Dropped, limits: &Limits) {
    explain_files(dropped, limits);
    if !MAY_LACK_MEMORY.contains(&dropped.code.as_str()) {
        return;
    }
    if let Some(limit) = limits.of_address_space() {
        dropped.findings.insert(0, limit);
        dropped.advice = format!("{REMEDY} If that does not help: {}", dropped.advice);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_from_the_text_of_the_kernel() {
        let limits = Limits::parse(
            "Limit                     Soft Limit           Hard Limit           Units\n\
             Max open files            64                   1048576              files\n\
             Max address space         unlimited            unlimited            bytes\n",
        );
        assert!(limits.of_open_files().0.ends_with("at most 64 (RLIMIT_NOFILE)"));
        assert_eq!(limits.of_address_space(), None);
    }

    #[test]
    fn the_remedy_raises_the_soft_limit_and_keeps_the_hard_limit() {
        for (soft, hard, expected) in [
            (
                "64",
                "1048576",
                "ulimit -Sn 4096; in a service of systemd, LimitNOFILE=4096:1048576.",
            ),
            (
                "4096",
                "1048576",
                "ulimit -Sn 8192; in a service of systemd, LimitNOFILE=8192:1048576.",
            ),
            (
                "1024",
                "2000",
                "ulimit -Sn 2000; in a service of systemd, LimitNOFILE=2000:2000.",
            ),
            (
                "64",
                "unlimited",
                "ulimit -Sn 4096; in a service of systemd, LimitNOFILE=4096:infinity.",
            ),
            ("4096", "4096", "sudo prlimit --nofile=8192 --pid $$ in the shell"),
        ] {
            let limits = Limits::parse(&format!(
                "Max open files            {soft}                   {hard}              files\n"
            ));
            let remedy = limits.remedy_for_files();
            assert!(remedy.contains(expected), "{remedy}");
            assert_eq!(remedy.contains("ulimit"), soft != hard, "{remedy}");
        }
    }
}
