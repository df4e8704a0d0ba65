//! Tests of WSL, in which programs use the graphics card of Windows.

use super::*;

#[test]
fn the_card_of_windows_is_hardware_in_wsl() {
    let system = System::new();
    system
        .file("dev/dxg", "")
        .file("proc/sys/kernel/osrelease", "5.15.90-microsoft-standard-WSL2");
    let found = system.found(idle(&["libvulkan_lvp.so"]));
    assert_eq!(found.hardware[0].to_string(), "/dev/dxg (dxgkrnl)");
    let own = found.dropped.last().expect("a finding");
    assert_eq!(own.code, "hardware.no-driver");
    assert!(own.advice.contains("libvulkan_dzn.so"), "{}", own.advice);
    // The PCI bus may also list the card that Windows provides.
    let folder = "sys/bus/pci/devices/1111:00:00.0";
    system
        .file(&format!("{folder}/class"), "0x030200")
        .file(&format!("{folder}/vendor"), "0x1414");
    symlink(
        "/sys/bus/pci/drivers/dxgkrnl",
        system.0.path().join(folder).join("driver"),
    )
    .expect("a link");
    let found = system.found(idle(&["libvulkan_dzn.so"]));
    assert_eq!(found.hardware.len(), 1);
    let own = found
        .dropped
        .iter()
        .find(|one| one.subject == "hardware")
        .expect("a finding");
    assert_eq!(own.code, "hardware.not-used");
    assert!(own.advice.contains("wsl --update"), "{}", own.advice);
}

#[test]
fn the_first_version_of_wsl_and_a_container_in_wsl_have_remedies_of_their_own() {
    for (kernel, file, words) in [
        (
            "4.4.0-19041-Microsoft",
            "etc/hostname",
            "wsl --set-version DISTRIBUTION 2",
        ),
        (
            "5.15.90-microsoft-standard-WSL2",
            "etc/hostname",
            "In Windows: wsl --update",
        ),
        (
            "5.15.90-microsoft-standard-WSL2",
            ".dockerenv",
            "docker run --device /dev/dxg",
        ),
    ] {
        let system = System::new();
        system.file("proc/sys/kernel/osrelease", kernel).file(file, "");
        let found = system.found(report()).dropped;
        let found = found
            .iter()
            .find(|one| one.code == "hardware.no-node")
            .expect("a finding");
        assert!(found.advice.contains(words), "{kernel} {file}: {}", found.advice);
    }
}

#[test]
fn the_card_of_windows_that_wsl_does_not_show_comes_first() {
    let system = System::new();
    system.file("proc/sys/kernel/osrelease", "5.15.90-microsoft-standard-WSL2");
    let mut failed = report();
    failed.dropped.push(Dropped {
        rank: rank::BROKEN,
        code: "device.enumeration-failed".into(),
        file: Some("/usr/lib/libvulkan_dzn.so".into()),
        ..codes::DRIVER_NONE_HAS_DEVICE.about("")
    });
    let found = system.found(failed).dropped.pop().expect("a finding");
    assert_eq!((found.code.as_str(), found.rank), ("hardware.no-node", rank::HARDWARE));
    assert!(found.advice.contains("wsl --update"), "{}", found.advice);
    system.file("dev/dxg", "");
    assert!(system.found(report()).dropped.iter().all(|one| one.name != "/dev/dxg"));
}
