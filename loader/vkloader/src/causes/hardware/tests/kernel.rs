//! Tests of cards without a kernel driver, and of the reasons why the kernel driver is missing.

use super::*;

#[test]
fn each_vendors_card_without_a_kernel_driver_has_its_own_remedy() {
    for (vendor, library, advice) in [
        ("0x1002", false, "modprobe amdgpu"),
        ("0x8086", false, "i915.force_probe=2684"),
        ("0x10de", false, "modprobe nouveau"),
        ("0x10de", true, "modprobe nvidia"),
        ("0x1234", false, "Load the kernel module of the card (amdgpu"),
    ] {
        let system = System::new();
        system.card("0000:01:00.0", "0x030000", vendor, None);
        if library {
            system.file("usr/lib64/libnvidia-glcore.so.550.54.14", "");
        }
        let found = system.found(report());
        assert!(found.dropped[0].advice.contains(advice), "{}", found.dropped[0].advice);
        assert!(found.dropped[0].findings.is_empty());
    }
    let system = System::new();
    system.card("0000:01:00.0", "0x030000", "0x1002", None);
    system.file(
        "etc/modprobe.d/gpu.conf",
        "# blacklist amdgpu\nblacklist i915\n blacklist amdgpu",
    );
    system.file("usr/lib/modprobe.d/vendor.conf", "install amdgpu /bin/false");
    assert_eq!(
        system.found(report()).dropped[0].findings,
        [
            "/etc/modprobe.d/gpu.conf forbids its kernel module: blacklist amdgpu",
            "/usr/lib/modprobe.d/vendor.conf forbids its kernel module: install amdgpu /bin/false"
        ]
    );
}

#[test]
fn cards_that_only_xe_supports_come_with_xe() {
    for (device, module) in [(0xE20B, "xe"), (0x64A0, "xe"), (0x56A0, "i915"), (0xE300, "i915")] {
        let system = System::new();
        system.card("0000:03:00.0", "0x030000", "0x8086", None);
        system.file("sys/bus/pci/devices/0000:03:00.0/device", &format!("{device:#06x}"));
        let found = system.found(report());
        let advice = &found.dropped[0].advice;
        assert!(
            advice.contains(&format!("{module}.force_probe={device:04x}")),
            "{advice}"
        );
        assert_eq!(advice.contains("i915"), module == "i915", "{advice}");
    }
}

#[test]
fn a_tool_that_switches_a_card_off_is_found_by_its_file() {
    let system = System::new();
    system.card("0000:01:00.0", "0x030000", "0x10de", None);
    system.file("usr/lib64/libnvidia-glcore.so.550.54.14", "");
    system.file(
        "etc/modprobe.d/blacklist-nvidia.conf",
        "alias nvidia off\nalias x nvidia\n",
    );
    let found = system.found(report()).dropped.remove(0);
    assert_eq!(
        found.findings,
        ["/etc/modprobe.d/blacklist-nvidia.conf forbids its kernel module: alias nvidia off"]
    );
    assert!(found.advice.contains("envycontrol -s hybrid"), "{}", found.advice);
}

#[test]
fn nvidias_driver_without_its_kernel_module_is_told_by_its_manifest() {
    let system = System::new();
    system.card("0000:01:00.0", "0x030000", "0x10de", None);
    let found = system.found(without_device("/opt/lib/libGLX_nvidia.so.0")).dropped;
    let own = found.iter().find(|one| one.subject == "hardware").expect("a finding");
    assert!(own.advice.contains("dkms status"), "{}", own.advice);
}

