//! Tests of remedies for device nodes that a container or service hides or refuses.

use super::*;
use crate::variables::Variables;

/// Returns the first finding about hardware.
fn first(found: Report) -> Dropped {
    let mut of_hardware = found.dropped.into_iter().filter(|one| one.subject == "hardware");
    of_hardware.next().expect("a finding")
}

/// The kind of the container is in a file, and decides which remedy comes first.
#[test]
fn a_container_without_the_node_comes_with_the_remedy_of_its_kind() {
    for (kind, file, words) in [
        ("lxc", "etc/hostname", "lxc.cgroup2.devices.allow: c 226:* rwm"),
        ("lxc", "dev/incus/sock", "incus config device add NAME gpu gpu"),
        ("systemd-nspawn", "etc/hostname", "systemd-nspawn --bind=/dev/dri"),
        ("other", "etc/hostname", "lxc.mount.entry"),
    ] {
        let system = System::new();
        system.card("0000:01:00.0", "0x030000", "0x1002", Some("amdgpu"));
        system.file("run/systemd/container", kind).file(file, "");
        let found = first(system.found(idle(&["libvulkan_radeon.so"])));
        assert_eq!(found.code, "hardware.no-node", "{kind}");
        assert!(found.advice.contains(words), "{kind}: {}", found.advice);
    }
}

/// A service may hide device nodes with several settings, in its own file or in an addition.
#[test]
fn a_service_that_hides_the_node_is_named_with_its_setting() {
    const UNIT: &str = "etc/systemd/system/game.service";
    let service = |group: &str, file: &str, text: &str| {
        let system = System::new();
        system.card("0000:01:00.0", "0x030000", "0x1002", Some("amdgpu"));
        system
            .file("proc/self/cgroup", group)
            .file(UNIT, "[Service]\nExecStart=/bin/game");
        system.file(file, text);
        first(system.found(idle(&["libvulkan_radeon.so"])))
    };
    let group = "0::/system.slice/game.service";
    for (group, file, text, words) in [
        (group, UNIT, "[Service]\nPrivateDevices=yes", Some("PrivateDevices=no")),
        (
            group,
            "etc/systemd/system/game.service.d/own.conf",
            "[Service]\nPrivateDevices = true",
            Some("PrivateDevices=no"),
        ),
        (
            group,
            "usr/lib/systemd/system/game.service.d/own.conf",
            "DevicePolicy=closed",
            Some("DeviceAllow=char-drm rw"),
        ),
        (
            "3:cpu:/\n1:name=systemd:/system.slice/game.service/sub",
            UNIT,
            "DeviceAllow=/dev/null rw",
            Some("DeviceAllow=char-drm rw"),
        ),
        (
            "0::/system.slice/system-game.slice/game@one.service",
            "lib/systemd/system/game@.service",
            "PrivateDevices=1",
            Some("edit game@one.service"),
        ),
        (group, UNIT, "[Service]\nPrivateDevices=no", None),
        (
            "0::/user.slice/user-1000.slice/session-1.scope",
            UNIT,
            "PrivateDevices=yes",
            None,
        ),
    ] {
        let found = service(group, file, text);
        assert_eq!(found.code, "hardware.no-node");
        assert_eq!(
            found.advice.starts_with("Change the service: systemctl edit game"),
            words.is_some(),
            "{text}: {}",
            found.advice
        );
        assert!(
            found.advice.contains(words.unwrap_or_default()),
            "{text}: {}",
            found.advice
        );
        assert!(
            words.is_none() || found.reason.contains(&format!(" in /{file}")),
            "{}",
            found.reason
        );
    }
}

/// The permissions of a node do not matter if the device rules of a container or service refuse the node.
#[test]
fn a_node_that_device_rules_refuse_comes_with_the_remedy_of_the_container() {
    for (file, text, words) in [
        (
            ".dockerenv",
            "",
            "docker run --device /dev/dri IMAGE in place of -v /dev/dri:/dev/dri",
        ),
        ("run/.containerenv", "", "podman run --device /dev/dri"),
        ("run/systemd/container", "lxc", "lxc.cgroup2.devices.allow: c "),
        ("run/systemd/container", "systemd-nspawn", "DeviceAllow=char-drm rw"),
        ("etc/hostname", "", "docker run or podman run"),
    ] {
        let system = System::new();
        system.file(file, text).file("dev/dri/renderD128", "");
        let node = system.0.path().join("dev/dri/renderD128");
        let found = rules::of_node(&node, &Machine::at(system.0.path()));
        assert!(found.advice.contains(words), "{}", found.advice);
        assert!(
            !found.advice.contains("chmod") && found.reason.contains("device rules"),
            "{}",
            found.reason
        );
    }
}

