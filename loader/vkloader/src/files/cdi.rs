//! Prints the files as a specification for the Container Device Interface. podman, docker and containerd use the specification to add
//! devices to containers.
//!
//! A container has its own C library, dynamic linker, `/proc`, `/sys` and symbolic links, so the specification contains none of these.
//! Other files are mounted under each name that programs use to open them. The container may have a newer version of a library, so a hook
//! decides when the container starts whether to add the library.

use super::Files;
use super::entry::Kind;
use super::tree::Shape;
use crate::regular;
use linked::is_of_c_library;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The oldest version of the format that contains all members that this module writes.
const VERSION: &str = "0.3.0";
/// Vendor and class of the CDI devices.
const KIND: &str = "vkloader/vulkan";
/// Name of the CDI device that contains all graphics devices.
const ALL: &str = "all";
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Specification {
    cdi_version: &'static str,
    kind: &'static str,
    devices: Vec<Device>,
    container_edits: Edits,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Device {
    name: String,
    container_edits: Edits,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Edits {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    env: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    device_nodes: Vec<Node>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    mounts: Vec<Mount>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    hooks: Vec<Hook>,
}

#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
struct Hook {
    hook_name: &'static str,
    path: String,
    args: Vec<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Node {
    path: String,
    permissions: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Mount {
    host_path: String,
    container_path: String,
    options: [&'static str; 5],
}

/// Returns the specification as JSON.
///
/// # Errors
/// A path is not valid UTF-8.
pub(super) fn specification(files: &Files) -> io::Result<Vec<u8>> {
    let nodes: Vec<String> = of_kind(files, Kind::Node)
        .map(|path| text(path))
        .collect::<io::Result<_>>()?;
    let specification = Specification {
        cdi_version: VERSION,
        kind: KIND,
        devices: devices(files, &nodes)?,
        container_edits: Edits {
            mounts: mounts(files)?,
            ..Edits::default()
        },
    };
    serde_json::to_vec_pretty(&specification).map_err(io::Error::other)
}

fn of_kind(files: &Files, kind: Kind) -> impl Iterator<Item = &PathBuf> {
    let of_kind = files
        .placed
        .iter()
        .filter(move |placed| placed.kind == kind && placed.shape == Shape::Real);
    of_kind.map(|placed| &placed.path)
}

/// Manifest folders that every loader searches.
const SEARCHED: [&str; 2] = ["/etc/vulkan/icd.d", "/usr/share/vulkan/icd.d"];

/// Returns the hook that adds the libraries to the container.
fn hook(files: &Files) -> io::Result<Hook> {
    let libraries = named(files, &[Kind::Library])?;
    let libraries = libraries.keys().map(|path| text(path));
    let words = ["vkloader", "into-container"].map(|word| Ok(word.to_owned()));
    Ok(Hook {
        hook_name: "createContainer",
        path: text(&std::env::current_exe()?)?,
        args: words.into_iter().chain(libraries).collect::<io::Result<_>>()?,
    })
}

/// Returns the variable that names the manifests that cannot be mounted in a searched folder. A specification can only replace a variable
/// of the container, not extend it, so the variable names no other manifests.
fn variables(files: &Files) -> Vec<String> {
    let manifests = files.drivers.iter().map(|driver| driver.manifest.as_str());
    let named: Vec<&str> = manifests
        .filter(|manifest| place_of(Path::new(manifest)).is_none())
        .collect();
    let variable = format!("VK_ADD_DRIVER_FILES={}", named.join(":"));
    if named.is_empty() { Vec::new() } else { vec![variable] }
}

/// Returns the path at which the container's loaders find a manifest. Returns `None` if loaders do not search the manifest's folder, and
/// the manifest names its library relative to that folder.
fn place_of(manifest: &Path) -> Option<PathBuf> {
    let (folder, name) = (manifest.parent()?, manifest.file_name()?);
    if SEARCHED.iter().any(|searched| folder == Path::new(searched)) {
        return Some(manifest.to_owned());
    }
    let text = regular::read(manifest).ok()?;
    let json: serde_json::Value = serde_json::from_slice(&text).ok()?;
    let library = json.pointer("/ICD/library_path")?.as_str()?;
    (library.starts_with('/') || !library.contains('/')).then(|| Path::new(SEARCHED[0]).join(name))
}

/// Returns one device with all nodes, and one device for each graphics card. The device of a card includes the nodes that all cards share.
fn devices(files: &Files, nodes: &[String]) -> io::Result<Vec<Device>> {
    let (hook, variables) = (hook(files)?, variables(files));
    let device = |name: &str, is_in: &dyn Fn(&str) -> bool| {
        let in_it = nodes.iter().filter(|node| is_in(node));
        Device {
            name: name.into(),
            container_edits: Edits {
                env: variables.clone(),
                device_nodes: in_it
                    .map(|node| Node {
                        path: node.clone(),
                        permissions: "rw",
                    })
                    .collect(),
                // The hook is part of each device, because CDI rejects a device without edits, and a software driver has no device node. If
                // several devices are selected, the hook runs several times, which changes nothing.
                hooks: vec![hook.clone()],
                ..Edits::default()
            },
        }
    };
    let mut devices = vec![device(ALL, &|_| true)];
    let cards: BTreeSet<&str> = nodes.iter().filter_map(|node| card(node)).collect();
    for one in cards {
        devices.push(device(one, &|node| card(node).is_none_or(|other| other == one)));
    }
    Ok(devices)
}

/// Returns the name of a node that belongs to one graphics card, for example `renderD128` or `nvidia0`.
fn card(node: &str) -> Option<&str> {
    let name = node.strip_prefix("/dev/")?;
    let name = name.strip_prefix("dri/").unwrap_or(name);
    ["renderD", "card", "nvidia"]
        .iter()
        .filter_map(|start| name.strip_prefix(start))
        .any(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
        .then_some(name)
}

/// Returns the files whose kind is in `kinds`, under each name that programs use to open them. Skips the files of the C library.
fn named(files: &Files, kinds: &[Kind]) -> io::Result<BTreeMap<PathBuf, PathBuf>> {
    let mut named = BTreeMap::new();
    for placed in files.placed.iter().filter(|placed| kinds.contains(&placed.kind)) {
        let Ok(real) = fs::canonicalize(&placed.path) else {
            continue;
        };
        // Symbolic links in the folder of the path are resolved, because the container may not contain the links of this machine.
        if !real.is_file() || is_of_c_library(&placed.path) || is_of_c_library(&real) {
            continue;
        }
        let folder = placed.path.parent().map(fs::canonicalize).transpose()?;
        let name = placed.path.file_name().unwrap_or_default();
        named.insert(folder.unwrap_or_default().join(name), real);
    }
    Ok(named)
}

/// Returns the mounts for all files except libraries.
fn mounts(files: &Files) -> io::Result<Vec<Mount>> {
    let mut mounts = named(files, &[Kind::Manifest, Kind::Data])?;
    // Programs may name a manifest by a path with a linked folder that the container lacks. Therefore, each manifest is also mounted at its
    // original path.
    for manifest in files.drivers.iter().map(|driver| PathBuf::from(&driver.manifest)) {
        if let Ok(real) = fs::canonicalize(&manifest) {
            if let Some(place) = place_of(&manifest) {
                add_under_free_name(&mut mounts, place, &real);
            }
            mounts.insert(manifest, real);
        }
    }
    let mounts = mounts.iter().map(|(container, host)| {
        Ok(Mount {
            host_path: text(host)?,
            container_path: text(container)?,
            options: ["ro", "nosuid", "nodev", "rbind", "rprivate"],
        })
    });
    mounts.collect()
}

/// Adds a manifest to the mounts. If the folder already has another file with the manifest's name, adds a number in front of the manifest's
/// name.
fn add_under_free_name(mounts: &mut BTreeMap<PathBuf, PathBuf>, place: PathBuf, real: &Path) {
    let numbered = (1..).map(|number| {
        let name = place.file_name().unwrap_or_default().to_string_lossy();
        place.with_file_name(format!("{number}-{name}"))
    });
    let is_free = |path: &PathBuf| mounts.get(path).is_none_or(|other| other == real);
    let free = std::iter::once(place.clone()).chain(numbered).find(is_free);
    mounts.extend(free.map(|path| (path, real.to_owned())));
}

/// Converts a path to a text, because JSON requires valid UTF-8.
fn text(path: &Path) -> io::Result<String> {
    let text = path.to_str().map(String::from);
    text.ok_or_else(|| {
        io::Error::other(format!(
            "{}: JSON cannot contain a path that is not valid UTF-8",
            path.display()
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_belongs_to_a_card_or_to_all() {
        for (node, expected) in [
            ("/dev/dri/renderD128", Some("renderD128")),
            ("/dev/dri/card1", Some("card1")),
            ("/dev/nvidia0", Some("nvidia0")),
            ("/dev/nvidiactl", None),
            ("/dev/nvidia-uvm", None),
            ("/dev/kfd", None),
        ] {
            assert_eq!(card(node), expected, "{node}");
        }
    }
}
