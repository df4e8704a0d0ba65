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

/// Limits of the program that a report is about; `None` where there is no limit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Size of the address space in bytes.
    address_space: Option<u64>,
    open_files: Option<u64>,
}

/// The limits of this process, which a program inherits.
impl Default for Limits {
    fn default() -> Self {
        Self {
            address_space: getrlimit(Resource::As).current,
            open_files: getrlimit(Resource::Nofile).current,
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
        let value = |name| {
            let line = text.lines().find_map(|line| line.strip_prefix(name))?;
            line.split_whitespace().next()?.parse().ok()
        };
        Self {
            address_space: value("Max address space"),
            open_files: value("Max open files"),
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
        let limit = most.map_or_else(String::new, |most| format!(": at most {most} (RLIMIT_NOFILE)"));
        (
            format!("the process may not open more files{limit}"),
            "Raise the limit: ulimit -n 4096; in a service of systemd, LimitNOFILE=4096.".into(),
        )
    }
}

/// Adds the limit on the address space to a finding that a lack of memory may have caused.
pub(super) fn explain(dropped: &mut Dropped, limits: &Limits) {
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
}
