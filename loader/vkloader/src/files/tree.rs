//! Computes the links, folders and files that another file tree must contain, so that paths refer to the same files.

use super::entry::{Because, Entry, Kind};
use rustix::io::Errno;
use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Upper bound on the number of links in one path; the kernel has the same limit.
const MOST_LINKS: usize = 40;

/// Kind of the object at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// The path is a symbolic link with this target.
    Link(PathBuf),
    /// A folder that a path only enters and leaves again with `..`. The folder must exist, but may be empty.
    Passage,
    /// The path is a file, a device node, or a folder of `/sys`.
    Real,
}

/// A path with its kind, and the reason why it is needed.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub(super) path: PathBuf,
    pub(super) shape: Shape,
    pub(super) kind: Kind,
    pub(super) because: Because,
}

/// Returns all paths that must exist for `entries`, sorted. Also returns the paths that cannot be resolved.
pub(super) fn place(entries: &[Entry]) -> (Vec<Placed>, Vec<(PathBuf, io::Error)>) {
    let mut placed: BTreeMap<PathBuf, Placed> = BTreeMap::new();
    let mut failed = Vec::new();
    for entry in entries {
        let walked = match walk(&entry.path) {
            Ok(walked) => walked,
            Err(error) => {
                failed.push((entry.path.clone(), error));
                continue;
            }
        };
        for (path, shape) in walked {
            let new = Placed {
                path: path.clone(),
                shape,
                kind: entry.kind,
                because: entry.because,
            };
            placed
                .entry(path)
                .and_modify(|known| known.because = known.because.min(entry.because))
                .or_insert(new);
        }
    }
    (without_inner(placed), failed)
}

/// Removes entries that are inside a folder if the whole folder is included.
fn without_inner(placed: BTreeMap<PathBuf, Placed>) -> Vec<Placed> {
    let mut kept: Vec<Placed> = Vec::with_capacity(placed.len());
    let mut whole: Option<PathBuf> = None;
    for one in placed.into_values() {
        if whole.as_ref().is_some_and(|folder| one.path.starts_with(folder)) {
            continue;
        }
        if one.kind == Kind::System && one.shape == Shape::Real {
            whole = Some(one.path.clone());
        }
        kept.push(one);
    }
    kept
}

/// Returns the links and folders that resolving the path uses, and the target of the path.
fn walk(path: &Path) -> io::Result<Vec<(PathBuf, Shape)>> {
    let mut found = Vec::new();
    let mut done = PathBuf::from("/");
    let mut waiting = parts(path);
    let mut links = 0;
    while let Some(part) = waiting.pop_front() {
        if part == ".." {
            if done != Path::new("/") {
                found.push((done.clone(), Shape::Passage));
            }
            done.pop();
            continue;
        }
        let next = done.join(&part);
        match std::fs::read_link(&next) {
            Ok(target) => {
                links += 1;
                if links > MOST_LINKS {
                    return Err(Errno::LOOP.into());
                }
                if target.is_absolute() {
                    done = PathBuf::from("/");
                }
                let mut more = parts(&target);
                more.append(&mut waiting);
                waiting = more;
                found.push((next, Shape::Link(target)));
            }
            // The path is not a link, or does not exist. The call after the loop detects a missing path.
            Err(_) => done = next,
        }
    }
    std::fs::symlink_metadata(&done)?;
    found.push((done, Shape::Real));
    Ok(found)
}

/// Returns the components of a path, including `..`.
fn parts(path: &Path) -> VecDeque<OsString> {
    path.components()
        .filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir))
        .map(|part| part.as_os_str().to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_are_kept_and_followed() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("it is there");
        fs::create_dir_all(root.join("usr/lib")).expect("folders");
        fs::write(root.join("usr/lib/real.so.1.2"), "").expect("a file");
        symlink("usr/lib", root.join("lib")).expect("a link");
        symlink("real.so.1.2", root.join("usr/lib/real.so.1")).expect("a link");
        symlink("../lib/real.so.1", root.join("usr/up.so")).expect("a link");
        let walked = walk(&root.join("lib/real.so.1")).expect("it leads somewhere");
        let expected = [
            (root.join("lib"), Shape::Link("usr/lib".into())),
            (root.join("usr/lib/real.so.1"), Shape::Link("real.so.1.2".into())),
            (root.join("usr/lib/real.so.1.2"), Shape::Real),
        ];
        assert_eq!(walked, expected);
        let up = walk(&root.join("usr/up.so")).expect("it leads somewhere");
        assert_eq!(up[1], (root.join("usr"), Shape::Passage));
        assert_eq!(up.last(), expected.last());
    }

    #[test]
    fn the_strongest_reason_counts() {
        let entry = |because| Entry {
            path: "/proc".into(),
            kind: Kind::Data,
            because,
        };
        for both in [[Because::Needed, Because::Known], [Because::Known, Because::Needed]] {
            let (placed, failed) = place(&both.map(entry));
            assert!(failed.is_empty());
            assert_eq!(placed[0].because, Because::Needed);
        }
    }

    #[test]
    fn circles_of_links_end() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("it is there");
        symlink("b", root.join("a")).expect("a link");
        symlink("a", root.join("b")).expect("a link");
        let error = walk(&root.join("a")).expect_err("it leads nowhere");
        assert_eq!(error.raw_os_error(), Some(Errno::LOOP.raw_os_error()));
        assert!(walk(&root.join("none")).is_err());
    }
}
