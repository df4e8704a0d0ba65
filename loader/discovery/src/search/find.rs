//! Finds the manifest files in a list of places (DRV-12 to DRV-14, LAY-17 to LAY-21).

use alloc::vec::Vec;
use core::mem::take;

use super::{ManifestKind, Paths, Place};
use crate::index::{Key, NameIndex};
use crate::journal::reason::FileReason;
use crate::journal::{Decision, Journal, LogBits, Source, Verdict};
use crate::scan_cache::PathRecorder;
use crate::text::{Text, has_json_name, join};
use crate::trace;
use os::Errno;
use os::Folder;
use os::Raw;
use os::memory::{Grow, OutOfMemory};
use promises::CATALOGUE_MARK;

/// Manifests in a list of places.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Files {
    /// The manifests, in the order of the search.
    pub found: Vec<Found>,
    /// `true` if a folder contains a file called [`CATALOGUE_MARK`].
    pub is_marked: bool,
}

/// A manifest file that was found, or that a variable or setting named.
#[derive(Debug, PartialEq, Eq)]
pub struct Found {
    /// Path of the file, in the form that the search assembled.
    pub path: Text,
    /// Origin of the file or of its folder.
    pub source: Source,
}

/// Writes a record to the trace about the search in a folder, or about the drivers of a service. `error` is the reason why the folder could
/// not be opened.
#[cold]
#[inline(never)]
pub fn trace_searched(kind: ManifestKind, place: &Place<'_>, manifests: usize, error: Option<Errno>) {
    trace::write("searched", |record| {
        record.word("for", kind.label());
        record.text("folder", place.path);
        place.source.describe(record);
        record.number("manifests", manifests as u64);
        if let Some(error) = error {
            record.shown("system", format_args!("{error}"));
        }
    });
}

/// Returns the manifests in `places`, in order; within a folder, sorted bytewise by file name. A path that names a file is listed without a
/// check that the file exists. A repeated path is listed only at its first position (DRV-11, LAY-16). Logs the places and the manifests.
pub fn find(kind: ManifestKind, places: &Paths, journal: &mut Journal<'_>) -> Result<Files, OutOfMemory> {
    let category = kind.category();
    let is_told = journal.wants(category);
    if is_told {
        journal.note(category, format_args!("Searching for {} manifest files", kind.label()));
        journal.note(category, format_args!("   In following locations:"));
        for place in places.iter() {
            journal.note(category, format_args!("      {}", Raw(place.path)));
        }
    }
    let mut files = Files::default();
    let found = &mut files.found;
    let mut fruitful = 0;
    for place in places.iter() {
        let known = found.len();
        if place.is_file() {
            let path = Text::try_new(place.path)?;
            let source = place.source;
            found.try_push(Found { path, source })?;
        } else {
            let opened = add_files_in(place, category, (found, &mut files.is_marked), journal)?;
            if trace::is_on() {
                trace_searched(kind, &place, found.len() - known, opened);
            }
        }
        fruitful += usize::from(found.len() > known);
    }
    // A path can only repeat if several places contain manifests.
    if fruitful > 1 {
        *found = without_repeats(kind, take(found), journal)?;
    }
    if is_told {
        journal.note(
            category,
            if found.is_empty() {
                format_args!("   Found no files")
            } else {
                format_args!("   Found the following files:")
            },
        );
        for file in &*found {
            journal.note(category, format_args!("      {}", file.path));
        }
    }
    Ok(files)
}

/// Returns the manifests, without paths that occurred before.
///
/// # Errors
///
/// Memory ran out.
pub fn without_repeats(
    kind: ManifestKind,
    found: Vec<Found>,
    journal: &mut Journal<'_>,
) -> Result<Vec<Found>, OutOfMemory> {
    let mut seen = NameIndex::with_room(found.len())?;
    let mut kept: Vec<Found> = Vec::new();
    kept.try_exact_room(found.len())?;
    for Found { path, source } in found {
        let key = Key::of(&[&path]);
        match seen.find(key, |known| kept[known].path == path) {
            None => {
                seen.add(key, kept.len())?;
                kept.push(Found { path, source });
            }
            Some(_) => journal.decide(Decision {
                subject: kind.subject(),
                name: path,
                path: Text::default(),
                verdict: Verdict::Dropped(FileReason::FoundBefore.into()),
                source,
            }),
        }
    }
    Ok(kept)
}

/// Adds the manifests in a folder, sorted by name. If the folder cannot be opened, adds nothing and returns the reason (LAY-19).
fn add_files_in(
    folder: Place<'_>,
    category: LogBits,
    (found, is_marked): (&mut Vec<Found>, &mut bool),
    journal: &Journal<'_>,
) -> Result<Option<Errno>, OutOfMemory> {
    let paths = journal.paths();
    let entries = match Folder::open(folder.path) {
        Ok(entries) => entries,
        Err(error) => {
            note_unopened(folder.path, error, paths)?;
            return Ok(Some(error));
        }
    };
    if let Some(paths) = paths {
        paths.folder(folder.path, &entries);
    }
    let known = found.len();
    let read = entries.names(|name| {
        if has_json_name(name) {
            let path = join(folder.path, name)?;
            let source = folder.source;
            found.try_push(Found { path, source })?;
        }
        *is_marked |= name == CATALOGUE_MARK.as_bytes();
        Ok(())
    })?;
    if let Err(error) = read {
        if error.is_shortage() {
            return Err(OutOfMemory);
        }
        if let Some(paths) = paths {
            paths.mark_uncacheable();
        }
        journal.note(
            LogBits::ERROR | category,
            format_args!("Failed to read folder {} to its end: {error}", Raw(folder.path)),
        );
    }
    // All paths are in the same folder, so sorting by path sorts by name.
    // With `os::sort_by`, a query of 100 manifests would take 0.8 % more instructions.
    found[known..].sort_unstable_by(|one, other| one.path.cmp(&other.path));
    Ok(None)
}

/// Records the reason why a folder was not opened.
fn note_unopened(folder: &[u8], error: Errno, paths: Option<&PathRecorder>) -> Result<(), OutOfMemory> {
    if error.is_shortage() {
        return Err(OutOfMemory);
    }
    match paths {
        Some(paths) if error.is_absence() => paths.no_folder(folder),
        Some(paths) => paths.mark_uncacheable(),
        None => {}
    }
    Ok(())
}
