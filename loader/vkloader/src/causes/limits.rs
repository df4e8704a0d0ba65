//! Limits that the system sets for a process. The process that examines drivers inherits the same limits as a user's program.

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

/// Returns a sentence about the limit on the address space of a process; `None` if there is no limit.
pub(super) fn address_space() -> Option<String> {
    let bytes = getrlimit(Resource::As).current?;
    Some(format!(
        "the address space of a process is limited to {} KiB (RLIMIT_AS)",
        bytes / 1024
    ))
}

/// Returns the finding and the remedy for a process that may not open more files.
pub(super) fn open_files() -> (String, String) {
    let most = getrlimit(Resource::Nofile).current;
    let limit = most.map_or_else(String::new, |most| format!(": at most {most} (RLIMIT_NOFILE)"));
    (
        format!("the process may not open more files{limit}"),
        "Raise the limit: ulimit -n 4096; in a service of systemd, LimitNOFILE=4096.".into(),
    )
}

/// Adds the limit on the address space to a finding that a lack of memory may have caused.
pub(super) fn explain(dropped: &mut Dropped) {
    if !MAY_LACK_MEMORY.contains(&dropped.code.as_str()) {
        return;
    }
    if let Some(limit) = address_space() {
        dropped.findings.insert(0, limit);
        dropped.advice = format!("{REMEDY} If that does not help: {}", dropped.advice);
    }
}
