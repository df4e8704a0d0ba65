//! Tests of remedies for device nodes that a container or service hides or refuses.

use super::*;

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
