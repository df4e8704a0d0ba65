//! Tests of nodes and cards that a sandbox, a container or a changed root folder hides.

use super::*;

#[test]
fn a_system_without_the_kernels_list_of_devices_is_said_as_that() {
    let system = System::without_sys();
    system.file("dev/dri/renderD128", "");
    let found = system.found(without_device("libvulkan_radeon.so"));
    let own = found
        .dropped
        .iter()
        .find(|one| one.subject == "hardware")
        .expect("a finding");
    assert_eq!((own.code.as_str(), own.rank), ("hardware.no-sys", rank::HARDWARE));
    // No driver searched for a device, so the finding about hardware cannot explain the failure.
    assert_eq!(system.found(report()).dropped[0].rank, rank::CONSEQUENCE);
}

#[test]
fn nvidias_libraries_come_from_the_host_in_a_sandbox() {
    for (file, advice) in [
        (
            ".flatpak-info",
            "flatpak install org.freedesktop.Platform.GL.nvidia-535-183-01",
        ),
        (".dockerenv", "docker run --runtime=nvidia --gpus all"),
        ("etc/hostname", "nvidia-vulkan-icd (Debian)"),
    ] {
        let system = System::new();
        system.card("0000:01:00.0", "0x030000", "0x10de", Some("nvidia"));
        system
            .file("dev/nvidiactl", "")
            .file("dev/nvidia0", "")
            .file("dev/dri/renderD128", "")
            .file(file, "");
        system.file(
            "proc/driver/nvidia/version",
            "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun",
        );
        let found = system
            .found(idle(&["libvulkan_lvp.so"]))
            .dropped
            .pop()
            .expect("a finding");
        assert_eq!(found.code, "hardware.no-driver");
        assert!(found.advice.contains(advice), "{}", found.advice);
    }
    // The version of the libraries in Flatpak's folder differs from the kernel module's version.
    let system = System::new();
    system
        .card("0000:01:00.0", "0x030000", "0x10de", Some("nvidia"))
        .file(".flatpak-info", "");
    system.file(
        "proc/driver/nvidia/version",
        "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun",
    );
    system.file(
        "usr/lib/x86_64-linux-gnu/GL/nvidia-550-54-14/lib/libnvidia-glcore.so.550.54.14",
        "",
    );
    let found = system.found(report()).dropped;
    let versions = found
        .iter()
        .find(|one| one.code == "hardware.nvidia-versions")
        .expect("a finding");
    assert!(versions.advice.ends_with("nvidia-535-183-01"), "{}", versions.advice);
}

#[test]
fn a_second_card_that_nothing_uses_comes_last_with_its_reason() {
    for (vendor, driver, code) in [
        ("0x10de", None, Some("hardware.no-kernel-driver")),
        ("0x10de", Some("nvidia"), Some("hardware.no-driver")),
        ("0x10de", Some("nouveau"), Some("hardware.no-driver")),
        ("0x8086", Some("vfio-pci"), Some("hardware.for-guests")),
        ("0x1002", Some("amdgpu"), None),
        ("0x1a03", Some("ast"), None),
    ] {
        let system = System::new();
        system.card("0000:01:00.0", "0x030000", "0x1002", Some("amdgpu"));
        system.card("0000:02:00.0", "0x030000", vendor, driver);
        system
            .file("dev/nvidiactl", "")
            .file("dev/nvidia0", "")
            .file("dev/dri/renderD128", "");
        let found = system.found(with_first_card()).dropped;
        let codes: Vec<&str> = found.iter().map(|one| one.code.as_str()).collect();
        assert_eq!(codes, code.into_iter().collect::<Vec<_>>(), "{vendor} {driver:?}");
        assert!(
            found
                .iter()
                .all(|one| one.rank >= rank::ASIDE && one.name.contains("0000:02"))
        );
        let mut replaced = with_first_card();
        find_below(&mut replaced, system.0.path(), None, true);
        assert!(replaced.dropped.is_empty(), "a variable chooses the drivers");
    }
}

#[test]
fn a_changed_root_folder_comes_with_the_commands_that_mount_what_is_missing() {
    let system = System::without_sys();
    let found = system.found(report()).dropped.remove(0);
    assert_eq!(found.code, "hardware.no-sys");
    assert!(found.reason.contains("(chroot)"), "{}", found.reason);
    let commands = "mount -t proc proc /proc && mount -t sysfs sysfs /sys && mount -t devtmpfs devtmpfs /dev;";
    assert!(found.advice.contains(commands), "{}", found.advice);
    system.file("proc/self/status", "").file("dev/dri/renderD128", "");
    let found = system.found(report()).dropped.remove(0);
    assert_eq!(
        (found.code.as_str(), found.advice.as_str()),
        ("hardware.no-sys", codes::HARDWARE_NO_SYS.remedy)
    );
}

