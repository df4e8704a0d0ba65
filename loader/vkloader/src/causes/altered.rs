//! Finds libraries of drivers and layers whose files are not those of their packages, for example after a copy by hand.

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

/// Adds to a finding about a library that its file is not the one of its package. The remedy is then to install the package again.
pub(super) fn explain(dropped: &mut Dropped, own: Identity) {
    // A library in a folder of a variable, which the system's library would replace, explains more.
    let is_explained = super::takes_out_of(&dropped.advice).is_some();
    if is_explained || !CODES.iter().any(|code| code.name() == dropped.code) {
        return;
    }
    let library = if dropped.code.starts_with("layer") {
        dropped.file.as_deref()
    } else {
        Some(dropped.name.as_str())
    };
    let Some(path) = library.and_then(|library| elf::locate(library, own)) else {
        return;
    };
    let path = path.display().to_string();
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
