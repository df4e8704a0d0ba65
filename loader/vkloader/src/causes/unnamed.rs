//! Finds installed drivers on a system without any manifest. Some sandboxes and images have the libraries of the system without its data.

use super::elf::{self, Identity, locate, mount_point};
use super::unsearched;
use crate::installed;
use crate::shell::word;
use catalogue::hardware::TABLE;
use std::path::Path;

/// Folder with the manifests of the system's drivers and layers.
const MANIFESTS: &str = "/usr/share/vulkan";
/// Upper bound on the number of libraries in a finding.
const MOST: usize = 3;

/// Returns the finding and the remedy for drivers that are installed without manifests; `None` if no known driver is installed.
pub(super) fn find() -> Option<(String, String)> {
    if unsearched::closed(Path::new(MANIFESTS)).is_some() {
        return None;
    }
    let own = Identity::of_this_process();
    let endings = [".so", ".so.0"];
    let names = TABLE
        .iter()
        .flat_map(|row| endings.map(|ending| format!("{}{ending}", row.library)));
    let libraries: Vec<String> = names
        .filter_map(|name| locate(&name, own))
        .filter(|library| elf::read(library).is_some())
        .map(|library| library.display().to_string())
        .take(MOST)
        .collect();
    let first = libraries.first()?;
    let finding = format!(
        "drivers are installed, and no manifest names them: {}",
        libraries.join(", ")
    );
    let data = Path::new(MANIFESTS).ancestors().find(|folder| folder.exists())?;
    let (of_data, of_library) = (mount_point(data), mount_point(Path::new(first)));
    let advice = if of_data != of_library && of_data != "/" {
        format!(
            "{} is a file system of its own here, so make the manifests of the system available in it: bwrap --ro-bind {MANIFESTS} {MANIFESTS} after the \
             option that hides the folder; in a container, hand {MANIFESTS} over as a volume",
            word(&of_data)
        )
    } else {
        let package =
            installed::owner(first).map_or("the package".into(), |owner| owner.replace("package ", "the package "));
        format!(
            "Reinstall {package}, which brings {first} and its manifest; an image without {MANIFESTS} has no drivers for programs"
        )
    };
    Some((finding, advice))
}
