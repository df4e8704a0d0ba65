//! Finds variables that the loader of programs does not read, because it is too old.

use super::{Dropped, NEWER_ONLY_DRIVERS, ONLY_DRIVERS, OtherLoader, codes};
use crate::shell::word;

/// Variables that the Khronos loader reads since a version that some systems do not have yet. The other variables are of this library alone, and
/// the list of differences has them.
const NEWER: [&str; 8] = [
    NEWER_ONLY_DRIVERS,
    "VK_ADD_DRIVER_FILES",
    "VK_LOADER_DRIVERS_SELECT",
    "VK_LOADER_DRIVERS_DISABLE",
    "VK_LOADER_LAYERS_ENABLE",
    "VK_LOADER_LAYERS_DISABLE",
    "VK_LOADER_LAYERS_ALLOW",
    "VK_ADD_LAYER_PATH",
];

/// Returns findings about variables that the programs' loader does not know, because it is too old. `unknown` has the
/// variables with their values.
pub(super) fn find(unknown: &[(&str, &str)], other: &OtherLoader) -> Vec<Dropped> {
    let Some(path) = other.path.as_deref() else {
        return Vec::new();
    };
    let version = other.version.as_deref().unwrap_or("of an unknown version");
    let describe = |(name, value): &(&str, &str)| {
        let mut found = codes::VARIABLE_NO_MATCH.about(*name);
        found.reason = format!("{name} has no effect on programs: their loader is too old for it.");
        found.findings = [
            format!("their loader: {path}, {version}"),
            format!("the value of {name}: {value}"),
        ]
        .into();
        let update = match &other.owner {
            Some(owner) => format!("Update that loader ({owner})"),
            None => format!(
                "Remove the old loader, which belongs to no package: rm {} && ldconfig",
                word(path)
            ),
        };
        found.advice = if *name == NEWER_ONLY_DRIVERS {
            format!(
                "{update}; or use the name that it knows: {ONLY_DRIVERS}={} PROGRAM",
                word(value)
            )
        } else {
            format!("{update}.")
        };
        found
    };
    unknown
        .iter()
        .filter(|(name, _)| NEWER.contains(name))
        .map(describe)
        .collect()
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
            ("VK_LOADER_DEVICE_SELECT", "x"),
            ("VKLT_OTHER", "1"),
        ];
        let found = find(&unknown, &other);
        assert_eq!(found.len(), 1, "the others are of this library, or unknown");
        let advice = &found[0].advice;
        assert!(advice.contains("rm /nowhere/libvulkan.so.1 && ldconfig"), "{advice}");
        assert!(advice.ends_with("VK_ICD_FILENAMES=/a.json PROGRAM"), "{advice}");
    }
}