#[test]
fn a_raspberry_pi_without_a_card_comes_with_the_line_for_its_configuration() {
    let system = System::new();
    system.file("sys/firmware/devicetree/base/model", "Raspberry Pi 4 Model B Rev 1.4\0");
    let found = system.found(idle(&["libvulkan_broadcom.so"])).dropped.pop();
    let found = found.expect("a finding");
    assert_eq!(found.code, "hardware.none");
    assert!(found.advice.contains("dtoverlay=vc4-kms-v3d"), "{}", found.advice);
}

#[test]
fn a_node_that_the_system_refuses_despite_its_permissions_is_named() {
    let system = System::new();
    system.card("0000:01:00.0", "0x030000", "0x1002", Some("amdgpu"));
    system.file("dev/dri/renderD128", "");
    let line =
        "it printed: Could not get the kernel driver version for device /dev/dri/renderD128: Operation not permitted";
    for (line, code) in [
        (line, "hardware.no-permission"),
        ("it printed: Permission denied", "hardware.not-used"),
        ("it printed: no firmware for /dev/dri/renderD128", "hardware.not-used"),
    ] {
        let mut printed = idle(&["libvulkan_radeon.so"]);
        printed.dropped[0].findings.push(line);
        let found = system.found(printed).dropped.pop().expect("a finding");
        assert_eq!(found.code, code, "{line}");
        assert_eq!(
            found.advice.contains("AppArmor, SELinux"),
            code == "hardware.no-permission"
        );
    }
    system.file(".dockerenv", "");
    let mut printed = idle(&["libvulkan_radeon.so"]);
    printed.dropped[0].findings.push(line);
    let found = system.found(printed).dropped.pop().expect("a finding");
    assert!(found.advice.contains("--device /dev/dri"), "{}", found.advice);
}

#[test]
fn a_node_that_is_not_handed_in_comes_with_the_words_of_the_sandbox() {
    for (file, driver, vendor, advice) in [
        (
            ".flatpak-info",
            "amdgpu",
            "0x1002",
            "flatpak override --user --device=dri",
        ),
        (
            ".flatpak-info",
            "nvidia",
            "0x10de",
            "flatpak override --user --device=dri",
        ),
        (".dockerenv", "i915", "0x8086", "docker run --device /dev/dri"),
        (".dockerenv", "nvidia", "0x10de", "docker run --gpus all"),
        (".dockerenv", "dxgkrnl", "0x1414", "docker run --device /dev/dxg"),
        ("dev/null", "dxgkrnl", "0x1414", "wsl --update"),
        ("dev/null", "amdgpu", "0x1002", "look in dmesg"),
    ] {
        let system = System::new();
        system
            .card("0000:01:00.0", "0x030000", vendor, Some(driver))
            .file(file, "");
        let found = system.found(idle(&["libvulkan_radeon.so"])).dropped;
        let found = found
            .iter()
            .find(|one| one.code == "hardware.no-node")
            .expect("a finding");
        assert!(found.advice.contains(advice), "{driver}: {}", found.advice);
    }
}

#[test]
fn the_remedy_for_a_missing_node_or_card_fits_the_surroundings() {
    for (file, advice) in [
        ("run/.containerenv", "podman run --device /dev/dri"),
        ("run/systemd/container", "systemd-nspawn --bind=/dev/dri"),
        ("run/secrets/kubernetes.io/token", "systemd-nspawn --bind=/dev/dri"),
        ("proc/1/root/x", "mount --rbind /dev ROOT/dev"),
        ("proc/self/mountinfo", "mount --rbind /dev ROOT/dev"),
    ] {
        let system = System::new();
        system
            .card("0000:01:00.0", "0x030000", "0x1002", Some("amdgpu"))
            .file(file, "21 20 0:1 / /proc rw - proc proc rw");
        let found = system.found(idle(&["libvulkan_radeon.so"])).dropped;
        let found = found
            .iter()
            .find(|one| one.code == "hardware.no-node")
            .expect("a finding");
        assert!(found.advice.contains(advice), "{}", found.advice);
    }
    // A container sees the device list of its host, so an option of the container cannot help.
    let system = System::new();
    system.file(".dockerenv", "");
    let found = system
        .found(idle(&["libvulkan_radeon.so"]))
        .dropped
        .pop()
        .expect("a finding");
    assert_eq!(found.code, "hardware.none");
    assert!(
        found.advice.contains("the host") && !found.advice.contains("--device"),
        "{}",
        found.advice
    );
}
