//! Writes and compares the output files. A file is replaced only if its content changed, and only after all new files were written under
//! temporary names (GEN-84). The output folder contains no other files.

use crate::error::Error;
use std::collections::{BTreeSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

/// File to be written below a folder.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// Path below the folder, with slashes.
    pub path: &'a str,
    /// Content of the file.
    pub text: &'a str,
}

/// File extension of output files that are not complete yet.
const TEMPORARY: &str = "vkgen-tmp";

/// Writes the files that differ, and removes files that an earlier run wrote and this run does not write. Returns the number of changed
/// files.
///
/// `written` returns `true` for a file of the folder that an earlier run wrote. Any other file stops the run before it changes anything,
/// because the caller probably named the wrong folder. The last file of `wanted` is renamed last.
pub fn write(folder: &Path, wanted: &[Wanted<'_>], written: impl Fn(&str) -> bool) -> Result<usize, Error> {
    let is_wanted = |name: &str| wanted.iter().any(|file| file.path == name);
    let is_same = |name: &str| wanted.iter().any(|file| file.path == name && is_same(folder, file));
    let is_ours = |name: &str| match interrupted(name) {
        Some(name) => written(name) || is_wanted(name),
        None => written(name) || is_same(name),
    };
    let found = files(folder, &|path, name| {
        if is_file(path) && is_ours(name) {
            Ok(())
        } else {
            let text = "vkgen did not write this file; the folder must be empty or hold only what vkgen wrote";
            Err(Error::File(path.to_owned(), text.to_owned()))
        }
    })?;
    for name in found.iter().filter(|name| interrupted(name).is_some()) {
        remove(folder, name)?;
    }
    let changed: Vec<&Wanted<'_>> = wanted.iter().filter(|file| !is_same(file.path)).collect();
    let mut pending = Pending::default();
    for file in &changed {
        pending.write(folder, file)?;
    }
    // Removes stale files before the new files get their final names. The manifest, which lists all files, is renamed last.
    let is_stale = |name: &&String| !is_wanted(name) && interrupted(name).is_none();
    let stale: Vec<&String> = found.iter().filter(is_stale).collect();
    for name in &stale {
        remove(folder, name)?;
    }
    pending.finish()?;
    Ok(changed.len() + stale.len())
}

/// Returns the final name of a temporary file, or `None` for any other file.
fn interrupted(name: &str) -> Option<&str> {
    name.strip_suffix(TEMPORARY)?.strip_suffix('.')
}

/// Removes a file, and then each parent folder that is empty, up to `folder`.
fn remove(folder: &Path, name: &str) -> Result<(), Error> {
    let path = folder.join(name);
    fs::remove_file(&path).map_err(|error| Error::file(&path, &error))?;
    let above = path.ancestors().skip(1).take_while(|above| *above != folder);
    for above in above {
        // A folder that is not empty remains.
        if fs::remove_dir(above).is_err() {
            break;
        }
    }
    Ok(())
}

/// Compares without writing. Returns a line for each file that is absent, different or unexpected.
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
    let path = folder.join(file.path);
    is_file(&path) && fs::read(path).is_ok_and(|found| found == file.text.as_bytes())
}

/// Returns the text of a file below a folder. The text is empty if the path is not a regular file, so that a run never waits for a pipe.
pub fn text(folder: &Path, name: &str) -> String {
    let path = folder.join(name);
    let text = is_file(&path).then(|| fs::read_to_string(path).ok()).flatten();
    text.unwrap_or_default()
}

/// Returns `true` for a file, or a link to a file. Returns `false` for a folder, a pipe, a device, or a link to one of these.
fn is_file(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|data| data.is_file())
}

/// Files that have been written but not renamed yet. Dropping this value removes them.
#[derive(Default)]
struct Pending {
    renames: VecDeque<(PathBuf, PathBuf)>,
}

impl Pending {
    fn write(&mut self, folder: &Path, file: &Wanted<'_>) -> Result<(), Error> {
        let path = folder.join(file.path);
        // No temporary file has been renamed yet, so this run has changed no output file when it returns the error.
        if path.is_dir() {
            return Err(Error::File(path, "a folder stands in the way of this file".to_owned()));
        }
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(|error| Error::file(parent, &error))?;
        }
        let mut name = path.clone().into_os_string();
        name.push(format!(".{TEMPORARY}"));
        let temporary = PathBuf::from(name);
        self.renames.push_back((temporary.clone(), path));
        fs::write(&temporary, file.text).map_err(|error| Error::file(&temporary, &error))
    }

    fn finish(mut self) -> Result<(), Error> {
        while let Some((temporary, path)) = self.renames.front() {
            fs::rename(temporary, path).map_err(|error| Error::file(path, &error))?;
            self.renames.pop_front();
        }
        Ok(())
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        for (temporary, _) in &self.renames {
            // The run has failed already. If a temporary file remains, the next `check` reports it.
            let _ = fs::remove_file(temporary);
        }
    }
}

/// Lists the files below the folder that are not in `wanted`, sorted.
fn surplus(folder: &Path, wanted: &[Wanted<'_>]) -> Result<BTreeSet<String>, Error> {
    let mut found = files(folder, &|_, _| Ok(()))?;
    for file in wanted {
        found.remove(file.path);
    }
    Ok(found)
}

/// Function that can stop the walk through a folder with an error. Its arguments are a path, and the path relative to the folder.
type Judge<'a> = &'a dyn Fn(&Path, &str) -> Result<(), Error>;

/// Lists all files below a folder, sorted. The list is empty if the folder does not exist. The walk stops at the first path that `judge`
/// refuses, because the caller may have named a folder with very many files by mistake.
fn files(folder: &Path, judge: Judge<'_>) -> Result<BTreeSet<String>, Error> {
    let mut found = BTreeSet::new();
    if folder.is_dir() {
        collect(folder, "", judge, &mut found)?;
    }
    Ok(found)
}

fn collect(folder: &Path, prefix: &str, judge: Judge<'_>, found: &mut BTreeSet<String>) -> Result<(), Error> {
    let fail = |error: std::io::Error| Error::file(folder, &error);
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let mut entries = entries.map_err(fail)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        // A link to a folder is not treated as a folder, so the walk stays within the folder.
        if entry.file_type().map_err(fail)?.is_dir() {
            collect(&entry.path(), &format!("{name}/"), judge, found)?;
        } else {
            judge(&entry.path(), &name)?;
            found.insert(name);
        }
    }
    Ok(())
}
