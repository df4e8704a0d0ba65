mod containers;
mod hosts;
mod installed;
mod kernel;
mod several;
mod surroundings;
mod unchosen;
mod unlisted;
mod wsl;

use super::permissions::{for_pod, to_join, to_open};
use super::*;
use crate::report::Loader;
use std::fs;
use std::os::unix::fs::symlink;

/// The files of an imitated system, in a temporary folder.
struct System(tempfile::TempDir);

impl System {
    fn new() -> Self {
        let system = Self::without_sys();
        fs::create_dir_all(system.0.path().join("sys/bus")).expect("folders");
        system
    }

    fn without_sys() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn file(&self, path: &str, text: &str) -> &Self {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        fs::write(path, format!("{text}\n")).expect("a file");
        self
    }

    /// Adds a PCI device. If a driver is bound to the device, also adds a render node.
    fn card(&self, place: &str, class: &str, vendor: &str, driver: Option<&str>) -> &Self {
        let folder = format!("sys/bus/pci/devices/{place}");
        for (file, text) in [("class", class), ("vendor", vendor), ("device", "0x2684")] {
            self.file(&format!("{folder}/{file}"), text);
        }
        if let Some(driver) = driver {
            symlink(
                format!("/sys/bus/pci/drivers/{driver}"),
                self.0.path().join(&folder).join("driver"),
            )
            .expect("a link");
            self.file(&format!("{folder}/drm/renderD128/dev"), "226:128");
        }
        self
    }

    fn found(&self, mut report: Report) -> Report {
        find_below(&mut report, self.0.path(), None, false);
        report
    }

    fn codes(&self) -> Vec<String> {
        let found = self.found(report());
        found.dropped.into_iter().map(|dropped| dropped.code).collect()
    }
}

fn report() -> Report {
    Report {
        loader: Some(Loader {
            version: String::new(),
            path: None,
            owner: None,
            word_size: 64,
            executable: None,
        }),
        searched: vec!["/usr/share/vulkan/icd.d".into()],
        ..Report::default()
    }
}

fn without_device(library: &str) -> Report {
    let mut dropped = codes::DRIVER_NONE_HAS_DEVICE.about(library);
    dropped.code = "driver.no-devices".into();
    Report {
        dropped: vec![dropped],
        ..report()
    }
}

