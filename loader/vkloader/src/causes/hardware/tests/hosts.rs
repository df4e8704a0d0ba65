//! Tests of remedies that depend on the generation of a card, on the firmware, and on the host of a container.

use super::*;

/// Adds a card with a device ID, a kernel driver and an open node.
fn card(vendor: &str, device: &str, driver: &str) -> System {
    let system = System::new();
    system.card("0000:01:00.0", "0x030000", vendor, Some(driver));
    system.file("sys/bus/pci/devices/0000:01:00.0/device", device);
    system.file("dev/dri/renderD128", "");
    system
}

/// Returns the first finding about hardware.
fn first(found: Report) -> Dropped {
    let mut of_hardware = found.dropped.into_iter().filter(|one| one.subject == "hardware");
    of_hardware.next().expect("a finding")
}

#[test]
fn the_generation_of_a_card_decides_about_its_driver() {
    for (vendor, device, driver, idle_driver, code, advice) in [
        (
            "0x8086",
            "0x0116",
            "i915",
            "libvulkan_intel.so",
            "hardware.without-vulkan",
            "lavapipe",
        ),
        (
            "0x8086",
            "0x0416",
            "i915",
            "libvulkan_intel.so",
            "hardware.no-driver",
            "libvulkan_intel_hasvk.so",
        ),
        (
            "0x8086",
            "0x0416",
            "i915",
            "libvulkan_intel_hasvk.so",
            "hardware.not-used",
            "Update",
        ),
        (
            "0x10de",
            "0x0de1",
            "nouveau",
            "libvulkan_nouveau.so",
            "hardware.without-vulkan",
            "lavapipe",
        ),
        (
            "0x10de",
            "0x1b80",
            "nouveau",
            "libvulkan_nouveau.so",
            "hardware.not-used",
            "Update the kernel",
        ),
        (
            "0x1002",
            "0x67df",
            "amdgpu",
            "amdvlk64.so",
            "hardware.not-used",
            "Install Mesa's driver RADV",
        ),
    ] {
        let found = first(card(vendor, device, driver).found(idle(&[idle_driver])));
        assert_eq!(found.code, code, "{device}");
        assert!(found.advice.contains(advice), "{device}: {}", found.advice);
    }
    let system = card("0x1002", "0x744c", "amdgpu");
    system.file("etc/os-release", "NAME=Gentoo\nID=gentoo");
    let found = first(system.found(idle(&["libvulkan_lvp.so"])));
    assert!(found.advice.contains("VIDEO_CARDS"), "{}", found.advice);
    // If both drivers for AMD's cards are installed, the remedy does not recommend Mesa's driver.
    let both = idle(&["amdvlk64.so", "libvulkan_radeon.so"]);
    let found = first(card("0x1002", "0x67df", "amdgpu").found(both));
    assert!(!found.advice.contains("RADV"), "{}", found.advice);
}

/// A sandbox and a container have drivers of their own, so that packages of the system do not help.
#[test]
fn the_surroundings_decide_where_a_driver_is_installed() {
    for (file, advice) in [
        (".flatpak-info", "flatpak update"),
        (".dockerenv", "in the image of the container"),
        ("run/.containerenv", "in the image of the container"),
        ("run/pressure-vessel/x", "on the system itself"),
        (
            "etc/hostname",
            "libvulkan_radeon (openSUSE) or mesa-vulkan-ati (Alpine).",
        ),
    ] {
        let system = card("0x1002", "0x744c", "amdgpu");
        let found = first(system.file(file, "").found(idle(&["libvulkan_lvp.so"])));
        assert_eq!(found.code, "hardware.no-driver", "{file}");
        assert!(found.advice.contains(advice), "{file}: {}", found.advice);
    }
    // Flatpak and Steam both write a file with the name of the sandbox.
    for (manager, others, surroundings, advice) in [
        ("flatpak", ".flatpak-info", "flatpak", "flatpak update"),
        ("pressure-vessel", "etc/hostname", "steam", "on the system itself"),
    ] {
        let system = card("0x1002", "0x744c", "amdgpu");
        system.file("run/host/container-manager", manager).file(others, "");
        let found = system.found(idle(&["libvulkan_lvp.so"]));
        assert_eq!(found.surroundings, [surroundings]);
        let found = first(found);
        assert!(found.advice.contains(advice), "{manager}: {}", found.advice);
    }
    // The driver service of the host has drivers for programs in sandboxes.
    for (file, is_service) in [
        ("run/host/usr/lib/systemd/system/vulkan-loader-service.socket", true),
        ("run/host/usr/lib/os-release", false),
    ] {
        let system = card("0x1002", "0x744c", "amdgpu");
        system.file(".flatpak-info", "").file(file, "");
        let found = first(system.found(idle(&["libvulkan_lvp.so"])));
        let has_service = found.advice.contains("--filesystem=/run/vulkan-loader");
        assert_eq!(has_service, is_service, "{}", found.advice);
    }
    let system = card("0x10de", "0x2684", "nvidia");
    let version = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.120  Sun";
    system.file("dev/nvidiactl", "").file("dev/nvidia0", "");
    system.file("proc/driver/nvidia/version", version);
    let advice = first(system.found(idle(&["libvulkan_lvp.so"]))).advice;
    assert!(advice.contains("libnvidia-gl-550 (Ubuntu)"), "{advice}");
}

