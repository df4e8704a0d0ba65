//! Notices that drivers are installed or removed during an update.

use super::{identify, reads};
use catalogue::Identity;
use std::path::PathBuf;

/// Paths that show an installation, and settings that drivers read. The system's units start an update if one of them changes.
const WATCHED: [&str; 12] = [
    "/etc/ld.so.cache",
    "/etc/vulkan/icd.d",
    "/usr/local/share/vulkan/icd.d",
    "/usr/share/vulkan/icd.d",
    "/run/opengl-driver",
    "/usr/share/drirc.d",
    "/etc/drirc",
    "/usr/share/nvidia",
    "/etc/nvidia/nvidia-application-profiles-rc",
    "/etc/nvidia/nvidia-application-profiles-rc.d",
    "/etc/amd",
    "/usr/share/libdrm/amdgpu.ids",
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
    fn the_units_watch_the_same_paths() {
        let units = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/systemd");
        let text = ["linker", "catalogue"]
            .map(|name| fs::read_to_string(units.join(format!("vulkan-loader-{name}.path.in"))).expect("a unit"));
        let lines = text.iter().flat_map(|text| text.lines());
        let watched: Vec<&str> = lines.filter_map(|line| line.strip_prefix("PathChanged=")).collect();
        assert_eq!(watched, WATCHED);
        assert!(now().iter().any(|(path, _)| path == Path::new(WATCHED[0])));
    }
}