#[test]
fn a_kernel_whose_modules_an_update_removed_is_named() {
    let of_kernel = |folder: &str, list: &str| {
        let system = System::new();
        system
            .card("0000:01:00.0", "0x030000", "0x10de", None)
            .file("proc/sys/kernel/osrelease", "6.1.0-18-amd64")
            .file("usr/lib64/libnvidia-glcore.so.550.54.14", "")
            .file(&format!("lib/modules/{folder}/modules.dep"), list);
        system
    };
    let first = |system: &System| {
        let found = system.found(report()).dropped.remove(0);
        (found.findings.joined(" "), found.advice)
    };
    let (finding, advice) = first(&of_kernel("6.1.0-21-amd64", "x"));
    assert!(
        finding.contains("running kernel 6.1.0-18-amd64, but for 6.1.0-21-amd64"),
        "{finding}"
    );
    assert!(advice.contains("start the machine again"), "{advice}");
    // The kernel has modules, but no module of NVIDIA was built for it.
    let (finding, advice) = first(&of_kernel("6.1.0-18-amd64", "kernel/drivers/gpu/drm/amd/amdgpu.ko.xz:"));
    assert_eq!(finding, "the running kernel 6.1.0-18-amd64 has no module nvidia");
    assert!(advice.contains("linux-headers-6.1.0-18-amd64"), "{advice}");
    for module in [
        "nvidia.ko.xz",
        "nvidia-current.ko",
        "nvidia-current-open.ko",
        "nvidia-tesla-470.ko",
    ] {
        let (finding, advice) = first(&of_kernel("6.1.0-18-amd64", &format!("updates/dkms/{module}: x.ko")));
        assert_eq!(
            finding,
            "the running kernel has the module nvidia, but has not loaded it"
        );
        assert!(advice.contains("modprobe nvidia"), "{module}: {advice}");
    }
    // The name `nvidia-wmi-ec-backlight` starts with `nvidia`, but the module is part of the kernel, not of NVIDIA's driver.
    let (finding, _) = first(&of_kernel("6.1.0-18-amd64", "kernel/x/nvidia-wmi-ec-backlight.ko:"));
    assert_eq!(finding, "the running kernel 6.1.0-18-amd64 has no module nvidia");
    // In a container, the folder `lib/modules` does not have the modules of the running kernel.
    let system = of_kernel("6.1.0-21-amd64", "x");
    system.file(".dockerenv", "");
    assert!(first(&system).0.is_empty());
}

#[test]
fn what_dkms_did_for_the_running_kernel_is_told() {
    let first = |files: &[&str]| {
        let system = System::new();
        system
            .card("0000:01:00.0", "0x030000", "0x10de", None)
            .file("proc/sys/kernel/osrelease", "6.1.0-18-amd64")
            .file("usr/lib64/libnvidia-glcore.so.550.54.14", "")
            .file(
                "lib/modules/6.1.0-18-amd64/modules.dep",
                "kernel/drivers/gpu/drm/amd/amdgpu.ko.xz:",
            )
            .file("var/lib/dkms/nvidia-current/550.54.14/source", "");
        for file in files {
            system.file(file, "");
        }
        let found = system.found(report()).dropped.remove(0);
        (found.findings.joined(" "), found.advice)
    };
    let (finding, advice) = first(&[]);
    assert!(
        finding.ends_with("DKMS has nvidia-current/550.54.14, but did not build it for this kernel"),
        "{finding}"
    );
    assert!(
        advice.starts_with("Install the headers of the kernel (linux-headers-6.1.0-18-amd64)"),
        "{advice}"
    );
    let headers = "lib/modules/6.1.0-18-amd64/build";
    let (finding, advice) = first(&[headers, "var/lib/dkms/nvidia-current/550.54.14/build/make.log"]);
    assert!(
        finding.contains("DKMS failed to build nvidia-current/550.54.14"),
        "{finding}"
    );
    assert!(
        advice.contains("dkms install nvidia-current/550.54.14 -k 6.1.0-18-amd64"),
        "{advice}"
    );
    let (finding, _) = first(&[
        headers,
        "var/lib/dkms/nvidia-current/550.54.14/6.1.0-18-amd64/x86_64/log/make.log",
    ]);
    assert!(finding.contains("did not install it"), "{finding}");
}

