//! Remedies for libraries that are for another processor or word size.

use super::{Identity, locate, shown};
use crate::causes::packages;
use crate::paths::file_name;
use crate::{installed, manifests};
use std::path::Path;

/// Beginning of the names of Mesa's drivers.
const OF_MESA: &str = "libvulkan_";

/// Beginning of the remedy for a manifest that leads to a library for another processor or word size, although the right one is installed.
pub(in crate::causes) const TO_CORRECT: &str = "Correct library_path in ";

/// Returns the remedy for the library at a path that `manifest` names, if another file with the same name is for programs with the identity `own`.
pub(super) fn of_manifest(path: &Path, manifest: Option<&str>, own: Identity) -> Option<String> {
    let manifest = manifest?;
    let named = manifests::named(Path::new(manifest))?;
    let right = locate(file_name(&named), own).filter(|right| Identity::of(right) == Some(own) && right != path)?;
    named.contains('/').then(|| {
        format!(
            "{TO_CORRECT}{manifest}: the driver for {own} is {}, or reinstall the package that the manifest belongs to.",
            shown(&right)
        )
    })
}

/// Returns the remedy for a library that is for another processor or word size than `own`.
pub(crate) fn remedy(path: &Path, own: Identity) -> String {
    let usual = format!("Install the package for {own} that brings {}", file_name(&shown(path)));
    let owner = installed::owner(&shown(path));
    let is_own = |owner: &String| {
        let architecture = own.debian_architecture().unwrap_or_default();
        owner
            .rsplit_once(':')
            .is_some_and(|(_, of_package)| of_package == architecture)
    };
    // The package is for this processor, so that another file has replaced that of the package.
    if let Some(owner) = owner.as_ref().filter(|owner| is_own(owner)) {
        let command = packages::again(owner).map_or_else(String::new, |command| format!(": {command}"));
        return format!("Reinstall the {owner}, which brings {}{command}", shown(path));
    }
    let package = owner.filter(|_| Path::new("/usr/bin/apt-get").exists());
    let name = package
        .as_deref()
        .and_then(|package| package.strip_prefix("package ")?.split_once(':'));
    let is_of_mesa = file_name(&shown(path)).starts_with(OF_MESA);
    match (name, own.debian_architecture()) {
        (Some((name, _)), Some(architecture)) => format!("{usual}: apt-get install {name}:{architecture}"),
        _ if is_of_mesa && own.is_x86_32() => {
            format!(
                "{usual}: mesa-vulkan-drivers:i386 (Debian, Ubuntu), mesa-vulkan-drivers.i686 (Fedora), or the package of Arch that begins with lib32-vulkan."
            )
        }
        _ if is_of_mesa => format!(
            "{usual}: mesa-vulkan-drivers (Debian, Ubuntu, Fedora); vulkan-radeon, vulkan-intel or vulkan-swrast (Arch)."
        ),
        _ => format!("{usual}."),
    }
}