/// Returns a report with a usable card of AMD.
fn with_first_card() -> Report {
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
fn a_card_without_a_kernel_driver_is_named() {
    let system = System::new();
    system
        .card("0000:01:00.0", "0x030000", "0x10de", None)
        .card("0000:03:00.0", "0x020000", "0x10de", None);
    let found = system.found(report());
    let names: Vec<&str> = found.dropped.iter().map(|dropped| dropped.name.as_str()).collect();
    assert_eq!(names, ["0000:01:00.0 (10de:2684, no kernel driver)"]);
    assert_eq!(found.dropped[0].code, "hardware.no-kernel-driver");
    system.file("proc/cmdline", "root=/dev/sda1 nomodeset quiet");
    assert_eq!(system.codes(), ["hardware.nomodeset"]);
}

#[test]
fn a_card_for_a_virtual_machine_and_one_without_a_node() {
    let system = System::new();
    system.card("0000:01:00.0", "0x030000", "0x1002", Some("vfio-pci"));
    assert_eq!(system.codes(), ["hardware.for-guests"]);
    let found = system.found(report()).dropped.remove(0);
    assert!(
        found
            .advice
            .contains("echo 0000:01:00.0 >/sys/bus/pci/drivers/vfio-pci/unbind"),
        "{}",
        found.advice
    );
    system.file("proc/cmdline", "quiet vfio-pci.ids=10de:2684,1002:2684");
    let found = system.found(report()).dropped.remove(0);
    let words = "Remove vfio-pci.ids=10de:2684,1002:2684 from the kernel's command line";
    assert!(found.advice.starts_with(words), "{}", found.advice);
    system
        .file(
            "etc/modprobe.d/vfio.conf",
            "# own\noptions vfio-pci ids=10de:2684,1002:2684\n",
        )
        .file("usr/sbin/update-initramfs", "");
    let found = system.found(report()).dropped.remove(0);
    assert_eq!(
        found.findings,
        ["/etc/modprobe.d/vfio.conf, line 2, reserves 1002:2684"]
    );
    let words = "Remove 1002:2684 from line 2 of /etc/modprobe.d/vfio.conf, run update-initramfs -u, and start the machine again";
    assert!(found.advice.starts_with(words), "{}", found.advice);
    let system = System::new();
    system.card("0000:01:00.0", "0x030000", "0x1002", Some("amdgpu"));
    assert_eq!(system.codes(), ["hardware.no-node"]);
    system.file("dev/dri/renderD128", "");
    assert_eq!(system.codes(), ["hardware.no-driver"]);
    fs::remove_dir_all(system.0.path().join("sys/bus/pci/devices/0000:01:00.0/drm")).expect("it is there");
    // `amdgpu` creates a node for each card, so a card without a node means that `amdgpu` failed for the card.
    let found = system.found(report()).dropped.remove(0);
    assert_eq!(
        (found.code.as_str(), &found.findings[..]),
        (
            "hardware.no-node",
            &["amdgpu made no device node for the card".into()][..]
        )
    );
    let system = System::new();
    system.card("0000:01:00.0", "0x030000", "0x1a03", Some("ast"));
    fs::remove_dir_all(system.0.path().join("sys/bus/pci/devices/0000:01:00.0/drm")).expect("it is there");
    assert_eq!(system.codes(), ["hardware.display-only"]);
}

#[test]
fn nvidias_card_with_the_other_kernel_driver() {
    let system = System::new();
    system.card("0000:01:00.0", "0x030000", "0x10de", Some("nouveau"));
    system.file("dev/dri/renderD128", "");
    let found = system.found(without_device("/usr/lib/libGLX_nvidia.so.0"));
    assert_eq!(found.dropped[1].code, "hardware.nouveau");
    let advice = &found.dropped[1].advice;
    assert!(advice.contains("echo blacklist nouveau >/etc/modprobe.d/"), "{advice}");
    system.file("etc/modprobe.d/nouveau.conf", "blacklist nouveau\n");
    let again = system.found(without_device("/usr/lib/libGLX_nvidia.so.0"));
    let advice = &again.dropped[1].advice;
    assert!(
        advice.starts_with("Make the image with which the kernel starts again: "),
        "{advice}"
    );
    assert!(found.dropped[0].findings[0].contains("no device here has its kernel driver (nvidia"));
}

#[test]
fn nvidias_library_and_module_of_different_versions() {
    let system = System::new();
    system.card("0000:01:00.0", "0x030000", "0x10de", Some("nvidia"));
    system
        .file("dev/nvidiactl", "")
        .file("dev/nvidia0", "")
        .file("dev/dri/renderD128", "");
    system.file(
        "proc/driver/nvidia/version",
        "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May 12 2024\nGCC version: 12.2.0",
    );
    system.file("usr/lib/x86_64-linux-gnu/libnvidia-glcore.so.535.183.01", "");
    assert_eq!(system.codes(), ["hardware.no-driver"]);
    fs::remove_file(
        system
            .0
            .path()
            .join("usr/lib/x86_64-linux-gnu/libnvidia-glcore.so.535.183.01"),
    )
    .expect("it is there");
    system.file("usr/lib/x86_64-linux-gnu/libnvidia-glcore.so.550.54.14", "");
    // The text of NVIDIA's open kernel module differs from the text of the proprietary module.
    system.file(
        "proc/driver/nvidia/version",
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  535.183.01  Release Build",
    );
    let found = system.found(report());
    assert_eq!(found.dropped[0].code, "hardware.nvidia-versions");
    assert_eq!(
        found.dropped[0].findings,
        ["kernel module 535.183.01, user libraries 550.54.14"]
    );
    // The program opened a library in a folder of its own, so the libraries in the usual folders do not count.
    system.file("opt/nvidia/libnvidia-glcore.so.560.35.03", "");
    let found = system.found(without_device("/opt/nvidia/libGLX_nvidia.so.0"));
    let versions = found.dropped.iter().find(|one| one.code == "hardware.nvidia-versions");
    assert_eq!(
        versions.expect("a finding").findings,
        ["kernel module 535.183.01, user libraries 560.35.03"]
    );
}

#[test]
fn a_container_without_the_libraries_for_graphics() {
    let system = System::new();
    system.file("dev/nvidiactl", "");
    let machine = Machine::at(system.0.path());
    for (value, expected) in [
        (Some("compute,utility"), true),
        (Some("all"), false),
        (Some("compute,graphics"), false),
        (None, false),
    ] {
        assert_eq!(capabilities(&machine, value).is_some(), expected, "{value:?}");
    }
    let place = || capabilities(&machine, Some("compute")).expect("a finding").rank;
    // An image may have the driver itself, but not the libraries that the driver opens.
    system.file("usr/lib/x86_64-linux-gnu/libGLX_nvidia.so.0", "");
    assert_eq!(place(), rank::HARDWARE);
    system.file("usr/lib/x86_64-linux-gnu/libnvidia-glvkspirv.so.535.129.03", "");
    assert!(place() > rank::BROKEN);
}

#[test]
fn a_machine_without_a_card_comes_with_what_it_is() {
    let system = System::new();
    assert_eq!(system.codes(), ["hardware.none"]);
    for (file, text, word, advice) in [
        (".flatpak-info", "", "flatpak", "--device=dri"),
        ("run/.containerenv", "", "podman", "The kernel of the host lists no"),
        (".dockerenv", "", "docker", "The kernel of the host lists no"),
        (
            "proc/sys/kernel/osrelease",
            "5.15.90-microsoft-standard-WSL2",
            "wsl",
            "wsl --update",
        ),
        (
            "proc/cpuinfo",
            "flags\t\t: fpu hypervisor lahf_lm",
            "virtual-machine",
            "virtio-gpu",
        ),
    ] {
        let system = System::new();
        system.file(file, text);
        let found = system.found(report());
        assert_eq!(found.surroundings, [word]);
        assert!(found.dropped[0].advice.contains(advice), "{}", found.dropped[0].advice);
    }
}

#[test]
fn a_gpu_of_the_platform_is_hardware() {
    let system = System::new();
    let device = system.0.path().join("sys/devices/platform/1000000.gpu");
    fs::create_dir_all(&device).expect("folders");
    fs::create_dir_all(system.0.path().join("sys/class/drm/renderD128")).expect("folders");
    symlink("/sys/bus/platform", device.join("subsystem")).expect("a link");
    symlink("/sys/bus/platform/drivers/panfrost", device.join("driver")).expect("a link");
    symlink(&device, system.0.path().join("sys/class/drm/renderD128/device")).expect("a link");
    let found = system.found(report());
    assert_eq!(found.hardware[0].to_string(), "1000000.gpu (panfrost)");
    assert_eq!(found.dropped[0].code, "hardware.no-node");
}

/// Returns a report with drivers that listed no device.
fn idle(libraries: &[&str]) -> Report {
    let mut report = report();
    for library in libraries {
        report.dropped.append(&mut without_device(library).dropped);
        report.drivers.push(crate::report::Driver {
            library: (*library).into(),
            manifest: None,
            api_version: None,
            interface_version: None,
            extensions: None,
        });
    }
    report
}

#[test]
fn a_card_without_its_vulkan_driver_comes_with_the_packages() {
    for (kernel_driver, installed, code, advice) in [
        (
            "amdgpu",
            &["libvulkan_intel.so"][..],
            "hardware.no-driver",
            "vulkan-radeon (Arch)",
        ),
        (
            "amdgpu",
            &["libvulkan_radeon.so"],
            "hardware.not-used",
            "because the card may be newer",
        ),
        ("nouveau", &["libvulkan_lvp.so"], "hardware.no-driver", "Mesa 24.1"),
        (
            "xe",
            &["libvulkan_radeon.so"],
            "hardware.no-driver",
            "vulkan-intel (Arch)",
        ),
        ("xe", &["libvulkan_intel.so"], "hardware.not-used", "dmesg"),
        ("i915", &["libvulkan_intel.so"], "hardware.not-used", "Update"),
        (
            "virtio-pci",
            &["libvulkan_intel.so"],
            "hardware.no-driver",
            "vulkan-virtio (Arch)",
        ),
        ("virtio-pci", &["libvulkan_virtio.so"], "hardware.not-used", "dmesg"),
        (
            "panthor",
            &["libvulkan_intel.so"],
            "hardware.no-driver",
            "libvulkan_panfrost.so",
        ),
        (
            "bochs-drm",
            &["libvulkan_intel.so"],
            "hardware.without-vulkan",
            "lavapipe",
        ),
        (
            "radeon",
            &["libvulkan_radeon.so"],
            "hardware.without-vulkan",
            "amdgpu.si_support=1",
        ),
    ] {
        let system = System::new();
        system.card("0000:01:00.0", "0x030000", "0x1002", Some(kernel_driver));
        system.file("dev/dri/renderD128", "");
        let found = system.found(idle(installed));
        let own = found.dropped.iter().filter(|dropped| dropped.subject == "hardware");
        let own: Vec<&Dropped> = own.collect();
        assert_eq!(own.len(), 1, "{kernel_driver}: {own:?}");
        assert_eq!(own[0].code, code, "{kernel_driver}");
        assert!(own[0].advice.contains(advice), "{kernel_driver}: {}", own[0].advice);
    }
}

#[test]
fn a_missing_driver_explains_less_than_a_broken_one_that_may_be_it() {
    let system = System::new();
    system.card("0000:01:00.0", "0x030000", "0x1002", Some("amdgpu"));
    system.file("dev/dri/renderD128", "");
    let rank_with = |broken: Option<&str>| {
        let mut report = idle(&["libvulkan_intel.so"]);
        report.dropped.extend(broken.map(|library| Dropped {
            code: "driver.not-opened".into(),
            rank: rank::BROKEN,
            ..codes::DRIVER_NONE_HAS_DEVICE.about(library)
        }));
        let found = system.found(report).dropped;
        found
            .iter()
            .find(|one| one.code == "hardware.no-driver")
            .map(|one| one.rank)
    };
    assert_eq!(rank_with(None), Some(rank::HARDWARE));
    assert_eq!(rank_with(Some("/opt/libnew.so")), Some(rank::CONSEQUENCE));
    assert_eq!(rank_with(Some("libvulkan_nouveau.so")), Some(rank::HARDWARE));
    assert_eq!(rank_with(Some("libvulkan_radeon.so")), None);
}

#[test]
fn a_driver_that_a_variable_leaves_out_is_not_called_missing() {
    let system = System::new();
    system.card("0000:01:00.0", "0x030000", "0x1002", Some("amdgpu"));
    system.file("dev/dri/renderD128", "");
    let mut report = idle(&["libvulkan_lvp.so"]);
    find_below(&mut report, system.0.path(), None, true);
    assert!(report.dropped.iter().all(|dropped| dropped.subject != "hardware"));
}

#[test]
fn nvidias_missing_nodes_come_with_the_option_of_containers() {
    let system = System::new();
    system.card("0000:01:00.0", "0x030000", "0x10de", Some("nvidia"));
    let found = system.found(report());
    assert_eq!(found.dropped[0].code, "hardware.no-node");
    assert_eq!(found.dropped[0].findings, ["/dev/nvidiactl is not there"]);
    assert!(
        found.dropped[0].advice.contains("--gpus all"),
        "{}",
        found.dropped[0].advice
    );
    assert!(!found.dropped[0].advice.contains("/dev/dri"));
}

#[test]
fn nobody_is_added_to_a_group_that_does_not_open_the_node() {
    let system = System::new();
    system.file("etc/group", "root:x:0:\nrender:x:105:ann,bob\nnogroup:x:65534:");
    let machine = Machine::at(system.0.path());
    for (node, owner, words) in [
        ("/dev/dri/renderD128", (105, 0o660), "usermod -aG render me"),
        ("/dev/dri/renderD128", (0, 0o600), "chgrp render /dev/dri/renderD128"),
        ("/dev/dri/renderD128", (0, 0o660), "udevadm trigger"),
        ("/dev/dri/renderD128", (105, 0o600), "chmod 0660"),
        ("/dev/dri/renderD128", (65534, 0o660), "Outside of the sandbox"),
        (
            "/dev/dri/renderD128",
            (77, 0o660),
            "groupmod -g 77 render && usermod -aG render me",
        ),
        ("/dev/nvidiactl", (0, 0o600), "read and write the node"),
    ] {
        let advice = to_open(Path::new(node), owner, &machine, "me");
        assert!(advice.contains(words), "{node} {owner:?}: {advice}");
    }
    // The user is a member of the group, but the session began before the user became a member.
    let advice = to_open(Path::new("/dev/dri/renderD128"), (105, 0o660), &machine, "bob");
    assert!(advice.starts_with("Log in again: the user bob"), "{advice}");
    system.file(".dockerenv", "");
    let advice = to_open(Path::new("/dev/dri/renderD128"), (105, 0o660), &machine, "12345");
    assert!(advice.ends_with("docker run --group-add 105 IMAGE"), "{advice}");
}

/// NVIDIA's driver returns no functions if the user may not open its nodes.
#[test]
fn a_closed_node_is_the_cause_for_a_driver_without_functions() {
    let system = System::new();
    let machine = Machine::at(system.0.path());
    let closed = [machine.path("/dev/nvidiactl")];
    let mut dropped = without_device("libGLX_nvidia.so.0").dropped.remove(0);
    dropped.code = "driver.no-global-function".into();
    assert!(lacks_node(&dropped, &machine, &[]), "no node of the driver is there");
    // A container may have only some of the driver's device nodes, so the common node and one node of a card suffice.
    system.file("dev/nvidiactl", "").file("dev/nvidia1", "");
    assert!(!lacks_node(&dropped, &machine, &[]));
    assert!(lacks_node(&dropped, &machine, &closed));
    assert!(!lacks_node(&dropped, &machine, &[machine.path("/dev/dri/renderD128")]));
    dropped.code = "driver.not-opened".into();
    assert!(!lacks_node(&dropped, &machine, &closed), "no node was needed so far");
    dropped.code = "driver.no-global-function".into();
    dropped.name = "libvulkan_radeon.so".into();
    assert!(!lacks_node(&dropped, &machine, &closed), "the node of another driver");
}

/// A card is reported even if the table of drivers does not contain its kernel driver.
#[test]
fn a_card_with_an_unknown_kernel_driver_is_a_finding() {
    let system = System::new();
    system.card("0000:01:00.0", "0x030000", "0x1234", Some("newgpu"));
    system.file("dev/dri/renderD128", "");
    let found = system
        .found(idle(&["libvulkan_radeon.so"]))
        .dropped
        .pop()
        .expect("a finding");
    assert_eq!(
        (found.code.as_str(), found.rank),
        ("hardware.no-driver", rank::ASIDE - 6)
    );
    assert_eq!(
        found.findings,
        ["no Vulkan driver is known here for the kernel driver newgpu"]
    );
    assert!(found.advice.contains("card's maker"), "{}", found.advice);
}
