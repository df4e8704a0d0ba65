//! Tests of cards that a container did not get on purpose, and of manifests that a removed driver left.

use super::several::{NVIDIAS, RADEON, Row, failed, first, with};
use super::*;

/// A container with the node of one card has not got that of the other card on purpose.
#[test]
fn a_card_that_a_container_did_not_get_explains_less_than_the_one_that_it_got() {
    let intel: Row = ("0000:00:02.0", "0x8086", "0x46a6", Some("i915"));
    for (container, wanted) in [
        (".dockerenv", "hardware.no-driver"),
        ("etc/hostname", "hardware.no-node"),
    ] {
        let system = with(&[intel, NVIDIAS]);
        fs::remove_file(system.0.path().join("dev/dri/renderD128")).expect("just made");
        system
            .file(container, "")
            .file("dev/nvidiactl", "")
            .file("dev/nvidia0", "");
        let found = first(system.found(idle(&["libvulkan_intel.so"])));
        assert_eq!(found.code, wanted, "{container}");
    }
}

/// The library of a manifest that a removed driver left need not be installed again.
#[test]
fn a_manifest_for_cards_that_the_machine_does_not_have_is_left_over() {
    let rank_of = |cards: &[Row]| {
        let mut report = failed("libGLX_nvidia.so.0", "driver.not-opened");
        report.dropped[0].file = Some("/etc/vulkan/icd.d/nvidia_icd.json".into());
        report.dropped[0].absent = Some(crate::report::Absent::Everywhere);
        let found = with(cards).found(report).dropped;
        let own = found
            .into_iter()
            .find(|one| one.code == "driver.not-opened")
            .expect("a finding");
        (own.rank, own.advice)
    };
    let (rank, advice) = rank_of(&[RADEON]);
    assert_eq!(rank, rank::CONSEQUENCE);
    assert!(advice.ends_with("rm /etc/vulkan/icd.d/nvidia_icd.json"), "{advice}");
    assert_eq!(rank_of(&[RADEON, NVIDIAS]).0, rank::BROKEN);
    assert_eq!(rank_of(&[]).0, rank::BROKEN);
}

/// The driver of a card's maker may have a name that is not known here.
#[test]
fn a_driver_with_an_unknown_name_may_be_that_of_the_card() {
    for (library, is_it) in [
        ("/opt/amdgpu-pro/amdvlkpro64.so", true),
        ("/usr/lib/libvulkan_gfxstream.so", false),
    ] {
        let found = first(with(&[RADEON]).found(idle(&[library])));
        assert_eq!(found.code, "hardware.no-driver");
        assert_eq!(found.reason.contains(library), is_it, "{}", found.reason);
    }
}

/// Debian can have two series of NVIDIA's driver, of which the alternatives choose one.
#[test]
fn the_series_that_the_alternatives_choose_counts() {
    let system = with(&[NVIDIAS]);
    let folder = "usr/lib/x86_64-linux-gnu";
    system
        .file("dev/nvidiactl", "")
        .file("dev/nvidia0", "")
        .file(
            "proc/driver/nvidia/version",
            "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun",
        )
        .file(&format!("{folder}/libnvidia-glcore.so.470.256.02"), "")
        .file(&format!("{folder}/libnvidia-glcore.so.535.183.01"), "")
        .file(&format!("{folder}/nvidia/current/libGLX_nvidia.so.535.183.01"), "");
    let root = system.0.path();
    let link = |from: &str, to: &str| symlink(to, root.join(folder).join(from)).expect("a link");
    link("nvidia/current/libGLX_nvidia.so.0", "libGLX_nvidia.so.535.183.01");
    link("libGLX_nvidia.so.0", "nvidia/current/libGLX_nvidia.so.0");
    let found = system.found(failed("libGLX_nvidia.so.0", "driver.creation-failed"));
    let codes: Vec<&str> = found.dropped.iter().map(|one| one.code.as_str()).collect();
    assert!(!codes.contains(&"hardware.nvidia-versions"), "{codes:?}");
}

/// The driver alone does not help a user who may not open the node of the card.
#[test]
fn a_missing_driver_comes_with_the_closed_node_of_its_card() {
    let system = with(&[RADEON]);
    let report = system.found(idle(&["libvulkan_lvp.so"]));
    let machine = Machine::at(system.0.path());
    for (node, is_closed) in [("/dev/dri/renderD128", true), ("/dev/dri/renderD129", false)] {
        let closed = [machine.path(node)];
        let found = install::missing(&report.hardware[0], &closed, &machine, &report).expect("no driver");
        assert_eq!(found.advice.contains(". Also: "), is_closed, "{}", found.advice);
    }
}

/// An update of the driver does not make a slice of a card usable.
#[test]
fn a_slice_of_nvidias_card_is_named() {
    let system = System::new();
    system.card("0000:65:00.0", "0x030200", "0x10de", Some("nvidia"));
    for file in ["nvidiactl", "nvidia0"] {
        system.file(&format!("dev/{file}"), "");
    }
    let first = || {
        let found = system.found(idle(&["libGLX_nvidia.so.0"]));
        let is_it = |one: &Dropped| one.code == codes::HARDWARE_NOT_USED.name;
        found.dropped.into_iter().find(is_it).expect("a finding")
    };
    assert!(first().advice.contains("NVRM"), "{}", first().advice);
    system.file(
        "proc/driver/nvidia/capabilities/gpu0/mig/gi1/access",
        "DeviceFileMinor: 12",
    );
    let found = first();
    assert!(found.reason.contains("(MIG)"), "{}", found.reason);
    assert!(found.advice.contains("nvidia-smi -mig 0"), "{}", found.advice);
}

/// NVIDIA's driver opens the common node first.
#[test]
fn a_missing_common_node_comes_before_the_driver_that_fails_for_it() {
    let system = System::new();
    system
        .card("0000:01:00.0", "0x030000", "0x10de", Some("nvidia"))
        .file("dev/nvidia0", "");
    let mut report = super::several::failed("libGLX_nvidia.so.0", "driver.creation-failed");
    report.dropped[0].rank = rank::BROKEN;
    let found = super::several::first(system.found(report));
    assert_eq!(found.code, codes::HARDWARE_NO_NODE.name);
}

#[test]
fn the_gpu_of_the_first_raspberry_pis_has_no_vulkan() {
    let card = Card {
        place: "3fc00000.v3d".into(),
        vendor: 0,
        device: 0,
        kernel_driver: Some("vc4".into()),
        node: Some("/dev/dri/renderD128".into()),
    };
    let system = System::new();
    let found = drivers::missing(&card, &Machine::at(system.0.path()), &report()).expect("a finding");
    assert_eq!(found.code, codes::HARDWARE_WITHOUT_VULKAN.name);
    assert!(found.findings.joined("").contains("VideoCore IV"));
}