/// An installed package that lost its files must be installed again, because package managers install no package twice.
#[test]
fn a_driver_whose_files_are_lost_is_installed_again() {
    let folder = crate::causes::elf::usual_folders().next().expect("a folder");
    let system = card("0x8086", "0x46a6", "i915");
    system
        .file("usr/bin/apt-get", "")
        .file("var/lib/dpkg/info/format", "1\n")
        .file(
            "var/lib/dpkg/info/mesa-vulkan-drivers:amd64.list",
            &format!("/.\n{folder}/libvulkan_intel.so\n"),
        );
    let found = first(system.found(idle(&["libvulkan_radeon.so"])));
    assert_eq!(found.code, "hardware.no-driver");
    assert!(
        found
            .advice
            .ends_with(": apt-get install --reinstall mesa-vulkan-drivers:amd64"),
        "{}",
        found.advice
    );
}

#[test]
fn the_libraries_of_a_sandbox_come_from_its_runtime() {
    for (file, words) in [
        (".flatpak-info", "flatpak update"),
        ("etc/hostname", "Install the packages"),
    ] {
        let mut failed = report();
        failed.dropped.push(Dropped {
            code: "driver.not-opened".into(),
            advice: crate::causes::packages::install(&["libz.so.1"], crate::causes::elf::Identity::of_this_process()),
            ..codes::DRIVER_NONE_HAS_DEVICE.about("libvulkan_radeon.so")
        });
        let system = card("0x1002", "0x744c", "amdgpu");
        let advice = system.file(file, "").found(failed).dropped.remove(0).advice;
        assert!(advice.contains(words), "{file}: {advice}");
    }
}

/// GPUs of phones and boards have nodes that the DRM subsystem does not list.
#[test]
fn a_gpu_with_a_node_of_its_own_is_a_card() {
    for (node, name, advice) in [
        ("dev/mali0", "/dev/mali0 (mali)", "the card's maker"),
        ("dev/kgsl-3d0", "/dev/kgsl-3d0 (kgsl)", "libvulkan_freedreno.so"),
        ("dev/pvr_sync", "/dev/pvr_sync (pvrsrvkm)", "img-gpu-powervr"),
    ] {
        let system = System::new();
        let found = first(system.file(node, "").found(idle(&["libvulkan_lvp.so"])));
        assert_eq!((found.code.as_str(), found.name.as_str()), ("hardware.no-driver", name));
        assert!(found.advice.contains(advice), "{}", found.advice);
    }
    // The build of the distribution is a driver for another kernel driver.
    let system = System::new();
    let found = first(system.file("dev/kgsl-3d0", "").found(idle(&["libvulkan_freedreno.so"])));
    assert_eq!(found.code, "hardware.not-used");
    assert!(found.advice.contains("freedreno-kmds=kgsl"), "{}", found.advice);
}

#[test]
fn a_group_of_the_host_is_not_one_for_users_of_the_container() {
    let node = Path::new("/dev/dri/renderD128");
    for (file, words) in [
        ("run/systemd/container", "gid=105"),
        (".dockerenv", "docker run --group-add 107"),
        ("etc/hostname", "usermod -aG _ssh ann"),
    ] {
        let system = System::new();
        system.file("etc/group", "render:x:105:\n_ssh:x:107:").file(file, "");
        let advice = to_open(node, (107, 0o660), &Machine::at(system.0.path()), "ann");
        assert!(advice.contains(words), "{file}: {advice}");
    }
}

