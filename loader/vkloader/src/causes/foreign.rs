//! Explains drivers of another system, such as those of the host of a container. They need libraries that this system does not have.

use super::elf::FOR_ANOTHER_SYSTEM;
use super::packages::{self, INSTALL};
use super::unsearched::usual_manifests;
use crate::installed;
use crate::report::{Dropped, Report};

/// Folder with the files of the host in toolbox, distrobox, Flatpak and other containers.
const OF_HOST: &str = "/run/host/";
/// Variables that list manifests of drivers.
const NAMING: [&str; 3] = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_ADD_DRIVER_FILES"];
/// Variable with the folders that the dynamic linker searches first.
const FOLDERS: &str = "LD_LIBRARY_PATH";

/// Replaces the remedies for drivers of another system that a variable names: their libraries cannot be installed here, so this system's own drivers
/// are the way out.
pub(super) fn explain(report: &mut Report) {
    let is_inside = report.runs_in_container();
    let Report { dropped, variables, .. } = report;
    let folders = variables.get(FOLDERS).unwrap_or_default();
    let naming = |path: &str| {
        NAMING.into_iter().find(|name| {
            let value = variables.get(name).unwrap_or_default();
            value.split(':').any(|item| is_same_or_below(path, item))
        })
    };
    for one in dropped.iter_mut().filter(|one| one.code == "driver.not-opened") {
        let paths = [Some(one.name.as_str()), one.file.as_deref()];
        let is_of_host = paths.iter().flatten().any(|path| path.starts_with(OF_HOST));
        let lacks = || {
            [INSTALL, FOR_ANOTHER_SYSTEM]
                .iter()
                .any(|start| one.advice.starts_with(start))
        };
        let is_foreign = is_of_host || is_inside && lacks() && installed::owner(&one.name).is_none();
        let name = one.file.as_deref().and_then(naming);
        // The driver of NVIDIA in a container is that of the host, because it must have the version of the kernel module.
        if let Some(name) = name.filter(|_| is_foreign && !packages::is_of_nvidia(&one.name)) {
            replace(one, name, is_of_host, &folders);
        }
    }
}

/// Returns `true` if an item of a list of manifests is a path, or a folder that contains the path.
fn is_same_or_below(path: &str, item: &str) -> bool {
    let rest = path
        .strip_prefix(item.trim_end_matches('/'))
        .filter(|_| !item.is_empty());
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Replaces the remedy for a driver of another system. `folders` is the value of [`FOLDERS`].
fn replace(one: &mut Dropped, variable: &str, is_of_host: bool, folders: &str) {
    let whose = if is_of_host {
        "this driver is of the host, which is another system"
    } else {
        "this driver was built for another system, whose libraries are missing here"
    };
    one.findings.insert(0, whose);
    let foreign: Vec<&str> = folders
        .split(':')
        .filter(|folder| folder.starts_with(OF_HOST))
        .collect();
    let folder = match foreign.first() {
        Some(folder) => format!(", and take {folder} out of {FOLDERS}"),
        None => String::new(),
    };
    let is_own = |path: &String| Some(path) != one.file.as_ref();
    one.advice = if usual_manifests().iter().any(is_own) {
        format!("Let the program use the drivers of this system: unset {variable}{folder}")
    } else {
        let install = packages::install_drivers();
        format!("Let the program use drivers of this system: {install}; then unset {variable}{folder}")
    };
    one.variable = Some(variable.into());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::codes;
    use crate::variables::Variables;

    #[test]
    fn drivers_of_the_host_of_a_container_are_replaced_by_those_of_the_system() {
        let manifest = "/run/host/usr/share/vulkan/icd.d/lvp_icd.json";
        for (library, file, surrounding, is_foreign) in [
            ("libvulkan_lvp.so", manifest, "podman", true),
            ("/opt/libvulkan_lvp.so", "/opt/lvp_icd.json", "podman", true),
            ("/opt/libvulkan_lvp.so", "/opt/lvp_icd.json", "virtual-machine", false),
            ("/run/host/usr/lib/libGLX_nvidia.so.0", manifest, "podman", false),
        ] {
            let mut dropped = codes::DRIVER_NONE_INSTALLED.about(library);
            dropped.code = "driver.not-opened".into();
            dropped.file = Some(file.into());
            dropped.advice = format!("{INSTALL} libxml2.so.16.");
            let mut report = Report {
                dropped: vec![dropped],
                surroundings: vec![surrounding.into()],
                variables: Variables::with(NAMING[0], file),
                ..Report::default()
            };
            explain(&mut report);
            let one = &report.dropped[0];
            let unsets = one.advice.contains("unset VK_DRIVER_FILES");
            assert_eq!(unsets, is_foreign, "{library} {surrounding}: {}", one.advice);
        }
        assert!(is_same_or_below("/a/b.json", "/a") && is_same_or_below("/a/b.json", "/a/b.json"));
        assert!(!is_same_or_below("/ab/c.json", "/a") && !is_same_or_below("/a/b.json", ""));
    }
}
