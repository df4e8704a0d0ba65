//! The records of devices, whose files are in the folder of the catalogue (loader/record).

use super::file::{self, Catalogue};
use crate::show::plain;
use record::Record;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Returns the beginning of the name of each record.
fn prefix() -> String {
    format!("record-{}-", catalogue::ARCHITECTURE)
}

/// Returns the path of the record with the checksum `sum`, in the folder of a catalogue.
fn path(folder: &Path, sum: &str) -> PathBuf {
    folder.join(format!("{}{sum}.bin", prefix()))
}

/// Returns `true` if the record with the checksum `sum` exists.
pub(super) fn is_there(folder: &Path, sum: &str) -> bool {
    path(folder, sum).is_file()
}

/// Writes a record and returns its checksum. Returns `None` if the bytes are not a valid record or cannot be written. Without a record,
/// programs open the driver.
pub(super) fn write(folder: &Path, manifest: &str, content: &[u8]) -> Option<String> {
    let head: [u8; 8] = content.get(16..24)?.try_into().ok()?;
    let sum = u64::from_le_bytes(head);
    Record::read(content, sum)?;
    let name = format!("{sum:016x}");
    let written = file::replace(&path(folder, &name), content);
    if let Err(error) = &written {
        anstream::eprintln!(
            "vkloader: {}: the record of its devices is lost: {error}",
            plain(manifest)
        );
    }
    written.ok().map(|()| name)
}

/// Removes the records that the catalogue does not refer to, or all records if there is no catalogue.
pub(super) fn clean(folder: &Path, known: Option<&Catalogue>) -> io::Result<()> {
    let is_used = |name: &str| {
        let mut drivers = known.into_iter().flat_map(|known| &known.drivers);
        drivers.any(|driver| driver.record.as_ref().is_some_and(|sum| name.contains(sum.as_str())))
    };
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let is_record = |name: &str| name.starts_with(&prefix()) && !is_used(name);
        if name.to_str().is_some_and(is_record) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}
