//! Libraries that the dynamic linker adds to a process before the libraries of its program.

use super::maps::Maps;
use super::processes::folder;
use crate::paths::file_name;
use crate::regular;
use rustix::process::Pid;
use std::path::{Path, PathBuf};

/// Variable that names libraries to add to a process.
const VARIABLE: &str = "LD_PRELOAD";
/// File that names libraries to add to each process.
const FILE: &str = "/etc/ld.so.preload";

/// A library that the dynamic linker added to a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Preloaded {
    pub(crate) path: String,
    /// Variable or file that names the library.
    pub(crate) by: &'static str,
}

/// Returns the libraries that `LD_PRELOAD` and `/etc/ld.so.preload` add to a process. `variables` has the variables of the process.
pub(super) fn of(process: Pid, variables: &[(String, String)], maps: &Maps) -> Vec<Preloaded> {
    let value = variables.iter().find(|(name, _)| name == VARIABLE);
    let value = value.map_or("", |(_, value)| value);
    let file = folder(process).join("root").join(FILE.trim_start_matches('/'));
    let file = regular::text(file).unwrap_or_default();
    let of_file = file.lines().filter_map(|line| line.split('#').next());
    let of_file = of_file
        .flat_map(|line| line.split([':', ' ', '\t']))
        .map(|word| (word, FILE));
    let words = value.split([':', ' ']).map(|word| (word, VARIABLE)).chain(of_file);
    let found = words.filter(|(word, _)| !word.is_empty());
    found
        .filter_map(|(word, by)| {
            let path = path(word, maps.files())?;
            Some(Preloaded { path, by })
        })
        .collect()
}

/// Returns the path of the library that a word names. The linker searches its folders for a name without a path, and replaces words such as
/// `$LIB`. The path of such a library is that of a mapped file with its name.
fn path<'a>(word: &str, mut mapped: impl Iterator<Item = &'a str>) -> Option<String> {
    let real = |path: PathBuf| std::fs::canonicalize(&path).unwrap_or(path);
    if word.contains('/') && !word.contains('$') {
        return Some(real(word.into()).display().to_string());
    }
    let name = Some(file_name(word)).filter(|name| !name.is_empty())?;
    let is_named = |path: &&str| {
        let path = Path::new(path);
        path.parent().is_some_and(|folder| real(folder.join(name)) == path)
    };
    mapped.find(is_named).map(String::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_for_the_mapped_file_to_which_it_leads() {
        let folder = tempfile::tempdir().expect("a folder");
        let own = std::fs::canonicalize(folder.path()).expect("a path");
        let file = own.join("libhud.so.1.2");
        std::fs::write(&file, "").expect("a file");
        std::os::unix::fs::symlink("libhud.so.1.2", own.join("libhud.so")).expect("a link");
        let file = file.display().to_string();
        let mapped = ["/usr/bin/game", &file];
        for (word, expected) in [
            ("libhud.so", Some(&file)),
            ("/usr/$LIB/libhud.so", Some(&file)),
            ("libhud.so.1.2", Some(&file)),
            (&file, Some(&file)),
            ("libother.so", None),
            ("/usr/$LIB/", None),
        ] {
            assert_eq!(path(word, mapped.into_iter()).as_ref(), expected, "{word}");
        }
    }
}