/// Without a driver in the image, the node of the card alone does not help.
#[test]
fn a_container_without_a_node_and_without_a_driver_needs_both() {
    let system = System::new();
    system
        .card("0000:00:02.0", "0x030000", "0x8086", Some("i915"))
        .file(".dockerenv", "");
    for (driver, is_missing) in [("libvulkan_lvp.so", true), ("libvulkan_intel.so", false)] {
        let found = system.found(idle(&[driver]));
        let is_it = |one: &&Dropped| one.code == codes::HARDWARE_NO_NODE.name;
        let node = found.dropped.iter().find(is_it).expect("a finding");
        assert!(node.advice.contains("--device /dev/dri"), "{}", node.advice);
        assert_eq!(
            node.advice.contains("Mesa's Vulkan driver for Intel's cards"),
            is_missing,
            "{}",
            node.advice
        );
    }
}

/// NVIDIA's card with its nodes, and variables and files of a container.
fn nvidias(file: &str, text: &str, nodes: &[&str]) -> System {
    let system = System::new();
    system.card("0000:01:00.0", "0x030000", "0x10de", Some("nvidia"));
    system.file("dev/dri/renderD128", "").file(file, text).file(
        "proc/driver/nvidia/version",
        "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Sun",
    );
    for node in nodes {
        system.file(node, "");
    }
    system
}

/// Each kind of containers gets NVIDIA's libraries and nodes in its own way.
#[test]
fn nvidias_libraries_and_nodes_come_with_the_words_of_the_container() {
    for (file, text, libraries, nodes) in [
        (
            "run/.toolboxenv",
            "",
            "distrobox create --nvidia",
            "outside of the container",
        ),
        (
            "run/.containerenv",
            "",
            "podman run --device nvidia.com/gpu=all",
            "podman run --device",
        ),
        (
            "run/systemd/container",
            "lxc",
            "the version 550.54.14",
            "pct set ID --dev0 /dev/nvidiactl",
        ),
        (
            "run/systemd/container",
            "systemd-nspawn",
            "version 550.54.14",
            "--bind=/dev/nvidia0",
        ),
        (
            "run/systemd/container",
            "other",
            "docker run --runtime=nvidia",
            "docker run --gpus all",
        ),
        (".singularity.d/runscript", "", "exec --nv", "exec --nv"),
        (
            "run/secrets/kubernetes.io/token",
            "",
            "Set NVIDIA_DRIVER_CAPABILITIES=all",
            "Request nvidia.com/gpu",
        ),
    ] {
        let system = nvidias(file, text, &["dev/nvidiactl", "dev/nvidia0"]);
        let found = first(system.found(idle(&["libvulkan_lvp.so"])));
        assert_eq!(found.code, "hardware.no-driver", "{file}");
        assert!(found.advice.contains(libraries), "{file}: {}", found.advice);
        let found = first(nvidias(file, text, &[]).found(idle(&["libGLX_nvidia.so.0"])));
        assert_eq!(found.code, "hardware.no-node", "{file}");
        assert!(found.advice.contains(nodes), "{file}: {}", found.advice);
    }
}

/// A variable shows the kind of a container whose files do not.
#[test]
fn variables_of_a_container_show_its_kind() {
    for (file, variable, words) in [
        ("run/.containerenv", "DISTROBOX_ENTER_PATH", "distrobox create --nvidia"),
        (
            "etc/hostname",
            "KUBERNETES_SERVICE_HOST",
            "Set NVIDIA_DRIVER_CAPABILITIES=all",
        ),
        ("etc/hostname", "OTHER", "nvidia-vulkan-icd (Debian)"),
    ] {
        let system = nvidias(file, "", &["dev/nvidiactl", "dev/nvidia0"]);
        let report = Report {
            variables: Variables::with(variable, "x"),
            ..idle(&["libvulkan_lvp.so"])
        };
        let found = first(system.found(report));
        assert_eq!(found.code, "hardware.no-driver", "{variable}");
        assert!(found.advice.contains(words), "{variable}: {}", found.advice);
    }
}

