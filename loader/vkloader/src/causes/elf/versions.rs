//! Explains libraries without a required version of their symbols.

use super::{contains, damage, elsewhere, locate, owned, shown, usual_where};
use crate::paths::file_name;
use crate::shell;
use linked as closure;
use linked::Identity;
use std::path::Path;

/// Returns the finding and the remedy for a library without a required version of its symbols. The message is `LIBRARY: version `VERSION'
/// not found (required by LIBRARY)`. `opened` is the name by which the driver or layer is opened.
pub(super) fn too_old(words: &str, opened: &str, own: Identity) -> Option<(String, String)> {
    let (library, rest) = words.split_once(": version `")?;
    let (version, rest) = rest.split_once("' not found (required by ")?;
    let by = rest.split(')').next()?;
    let library = library.rsplit(": ").next()?;
    let folder = Path::new(library)
        .parent()
        .filter(|folder| closure::is_in_variable(folder));
    let usual = closure::usual_of(Path::new(library), own).filter(|usual| contains(usual, version));
    let asking = locate(by, own).unwrap_or_else(|| by.into());
    let other = closure::replacement(Path::new(library), &asking, own).filter(|other| contains(other, version));
    // The variable may lead to a library of a newer system, although this system has a library of its own with that name. A file that is opened by
    // its path does not come from the variable.
    let newer = asking.parent().filter(|folder| {
        let has_own = || closure::replacement(&asking, Path::new("/"), own).is_some();
        opened != by && closure::is_in_variable(folder) && has_own()
    });
    // The configuration of the dynamic linker may prefer another one of the files with this name in usual folders.
    let hidden = usual_where(Path::new(library), own, |path| contains(path, version));
    let take_out = |folder: &Path, file: &str, fault| {
        let folder = shown(folder);
        format!("Take {folder} out of LD_LIBRARY_PATH: its {file} is {fault}.")
    };
    let advice = match (folder.filter(|_| other.is_some()), usual, owned(library)) {
        (Some(folder), ..) => take_out(folder, file_name(library), "too old"),
        (None, ..) if let Some(folder) = newer => take_out(folder, file_name(by), "for a newer system"),
        (None, Some(usual), _) => instead(library, &usual),
        (None, None, _) if closure::is_of_c_library(Path::new(library)) => damage::for_newer_system(by, &asking),
        (None, None, _) if let Some(hidden) = hidden => elsewhere::to_use_usual(Path::new(library), &hidden),
        (None, None, owner) => {
            format!("{owner} is too old for {by}: update it, or install a driver that is built for this system.")
        }
    };
    Some((
        format!("{library} lacks the version {version} of its symbols, which {by} needs"),
        advice,
    ))
}

/// Returns the remedy for a program that brings a library that is older than the library `usual` of the system.
pub(super) fn instead(library: &str, usual: &Path) -> String {
    format!(
        "The program brings an older {} than the system has: start it with the system's (LD_PRELOAD={} PROGRAM), or update or remove {library}.",
        file_name(library),
        shell::word(&shown(usual))
    )
}
