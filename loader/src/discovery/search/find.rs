//! The manifest files in a list of places (DRV-12 to DRV-14, LAY-17 to LAY-21).

use rust_alloc::vec::Vec;
use std::io::{self, ErrorKind};

use super::{ManifestKind, Place};
use crate::alloc::OutOfMemory;
use crate::disk::{Evidence, Folder};
use crate::journal::{Journal, LogBits, Source};
use crate::manifest::{Text, has_json_name, join};

/// A manifest file that was found, or that somebody named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its path, as assembled.
    pub path: Text,
    /// Who named it, or the folder it lies in.
    pub source: Source,
}

/// The manifests in `places`, in order; inside one folder sorted by file name, bytewise. A named file is taken without
/// looking whether it exists. Logs what was searched and found.
pub fn find(kind: ManifestKind, places: &[Place], journal: &Journal<'_>) -> Result<Vec<Found>, OutOfMemory> {
    let category = kind.category();
    journal.note(category, format_args!("Searching for {} manifest files", kind.label()));
    journal.note(category, format_args!("   In following locations:"));
    for place in places {
        journal.note(category, format_args!("      {}", place.path));
    }
    let mut found = Vec::new();
    for place in places {
        let source = place.source;
        if place.is_file() {
            found.push(Found {
                path: place.path.clone(),
                source,
            });
            continue;
        }
        let names = names_in(&place.path, category, journal)?;
        found.try_reserve(names.len())?;
        found.extend(names.iter().map(|name| Found {
            path: join(&place.path, name),
            source,
        }));
    }
    if found.is_empty() {
        journal.note(category, format_args!("   Found no files"));
        return Ok(found);
    }
    journal.note(category, format_args!("   Found the following files:"));
    for file in &found {
        journal.note(category, format_args!("      {}", file.path));
    }
    Ok(found)
}

/// The sorted names of the manifests in a folder; none when the folder cannot be opened (LAY-19).
fn names_in(folder: &Text, category: LogBits, journal: &Journal<'_>) -> Result<Vec<Vec<u8>>, OutOfMemory> {
    let evidence = journal.evidence();
    let entries = match Folder::open(folder) {
        Ok(entries) => entries,
        Err(error) => return no_names(folder, &error, evidence),
    };
    if let Some(evidence) = evidence {
        evidence.folder(folder, &entries);
    }
    let mut names = Vec::new();
    if let Err(error) = collect(entries, &mut names)? {
        if let Some(evidence) = evidence {
            evidence.spoil();
        }
        journal.note(
            LogBits::ERROR | category,
            format_args!("Failed to read folder {folder} to its end: {error}"),
        );
    }
    names.sort_unstable();
    Ok(names)
}

fn no_names(folder: &Text, error: &io::Error, evidence: Option<&Evidence>) -> Result<Vec<Vec<u8>>, OutOfMemory> {
    let missing = match error.kind() {
        ErrorKind::OutOfMemory => return Err(OutOfMemory),
        kind => matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory),
    };
    match evidence {
        Some(evidence) if missing => evidence.no_folder(folder),
        Some(evidence) => evidence.spoil(),
        None => {}
    }
    Ok(Vec::new())
}

/// Adds the names that count to `names`. The inner error is one of the folder, and leaves what was read before.
fn collect(folder: Folder, names: &mut Vec<Vec<u8>>) -> Result<io::Result<()>, OutOfMemory> {
    let read = folder.names(|name| {
        if has_json_name(name) {
            names.try_reserve(1)?;
            names.push(Text::try_new(name)?.into());
        }
        Ok(())
    })?;
    match read {
        Err(error) if error.kind() == ErrorKind::OutOfMemory => Err(OutOfMemory),
        read => Ok(read),
    }
}
