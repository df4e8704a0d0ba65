//! Journal of the calls that a layer received. Each event is a line, which is appended to the file that the configuration names.
//!
//! Layers and drivers of the same process can share the file. Each line is one `write` to a file opened for appending, so the order of the
//! lines is the order of the calls.

use std::fs::OpenOptions;
use std::io::Write;

/// Appends `NAME EVENT` to the journal at `path`. If the file cannot be written, prints a message on standard error, because a test would
/// otherwise only see an empty file.
pub(crate) fn append(path: &str, name: &str, event: &str) {
    let line = format!("{name} {event}\n");
    let written = OpenOptions::new()
        .append(true)
        .create(true)
        .open(path)
        .and_then(|mut file| file.write_all(line.as_bytes()));
    if let Err(error) = written {
        eprintln!("mock layer: journal {path}: {error}");
    }
}