#[test]
fn a_module_that_is_there_but_not_loaded_is_told_from_one_that_refuses_the_card() {
    let first = |files: &[&str]| {
        let system = System::new();
        system
            .card("0000:03:00.0", "0x030000", "0x1002", None)
            .file("proc/sys/kernel/osrelease", "6.1.0");
        for file in files {
            system.file(file, "kernel/drivers/gpu/drm/amd/amdgpu/amdgpu.ko.zst: kernel/x.ko");
        }
        let found = system.found(report()).dropped.remove(0);
        (found.findings.joined(" "), found.advice)
    };
    let (finding, advice) = first(&["lib/modules/6.1.0/modules.dep"]);
    assert_eq!(
        finding,
        "the running kernel has the module amdgpu, but has not loaded it"
    );
    assert!(
        advice.starts_with("Load the kernel module of the card: modprobe amdgpu."),
        "{advice}"
    );
    let (finding, advice) = first(&["sys/module/amdgpu/refcnt", "usr/lib/firmware/amdgpu/navi21_sos.bin.zst"]);
    assert_eq!(finding, "the kernel module amdgpu is loaded, but does not use the card");
    assert!(
        advice.starts_with("Look in dmesg: the firmware may be missing"),
        "{advice}"
    );
    let (finding, advice) = first(&["sys/module/amdgpu/refcnt"]);
    assert_eq!(
        finding,
        "/lib/firmware/amdgpu is not there: the firmware of the card is not installed the kernel module amdgpu is loaded, but does not use the card"
    );
    assert!(
        advice.starts_with(
            "Install the firmware of the card, and start the machine again: apt install firmware-amd-graphics"
        ),
        "{advice}"
    );
    assert!(advice.contains("If that does not help, look in dmesg"), "{advice}");
    let (finding, _) = first(&["sys/module/amdgpu/refcnt", ".dockerenv"]);
    assert!(!finding.contains("firmware"), "{finding}");
}

#[test]
fn a_word_of_the_kernels_command_line_that_switches_the_card_off_is_named() {
    for (words, vendor, named) in [
        ("quiet i915.modeset=0", "0x8086", Some("i915.modeset=0")),
        (
            "modprobe.blacklist=amdgpu,radeon",
            "0x1002",
            Some("modprobe.blacklist=amdgpu,radeon"),
        ),
        ("amdgpu.modeset=0", "0x8086", None),
        ("i915.force_probe=!2684", "0x8086", Some("i915.force_probe=!2684")),
        ("xe.force_probe=!*", "0x8086", Some("xe.force_probe=!*")),
        ("xe.force_probe=2684,!56a0", "0x8086", None),
    ] {
        let system = System::new();
        system
            .card("0000:01:00.0", "0x030000", vendor, None)
            .file("proc/cmdline", words);
        let found = system.found(report()).dropped.remove(0);
        assert_eq!(found.code, "hardware.no-kernel-driver");
        let advice = named.map(|word| format!("Remove {word} from the kernel's command line"));
        assert_eq!(
            advice.is_some_and(|advice| found.advice.starts_with(&advice)),
            named.is_some(),
            "{words}: {}",
            found.advice
        );
    }
}

#[test]
fn the_file_that_sets_a_word_of_the_command_line_is_named_with_the_command_that_applies_a_change() {
    let first = |files: &[(&str, &str)], words: &str| {
        let system = System::new();
        system
            .card("0000:01:00.0", "0x030000", "0x1002", None)
            .file("proc/cmdline", words);
        for (path, text) in files {
            system.file(path, text);
        }
        let found = system.found(report()).dropped.remove(0);
        (found.findings.joined("; "), found.advice)
    };
    let grub = "# rd.driver.blacklist=amdgpu\nGRUB_CMDLINE_LINUX=\"quiet rd.driver.blacklist=amdgpu\"\n";
    for (program, path, command) in [
        (
            "usr/sbin/update-grub",
            "etc/default/grub",
            "from /etc/default/grub, run update-grub, and",
        ),
        (
            "usr/bin/grub2-mkconfig",
            "etc/default/grub.d/x.cfg",
            "run grub2-mkconfig -o /boot/grub2/grub.cfg",
        ),
        (
            "usr/bin/true",
            "etc/default/grub",
            "run grub-mkconfig -o /boot/grub/grub.cfg",
        ),
        (
            "usr/sbin/proxmox-boot-tool",
            "etc/kernel/cmdline",
            "run proxmox-boot-tool refresh",
        ),
        ("usr/bin/mkinitcpio", "etc/kernel/cmdline", "run mkinitcpio -P"),
        (
            "usr/bin/true",
            "boot/firmware/cmdline.txt",
            "from /boot/firmware/cmdline.txt, and start",
        ),
        (
            "usr/sbin/grubby",
            "etc/default/grub",
            "grubby --update-kernel=ALL --remove-args=rd.driver.blacklist=amdgpu",
        ),
    ] {
        let (findings, advice) = first(&[(path, grub), (program, "")], "quiet rd.driver.blacklist=amdgpu");
        assert_eq!(
            findings,
            format!("the kernel's command line has rd.driver.blacklist=amdgpu; /{path}, line 2, sets it")
        );
        assert!(advice.contains(command), "{advice}");
    }
    let (_, advice) = first(
        &[("etc/default/grub", "GRUB_CMDLINE_LINUX=quiet")],
        "module_blacklist=amdgpu",
    );
    assert!(advice.contains("Most systems set it in /etc/default/grub"), "{advice}");
    let files = [
        ("etc/modprobe.d/x.conf", "blacklist amdgpu"),
        ("usr/sbin/update-initramfs", ""),
    ];
    let (_, advice) = first(&files, "quiet");
    assert!(
        advice.contains("from the file, run update-initramfs -u, and start"),
        "{advice}"
    );
}

