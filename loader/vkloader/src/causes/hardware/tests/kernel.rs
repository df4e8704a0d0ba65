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
        (found.findings.join(" "), found.advice)
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
        assert!(
            finding.is_empty() && advice.contains("modprobe nvidia"),
            "{module}: {finding} {advice}"
        );
    }
    // The name `nvidia-wmi-ec-backlight` starts with `nvidia`, but the module is part of the kernel, not of NVIDIA's driver.
    let (finding, _) = first(&of_kernel("6.1.0-18-amd64", "kernel/x/nvidia-wmi-ec-backlight.ko:"));
    assert_eq!(finding, "the running kernel 6.1.0-18-amd64 has no module nvidia");
    // In a container, the folder does not have the modules of the running kernel.
    let system = of_kernel("6.1.0-21-amd64", "x");
    system.file(".dockerenv", "");
    assert!(first(&system).0.is_empty());
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
        ("rd.driver.blacklist=nouveau", "0x10de", None),
        ("amdgpu.modeset=0", "0x8086", None),
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