/// Users cannot change the system files of Apptainer's images, but they have a home folder in the container.
#[test]
fn a_manifest_for_a_container_of_apptainer_is_written_in_the_home_folder() {
    for (file, words) in [
        (
            ".singularity.d/runscript",
            "mkdir -p /home/ann/.local/share/vulkan/icd.d && ",
        ),
        (".dockerenv", "mkdir -p /etc/vulkan/icd.d && "),
    ] {
        let system = nvidias(file, "", &["dev/nvidiactl", "dev/nvidia0"]);
        system.file("usr/lib/x86_64-linux-gnu/libGLX_nvidia.so.0", "");
        let report = Report {
            variables: Variables::with("HOME", "/home/ann"),
            ..idle(&["libvulkan_lvp.so"])
        };
        let found = first(system.found(report));
        assert_eq!(found.code, "hardware.no-manifest", "{file}");
        assert!(found.advice.contains(words), "{file}: {}", found.advice);
    }
}

/// The card of a Jetson is part of the chip.
#[test]
fn the_driver_of_a_jetsons_card_is_nvidias() {
    for (file, words) in [
        (
            ".dockerenv",
            "docker run --runtime nvidia -e NVIDIA_DRIVER_CAPABILITIES=all",
        ),
        ("etc/hostname", "nvidia-l4t-3d-core"),
    ] {
        let system = System::new();
        let device = "sys/devices/17000000.gpu";
        system
            .file("sys/bus/platform/drivers/nvgpu/bind", "")
            .file("sys/class/drm/renderD128/dev", "226:128")
            .file("dev/dri/renderD128", "")
            .file(&format!("{device}/uevent"), "DRIVER=nvgpu")
            .file(file, "");
        let path = |below: &str| system.0.path().join(below);
        for (link, target) in [
            ("driver", "/sys/bus/platform/drivers/nvgpu"),
            ("subsystem", "/sys/bus/platform"),
        ] {
            symlink(target, path(device).join(link)).expect("a link");
        }
        symlink(path(device), path("sys/class/drm/renderD128/device")).expect("a link");
        let found = first(system.found(idle(&["libvulkan_lvp.so"])));
        assert_eq!(found.code, "hardware.no-driver", "{file}");
        assert!(found.advice.contains(words), "{file}: {}", found.advice);
    }
}

/// A variable shows Firejail, which has no file of its own.
#[test]
fn a_sandbox_around_this_process_comes_with_its_option_for_nodes() {
    for (vendor, driver) in [("0x1002", "amdgpu"), ("0x10de", "nvidia")] {
        let system = System::new();
        system.card("0000:01:00.0", "0x030000", vendor, Some(driver));
        for (value, is_named) in [("firejail", true), ("other", false)] {
            let report = Report {
                variables: Variables::with("container", value),
                ..idle(&["libvulkan_radeon.so", "libGLX_nvidia.so.0"])
            };
            let found = first(system.found(report));
            assert_eq!(found.code, "hardware.no-node", "{driver}");
            let is_it = found.advice.contains("firejail --ignore=no3d --ignore=private-dev");
            assert_eq!(is_it, is_named, "{driver}: {}", found.advice);
        }
    }
}

/// The file of systemd-nspawn is also that of LXC, whose words for groups differ.
#[test]
fn a_node_of_an_unknown_group_comes_with_the_words_of_systemd_nspawn() {
    for (group, words) in [(65534, "--private-users=no"), (993, "groupmod -g 993 render")] {
        let system = System::new();
        system
            .file(places::KIND, "systemd-nspawn")
            .file("etc/group", "render:x:105:");
        let node = Path::new("/dev/dri/renderD128");
        let advice = to_open(node, (group, 0o660), &Machine::at(system.0.path()), "ann");
        assert!(advice.contains(words), "{advice}");
        assert!(!advice.contains("Proxmox"), "{advice}");
    }
}