#[test]
fn nouveau_that_is_switched_off_for_a_driver_that_is_not_installed_is_named() {
    for (path, text) in [
        ("proc/cmdline", "rd.driver.blacklist=nouveau modprobe.blacklist=nouveau"),
        (
            "etc/modprobe.d/nvidia-installer-disable-nouveau.conf",
            "blacklist nouveau\noptions nouveau modeset=0\n",
        ),
    ] {
        let system = System::new();
        system.card("0000:01:00.0", "0x030000", "0x10de", None).file(path, text);
        let found = system.found(report()).dropped.remove(0);
        assert!(found.findings[0].contains("nouveau"), "{:?}", found.findings);
        let words = "Remove rd.driver.blacklist=nouveau and modprobe.blacklist=nouveau from";
        assert!(
            path != "proc/cmdline" || found.advice.contains(words),
            "{}",
            found.advice
        );
        assert!(
            found.advice.starts_with("Install NVIDIA's driver: "),
            "{}",
            found.advice
        );
        assert!(found.advice.contains("or use nouveau: Remove "), "{}", found.advice);
        // NVIDIA's own driver needs a system without nouveau.
        system.file("usr/lib64/libnvidia-glcore.so.550.54.14", "");
        let found = system.found(report()).dropped.remove(0);
        assert!(found.findings.is_empty(), "{:?}", found.findings);
    }
}

#[test]
fn a_card_that_nvidias_loaded_module_does_not_use_is_named() {
    let system = System::new();
    system
        .card("0000:01:00.0", "0x030000", "0x10de", None)
        .file("usr/lib64/libnvidia-glcore.so.550.54.14", "")
        .file(
            "proc/driver/nvidia/version",
            "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu",
        );
    let found = system.found(report()).dropped.remove(0);
    assert_eq!(
        found.findings,
        ["NVIDIA's kernel module 550.54.14 is loaded, but does not use this card"]
    );
    assert!(found.advice.contains("nvidia-driver-470 (Ubuntu)"), "{}", found.advice);
}

#[test]
fn a_kernel_without_the_drivers_of_cards_is_named() {
    const OTHER: &str = "kernel/drivers/net/virtio_net.ko:";
    for (release, system_of, vendor, modules, built_in, words) in [
        (
            "6.1.0-28-cloud-amd64",
            "ID=debian",
            "0x1002",
            OTHER,
            "",
            "apt install linux-image-amd64",
        ),
        (
            "6.8.0-31-generic",
            "ID=ubuntu",
            "0x1002",
            OTHER,
            "",
            "linux-modules-extra-6.8.0-31-generic",
        ),
        ("6.6.31-0-virt", "ID=alpine", "0x8086", OTHER, "", "apk add linux-lts"),
        ("6.9.1", "ID=other", "0x8086", OTHER, "", "kernel-modules in Fedora"),
        ("6.9.1", "ID=other", "0x10de", OTHER, "", "or nvidia-open (Arch)."),
        (
            "6.9.1",
            "ID=other",
            "0x1002",
            OTHER,
            "kernel/drivers/gpu/drm/amd/amdgpu/amdgpu.ko",
            "modprobe amdgpu",
        ),
        (
            "6.9.1",
            "ID=other",
            "0x8086",
            "kernel/drivers/gpu/drm/xe/xe.ko.zst:",
            "",
            "modprobe xe",
        ),
        ("6.9.1", "ID=other", "0x1002", "", "", "modprobe amdgpu"),
    ] {
        let system = System::new();
        system
            .card("0000:01:00.0", "0x030000", vendor, None)
            .file("proc/sys/kernel/osrelease", release)
            .file("etc/os-release", system_of)
            .file(&format!("lib/modules/{release}/modules.dep"), modules);
        // Without the list of modules that are part of the kernel, it is not known that the module is missing.
        let found = system.found(report()).dropped.remove(0);
        let lacks = |finding: &crate::report::Fact| finding.contains("has no module");
        assert!(!found.findings.iter().any(lacks), "{:?}", found.findings);
        system.file(&format!("lib/modules/{release}/modules.builtin"), built_in);
        let found = system.found(report()).dropped.remove(0);
        assert!(found.advice.contains(words), "{release}: {}", found.advice);
        let is_lacking = found.findings.iter().any(|finding| finding.contains("has no module"));
        assert_eq!(is_lacking, !words.starts_with("modprobe"), "{:?}", found.findings);
        assert!(!is_lacking || !found.advice.contains("modprobe"), "{}", found.advice);
    }
}

