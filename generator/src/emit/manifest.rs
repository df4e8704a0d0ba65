//! `manifest.txt`: the checksums of the inputs and of the output files (GEN-93).

use super::file::File;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fmt::Write;
use vk_registry::model::HeaderVersion;

/// Path of the manifest below `generated/`.
pub const MANIFEST: &str = "manifest.txt";
/// First line of every manifest.
const HEADING: &str = "# SHA-256 of each input, then of each file in this directory.";

/// File that the output depends on.
pub struct Input {
    /// Name of the file in the manifest.
    pub name: String,
    /// Content of the file; for a policy, its tables without comments.
    pub text: String,
}

/// Returns the manifest: the header version, and a line for each input and each file, in the given order.
pub fn manifest(header: HeaderVersion, inputs: &[Input], files: &[File]) -> File {
    let mut text = format!("{HEADING}\nheader {header}\n");
    for input in inputs {
        line("input", &input.name, &input.text, &mut text);
    }
    for file in files {
        line("output", &file.path, &file.text, &mut text);
    }
    File {
        path: MANIFEST.to_owned(),
        text,
    }
}

/// Returns the files that a manifest lists as emitted, including the manifest. The list is empty if the text is not a
/// manifest.
pub fn listed(text: &str) -> BTreeSet<&str> {
    let mut lines = text.lines();
    if lines.next() != Some(HEADING) {
        return BTreeSet::new();
    }
    let outputs = lines.filter_map(|line| line.strip_prefix("output ")?.split_once(' '));
    outputs.map(|(_, name)| name).chain([MANIFEST]).collect()
}

fn line(kind: &str, name: &str, content: &str, out: &mut String) {
    out.push_str(kind);
    out.push(' ');
    for byte in Sha256::digest(content.as_bytes()) {
        // Writing to a string cannot fail.
        let _ = write!(out, "{byte:02x}");
    }
    out.push(' ');
    out.push_str(name);
    out.push('\n');
}
