//! Tests of systems without the kernel's list of devices, and of systems whose list shows no card.

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

#[test]
fn a_container_of_docker_desktop_is_recognised_by_its_kernel() {
    for (kernel, words) in [
        ("6.10.14-linuxkit", "docker context use default"),
        ("6.12.0-amd64", "lspci -nn"),
    ] {
        let system = System::new();
        system.file(".dockerenv", "").file("proc/sys/kernel/osrelease", kernel);
        let found = system.found(without_device("libvulkan_lvp.so")).dropped;
        let none = found.iter().find(|one| one.code == codes::HARDWARE_NONE.name);
        let advice = &none.expect("a finding").advice;
        assert!(advice.contains(words), "{kernel}: {advice}");
    }
}

/// The words of a driver show that it is a build for KGSL.
#[test]
fn a_build_for_kgsl_that_failed_needs_no_other_build() {
    for (line, is_right) in [
        (
            "WARNING: [../src/freedreno/vulkan/tu_knl_kgsl.cc:1853] Code 0 : unknown UBWC version 0x5",
            true,
        ),
        ("TU: error: could not open the device", false),
    ] {
        let system = System::new();
        system.file("dev/kgsl-3d0", "");
        let mut failed = report();
        failed.dropped.push(Dropped {
            code: "device.enumeration-failed".into(),
            file: Some("/usr/lib/libvulkan_freedreno.so".into()),
            findings: [crate::report::Fact::printed(line)].into(),
            ..codes::DRIVER_NONE_HAS_DEVICE.about("")
        });
        let advice = system.found(failed).dropped.remove(0).advice;
        assert_eq!(!advice.contains("freedreno-kmds=kgsl"), is_right, "{advice}");
    }
}

/// Images for containers bring the manifest of NVIDIA's driver, whose library comes from the host.
#[test]
fn a_manifest_without_its_library_explains_nothing_on_a_machine_without_a_card() {
    let failed = || {
        let mut failed = without_device("libvulkan_lvp.so");
        failed.dropped.push(Dropped {
            code: "driver.not-opened".into(),
            rank: rank::BROKEN,
            file: Some("/usr/share/vulkan/icd.d/nvidia_icd.json".into()),
            absent: Some(crate::report::Absent::Everywhere),
            ..codes::DRIVER_NONE_HAS_DEVICE.about("libGLX_nvidia.so.0")
        });
        failed
    };
    for (place, is_aside) in [("0000:00:00.0", true), ("", false)] {
        let system = System::new();
        if !place.is_empty() {
            system.card(place, "0x060000", "0x8086", None);
        }
        let found = system.found(failed()).dropped;
        let driver = found
            .iter()
            .find(|one| one.code == "driver.not-opened")
            .expect("a finding");
        assert_eq!(driver.rank == rank::ASIDE, is_aside, "{place}");
        let none = found.iter().find(|one| one.code == codes::HARDWARE_NONE.name);
        assert_eq!(
            none.is_some_and(|one| one.rank < rank::CONSEQUENCE),
            is_aside,
            "{place}"
        );
    }
}
