//! Finds programs that open the loader by the name of a link that is missing.

use crate::causes::elf;
use crate::events::{Event, Record};
use crate::regular;
use crate::report::{Dropped, Fact, Report, codes, rank};
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
    let bytes = is_small.then(|| regular::read(program).ok()).flatten()?;
    let has = |name: &str| bytes.windows(name.len()).any(|part| part == name.as_bytes());
    let own = elf::Identity::of(program)?;
    // A program with both names may open the library by the other name if the link is missing. So may a script, or a library of the program.
    let names_both = has(&format!("{LINK}.1\0")) || !has(&format!("{LINK}\0"));
    let row = codes::LOADER_NOT_OPENED;
    let may_go_on = if names_both {
        ", unless it then opens the other name"
    } else {
        ""
    };
    let is_missing = !has_own_link(program, report) && elf::without_variable(LINK, own).is_none();
    if is_missing && report.dropped.iter().any(is_absent) {
        return Some(with_loader());
    }
    is_missing.then(|| Dropped {
        rank: if names_both { rank::CONSEQUENCE } else { row.rank() },
        reason: format!(
            "The program opens {LINK}, but only {LINK}.1 is installed, so that it fails without vkloader{may_go_on}."
        ),
        findings: ["vkloader gave the program a library of this name"].into(),
        advice: format!("{}.", sentence(TO_LINK)),
        ..row.about(LINK)
    })
}

/// Returns `true` for the finding that programs find no loader. Programs may also find a broken one.
fn is_absent(found: &Dropped) -> bool {
    let is_about_file = |fact: &Fact| fact.contains("No such file") && fact.contains(&format!("{LINK}.1: "));
    found.code == codes::LOADER_NOT_OPENED.name && found.findings.iter().any(is_about_file)
}

/// Returns the finding for a program on a system that has neither the link nor the loader. A package with the loader alone does not help the program.
fn with_loader() -> Dropped {
    let row = codes::LOADER_NOT_OPENED;
    Dropped {
        rank: row.rank() - 1,
        reason: format!(
            "The program opens {LINK}, and neither this link nor the loader, {LINK}.1, is installed, so that it fails without vkloader."
        ),
        findings: ["vkloader gave the program a library of this name"].into(),
        advice: "Install the package with this link, which brings the loader too: libvulkan-dev (Debian, Ubuntu), vulkan-loader-devel (Fedora) or \
                 vulkan-icd-loader (Arch)."
            .into(),
        ..row.about(LINK)
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_loader_is_not_an_absent_one() {
        let found = |words: &str| Dropped {
            findings: [Fact::of_system(words)].into(),
            ..codes::LOADER_NOT_OPENED.about("libvulkan.so.1")
        };
        let absent = "dlopen failed: libvulkan.so.1: cannot open shared object file: No such file or directory";
        assert!(is_absent(&found(absent)));
        let needed = "dlopen failed: libx.so: cannot open shared object file: No such file or directory";
        assert!(!is_absent(&found(needed)));
        assert!(!is_absent(&found(
            "dlopen failed: /usr/lib/libvulkan.so.1: file too short"
        )));
        let advice = with_loader().advice;
        assert!(advice.contains("libvulkan-dev (Debian, Ubuntu)"), "{advice}");
    }
}