#[test]
fn a_module_that_the_firmware_does_not_trust_comes_with_the_key() {
    let system = System::new();
    system
        .card("0000:01:00.0", "0x030000", "0x10de", None)
        .file("usr/lib64/libnvidia-glcore.so.550.54.14", "")
        .file("var/lib/dkms/mok.pub", "");
    let variable = "sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";
    for (value, is_on) in [(1, true), (0, false)] {
        system.file(variable, "");
        fs::write(system.0.path().join(variable), [6, 0, 0, 0, value]).expect("a file");
        let found = first(system.found(report()));
        let is_named = found
            .findings
            .iter()
            .any(|finding| finding.starts_with("Secure Boot is on"));
        let has_key = found.advice.contains("mokutil --import /var/lib/dkms/mok.pub");
        assert_eq!((is_named, has_key), (is_on, is_on), "{}", found.advice);
    }
}

#[test]
fn nvidias_missing_library_comes_from_the_host_of_a_container() {
    for (file, advice) in [
        (".dockerenv", "--gpus all"),
        (".singularity.d/runscript", "apptainer exec --nv"),
        ("etc/hostname", ""),
        ("etc/os-release", ""),
    ] {
        let system = card("0x10de", "0x2684", "nvidia");
        system.file(file, "ID=gentoo").file("dev/nvidiactl", "");
        let advice_if = |absent| {
            let mut failed = report();
            failed.dropped.push(Dropped {
                code: "driver.not-opened".into(),
                advice: String::new(),
                absent,
                ..codes::DRIVER_NONE_HAS_DEVICE.about("/nowhere/libGLX_nvidia.so.0")
            });
            system.found(failed).dropped.remove(0).advice
        };
        let found = advice_if(Some(crate::report::Absent::Everywhere));
        assert!(found.contains(advice), "{found}");
        assert_eq!(found.is_empty(), advice.is_empty(), "{found}");
        // A library that the system has in an unusual folder has a remedy of its own.
        assert_eq!(advice_if(None), "");
    }
}

/// Returns a report with a driver that was opened and failed.
fn failed(library: &str, code: &str) -> Report {
    let mut failed = report();
    failed.dropped.push(Dropped {
        code: code.into(),
        file: Some(library.into()),
        rank: rank::BROKEN,
        ..codes::DRIVER_NONE_HAS_DEVICE.about(library)
    });
    failed
}

#[test]
fn a_driver_without_its_card_is_told_as_that() {
    let system = card("0x8086", "0x46a6", "i915");
    let nvidia = || failed("libGLX_nvidia.so.0", "driver.creation-failed");
    let own = |found: Report| {
        found
            .dropped
            .into_iter()
            .find(|one| one.code.starts_with("driver."))
            .expect("a finding")
    };
    let found = own(system.found(nvidia()));
    assert!(found.advice.contains("prime-select on-demand"), "{}", found.advice);
    // The machine has a card of another vendor, whose driver may be the cause.
    assert_eq!(found.rank, rank::CONSEQUENCE);
    // If a variable replaces the search for drivers, the variable explains more than the missing card.
    let mut replaced = nvidia();
    find_below(&mut replaced, system.0.path(), None, true);
    assert_eq!(own(replaced).rank, rank::CONSEQUENCE);
    let found = own(system.found(failed("libvulkan_intel.so", "driver.creation-failed")));
    assert!(!found.advice.contains("Plug the card in"), "{}", found.advice);
}

#[test]
fn nvidias_nodes_are_the_common_one_and_one_of_a_card() {
    let system = card("0x10de", "0x2684", "nvidia");
    system.file("dev/nvidiactl", "");
    let first_of = || first(system.found(failed("libGLX_nvidia.so.0", "driver.no-global-function")));
    let found = first_of();
    assert_eq!((found.code.as_str(), found.rank), ("hardware.no-node", rank::HARDWARE));
    assert!(found.advice.contains("nvidia-modprobe"), "{}", found.advice);
    system.file("dev/nvidia1", "");
    let found = system.found(failed("libGLX_nvidia.so.0", "driver.no-global-function"));
    assert!(found.dropped.iter().all(|one| one.code != "hardware.no-node"));
}