/// NVIDIA's own kernel module uses its card also in a kernel that was started with nomodeset.
#[test]
fn nomodeset_is_not_the_cause_for_nvidias_own_module() {
    let system = System::new();
    system.card("0000:01:00.0", "0x030000", "0x10de", None);
    system.file("proc/cmdline", "quiet nomodeset");
    assert_eq!(system.codes(), ["hardware.nomodeset"]);
    system.file("usr/lib64/libnvidia-glcore.so.550.54.14", "");
    assert_eq!(system.codes(), ["hardware.no-kernel-driver"]);
}

#[test]
fn files_that_modprobe_ignores_forbid_no_module() {
    let system = System::new();
    system.card("0000:01:00.0", "0x030000", "0x1002", None);
    system
        .file("etc/modprobe.d/gpu.conf.bak", "blacklist amdgpu")
        .file("usr/lib/modprobe.d/vendor.conf", "blacklist amdgpu")
        .file("etc/modprobe.d/vendor.conf", "# replaces the file of the vendor");
    let found = system.found(report()).dropped.remove(0);
    assert!(found.findings.is_empty(), "{:?}", found.findings);
}

#[test]
fn a_virtio_card_of_an_older_kernel_has_its_node_below_the_virtio_device() {
    let system = System::new();
    system.card("0000:00:01.0", "0x030000", "0x1af4", Some("virtio-pci"));
    let folder = "sys/bus/pci/devices/0000:00:01.0";
    let drm = system.0.path().join(folder).join("drm");
    fs::rename(drm, system.0.path().join(folder).join("moved")).expect("a folder");
    system.file("dev/dri/renderD128", "");
    assert_eq!(system.codes(), ["hardware.display-only"]);
    system.file(&format!("{folder}/virtio0/drm/renderD128/dev"), "226:128");
    let found = system.found(without_device("libvulkan_virtio.so")).dropped;
    assert!(found.iter().any(|one| one.code == "hardware.not-used"), "{found:?}");
}

/// No variable leaves out a driver that does not exist.
#[test]
fn a_card_without_a_vulkan_driver_is_named_beside_a_replaced_search() {
    let system = System::new();
    system.card("0000:00:01.0", "0x030000", "0x15ad", Some("vmwgfx"));
    system.file("dev/dri/renderD128", "");
    let mut report = report();
    find_below(&mut report, system.0.path(), None, true);
    let codes: Vec<&str> = report.dropped.iter().map(|one| one.code.as_str()).collect();
    assert_eq!(codes, ["hardware.without-vulkan"]);
}

#[test]
fn the_second_head_of_a_card_needs_no_kernel_driver() {
    let system = System::new();
    system
        .card("0000:00:02.0", "0x030000", "0x8086", Some("i915"))
        .card("0000:00:02.1", "0x038000", "0x8086", None)
        .card("0000:00:03.1", "0x030000", "0x1002", None);
    let places: Vec<String> = system
        .found(report())
        .hardware
        .into_iter()
        .map(|card| card.place)
        .collect();
    assert_eq!(places, ["0000:00:02.0", "0000:00:03.1"]);
}

#[test]
fn a_container_has_no_kernel_of_its_own() {
    let system = System::new();
    system.card("0000:01:00.0", "0x030000", "0x1002", None);
    system.file(".dockerenv", "");
    let found = system.found(report()).dropped.remove(0);
    let words = "On the host of the container: Load the kernel module of the card: modprobe amdgpu";
    assert!(found.advice.starts_with(words), "{}", found.advice);
}
