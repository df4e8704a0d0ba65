//! Files on disk: written only if they changed, and only when all of them could be written (GEN-84).

use crate::error::Error;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A file to be written below a folder.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// Path below the folder, with slashes.
    pub path: &'a str,
    /// Its content.
    pub text: &'a str,
}

/// Ending of files that are not complete yet.
const TEMPORARY: &str = "vkgen-tmp";

/// Writes what differs, and removes files that no longer belong there. Returns how many files changed.
pub fn write(folder: &Path, wanted: &[Wanted<'_>]) -> Result<usize, Error> {
    let changed: Vec<&Wanted<'_>> = wanted.iter().filter(|file| !is_same(folder, file)).collect();
    let mut pending = Pending { renames: Vec::new() };
    for file in &changed {
        let path = folder.join(file.path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(|error| Error::file(parent, &error))?;
        }
        let mut name = path.clone().into_os_string();
        name.push(format!(".{TEMPORARY}"));
        let temporary = PathBuf::from(name);
        pending.renames.push((temporary.clone(), path));
        fs::write(&temporary, file.text).map_err(|error| Error::file(&temporary, &error))?;
    }
    pending.finish()?;
    let stale = surplus(folder, wanted)?;
    for path in &stale {
        let path = folder.join(path);
        fs::remove_file(&path).map_err(|error| Error::file(&path, &error))?;
    }
    Ok(changed.len() + stale.len())
}

/// Compares without writing: a line for each file that is absent, different or too much.
pub fn compare(folder: &Path, wanted: &[Wanted<'_>]) -> Result<Vec<String>, Error> {
    let mut lines = Vec::new();
    for file in wanted.iter().filter(|file| !is_same(folder, file)) {
        let path = folder.join(file.path);
        let what = if path.exists() { "differs" } else { "is absent" };
        lines.push(format!("{}: {what}", path.display()));
    }
    let surplus = surplus(folder, wanted)?;
    lines.extend(
        surplus
            .iter()
            .map(|path| format!("{}: does not belong here", folder.join(path).display())),
    );
    Ok(lines)
}

fn is_same(folder: &Path, file: &Wanted<'_>) -> bool {
    fs::read(folder.join(file.path)).is_ok_and(|found| found == file.text.as_bytes())
}

/// Files that have been written but not renamed yet; removed if the run ends early.
struct Pending {
    renames: Vec<(PathBuf, PathBuf)>,
}

impl Pending {
    fn finish(mut self) -> Result<(), Error> {
        while let Some((temporary, path)) = self.renames.pop() {
            fs::rename(&temporary, &path).map_err(|error| {
                self.renames.push((temporary, path.clone()));
                Error::file(&path, &error)
            })?;
        }
        Ok(())
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        for (temporary, _) in &self.renames {
            // The run has failed already; a leftover is reported by the next `check`.
            let _ = fs::remove_file(temporary);
        }
    }
}

/// Files below the folder that are not wanted, sorted.
fn surplus(folder: &Path, wanted: &[Wanted<'_>]) -> Result<BTreeSet<String>, Error> {
    let mut found = BTreeSet::new();
    if folder.is_dir() {
        collect(folder, "", &mut found)?;
    }
    for file in wanted {
        found.remove(file.path);
    }
    Ok(found)
}

fn collect(folder: &Path, prefix: &str, found: &mut BTreeSet<String>) -> Result<(), Error> {
    let fail = |error: std::io::Error| Error::file(folder, &error);
    for entry in fs::read_dir(folder).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type().map_err(fail)?.is_dir() {
            collect(&entry.path(), &format!("{name}/"), found)?;
        } else {
            found.insert(name);
        }
    }
    Ok(())
}
