//! Finds variables that ask for an implicit layer that is not installed. Loaders do not report such variables, because only the manifest of
//! the layer names the variable.

use crate::regular;
use crate::report::{Dropped, Report, codes, rank};
use std::fs;
use std::path::Path;

/// A variable that switches an implicit layer on, or that only this layer reads.
struct Row {
    variable: &'static str,
    value: &'static str,
    /// Beginning of the name of the layer.
    layer: &'static str,
    /// Program or driver that the layer belongs to.
    program: &'static str,
    /// Package of the layer.
    package: &'static str,
}

const fn row(
    variable: &'static str,
    value: &'static str,
    layer: &'static str,
    program: &'static str,
    package: &'static str,
) -> Row {
    Row {
        variable,
        value,
        layer,
        program,
        package,
    }
}

const ROWS: [Row; 9] = [
    row("MANGOHUD", "1", "VK_LAYER_MANGOHUD_overlay", "MangoHud", "mangohud"),
    row(
        "ENABLE_VKBASALT",
        "1",
        "VK_LAYER_VKBASALT_post_processing",
        "vkBasalt",
        "vkbasalt",
    ),
    row(
        "OBS_VKCAPTURE",
        "1",
        "VK_LAYER_OBS_vkcapture",
        "the game capture of OBS",
        "obs-vkcapture",
    ),
    row(
        "ENABLE_VULKAN_RENDERDOC_CAPTURE",
        "1",
        "VK_LAYER_RENDERDOC_Capture",
        "RenderDoc",
        "renderdoc",
    ),
    row(
        "ENABLE_HDR_WSI",
        "1",
        "VK_LAYER_hdr_wsi",
        "the layer for HDR",
        "vk-hdr-layer",
    ),
    row(
        "ENABLE_PRIMUS_LAYER",
        "1",
        "VK_LAYER_PRIMUS_PrimusVK",
        "primus-vk",
        "primus-vk",
    ),
    row(
        "ENABLE_LAYER_MESA_ANTI_LAG",
        "1",
        "VK_LAYER_MESA_anti_lag",
        "Mesa",
        "mesa-vulkan-drivers (vulkan-mesa-layers in Arch)",
    ),
    row(
        "NVPRESENT_ENABLE_SMOOTH_MOTION",
        "1",
        "VK_LAYER_NV_present",
        "NVIDIA's driver since series 575",
        "nvidia-driver",
    ),
    row(
        "AMD_VULKAN_ICD",
        "AMDVLK",
        "VK_LAYER_AMD_switchable_graphics",
        "AMDVLK, which is no longer developed",
        "amdvlk",
    ),
];

/// Packages of layers for programs in Flatpak.
const FLATPAK: &str = "org.freedesktop.Platform.VulkanLayer";

/// Folders of manifests of implicit layers, relative to the root folder.
const FOLDERS: [&str; 3] = [
    "etc/vulkan/implicit_layer.d",
    "usr/local/share/vulkan/implicit_layer.d",
    "usr/share/vulkan/implicit_layer.d",
];

/// Adds a finding for each variable of the program that asks for a layer that is not installed.
pub(super) fn find(report: &mut Report, root: &Path) {
    let is_flatpak = report.runs_in(&["flatpak"]);
    let found: Vec<Dropped> = ROWS
        .iter()
        .filter(|row| {
            report
                .variables
                .get(row.variable)
                .is_some_and(|value| value == row.value)
        })
        .filter(|row| !is_known(row.layer, report) && !has_manifest(row.layer, root))
        .map(|row| row.describe(is_flatpak))
        .collect();
    report.dropped.extend(found);
}

impl Row {
    fn describe(&self, is_flatpak: bool) -> Dropped {
        let Self {
            variable,
            value,
            layer,
            program,
            package,
        } = self;
        let mut found = codes::VARIABLE_NO_MATCH.about(*variable);
        found.reason = format!("{variable}={value} is for the layer {layer}, which is not installed.");
        found.findings = [format!("the layer belongs to {program}")].into();
        let install = if is_flatpak {
            format!("In Flatpak, layers are extensions: flatpak search {FLATPAK}")
        } else {
            format!("Install the layer: the package {package}")
        };
        found.advice = format!("{install}; or: unset {variable}");
        found.rank = rank::ASKED_FOR;
        found
    }
}

/// Returns `true` if the report names a layer whose name begins with `layer`.
fn is_known(layer: &str, report: &Report) -> bool {
    let active = report.layers.iter().map(|one| &one.name);
    let inactive = report.inactive.iter().map(|one| &one.name);
    let dropped = report.dropped.iter().map(|one| &one.name);
    active
        .chain(inactive)
        .chain(dropped)
        .any(|name| name.starts_with(layer))
}

/// Returns `true` if a manifest in a usual folder below `root` names the layer. The search may then leave out the folder or the file.
fn has_manifest(layer: &str, root: &Path) -> bool {
    let entries = FOLDERS
        .iter()
        .flat_map(|folder| fs::read_dir(root.join(folder)).into_iter().flatten().flatten());
    let mut files = entries.map(|entry| entry.path());
    files.any(|file| regular::text(file).is_ok_and(|text| text.contains(layer)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variables::Variables;

    #[test]
    fn a_variable_for_a_layer_that_is_not_installed_is_named() {
        let root = tempfile::tempdir().expect("a folder");
        let of = |value: &str| {
            let mut report = Report {
                variables: Variables::with("MANGOHUD", value),
                ..Report::default()
            };
            find(&mut report, root.path());
            report.dropped
        };
        let found = of("1");
        assert!(
            found[0]
                .reason
                .contains("VK_LAYER_MANGOHUD_overlay, which is not installed")
        );
        assert!(found[0].advice.contains("the package mangohud; or: unset MANGOHUD"));
        assert!(of("0").is_empty());
        let folder = root.path().join(FOLDERS[2]);
        fs::create_dir_all(&folder).expect("folders");
        fs::write(folder.join("MangoHud.json"), "VK_LAYER_MANGOHUD_overlay_x86_64").expect("a file");
        assert!(of("1").is_empty(), "another finding names what leaves the manifest out");
    }
}
