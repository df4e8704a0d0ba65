//! Finds why a manifest cannot be read, if the library's message does not say it.

use crate::report::Dropped;
use rustix::io::Errno;
use std::fs::{self, File};
use std::io::Read;

/// Adds the problem of the file to the finding about a manifest.
pub(super) fn explain(dropped: &mut Dropped) {
    let path = dropped.file.clone().unwrap_or_else(|| dropped.name.clone());
    match dropped.code.as_str() {
        "file.invalid-json" if is_wide(&path) => {
            dropped.findings.insert(0, format!("{path} is a text in UTF-16"));
            dropped.advice = format!("Save the file as UTF-8: iconv -f UTF-16 -t UTF-8 -o NEW {path}");
        }
        "file.not-opened" => {
            let Err(error) = File::open(&path) else { return };
            dropped.findings.insert(0, format!("{path}: {error}"));
            if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) {
                dropped.advice =
                    "Remove the link, which leads to itself, and reinstall the package of the driver or layer.".into();
            }
        }
        _ => {}
    }
}

/// Returns `true` if a file begins with a byte order mark of UTF-16.
fn is_wide(path: &str) -> bool {
    let is_file = fs::metadata(path).is_ok_and(|status| status.is_file());
    let mut start = [0; 4];
    let is_long = is_file && File::open(path).is_ok_and(|mut file| file.read_exact(&mut start).is_ok());
    is_long && matches!(start, [0xFF, 0xFE, _, 0] | [0xFE, 0xFF, 0, _])
}
