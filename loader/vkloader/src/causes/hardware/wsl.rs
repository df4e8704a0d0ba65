//! Finds WSL without the graphics card of Windows.

use super::machine::{Machine, WINDOWS_NODE};
use crate::report::{Dropped, Report, codes};

/// Remedies for WSL without the graphics card of Windows: for WSL 1, for a container in WSL, and for WSL 2 itself.
const FROM_WSL_1: &str =
    "WSL 1 has no graphics, so change the distribution to WSL 2, in Windows: wsl --set-version DISTRIBUTION 2";
const IN_WSL_CONTAINER: &str = "Make the card available to the container: docker run --device /dev/dxg -v /usr/lib/wsl:/usr/lib/wsl -e \
    LD_LIBRARY_PATH=/usr/lib/wsl/lib IMAGE. If the node is missing in WSL too, in Windows: wsl --update, then wsl --shutdown.";
const FROM_WSL_2: &str = "In Windows: wsl --update, then wsl --shutdown. If that does not help, remove gpuSupport=false from the file .wslconfig in the \
    home folder of the Windows user, and update the driver of the card in Windows.";

/// Returns a finding for WSL in which the graphics card of Windows is missing.
pub(super) fn missing(machine: &Machine, report: &Report) -> Option<Dropped> {
    let is_wsl = report.runs_in(&["wsl"]);
    of_card(WINDOWS_NODE.into(), machine, report).filter(|_| is_wsl)
}

/// Returns a finding about `name` if the node of the graphics card of Windows is missing.
pub(super) fn of_card(name: String, machine: &Machine, report: &Report) -> Option<Dropped> {
    (!machine.has(WINDOWS_NODE)).then(|| Dropped {
        reason: "WSL provides no graphics card of Windows here.".into(),
        findings: [format!("{WINDOWS_NODE} is not there")].into(),
        advice: to_get_windows(machine, report),
        ..codes::HARDWARE_NO_NODE.about(name)
    })
}

/// Returns the remedy for WSL in which the graphics card of Windows is missing. The kernel of WSL 1 has the name `Microsoft` alone.
fn to_get_windows(machine: &Machine, report: &Report) -> String {
    let kernel = machine.text("proc/sys/kernel/osrelease");
    let is_first = kernel.ends_with("-Microsoft") && !kernel.to_lowercase().contains("wsl2");
    let distribution = report.variables.get("WSL_DISTRO_NAME");
    match (report.gets_files_of_host(), is_first) {
        (true, _) => IN_WSL_CONTAINER.into(),
        (false, true) => FROM_WSL_1.replace("DISTRIBUTION", distribution.as_deref().unwrap_or("DISTRIBUTION")),
        (false, false) => FROM_WSL_2.into(),
    }
}
