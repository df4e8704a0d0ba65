//! The marker file, which shows programs that a user has a driver catalogue. The marker is in a folder that programs read anyway.

use super::{Place, file, user_folder};
use crate::child::naming;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Text of the marker file, for people who find it.
const TEXT: &str = "This user has a driver catalogue, which programs read if the system has none.\n\
    To remove both: vkloader catalogue clear --user\n";

/// Returns the path of the marker file, or `None` if the environment defines no folder for the user's data.
pub(super) fn path() -> Option<PathBuf> {
    let data = user_folder("XDG_DATA_HOME", ".local/share")?;
    Some(data.join("vulkan/icd.d").join(catalogue::USER_MARK))
}

/// Creates the marker file. Prints errors instead of returning them, because the catalogue was written successfully.
pub(super) fn put() {
    let Some(path) = path().filter(|path| !path.is_file()) else {
        return;
    };
    let folder = path.parent().unwrap_or(&path);
    if let Err(error) = fs::create_dir_all(folder).and_then(|()| fs::write(&path, TEXT)) {
        let error = naming(&path, error);
        anstream::eprintln!("vkloader: {error}; programs read this catalogue only with VK_LOADER_CATALOGUE=on");
    }
}

/// Removes the marker file, unless the folder still contains a catalogue for another architecture.
///
/// # Errors
/// The folder cannot be read, or the file cannot be removed.
pub(super) fn remove(folder: &Path) -> io::Result<()> {
    let is_catalogue = |name: &str| name.starts_with("catalogue-") && name.ends_with(".bin");
    let mut others = fs::read_dir(folder).into_iter().flatten().flatten();
    if others.any(|entry| entry.file_name().to_str().is_some_and(is_catalogue)) {
        return Ok(());
    }
    let Some(path) = path() else { return Ok(()) };
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(naming(&path, error)),
        _ => {}
    }
    if let Some(folder) = path.parent() {
        // `remove_dir` fails if the folder is not empty, so a folder with other files remains.
        let _ = fs::remove_dir(folder);
    }
    Ok(())
}

/// Returns the reason why programs do not read the user's own catalogue without `VK_LOADER_CATALOGUE`. Returns `None` if programs read it.
pub(super) fn unread(place: &Place) -> Option<String> {
    let system = place.system();
    if file::is_kept(&system, false) && super::show::has_valid_entry(&system) {
        return Some(format!("programs read {}", system.display()));
    }
    match path() {
        Some(path) if path.is_file() => None,
        Some(path) => Some(format!("{} is missing; an update creates it", path.display())),
        None => Some("neither XDG_DATA_HOME nor HOME is set".into()),
    }
}
