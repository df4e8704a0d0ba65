//! Finds drivers that are installed, but that no manifest names.

use super::machine::Machine;
use crate::causes::unsearched;
use crate::installed;
use crate::report::{Card, Dropped, Report, codes};
use crate::shell::word;
use rustix::fs::StatVfsMountFlags;

/// Returns a finding for a card whose Vulkan driver is installed, but is not named by any manifest that was found.
pub(super) fn missing(card: &Card, libraries: &[&str], machine: &Machine, report: &Report) -> Option<Dropped> {
    let (library_name, path) = libraries
        .iter()
        .find_map(|name| Some((*name, machine.library(name)?)))?;
    let library = path.display().to_string();
    let owner = installed::owner(&library).map(|owner| format!(" ({owner})"));
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let manifest =
        format!(r#"{{"file_format_version": "1.0.0", "ICD": {{"library_path": "{file}", "api_version": "1.3.0"}}}}"#);
    let name = library_name.trim_start_matches("lib").trim_start_matches("GLX_");
    let mut found = codes::HARDWARE_NO_MANIFEST.about(card.to_string());
    found.file = Some(library);
    found.advice = match data_of_user(machine, report) {
        Some(folder) => {
            let folder = word(&format!("{folder}/vulkan/icd.d"));
            format!(
                "Write a manifest in your home folder: mkdir -p {folder} && echo '{manifest}' >{folder}/{name}_icd.json"
            )
        }
        None => format!(
            "Reinstall the package of the driver{} with its manifest, or write one: mkdir -p /etc/vulkan/icd.d && echo '{manifest}' >/etc/vulkan/icd.d/{name}_icd.json",
            owner.unwrap_or_default()
        ),
    };
    // `mkdir` cannot create a folder below a broken link.
    if let Some((link, target)) = unsearched::broken_link(&machine.path("etc/vulkan/icd.d")) {
        let (link, target) = (link.display(), target.display());
        found
            .findings
            .push(format!("{link} is a link to {target}, which is not there"));
        found.advice = format!("Correct the link {link}, or mount {target}. Then: {}", found.advice);
    }
    if let Some(hidden) = unsearched::leading_to(&machine.path(""), library_name, &report.searched) {
        found.findings.push(hidden.finding);
        found.advice = hidden.advice;
    }
    Some(found)
}

/// Returns the data folder of the user where the files of the system cannot be changed. Returns `None` elsewhere.
fn data_of_user(machine: &Machine, report: &Report) -> Option<String> {
    let flags = rustix::fs::statvfs(machine.path("etc")).map(|status| status.f_flag);
    let is_read_only = flags.is_ok_and(|flags| flags.contains(StatVfsMountFlags::RDONLY));
    let value = |name| report.variables.nonempty(name);
    let home = || Some(format!("{}/.local/share", value("HOME")?));
    let folder = value("XDG_DATA_HOME").or_else(home);
    folder.filter(|_| report.has_fixed_files() || is_read_only)
}
