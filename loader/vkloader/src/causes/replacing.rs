//! Recognises variables that replace the search for drivers by a list that a user chose.

use super::overriding::REPLACING;

/// Folders of the container in which Steam starts programs. Its launcher lists there the drivers that the container gets from the system.
const OF_STEAM: [&str; 2] = ["/usr/lib/pressure-vessel/", "/run/pressure-vessel/"];

/// Returns `true` if a variable replaces the search for drivers by a list that a user chose. The list of Steam's container stands for the drivers of
/// the system, so programs need it.
pub(super) fn is_replacing(name: &str, value: &str) -> bool {
    let mut paths = value.split(':').filter(|path| !path.is_empty()).peekable();
    let is_of_steam = |path: &str| OF_STEAM.iter().any(|folder| path.starts_with(folder));
    // A list without a path replaces the search too, so that there is no driver.
    REPLACING.contains(&name) && (paths.peek().is_none() || !paths.all(is_of_steam))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_drivers_of_steams_container_replaces_no_search() {
        let own = "/usr/lib/pressure-vessel/overrides/share/vulkan/icd.d/0-lvp.json";
        for (name, value, expected) in [
            ("VK_DRIVER_FILES", own.to_owned(), false),
            ("VK_ICD_FILENAMES", format!("{own}:{own}"), false),
            ("VK_DRIVER_FILES", format!("{own}:/home/ann/own.json"), true),
            ("VK_DRIVER_FILES", String::new(), true),
            ("VK_ICD_FILENAMES", ":".into(), true),
            ("VK_ADD_DRIVER_FILES", "/home/ann/own.json".into(), false),
        ] {
            assert_eq!(is_replacing(name, &value), expected, "{name} {value}");
        }
    }
}
