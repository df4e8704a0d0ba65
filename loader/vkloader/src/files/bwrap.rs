//! Prints the files as arguments of bubblewrap, quoted for a shell, on one line.
//!
//! `bwrap $(...)` accepts the line if no path needs quotes. `eval` always accepts the line.

use super::Files;
use super::entry::{Because, Kind};
use super::tree::{Placed, Shape};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// The first arguments: a new `/proc`, the standard device nodes, and a folder for temporary files. Later arguments may add paths below
/// these folders.
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

/// Returns a word in the syntax of a shell, in quotes if it contains special characters.
///
/// A word with control characters is quoted as `$'…'`. POSIX defines these quotes since 2024, and bash, zsh and busybox had them before.
fn quoted(word: &[u8]) -> Vec<u8> {
    let is_bare = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-+:@%,=".contains(byte);
    let acts = |byte: &u8| *byte < b' ' || *byte == 0x7F;
    if !word.is_empty() && word.iter().all(is_bare) {
        return word.to_vec();
    }
    if !word.iter().any(acts) {
        let mut quoted = b"'".to_vec();
        for &byte in word {
            match byte {
                b'\'' => quoted.extend(b"'\\''"),
                _ => quoted.push(byte),
            }
        }
        quoted.push(b'\'');
        return quoted;
    }
    let mut quoted = b"$'".to_vec();
    for &byte in word {
        match byte {
            b'\'' | b'\\' => quoted.extend([b'\\', byte]),
            _ if acts(&byte) => quoted.extend(format!("\\{byte:03o}").bytes()),
            _ => quoted.push(byte),
        }
    }
    quoted.push(b'\'');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_shell_reads_words_as_they_were() {
        let words: [&[u8]; 9] = [
            b"/plain/path-1.2",
            b"a b",
            b"it's",
            b"",
            b"$HOME `id` \"x\" * ? ~ ! # & ; | <>()",
            b"two\nlines\n",
            b"\x1b[31m'\\n\t\x7f",
            b"back\\slash",
            b"\xff\xfe \xc3\xa4",
        ];
        let line: Vec<Vec<u8>> = words.iter().map(|word| quoted(word)).collect();
        let script = [&b"printf '%s\\0' "[..], &line.join(&b' ')].concat();
        let output = Command::new("bash")
            .arg("-c")
            .arg(OsStr::from_bytes(&script))
            .output()
            .expect("a shell");
        let read: Vec<&[u8]> = output.stdout.split(|&byte| byte == 0).collect();
        assert_eq!(read[..words.len()], words);
        assert!(
            line.iter().flatten().all(|byte| *byte >= b' '),
            "nothing acts on a terminal"
        );
    }
}
