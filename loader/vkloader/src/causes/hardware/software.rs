//! Recognises that Mesa's software driver is installed without its manifest.

use crate::causes::{elf, usual_manifests};
use crate::installed;
use crate::regular;
use crate::report::{Dropped, Report};

/// Library of Mesa's software driver.
const SOFTWARE: &str = "libvulkan_lvp.so";

/// Returns a fact and the beginning of the remedy if Mesa's software driver is installed, and no manifest names it.
pub(super) fn without_manifest(report: &Report) -> Option<(String, String)> {
    let is_named = |path: &str| path.ends_with(SOFTWARE);
    let mut kept = report.kept.iter().map(String::as_str);
    let known = report.drivers.iter().map(|driver| driver.library.as_str());
    let mut known = known.chain(report.dropped.iter().map(|one| one.name.as_str()));
    let is_left_out = |one: &Dropped| one.subject == "driver manifest";
    if kept.any(is_named) || known.any(is_named) || report.dropped.iter().any(is_left_out) || report.searched.is_empty()
    {
        return None;
    }
    // A manifest that only the program does not find is not missing in the system.
    let names_it = |manifest: &String| regular::text(manifest).is_ok_and(|text| text.contains(SOFTWARE));
    if report.inside.is_some() && usual_manifests().iter().any(names_it) {
        return None;
    }
    let library = elf::locate(SOFTWARE, elf::Identity::of_this_process())?;
    let library = library.display().to_string();
    let owner = installed::owner(&library).unwrap_or_else(|| "Mesa's package".into());
    Some((
        format!("the software driver {library} is installed, but no manifest names it"),
        format!("For software drawing, reinstall the {owner}, because the manifest of {library} is missing. "),
    ))
}
