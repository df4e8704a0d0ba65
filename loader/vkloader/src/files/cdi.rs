//! Prints the files as a specification for the Container Device Interface, with which podman, docker and containerd put devices into containers.
//!
//! A container has its own C library, dynamic linker, `/proc`, `/sys` and symbolic links, so the specification contains none of these. Each file is
//! mounted under every name by which it is opened.

use super::Files;
use super::entry::Kind;
use super::tree::Shape;
use crate::causes::elf::is_usual;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The oldest version of the format that has all members used here.
const VERSION: &str = "0.3.0";
/// Vendor and class of the devices.
const KIND: &str = "vkloader/vulkan";
/// Name of the device that contains all devices.
const ALL: &str = "all";
/// Beginnings of the file names of the C library, up to `.so`.
const C_LIBRARY: [&str; 12] = [
    "libc",
    "libm",
    "libdl",
    "libpthread",
    "librt",
    "libresolv",
    "libutil",
    "libanl",
    "libmvec",
    "libnsl",
    "libnss_files",
    "ld-linux",
];

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
        devices: devices(files, &nodes),
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

/// Returns folders of libraries that a container's dynamic linker does not search, because the host's linker configuration stays outside.
fn unusual_folders(files: &Files) -> Vec<String> {
    let folders = of_kind(files, Kind::Library).filter_map(|path| path.parent());
    let unusual = folders
        .filter(|folder| !is_usual(folder))
        .filter_map(|folder| folder.to_str());
    let unusual: BTreeSet<&str> = unusual.filter(|folder| !folder.contains([':', ';'])).collect();
    unusual.into_iter().map(String::from).collect()
}

/// Returns one device with all nodes, and one for each graphics card. A card's device includes the nodes that belong to no single card.
fn devices(files: &Files, nodes: &[String]) -> Vec<Device> {
    let folders = unusual_folders(files);
    let device = |name: &str, is_in: &dyn Fn(&str) -> bool| {
        let in_it = nodes.iter().filter(|node| is_in(node));
        let mut env = vec![format!("VK_DRIVER_FILES={}", files.manifests())];
        env.extend((!folders.is_empty()).then(|| format!("LD_LIBRARY_PATH={}", folders.join(":"))));
        Device {
            name: name.into(),
            container_edits: Edits {
                // A device without edits is invalid, and software drivers have no node.
                env,
                device_nodes: in_it
                    .map(|node| Node {
                        path: node.clone(),
                        permissions: "rw",
                    })
                    .collect(),
                ..Edits::default()
            },
        }
    };
    let mut devices = vec![device(ALL, &|_| true)];
    let cards: BTreeSet<&str> = nodes.iter().filter_map(|node| card(node)).collect();
    for one in cards {
        devices.push(device(one, &|node| card(node).is_none_or(|other| other == one)));
    }
    devices
}

/// Returns the name of a node that belongs to one graphics card, such as `renderD128` or `nvidia0`.
fn card(node: &str) -> Option<&str> {
    let name = node.strip_prefix("/dev/")?;
    let name = name.strip_prefix("dri/").unwrap_or(name);
    ["renderD", "card", "nvidia"]
        .iter()
        .filter_map(|start| name.strip_prefix(start))
        .any(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
        .then_some(name)
}

fn is_of_c_library(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let start = name.split(".so").next().unwrap_or_default();
    // Two forms are known: ld-linux-x86-64.so.2 and libc-2.31.so.
    C_LIBRARY
        .iter()
        .any(|known| start == *known || start.strip_prefix(known).is_some_and(|rest| rest.starts_with('-')))
}

/// Returns the files under each name by which they are opened.
fn mounts(files: &Files) -> io::Result<Vec<Mount>> {
    let mut mounts: BTreeMap<PathBuf, PathBuf> = BTreeMap::new();
    for placed in &files.placed {
        let is_wanted = matches!(placed.kind, Kind::Manifest | Kind::Library | Kind::Data);
        let Ok(real) = fs::canonicalize(&placed.path) else {
            continue;
        };
        // On this machine a linked folder gives a file a second name; a container may lack the link.
        if !is_wanted || !real.is_file() || is_of_c_library(&placed.path) || is_of_c_library(&real) {
            continue;
        }
        let folder = placed.path.parent().map(fs::canonicalize).transpose()?;
        let name = placed.path.file_name().unwrap_or_default();
        mounts.insert(folder.unwrap_or_default().join(name), real);
    }
    // Paths in manifests and links may go through a linked folder that the container lacks.
    let named = files.drivers.iter().map(|driver| PathBuf::from(&driver.manifest));
    for manifest in named {
        if let Ok(real) = fs::canonicalize(&manifest) {
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

/// Converts a path to the text that JSON requires.
fn text(path: &Path) -> io::Result<String> {
    let text = path.to_str().map(String::from);
    text.ok_or_else(|| {
        io::Error::other(format!(
            "{}: a path that is no UTF-8 has no place in JSON",
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

    #[test]
    fn the_c_library_is_the_container_s_own() {
        for name in [
            "libc.so.6",
            "libm.so.6",
            "ld-linux-x86-64.so.2",
            "libc-2.31.so",
            "libpthread.so.0",
        ] {
            assert!(is_of_c_library(Path::new(name)), "{name}");
        }
        for name in ["libcap.so.2", "libLLVM-15.so.1", "libmd.so.0", "libcurl.so"] {
            assert!(!is_of_c_library(Path::new(name)), "{name}");
        }
    }
}