#[test]
fn nodes_of_several_groups_come_with_all_groups() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let system = card("0x10de", "0x2684", "nvidia");
    system
        .file("dev/nvidiactl", "")
        .file("etc/group", "video:x:44:bob\nrender:x:105:");
    let nodes = ["dev/dri/renderD128", "dev/nvidiactl"].map(|node| system.0.path().join(node));
    for (node, group) in nodes.iter().zip([105, 44]) {
        std::os::unix::fs::chown(node, None, Some(group)).expect("the superuser may");
        fs::set_permissions(node, std::os::unix::fs::PermissionsExt::from_mode(0o660)).expect("the superuser may");
    }
    let machine = Machine::at(system.0.path());
    let remedy = |closed: &[PathBuf], user| to_join(&machine, closed, user);
    let expected = "Add the user to the groups render and video, and log in again: usermod -aG render,video ann";
    assert_eq!(remedy(&nodes, "ann").as_deref(), Some(expected));
    assert_eq!(remedy(&nodes, "bob"), None);
    assert_eq!(remedy(&nodes[..1], "ann"), None);
}

#[test]
fn a_library_that_an_update_left_behind_has_no_version_that_counts() {
    let system = System::new();
    let folder = "usr/lib/x86_64-linux-gnu";
    system
        .file(&format!("{folder}/libnvidia-glcore.so.535.54.03"), "")
        .file(&format!("{folder}/libnvidia-glcore.so.550.120"), "");
    let machine = Machine::at(system.0.path());
    assert_eq!(machine.nvidia_library().as_deref(), Some("535.54.03"));
    let link = system.0.path().join(folder).join("libGLX_nvidia.so.0");
    symlink("libGLX_nvidia.so.550.120", link).expect("a link");
    assert_eq!(machine.nvidia_library(), None, "a link to nothing");
    system.file(&format!("{folder}/libGLX_nvidia.so.550.120"), "");
    assert_eq!(machine.nvidia_library().as_deref(), Some("550.120"));
}

#[test]
fn a_group_without_a_name_comes_with_the_words_of_the_container() {
    for (file, group, words) in [
        (".dockerenv", 992, "docker run --group-add 992"),
        ("run/.containerenv", 992, "podman run --group-add 992"),
        ("run/systemd/container", 65534, "gid=105"),
        (
            "run/systemd/container",
            993,
            "; or in the container: groupmod -g 993 render && usermod",
        ),
        (
            "etc/hostname",
            993,
            "group 993 has no name here. Give the group its number, and log in again: groupmod -g 993 render",
        ),
        ("run/.containerenv", 65534, "keep-groups"),
        ("etc/hostname", 65534, "Outside of the sandbox, add the user"),
        (".dockerenv", 65534, "setfacl -m u:USER:rw /dev/dri/renderD128"),
    ] {
        let system = System::new();
        system.file(file, "").file("etc/group", "video:x:44:\nrender:x:105:");
        let node = Path::new("/dev/dri/renderD128");
        let advice = to_open(node, (group, 0o660), &Machine::at(system.0.path()), "ann");
        assert!(advice.contains(words), "{file}: {advice}");
    }
}

#[test]
fn the_option_that_closes_nvidias_nodes_is_named() {
    let system = System::new();
    let node = Path::new("/dev/nvidiactl");
    let remedy = || to_open(node, (0, 0o600), &Machine::at(system.0.path()), "ann");
    assert!(remedy().ends_with("chmod 0666 /dev/nvidia*"), "{}", remedy());
    system.file(
        "etc/modprobe.d/gpu.conf",
        "# NVreg\noptions nvidia NVreg_DeviceFileMode=0600",
    );
    let expected = "Set NVreg_DeviceFileMode=0666 in /etc/modprobe.d/gpu.conf";
    assert!(remedy().starts_with(expected), "{}", remedy());
}

#[test]
fn a_driver_that_failed_for_its_card_comes_with_the_kernel_driver() {
    let system = card("0x1002", "0x744c", "amdgpu");
    for (library, is_meant) in [
        ("/usr/lib/libvulkan_radeon.so", true),
        ("/usr/lib/libvulkan_intel.so", false),
    ] {
        let mut failed = report();
        failed.dropped.push(Dropped {
            code: "device.enumeration-failed".into(),
            file: Some(library.into()),
            ..codes::DRIVER_NONE_HAS_DEVICE.about("")
        });
        let found = system.found(failed).dropped.remove(0);
        assert_eq!(
            found.advice.contains("kernel driver amdgpu"),
            is_meant,
            "{}",
            found.advice
        );
    }
}

