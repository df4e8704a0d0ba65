//! Findings about a loader that a program gets in place of the system's loader, and that fails or is older.

use super::other::NAME;
use super::{Dropped, OtherLoader, Report, codes, rank};
use crate::causes::elf::usual_folders;
use crate::names;
use crate::other::Other;
use crate::shell::word;
use std::path::Path;

/// Returns a finding if the loader of the program belongs to no package, and fails or is older than the system's loader.
pub(super) fn find(report: &Report, other: &Other, described: &OtherLoader) -> Option<Dropped> {
    let path = described.path.as_deref().filter(|_| described.owner.is_none())?;
    let folders = usual_folders().map(Path::new);
    let usual = folders.map(|folder| folder.join(NAME)).find(|path| path.exists())?;
    let usual = std::fs::canonicalize(usual).ok()?;
    let own = std::fs::canonicalize(path).ok()?;
    if own == usual {
        return None;
    }
    let mut found = codes::LOADER_FAILED.about(path);
    let failed = other.seen.instance.filter(|&code| code < 0 && report.is_usable());
    if let Some(code) = failed {
        found.reason = "The program has a Vulkan loader of its own, which fails, but another loader works.".into();
        found.findings = [format!(
            "vkCreateInstance returned {} with that loader",
            names::result(code)
        )]
        .into();
    } else if version(&own)? < version(&usual)? {
        found.reason = format!("Programs get an old Vulkan loader before that of the system: {path}.");
        found.rank = rank::CONSEQUENCE;
    } else {
        return None;
    }
    found
        .findings
        .push(format!("the loader of the system: {}", usual.display()));
    let file = word(&own.display().to_string());
    found.advice = if own.starts_with("/usr/local") {
        format!("Remove this loader, which belongs to no package: rm {file} && ldconfig")
    } else {
        format!("Let the program use the loader of the system: mv {file} {file}.off")
    };
    Some(found)
}

/// Returns the version at the end of the name of a library; `None` for a name without the whole version.
fn version(path: &Path) -> Option<Vec<u32>> {
    let name = path.file_name()?.to_str()?;
    let (_, numbers) = name.split_once(".so.")?;
    let numbers: Option<Vec<u32>> = numbers.split('.').map(|number| number.parse().ok()).collect();
    numbers.filter(|numbers| numbers.len() > 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_libraries_are_compared_by_numbers() {
        let of = |name: &str| version(Path::new(name));
        assert!(of("/l/libvulkan.so.1.2.162") < of("/usr/lib/libvulkan.so.1.3.9"));
        assert!(of("/l/libvulkan.so.1.3.10") > of("/l/libvulkan.so.1.3.9"));
        assert_eq!((of("/l/libvulkan.so"), of("/l/libvulkan.so.1")), (None, None));
    }
}
