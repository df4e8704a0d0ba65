//! The command `packages`, which creates a package of each installed driver and updates these packages (LSV-65). Package managers run the
//! command after a driver is installed, updated or removed.

use crate::failure::Failure;
use crate::make_package::{header, libraries, make};
use crate::package::{Class, class_of, package_for};
use linked::Identity;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Folders with driver manifests that the command searches by default.
pub const MANIFESTS: &[&str] = &[
    "/etc/vulkan/icd.d",
    "/usr/local/share/vulkan/icd.d",
    "/usr/share/vulkan/icd.d",
];

/// Key of `metadata.json` whose value identifies the files that the package was made from.
const MADE_OF: &str = "made_of";

/// Name of the package for each manifest. The first text of a pair is the manifest's file name up to its first dot, without `_icd`.
const NAMES: &[(&str, &str)] = &[
    ("radeon", "radv"),
    ("amd_icd64", "amdvlk"),
    ("amd_icd32", "amdvlk"),
    ("intel", "anv"),
    ("intel_hasvk", "hasvk"),
    ("nvidia", "nvidia"),
    ("nouveau", "nvk"),
    ("freedreno", "turnip"),
    ("broadcom", "v3dv"),
    ("panfrost", "panvk"),
    ("asahi", "honeykrisp"),
    ("virtio", "venus"),
    ("gfxstream_vk", "gfxstream"),
    ("lvp", "lavapipe"),
];

/// Creates, updates and removes packages in the folder `out`. Returns a line for each change and each error. Does not change packages that
/// this command did not create.
///
/// # Errors
/// The folder with packages cannot be read.
pub fn renew(folders: &[PathBuf], out: &Path) -> Result<Vec<String>, Failure> {
    let mut lines = Vec::new();
    let (mut seen, mut unknown) = (BTreeSet::new(), Vec::new());
    for left in files(out).into_iter().filter(|path| is_left_over(path)) {
        fs::remove_dir_all(&left).map_err(Failure::at(&left))?;
    }
    for manifest in folders.iter().flat_map(|folder| files(folder)) {
        let Some(package) = package_of(&manifest) else { continue };
        if let Err(error) = renew_of(&manifest, package, out, &mut seen, &mut lines) {
            // The packages of a driver with an invalid manifest stay as they are.
            unknown.push(package);
            lines.push(format!("{package}: {error}"));
        }
    }
    for class in [Class::Bits64, Class::Bits32] {
        seen.extend(unknown.iter().filter_map(|name| package_for(name, class)));
    }
    for package in files(out) {
        let name = package.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if made_of(&package).is_some() && !seen.contains(name) {
            fs::remove_dir_all(&package).map_err(Failure::at(&package))?;
            lines.push(format!("{name}: removed"));
        }
    }
    Ok(lines)
}

/// Creates or updates the packages of a manifest's libraries, and adds their names to `seen`.
///
/// # Errors
/// The libraries are unknown.
fn renew_of(
    manifest: &Path,
    name: &str,
    out: &Path,
    seen: &mut BTreeSet<String>,
    lines: &mut Vec<String>,
) -> Result<(), Failure> {
    for library in libraries(manifest)? {
        let class = header(&library)?.form.class;
        if Identity::of(&library) != Some(Identity::of_this_process().with_class(class)) {
            lines.push(format!("{name}: {} is for another processor", library.display()));
            continue;
        }
        // An earlier folder takes precedence.
        let Some(package) = package_for(name, class).filter(|package| seen.insert(package.clone())) else {
            continue;
        };
        match renew_one(manifest, &library, &out.join(&package)) {
            Ok(true) => lines.push(format!("{package}: made of {}", manifest.display())),
            Ok(false) => {}
            Err(error) => lines.push(format!("{package}: {error}")),
        }
    }
    Ok(())
}

/// Creates or updates a package. Returns `false` if the package is current, or was not created by this program.
fn renew_one(manifest: &Path, library: &Path, out: &Path) -> Result<bool, Failure> {
    let source = source(manifest, library)?;
    let before = made_of(out);
    if before.as_ref() == Some(&source) || (before.is_none() && fs::symlink_metadata(out).is_ok()) {
        return Ok(false);
    }
    make(library, manifest, out, before.is_some(), Some((MADE_OF, &source)))?;
    Ok(true)
}

/// Returns a text that identifies the files of a driver. The text changes when one of the files changes.
fn source(manifest: &Path, library: &Path) -> Result<String, Failure> {
    let mut parts = Vec::new();
    let needs = linked::needs_in_order(library);
    for path in [manifest, library]
        .into_iter()
        .chain(needs.iter().map(PathBuf::as_path))
    {
        let state = fs::metadata(path).map_err(Failure::at(path))?;
        // When a hard link to a file is added, for example in a package, `ctime` changes and `mtime` does not. Therefore, the text contains
        // `mtime`.
        let (inode, size, seconds, parts_of_second) = (state.ino(), state.len(), state.mtime(), state.mtime_nsec());
        parts.push(format!("{} {inode} {size} {seconds}.{parts_of_second}", path.display()));
    }
    Ok(parts.join(", "))
}

/// Returns the checksum of a package's sources; `None` if this program did not create the package.
fn made_of(package: &Path) -> Option<String> {
    let text = fs::read(package.join("metadata/metadata.json")).ok()?;
    Some(
        serde_json::from_slice::<Value>(&text).ok()?[MADE_OF]
            .as_str()?
            .to_owned(),
    )
}

/// Returns the paths in a folder, sorted by name; an empty list if the folder cannot be read.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    paths
}

/// Returns `true` for the unfinished package of a process that ended before it gave the package its name.
fn is_left_over(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let parts = name.strip_prefix('.').and_then(|name| name.rsplit_once('.'));
    parts.is_some_and(|(package, process)| {
        NAMES
            .iter()
            .any(|(_, known)| package_for(known, class_of(package)).as_deref() == Some(package))
            && process.parse::<u32>().is_ok()
            && !Path::new("/proc").join(process).exists()
    })
}

/// Returns the name of the package for a manifest; `None` if no device uses a package of that name.
fn package_of(manifest: &Path) -> Option<&'static str> {
    let name = manifest.file_name()?.to_str()?.strip_suffix(".json")?;
    let stem = name.split('.').next().unwrap_or_default();
    let stem = stem.strip_suffix("_icd").unwrap_or(stem);
    let row = NAMES.iter().find(|(driver, _)| *driver == stem)?;
    Some(row.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drivers::Rules;

    #[test]
    fn lsv_65_each_package_of_the_configuration_has_a_manifest() {
        let rules = Rules::default();
        let asked = rules
            .devices
            .iter()
            .flat_map(|rule| rule.packages.iter().map(String::as_str));
        let asked: BTreeSet<_> = asked.chain([rules.fallback.as_str()]).collect();
        let made: BTreeSet<_> = NAMES.iter().map(|(_, package)| *package).collect();
        assert_eq!(asked, made);
        for (manifest, package) in [
            ("radeon_icd.x86_64.json", Some("radv")),
            ("nvidia_icd.json", Some("nvidia")),
            ("intel_hasvk_icd.x86_64.json", Some("hasvk")),
            ("amd_icd64.json", Some("amdvlk")),
            ("other_icd.json", None),
            ("lvp_icd.json.dpkg-new", None),
        ] {
            assert_eq!(package_of(Path::new(manifest)), package, "{manifest}");
        }
    }
}
