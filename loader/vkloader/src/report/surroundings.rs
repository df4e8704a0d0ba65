//! Environments around a program: sandboxes, containers and machines.

use super::Report;

/// Containers that have a system of their own. A program in such a container sees the kernel's list of devices.
pub(crate) const CONTAINERS: [&str; 3] = ["docker", "podman", "container"];
/// Sandboxes and containers whose system files users cannot change.
const FIXED: [&str; 3] = [APPTAINER, "flatpak", "steam"];
const APPTAINER: &str = "apptainer";

impl Report {
    /// Returns `true` if one of the environments in `words` is around the program.
    pub(crate) fn runs_in(&self, words: &[&str]) -> bool {
        self.surroundings.iter().any(|word| words.contains(&word.as_str()))
    }

    /// Returns `true` if the program runs in a container that has a system of its own.
    pub(crate) fn runs_in_container(&self) -> bool {
        self.runs_in(&CONTAINERS)
    }

    /// Returns `true` if the program runs in any container. The host may mount its folders there, and gives NVIDIA's libraries to the container.
    pub(crate) fn gets_files_of_host(&self) -> bool {
        self.runs_in_container() || self.runs_in(&[APPTAINER])
    }

    /// Returns `true` if the program runs in a sandbox or container whose system files users cannot change.
    pub(crate) fn has_fixed_files(&self) -> bool {
        self.runs_in(&FIXED)
    }

    /// Returns `true` if the program runs on the system of the machine, which may be a virtual one.
    pub(crate) fn runs_on_machine(&self) -> bool {
        self.surroundings.iter().all(|word| word == "virtual-machine")
    }
}
