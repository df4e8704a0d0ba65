//! Prints the files as arguments of bubblewrap, quoted for a shell, on one line.
//!
//! `bwrap $(...)` accepts the line if no path needs quotes. `eval` always accepts the line.

use super::Files;
use super::entry::{Because, Kind};
use super::tree::{Placed, Shape};
use crate::shell::quoted;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// The first arguments: a new `/proc`, the standard device nodes, and a folder for temporary files. The following arguments may add paths
/// below these folders.
const START: [&str; 3] = ["--proc /proc", "--dev /dev", "--tmpfs /tmp"];

/// Returns the arguments of bubblewrap.
pub(super) fn arguments(files: &Files) -> Vec<u8> {
    let start = START.iter().map(|option| option.as_bytes().to_vec());
    let placed = files.placed.iter().map(option);
    let variables = files.variables().into_iter();
    let variables = variables.map(|(name, value)| words("--setenv", &[name.as_ref(), value.as_ref()]));
    let options: Vec<Vec<u8>> = start.chain(placed).chain(variables).collect();
    options.join(&b' ')
}

/// Returns the option for one path.
fn option(placed: &Placed) -> Vec<u8> {
    let path = placed.path.as_os_str();
    match &placed.shape {
        Shape::Link(target) => words("--symlink", &[target.as_os_str(), path]),
        Shape::Passage => words("--dir", &[path]),
        Shape::Real => {
            let name = match (placed.kind, placed.because) {
                // An ordinary bind mount would forbid opening a device node.
                (Kind::Node, _) => "--dev-bind",
                (_, Because::Known) => "--ro-bind-try",
                _ => "--ro-bind",
            };
            words(name, &[path, path])
        }
    }
}

fn words(option: &str, values: &[&OsStr]) -> Vec<u8> {
    let mut line = option.as_bytes().to_vec();
    for value in values {
        line.push(b' ');
        line.extend(quoted(value.as_bytes()));
    }
    line
}
