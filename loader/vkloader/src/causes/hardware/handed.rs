//! Libraries of NVIDIA's driver that a container gets from its host.

use super::CAPABILITIES;
use super::machine::Machine;
use super::places::is_of_home;
use crate::causes::packages;
use crate::report::Report;

/// Returns `true` if a value of [`CAPABILITIES`] selects the libraries for graphics.
pub(super) fn has_graphics(value: &str) -> bool {
    value
        .split(',')
        .any(|word| ["all", "graphics", "display"].contains(&word.trim()))
}

/// Replaces the remedy for a missing library of NVIDIA's driver in a container that asks for the libraries for graphics. The tools of the host leave out
/// libraries that they do not find.
pub(super) fn explain(report: &mut Report, machine: &Machine) {
    let is_asked = report
        .variables
        .get(CAPABILITIES)
        .is_some_and(|value| has_graphics(&value));
    if !is_asked || !report.gets_files_of_host() || is_of_home(machine, report) {
        return;
    }
    let version = machine.nvidia_module().unwrap_or_else(|| "of the host".into());
    let dropped = report.dropped.iter_mut();
    for one in dropped {
        let Some((others, _)) = one.advice.split_once(packages::NVIDIAS_AGAIN) else {
            continue;
        };
        one.advice = format!(
            "{others}NVIDIA's container tools did not hand this library over. Update the package nvidia-container-toolkit on the host, make its CDI file again \
             (nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml), and make a new container. Until then, install NVIDIA's libraries of the version \
             {version} in the image."
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::codes;
    use crate::variables::Variables;

    #[test]
    fn a_library_that_the_host_did_not_hand_over_comes_from_its_tools() {
        let root = tempfile::tempdir().expect("a folder");
        let machine = Machine::seen_from(root.path(), None);
        for (surrounding, value, is_of_host) in [
            ("docker", "all", true),
            ("docker", "compute,utility", false),
            ("virtual-machine", "all", false),
        ] {
            let mut driver = codes::DRIVER_NONE_HAS_DEVICE.about("libGLX_nvidia.so.0");
            driver.advice = packages::nvidias("libnvidia-glcore.so.550.163.01").expect("a library of NVIDIA");
            let mut report = Report {
                surroundings: vec![surrounding.into()],
                variables: Variables::with(CAPABILITIES, value),
                dropped: vec![driver],
                ..Report::default()
            };
            explain(&mut report, &machine);
            let advice = &report.dropped[0].advice;
            assert_eq!(advice.contains("nvidia-ctk cdi generate"), is_of_host, "{advice}");
        }
    }
}
