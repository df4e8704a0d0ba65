//! Prints the files as a list of paths, or as JSON with all known facts about each file.

use super::tree::{Placed, Shape};
use super::{Driver, Files, entry};
use serde::Serialize;
use std::io;
use std::os::unix::ffi::OsStrExt;

/// Returns one line for each path of a file, a node, a folder of `/sys`, or a link.
pub(super) fn paths(files: &Files) -> Vec<u8> {
    let mut text = Vec::new();
    for (place, placed) in files.placed.iter().enumerate() {
        if place > 0 {
            text.push(b'\n');
        }
        for &byte in placed.path.as_os_str().as_bytes() {
            match byte {
                // Escapes are necessary, because a path could otherwise look like two paths, or control the terminal.
                b'\n' => text.extend(b"\\n"),
                0..b' ' | 0x7F => text.extend(format!("\\{byte:03o}").bytes()),
                _ => text.push(byte),
            }
        }
    }
    text
}

#[derive(Serialize)]
struct Report<'a> {
    drivers: &'a [Driver],
    variables: Vec<Variable>,
    files: Vec<File<'a>>,
    notes: &'a [String],
}

#[derive(Serialize)]
struct Variable {
    name: &'static str,
    value: String,
}

#[derive(Serialize)]
struct File<'a> {
    path: String,
    kind: Kind,
    /// Target of a symbolic link.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
    because: &'a entry::Because,
}

/// Kind of the file at a path.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    Link,
    Folder,
    #[serde(untagged)]
    Of(entry::Kind),
}

impl<'a> From<&'a Placed> for File<'a> {
    fn from(placed: &'a Placed) -> Self {
        Self {
            path: placed.path.to_string_lossy().into_owned(),
            kind: match placed.shape {
                Shape::Link(_) => Kind::Link,
                Shape::Passage => Kind::Folder,
                Shape::Real => Kind::Of(placed.kind),
            },
            target: match &placed.shape {
                Shape::Link(target) => Some(target.to_string_lossy().into_owned()),
                Shape::Passage | Shape::Real => None,
            },
            because: &placed.because,
        }
    }
}

/// Returns all facts as JSON.
pub(super) fn json(files: &Files) -> io::Result<Vec<u8>> {
    let variables = files.variables().into_iter();
    let report = Report {
        drivers: &files.drivers,
        variables: variables.map(|(name, value)| Variable { name, value }).collect(),
        files: files.placed.iter().map(File::from).collect(),
        notes: &files.notes,
    };
    serde_json::to_vec_pretty(&report).map_err(io::Error::other)
}
