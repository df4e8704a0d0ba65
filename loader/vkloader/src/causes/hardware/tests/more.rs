//! Tests of sandboxes, second cards, and drivers that are installed but not found.

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
fn an_installed_driver_without_a_manifest_is_named() {
    let system = System::new();
    system.card("0000:01:00.0", "0x030000", "0x10de", Some("nvidia"));
    system
        .file("dev/nvidiactl", "")
        .file("dev/nvidia0", "")
        .file("dev/dri/renderD128", "");
    system.file("usr/lib/x86_64-linux-gnu/libGLX_nvidia.so.0", "");
    let found = |report: Report| system.found(report).dropped.pop().expect("a finding");
    let one = found(idle(&["libvulkan_lvp.so"]));
    assert_eq!((one.code.as_str(), one.rank), ("hardware.no-manifest", rank::HARDWARE));
    assert!(
        one.advice.contains("\"library_path\": \"libGLX_nvidia.so.0\""),
        "{}",
        one.advice
    );
    assert!(
        one.advice.ends_with(">/etc/vulkan/icd.d/nvidia_icd.json"),
        "{}",
        one.advice
    );
    // If the machine has an ignored manifest, or a manifest in a folder that is not searched, the remedy names that manifest.
    system.file("usr/share/vulkan/icd.d/nvidia_icd.disabled", "libGLX_nvidia.so.0");
    let advice = found(idle(&["libvulkan_lvp.so"])).advice;
    assert!(
        advice.ends_with(
            "mv /usr/share/vulkan/icd.d/nvidia_icd.disabled /usr/share/vulkan/icd.d/nvidia_icd.disabled.json"
        ),
        "{advice}"
    );
    system.file("etc/vulkan/icd.d/nvidia_icd.json", "libGLX_nvidia.so.0");
    let advice = found(idle(&["libvulkan_lvp.so"])).advice;
    assert!(
        advice.starts_with("Name the manifest: VK_ADD_DRIVER_FILES=/etc/vulkan/icd.d/nvidia_icd.json"),
        "{advice}"
    );
    assert_eq!(found(idle(&["libGLX_nvidia.so.0"])).code, "hardware.not-used");
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

/// Returns a report with a usable card of AMD.
pub(super) fn with_first_card() -> Report {
    let seen = crate::probe::Device {
        kind: "integrated".into(),
        vendor: 0x1002,
        device: 0x2684,
        created: Some(0),
        ..crate::probe::Device::default()
    };
    let mut report = idle(&["libvulkan_radeon.so"]);
    report.dropped.clear();
    report.devices.push(crate::report::of_other(&seen, ""));
    report.devices[0].is_usable = true;
    report
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
fn a_driver_that_was_left_behind_by_another_card_is_not_the_cause() {
    let system = System::new();
    system.card("0000:01:00.0", "0x030000", "0x1002", Some("amdgpu"));
    system.file("dev/dri/renderD128", "");
    let mut left = report();
    left.dropped.push(Dropped {
        rank: rank::BROKEN,
        subject: "driver".into(),
        code: "driver.not-opened".into(),
        ..codes::DRIVER_NONE_HAS_DEVICE.about("libGLX_nvidia.so.0")
    });
    let found = system.found(left).dropped.pop().expect("a finding");
    assert_eq!(
        (found.code.as_str(), found.rank),
        ("hardware.no-driver", rank::HARDWARE)
    );
    assert!(found.advice.contains("libvulkan_radeon (openSUSE)"), "{}", found.advice);
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
fn a_manifest_of_a_removed_driver_is_not_the_driver_of_the_card() {
    let system = System::new();
    system.card("0000:01:00.0", "0x030000", "0x10de", Some("nouveau"));
    system.file("dev/dri/renderD128", "");
    let mut left = report();
    left.dropped.push(Dropped {
        rank: rank::BROKEN,
        subject: "driver".into(),
        code: "driver.not-opened".into(),
        ..codes::DRIVER_NONE_HAS_DEVICE.about("/nowhere/libGLX_nvidia.so.0")
    });
    let found = system.found(left).dropped.pop().expect("a finding");
    assert_eq!(
        (found.code.as_str(), found.rank),
        ("hardware.no-driver", rank::HARDWARE)
    );
    assert!(found.advice.contains("vulkan-nouveau (Arch)"), "{}", found.advice);
}

#[test]
fn a_driver_without_an_instance_is_the_cause_unless_it_lacks_a_library() {
    let system = System::new();
    system.card("0000:01:00.0", "0x030000", "0x10de", Some("nvidia"));
    system
        .file("dev/nvidiactl", "")
        .file("dev/nvidia0", "")
        .file("dev/dri/renderD128", "");
    for (names_file, code) in [(false, Some("hardware.not-used")), (true, None)] {
        let mut refused = report();
        refused.dropped.push(Dropped {
            rank: rank::BROKEN,
            subject: "driver".into(),
            code: "driver.creation-failed".into(),
            names_file,
            ..codes::DRIVER_NONE_HAS_DEVICE.about("libGLX_nvidia.so.0")
        });
        let found = system.found(refused).dropped.split_off(1);
        assert_eq!(found.first().map(|one| one.code.as_str()), code);
        assert!(found.iter().all(|one| one.advice.contains("nvidia-smi")));
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

/// A manifest that this user may not read may be the one that names the driver.
#[test]
fn a_closed_manifest_may_name_the_driver() {
    let system = System::new();
    system.card("0000:01:00.0", "0x030000", "0x1002", Some("amdgpu"));
    system
        .file("dev/dri/renderD128", "")
        .file("usr/lib/x86_64-linux-gnu/libvulkan_radeon.so", "");
    for (code, is_named) in [("file.not-opened", false), ("file.invalid-json", true)] {
        let mut report = report();
        report.dropped.push(Dropped {
            code: code.into(),
            rank: rank::BROKEN,
            ..codes::DRIVER_NONE_HAS_DEVICE.about("/usr/share/vulkan/icd.d/radeon_icd.json")
        });
        let found = system.found(report).dropped;
        let has_it = found.iter().any(|one| one.code == "hardware.no-manifest");
        assert_eq!(has_it, is_named, "{code}");
    }
}
