//! Finds variables that the loader of programs does not read, because it is too old.

use super::other::NAME;
use super::{Dropped, NEWER_ONLY_DRIVERS, ONLY_DRIVERS, OtherLoader, codes};
use crate::causes::elf::usual_folders;
use crate::shell::word;
use std::path::Path;

/// Variables that the Khronos loader reads since a version that some systems do not have yet, with the version if its documents name one. The
/// other variables are of this library alone.
const NEWER: [(&str, Option<&str>); 17] = [
    (NEWER_ONLY_DRIVERS, Some("1.3.207")),
    ("VK_ADD_DRIVER_FILES", Some("1.3.207")),
    ("VK_ADD_LAYER_PATH", Some("1.3.207")),
    ("VK_LOADER_DRIVERS_SELECT", Some("1.3.234")),
    ("VK_LOADER_DRIVERS_DISABLE", Some("1.3.234")),
    ("VK_LOADER_LAYERS_ENABLE", Some("1.3.234")),
    ("VK_LOADER_LAYERS_DISABLE", Some("1.3.234")),
    ("VK_LOADER_LAYERS_ALLOW", Some("1.3.262")),
    ("VK_IMPLICIT_LAYER_PATH", None),
    ("VK_ADD_IMPLICIT_LAYER_PATH", None),
    ("VK_LOADER_DEVICE_ID_FILTER", None),
    ("VK_LOADER_VENDOR_ID_FILTER", None),
    ("VK_LOADER_DRIVER_ID_FILTER", None),
    ("VK_LOADER_DEVICE_SELECT", None),
    ("VK_LOADER_DISABLE_SELECT", None),
    ("VK_LOADER_DISABLE_INST_EXT_FILTER", None),
    ("VK_LOADER_DISABLE_DYNAMIC_LIBRARY_UNLOADING", None),
];

/// Returns findings about variables that the programs' loader does not know, because it is too old. `unknown` has the
/// variables with their values.
pub(super) fn find(unknown: &[(&str, &str)], other: &OtherLoader) -> Vec<Dropped> {
    let Some(path) = other.path.as_deref() else {
        return Vec::new();
    };
    let version = other.version.as_deref().unwrap_or("of an unknown version");
    let describe = |(name, value): &(&str, &str)| {
        let (_, since) = NEWER.iter().find(|(known, _)| known == name)?;
        let mut found = codes::VARIABLE_NO_MATCH.about(*name);
        found.reason = format!("{name} has no effect on programs: their loader is too old for it.");
        found.findings = [
            format!("their loader: {path}, {version}"),
            format!("the value of {name}: {value}"),
        ]
        .into();
        if let Some(since) = since {
            found
                .findings
                .push(format!("the Khronos loader reads {name} since version {since}"));
        }
        let update = match &other.owner {
            Some(owner) => format!("Update that loader ({owner})"),
            None if has_another(Path::new(path)) => format!(
                "Remove the old loader, which belongs to no package: rm {} && ldconfig",
                word(path)
            ),
            None => "Install the loader of the distribution, because this one belongs to no package".into(),
        };
        found.advice = if *name == NEWER_ONLY_DRIVERS {
            format!(
                "{update}; or use the name that it knows: {ONLY_DRIVERS}={} PROGRAM",
                word(value)
            )
        } else {
            format!("{update}.")
        };
        Some(found)
    };
    unknown.iter().filter_map(describe).collect()
}

/// Returns `true` if a usual folder has a loader other than the file at `path`.
fn has_another(path: &Path) -> bool {
    let own = std::fs::canonicalize(path).ok();
    let mut folders = usual_folders();
    folders.any(|folder| std::fs::canonicalize(Path::new(folder).join(NAME)).is_ok_and(|found| Some(found) != own))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Ended;

    #[test]
    fn an_old_loader_is_named_with_the_variable_that_it_knows() {
        let other = OtherLoader {
            version: Some("1.2.162".into()),
            path: Some("/nowhere/libvulkan.so.1".into()),
            owner: None,
            ending: Ended::default(),
            is_compared: true,
            differences: Vec::new(),
        };
        let unknown = [
            ("VK_DRIVER_FILES", "/a.json"),
            ("VK_LOADER_VISIBLE_DEVICES", "x"),
            ("VKLT_OTHER", "1"),
        ];
        let found = find(&unknown, &other);
        assert_eq!(found.len(), 1, "the others are of this library, or unknown");
        let advice = &found[0].advice;
        assert!(
            advice.contains("which belongs to no package") || advice.contains("Install the loader"),
            "{advice}"
        );
        assert!(advice.ends_with("VK_ICD_FILENAMES=/a.json PROGRAM"), "{advice}");
    }
}
