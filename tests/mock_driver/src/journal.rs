//! Writes the journal, which is a text file that all drivers of a test share. The journal has a line for each call, in
//! the order of the calls.

use std::fs::OpenOptions;
use std::io::Write;

use crate::config::Config;

/// Appends `<driver name> <text>`. The function writes each line with one system call, so that lines of several drivers
/// and threads never mix.
pub(crate) fn line(config: &Config, text: &str) {
    let Some(path) = &config.journal else { return };
    let written = OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .and_then(|mut file| file.write_all(format!("{} {text}\n", config.name).as_bytes()));
    if let Err(error) = written {
        eprintln!("mock driver: cannot write {path}: {error}");
        std::process::abort();
    }
}
