//! Remedies for manifests that name a library which is missing, or which was installed by hand.

use super::shown;
use crate::causes::{packages, usual_manifests};
use crate::paths::file_name;
use crate::report::Dropped;
use crate::{installed, manifests, shell};
use std::path::Path;

/// Part of the paths of files that Steam makes for its container.
const IN_STEAM: &str = "/pressure-vessel/";
/// Remedy for a driver in Steam's container whose library is missing.
const OF_STEAM: &str = "Quit Steam and start it again, because it makes its container anew with the drivers of the system. If that does not help, \
    reinstall the driver on the system itself.";

/// Returns `true` if Steam made a file for its container, from a file of the system. Users cannot repair such a file.
pub(super) fn is_of_steam(path: &str) -> bool {
    path.contains(IN_STEAM)
}

/// Last part of the remedy for a manifest whose library is missing, before the manifest.
pub(in crate::causes) const IF_REMOVED: &str = "; if the library was removed on purpose, remove its manifest: rm ";

/// Returns the remedy for a manifest whose library is missing.
pub(in crate::causes) fn without_library(manifest: &str, library: &str) -> String {
    if is_of_steam(manifest) {
        return OF_STEAM.into();
    }
    match installed::owner(manifest) {
        Some(owner) => {
            format!("Reinstall the {owner}, which {manifest} belongs to, or correct library_path in that file.")
        }
        None => {
            let usual = || {
                let file = file_name(library);
                format!("Reinstall the package that brings {file}, or correct library_path")
            };
            let first = packages::nvidias(file_name(library)).unwrap_or_else(usual);
            format!("{}{IF_REMOVED}{}", first.trim_end_matches('.'), shell::word(manifest))
        }
    }
}

/// Folders in which no package of the system installs files, but users do.
const OF_USERS: [&str; 6] = ["/usr/local", "/opt", "/home", "/root", "/srv", "/mnt"];

/// Returns `true` for a file that a user installed by hand, and that belongs to no package.
pub(super) fn is_by_hand(file: &Path) -> bool {
    OF_USERS.iter().any(|folder| file.starts_with(folder)) && installed::owner(&shown(file)).is_none()
}

/// Returns the finding and the remedy for the library at `path`, which was installed by hand and lacks libraries that no package has. `missing` lists
/// what it lacks. Returns `None` for a library of a package, and if packages have what it lacks.
pub(super) fn by_hand(
    dropped: &Dropped,
    missing: &[&str],
    path: &Path,
    manifest: Option<&str>,
) -> Option<(String, String)> {
    let is_unknown = |name: &&str| !packages::may_have(name);
    if !missing.iter().any(is_unknown) || !is_by_hand(path) {
        return None;
    }
    let is_layer = dropped.code.starts_with("layer");
    let what = if is_layer { "layer" } else { "driver" };
    let back = match (&dropped.variable, manifest) {
        (Some(variable), _) => format!("; or stop using it: unset {variable}"),
        (None, Some(manifest)) => {
            let other = packaged(manifest).filter(|_| !is_layer);
            let other = other.map_or_else(String::new, |other| format!(", because the system has {other}"));
            format!("; or remove its manifest{other}: rm {}", shell::word(manifest))
        }
        (None, None) => String::new(),
    };
    let file = shown(path);
    let finding = format!("{file} is in a folder for software that was installed by hand");
    let advice = format!(
        "{file} belongs to no package, so no package brings what it lacks: build and install this {what} again, with its libraries{back}"
    );
    Some((finding, advice))
}

/// Returns a manifest of a package for a driver with the same library name as the driver of the manifest `own`.
fn packaged(own: &str) -> Option<String> {
    let library = |manifest: &str| Some(file_name(&manifests::named(Path::new(manifest))?).to_owned());
    let wanted = library(own)?;
    let is_it = |manifest: &String| {
        let is_other = manifest != own && library(manifest).as_ref() == Some(&wanted);
        is_other && installed::owner(manifest).is_some()
    };
    usual_manifests().into_iter().find(is_it)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::codes;

    #[test]
    fn a_driver_that_was_built_by_hand_is_built_again() {
        let path = Path::new("/usr/local/lib/libvulkan_vklt.so");
        let dropped = codes::DEVICE_NOT_CREATED.about("a driver");
        let told = |missing: &str, path: &Path| by_hand(&dropped, &[missing], path, Some("/usr/local/x.json"));
        let (_, advice) = told("libgallium-99.0.0-devel.so", path).expect("a remedy");
        assert!(advice.ends_with("rm /usr/local/x.json"), "{advice}");
        assert_eq!(told("libxcb.so.1", path), None);
        assert_eq!(
            told("libgallium-99.0.0-devel.so", Path::new("/usr/lib/libvulkan_vklt.so")),
            None
        );
    }
}
