//! Finds programs that open the loader by the name of a link that is missing.

use crate::causes::elf;
use crate::events::{Event, Record};
use crate::report::{Dropped, Report, codes, rank};
use crate::untraced::sentence;
use std::path::{Path, PathBuf};

/// Name of a link to the loader. Only packages for developers contain this link.
pub(crate) const LINK: &str = "libvulkan.so";
/// Remedy for the missing link.
pub(crate) const TO_LINK: &str = "install the package with this link: libvulkan-dev (Debian, Ubuntu), vulkan-loader-devel (Fedora) or \
    vulkan-icd-loader (Arch); or make the link libvulkan.so to libvulkan.so.1 in the folder of that file";
/// Upper bound on the size in bytes of a program that is searched for names.
const LARGEST_PROGRAM: u64 = 64 << 20;

/// Returns a finding for a program that opens [`LINK`], which only `vkloader` provides. Such a program does not contain the name of the
/// library itself.
pub(super) fn missing(report: &Report, records: &[&Record]) -> Option<Dropped> {
    let program = Path::new(report.loader.as_ref()?.executable.as_deref()?);
    let opened = records.iter().find_map(|record| match &record.event {
        Event::Loaded(loaded) => loaded.opened_as.as_deref(),
        _ => None,
    });
    if opened != Some(LINK) {
        return None;
    }
    let is_small = std::fs::metadata(program).is_ok_and(|status| status.is_file() && status.len() <= LARGEST_PROGRAM);
    let bytes = is_small.then(|| std::fs::read(program).ok()).flatten()?;
    let has = |name: &str| bytes.windows(name.len()).any(|part| part == name.as_bytes());
    let own = elf::Identity::of(program)?;
    let names_link = has(&format!("{LINK}\0"));
    // A program with both names may open the library by the other name if the link is missing.
    let names_both = has(&format!("{LINK}.1\0"));
    let row = codes::LOADER_NOT_OPENED;
    let may_go_on = if names_both {
        ", unless it then opens the other name"
    } else {
        ""
    };
    let is_missing = !has_own_link(program, report) && elf::without_variable(LINK, own).is_none();
    ((names_link || names_both) && is_missing).then(|| Dropped {
        rank: if names_both { rank::CONSEQUENCE } else { row.rank() },
        reason: format!(
            "The program opens {LINK}, but only {LINK}.1 is installed, so that it fails without vkloader{may_go_on}."
        ),
        findings: ["vkloader gave the program a library of this name"].into(),
        advice: format!("{}.", sentence(TO_LINK)),
        ..row.about(LINK)
    })
}

/// Returns `true` if [`LINK`] is in a folder of the program or of `LD_LIBRARY_PATH`. Ignores the link by which `vkloader` gives the program
/// the traced library.
fn has_own_link(program: &Path, report: &Report) -> bool {
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    let traced = report.loader.as_ref().and_then(|loader| loader.path.as_deref());
    let traced = traced.and_then(|path| real(Path::new(path)));
    let needs = elf::read(program).unwrap_or_default();
    let mut own: Vec<PathBuf> = program.parent().map(Path::to_path_buf).into_iter().collect();
    own.extend(elf::folders(program, &needs).into_iter().map(PathBuf::from));
    let variable = report.variables.get("LD_LIBRARY_PATH").unwrap_or_default();
    let mut folders = variable.split([':', ';']).filter(|folder| !folder.is_empty());
    let is_other = |link: PathBuf| link.exists() && real(&link) != traced;
    own.iter().any(|folder| folder.join(LINK).exists()) || folders.any(|folder| is_other(Path::new(folder).join(LINK)))
}
