//! Notices that drivers are installed or removed during an update.

use super::{identify, reads};
use catalogue::Identity;
use std::path::PathBuf;

/// Paths that show an installation. The system's unit starts an update if one of them changes.
const WATCHED: [&str; 5] = [
    "/etc/ld.so.cache",
    "/etc/vulkan/icd.d",
    "/usr/local/share/vulkan/icd.d",
    "/usr/share/vulkan/icd.d",
    "/run/opengl-driver",
];

/// Returns the state of the files that show an installation, and of the entries of folders among them.
pub(super) fn now() -> Vec<(PathBuf, Option<Identity>)> {
    let paths = reads::with_entries(WATCHED.into_iter().map(PathBuf::from).collect());
    let states = paths.into_iter().map(|path| {
        let state = identify::state(&path);
        (path, state)
    });
    states.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    #[test]
    fn the_unit_watches_the_same_paths() {
        let unit =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/systemd/vulkan-loader-catalogue.path.in");
        let text = fs::read_to_string(unit).expect("a unit");
        let watched: Vec<&str> = text
            .lines()
            .filter_map(|line| line.strip_prefix("PathChanged="))
            .collect();
        assert_eq!(WATCHED.iter().find(|path| !watched.contains(path)), None, "{watched:?}");
        assert!(now().iter().any(|(path, _)| path == Path::new(WATCHED[0])));
    }
}
