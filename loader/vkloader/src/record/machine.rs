//! Reads the parts of the machine's state that affect a driver's answers.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, BufReader};

/// Returns the name of a variable that is set and may change a driver's answers, although catalogues do not record this variable.
pub(super) fn variable() -> Option<String> {
    let changes = |(name, value): &(OsString, OsString)| {
        catalogue::variables::may_change_records(name.as_encoded_bytes(), value.as_encoded_bytes())
    };
    env::vars_os()
        .find(changes)
        .map(|(name, _)| name.to_string_lossy().into_owned())
}

/// Returns the paths of the device nodes that this process has open.
pub(super) fn open_nodes() -> Vec<String> {
    let links = fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let mut paths: Vec<String> = links
        .filter_map(|link| fs::read_link(link.path()).ok()?.into_os_string().into_string().ok())
        .filter(|path| path.starts_with("/dev/"))
        .collect();
    paths.sort();
    paths.dedup();
    paths
}

/// Returns the first line of `/proc/meminfo`, which has the size of the memory, if the file exists.
pub(super) fn memory() -> Option<Vec<u8>> {
    let mut line = Vec::new();
    let file = fs::File::open("/proc/meminfo").ok()?;
    BufReader::new(file).read_until(b'\n', &mut line).ok()?;
    Some(line.trim_ascii_end().to_vec())
}
