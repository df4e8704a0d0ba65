//! Tests of systems without the kernel's list of devices.

use super::*;
use crate::report::Verdict;

/// Returns the rank and the reason of the finding about the list of devices in a report with the verdict `verdict`.
fn found(system: &System, verdict: Verdict, broken: &[&str]) -> (u8, String) {
    let mut report = Report {
        verdict,
        ..without_device("libvulkan_radeon.so")
    };
    report.dropped.extend(broken.iter().map(|library| Dropped {
        rank: rank::BROKEN,
        subject: "driver".into(),
        ..codes::DRIVER_NONE_HAS_DEVICE.about(*library)
    }));
    let found = crate::causes::hardware::unlisted::find(&Machine::at(system.0.path()), &report).expect("a finding");
    (found.rank, found.reason)
}

#[test]
fn the_missing_list_is_a_cause_if_something_shows_a_card() {
    let system = System::without_sys();
    system.file("proc/self/status", "").file("dev/null", "");
    let (rank, reason) = found(&system, Verdict::SoftwareOnly, &[]);
    assert_eq!(rank, codes::HARDWARE_NONE.rank());
    assert!(reason.contains("unknown whether"), "{reason}");
    assert_eq!(found(&system, Verdict::Nothing, &[]).0, rank::HARDWARE);
    assert_eq!(found(&system, Verdict::Nothing, &["libx.so"]).0, rank::BROKEN + 1);
    for (file, text, is_card) in [
        ("proc/bus/pci/devices", "0008\t1af41041\ta\t0\t0\tvirtio-pci", false),
        ("proc/bus/pci/devices", "0008\t1af41050\ta\t0\t0\tvirtio-pci", true),
        ("proc/bus/pci/devices", "0300\t1002744c\ta\t0\t0\tamdgpu", true),
        ("proc/bus/pci/devices", "0300\t1002744c\ta\t0\t0", false),
        ("dev/nvidiactl", "", true),
    ] {
        system.file(file, text);
        let (rank, reason) = found(&system, Verdict::SoftwareOnly, &[]);
        assert_eq!(
            (rank == rank::HARDWARE, reason.contains("do not find")),
            (is_card, is_card),
            "{text}"
        );
    }
}

#[test]
fn a_sandbox_without_list_and_nodes_gets_the_options_for_both() {
    let system = System::without_sys();
    system.file("proc/self/status", "").file("dev/null", "");
    let found = || {
        let report = without_device("libvulkan_radeon.so");
        crate::causes::hardware::unlisted::find(&Machine::at(system.0.path()), &report).expect("a finding")
    };
    let both = found();
    assert!(
        both.reason.contains("and the device nodes (/dev/dri) are missing"),
        "{}",
        both.reason
    );
    assert!(
        both.advice.contains("--ro-bind /sys /sys --dev-bind /dev/dri /dev/dri"),
        "{}",
        both.advice
    );
    system.file("dev/dri/renderD128", "");
    assert_eq!(found().advice, codes::HARDWARE_NO_SYS.remedy);
}