#[test]
fn the_groups_of_a_pod_are_in_its_specification() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only the superuser can give a file to a group");
        return;
    }
    let system = card("0x8086", "0x46a6", "i915");
    system.file("dev/nvidiactl", "").file("etc/group", "render:x:993:");
    let nodes = ["dev/nvidiactl", "dev/dri/renderD128"].map(|node| system.0.path().join(node));
    for (node, group) in nodes.iter().zip([995, 993]) {
        std::os::unix::fs::chown(node, None, Some(group)).expect("the superuser may");
        fs::set_permissions(node, std::os::unix::fs::PermissionsExt::from_mode(0o660)).expect("the superuser may");
    }
    let machine = Machine::at(system.0.path());
    assert_eq!(for_pod(&machine, &nodes), None);
    system.file("run/secrets/kubernetes.io/serviceaccount/token", "");
    let words = |closed: &[PathBuf]| for_pod(&machine, closed).expect("a remedy");
    assert!(
        words(&nodes).ends_with("{supplementalGroups: [993, 995]}"),
        "{}",
        words(&nodes)
    );
    assert!(words(&nodes[1..]).ends_with("{supplementalGroups: [993]}"));
    let closed = permissions(&machine, &nodes).expect("a finding");
    assert_eq!(closed.advice, words(&nodes));
    // The group cannot open such a node.
    fs::set_permissions(&nodes[1], std::os::unix::fs::PermissionsExt::from_mode(0o600)).expect("the superuser may");
    assert_eq!(for_pod(&machine, &nodes), None);
}

/// The tools that make a container leave links to files of the host's driver, which an update of the host removes.
#[test]
fn a_container_with_links_to_the_hosts_old_driver_is_made_again() {
    let system = System::new();
    system.card("0000:01:00.0", "0x030000", "0x10de", Some("nvidia"));
    system.file(".dockerenv", "").file("usr/lib/x86_64-linux-gnu/other", "");
    let failed = || Report {
        dropped: vec![Dropped {
            code: "driver.not-opened".into(),
            absent: Some(crate::report::Absent::Everywhere),
            ..codes::DRIVER_NONE_HAS_DEVICE.about("libGLX_nvidia.so.0")
        }],
        ..report()
    };
    let advice = || {
        let dropped = system.found(failed()).dropped;
        let found = dropped.into_iter().find(|one| one.code == "driver.not-opened");
        found.expect("a finding").advice
    };
    assert!(advice().contains("NVIDIA_DRIVER_CAPABILITIES=all"), "{}", advice());
    let link = system.0.path().join("usr/lib/x86_64-linux-gnu/libGLX_nvidia.so.0");
    symlink("libGLX_nvidia.so.535.104.05", link).expect("a link");
    assert!(advice().contains("nvidia-ctk cdi generate"), "{}", advice());
}

/// A Jetson's card is part of the chip, and the libraries of its driver come from the host.
#[test]
fn a_container_on_a_jetson_gets_the_driver_from_the_runtime() {
    let runtime = "docker run --runtime nvidia -e";
    for (chip, is_jetson) in [("nvidia,p3737-0000\0nvidia,tegra234", true), ("brcm,bcm2711", false)] {
        let system = System::new();
        let library = "/usr/lib/aarch64-linux-gnu/tegra/libGLX_nvidia.so.0";
        let failed = || Report {
            dropped: vec![Dropped {
                code: "driver.not-opened".into(),
                advice: elf::without_library("/etc/vulkan/icd.d/nvidia_icd.json", library),
                absent: Some(crate::report::Absent::Everywhere),
                ..codes::DRIVER_NONE_HAS_DEVICE.about(library)
            }],
            ..report()
        };
        let outside = system.found(failed()).dropped.remove(0).advice;
        assert!(outside.contains("rm /etc/vulkan/icd.d/nvidia_icd.json"), "{outside}");
        system
            .file("sys/firmware/devicetree/base/compatible", chip)
            .file(".dockerenv", "");
        let advice = system.found(failed()).dropped.remove(0).advice;
        assert_eq!(advice.contains(runtime), is_jetson, "{advice}");
        assert!(!advice.contains("rm "), "{advice}");
        let found = first(system.found(idle(&["libvulkan_lvp.so"])));
        assert_eq!(found.advice.contains(runtime), is_jetson, "{}", found.advice);
    }
}
