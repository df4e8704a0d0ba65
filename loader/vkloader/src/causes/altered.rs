//! Finds libraries of drivers and layers, and manifests, whose files are not those of their packages, for example after a copy by hand.

use super::elf::{self, Identity};
use super::packages;
use crate::installed;
use crate::report::Dropped;
use reasons::Code;

/// Codes of findings about libraries that do not open, or that lack functions.
const CODES: [Code; 6] = [
    Code::DriverNotOpened,
    Code::DriverNoEntryPoint,
    Code::DriverNoExport,
    Code::DriverNoGetInstanceProcAddr,
    Code::LayerLibraryNotOpened,
    Code::LayerLibraryNoSymbol,
];

/// Returns the path of the file that a finding is about. Returns `None` for findings that a change of a file does not explain.
fn file_of(dropped: &Dropped, own: Identity) -> Option<String> {
    if dropped.code == Code::DriverManifestOfLayer.name() {
        return Some(dropped.name.clone());
    }
    // A library in a folder of a variable, which the system's library would replace, explains more.
    let is_explained = super::origin::takes_out_of(&dropped.advice).is_some();
    if is_explained || !CODES.iter().any(|code| code.name() == dropped.code) {
        return None;
    }
    let library = if dropped.code.starts_with("layer") {
        dropped.file.as_deref()?
    } else {
        dropped.name.as_str()
    };
    Some(elf::locate(library, own)?.display().to_string())
}

/// Adds to a finding about a library or manifest that its file is not the one of its package. The remedy is then to install the package again.
pub(super) fn explain(dropped: &mut Dropped, own: Identity) {
    let Some(path) = file_of(dropped, own) else {
        return;
    };
    if !installed::is_altered(&path) {
        return;
    }
    if let Some(advice) = packages::to_reinstall(&path) {
        dropped.findings.insert(
            0,
            format!("{path} is not the file of its package: its contents were changed"),
        );
        dropped.advice = format!("To get the file of the package back, {advice}.");
        dropped.names_file = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::codes;

    #[test]
    fn a_manifest_of_a_layer_may_have_replaced_the_manifest_of_a_driver() {
        let manifest = "/usr/share/vulkan/icd.d/radeon_icd.json";
        for (code, expected) in [
            (Code::DriverManifestOfLayer, Some(manifest)),
            (Code::FileNotFound, None),
        ] {
            let found = Dropped {
                code: code.name().into(),
                ..codes::DRIVER_NONE_INSTALLED.about(manifest)
            };
            assert_eq!(file_of(&found, Identity::of_this_process()).as_deref(), expected);
        }
    }
}
