//! Set-ups with hardware that drivers cannot reach or do not support. `vkloader` runs in a namespace in which the test's files replace
//! those of the kernel.

use super::Machine;
use crate::machine::skip;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

/// An imitated PCI card.
struct Card {
    vendor: &'static str,
    /// Kernel driver that is bound to the card; `None` if the card has no kernel driver.
    driver: Option<&'static str>,
    /// Two flags: `true` if the kernel driver creates a render node, and `true` if the node exists.
    node: (bool, bool),
}

/// File name, up to `.so`, of the library of a driver without a device.
type Driver = &'static str;

/// A set-up: the card, the driver, the kernel's command line, the code of the first cause, and a part of the remedy. The last two fields
/// are the card and driver after the remedy.
struct System {
    name: &'static str,
    before: Card,
    installed: Driver,
    command_line: &'static str,
    code: &'static str,
    remedy: &'static str,
    after: Card,
    added: Option<Driver>,
}

const VIRTUAL: Card = Card {
    vendor: "0x1af4",
    driver: Some("virtio-pci"),
    ..WORKS
};

const USUAL: System = System {
    name: "",
    before: WORKS,
    installed: "libmock_bad",
    command_line: "quiet",
    code: "",
    remedy: "",
    after: WORKS,
    added: None,
};

const WORKS: Card = Card {
    vendor: "0x1002",
    driver: Some("amdgpu"),
    node: (true, true),
};

const SYSTEMS: &[System] = &[
    System {
        name: "no kernel driver is bound",
        before: Card {
            driver: None,
            node: (false, false),
            ..WORKS
        },
        code: "hardware.no-kernel-driver",
        remedy: "Load the kernel module",
        ..USUAL
    },
    System {
        name: "the kernel was started with nomodeset",
        before: Card {
            driver: None,
            node: (false, false),
            ..WORKS
        },
        command_line: "quiet nomodeset",
        code: "hardware.nomodeset",
        remedy: "Remove nomodeset",
        ..USUAL
    },
    System {
        name: "the card is held for a virtual machine",
        before: Card {
            driver: Some("vfio-pci"),
            node: (false, false),
            ..WORKS
        },
        code: "hardware.for-guests",
        remedy: "Bind the card to its own kernel driver",
        ..USUAL
    },
    System {
        name: "the device node is not in the container",
        before: Card {
            node: (true, false),
            ..WORKS
        },
        code: "hardware.no-node",
        remedy: "/dev/dri",
        ..USUAL
    },
    System {
        name: "the card only shows pictures",
        before: Card {
            vendor: "0x1a03",
            driver: Some("ast"),
            node: (false, false),
        },
        code: "hardware.display-only",
        remedy: "software driver",
        ..USUAL
    },
    System {
        name: "no Vulkan driver for the card is installed",
        before: Card {
            driver: Some("powervr"),
            ..WORKS
        },
        code: "hardware.no-driver",
        remedy: "libvulkan_powervr_mesa.so",
        after: Card {
            driver: Some("powervr"),
            ..WORKS
        },
        added: Some("libvulkan_powervr_mesa"),
        ..USUAL
    },
    System {
        name: "the Vulkan driver is older than the card",
        before: Card {
            vendor: "0x8086",
            driver: Some("xe"),
            ..WORKS
        },
        installed: "libvulkan_intel",
        code: "hardware.not-used",
        remedy: "the card may be newer than its Vulkan driver",
        ..USUAL
    },
    System {
        name: "the virtual card has no Vulkan driver, and Intel's looks at it too",
        before: VIRTUAL,
        installed: "libvulkan_intel",
        code: "hardware.no-driver",
        remedy: "libvulkan_virtio.so",
        after: VIRTUAL,
        added: Some("libvulkan_virtio"),
        ..USUAL
    },
    System {
        name: "there is no Vulkan driver for the kernel driver",
        before: Card {
            vendor: "0x1002",
            driver: Some("radeon"),
            ..WORKS
        },
        code: "hardware.without-vulkan",
        remedy: "amdgpu.si_support=1",
        ..USUAL
    },
    System {
        name: "the container has no nodes of NVIDIA's card",
        before: Card {
            vendor: "0x10de",
            driver: Some("nvidia"),
            node: (true, false),
        },
        installed: "libGLX_nvidia",
        code: "hardware.no-node",
        remedy: "--gpus all",
        ..USUAL
    },
];

/// Number of set-ups in this file.
pub(super) const COUNT: usize = SYSTEMS.len();

const PLACE: &str = "system/sys/bus/pci/devices/0000:01:00.0";

impl Card {
    /// Creates the imitated files of the kernel.
    fn place(&self, machine: &Machine, command_line: &str) {
        let _ = fs::remove_dir_all(machine.path("system"));
        for folder in [PLACE, "system/dev/dri", "system/proc", "system/run"] {
            fs::create_dir_all(machine.path(folder)).expect("folders");
        }
        for (name, text) in [("class", "0x030000"), ("vendor", self.vendor), ("device", "0x2684")] {
            machine.file(&format!("{PLACE}/{name}"), text);
        }
        if let Some(driver) = self.driver {
            let link = machine.path(&format!("{PLACE}/driver"));
            symlink(format!("/sys/bus/pci/drivers/{driver}"), link).expect("a link");
        }
        if self.node.0 {
            fs::create_dir_all(machine.path(&format!("{PLACE}/drm/renderD128"))).expect("folders");
            machine.file(&format!("{PLACE}/drm/renderD128/dev"), "226:128");
        }
        if self.node.1 {
            machine.file("system/dev/dri/renderD128", "");
        }
        machine.file("system/proc/cmdline", command_line);
    }
}

/// Installs a driver that lists no device. The driver's library has the file name `library`.
fn install(machine: &Machine, library: Driver) {
    machine.driver("bad", "");
    if library != USUAL.installed {
        for ending in ["so", "conf"] {
            let from = machine.path(&format!("libraries/libmock_bad.{ending}"));
            fs::rename(from, machine.path(&format!("libraries/{library}.{ending}"))).expect("one folder");
        }
        machine.manifest("bad", &machine.path(&format!("libraries/{library}.so")), "");
    }
}

/// Returns `true` if a library is installed on the system that runs the test. Set-ups without the
/// library are then skipped, because the tests do not hide installed libraries.
fn is_on_this_system(library: &str) -> bool {
    let folders = [
        "/usr/lib/x86_64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu",
        "/usr/lib64",
        "/usr/lib",
    ];
    folders
        .iter()
        .any(|folder| Path::new(folder).join(format!("{library}.so")).exists())
}

#[test]
fn each_cause_in_the_hardware_is_named_and_its_remedy_helps() {
    let mut failures = Vec::new();
    for system in SYSTEMS {
        if let Some(library) = system.added.filter(|library| is_on_this_system(library)) {
            skip(&format!("{}: this system has {library}", system.name));
            continue;
        }
        let mut machine = Machine::new();
        install(&machine, system.installed);
        system.before.place(&machine, system.command_line);
        // Files in `/run` show the kind of a container.
        if !machine.in_made_up_system(&["/sys", "/dev/dri", "/proc/cmdline", "/run"]) {
            return;
        }
        let explained = machine.explain();
        let found = explained.report["dropped"].as_array().expect("a list").iter();
        let found: Vec<_> = found.filter(|one| one["subject"] == "hardware").collect();
        let first = found.first().map_or(&serde_json::Value::Null, |first| *first);
        let advice = first["advice"].as_str().unwrap_or_default();
        if first["code"] != system.code || !advice.contains(system.remedy) || explained.code != 1 {
            failures.push(format!("{}: {:#}", system.name, explained.report["dropped"]));
            continue;
        }
        if !explained.advice().contains(system.remedy) {
            failures.push(format!("{}: the first remedy is {}", system.name, explained.advice()));
        }
        system.after.place(&machine, "quiet");
        if let Some(driver) = system.added {
            install(&machine, driver);
        }
        let explained = machine.explain();
        if explained.codes().contains(&system.code) {
            failures.push(format!("{}: the remedy does not help", system.name));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn a_variable_that_names_the_driver_of_the_card_comes_after_a_missing_node() {
    const NAME: &str = "libvulkan_radeon";
    let mut machine = Machine::new();
    install(&machine, NAME);
    let manifest = machine.manifest("bad", &machine.path(&format!("libraries/{NAME}.so")), "");
    machine.variable("VK_DRIVER_FILES", manifest.to_str().expect("plain"));
    let without_node = Card {
        node: (true, false),
        ..WORKS
    };
    without_node.place(&machine, "quiet");
    if !machine.in_made_up_system(&["/sys", "/dev/dri", "/proc/cmdline"]) {
        return;
    }
    let explained = machine.explain();
    assert_eq!(explained.first(), "hardware.no-node");
    assert!(
        explained.codes().contains(&"search.replaced"),
        "{:?}",
        explained.codes()
    );
    // The variable leaves out no other driver for the card, so the card stays unused without the variable.
    WORKS.place(&machine, "quiet");
    assert_eq!(machine.explain().first(), "hardware.not-used");
}

/// A security policy refuses to open the node, although its permissions allow it.
#[test]
fn a_node_that_a_security_policy_refuses_is_named() {
    let mut machine = Machine::new();
    install(&machine, "libvulkan_radeon");
    WORKS.place(&machine, "quiet");
    let Some(landlock) = machine.landlock() else { return };
    for (refused, words) in [
        ("/dev/dri/renderD128", "opening /dev/dri/renderD128: Permission denied"),
        ("/dev/dri/", "listing /dev/dri: Permission denied"),
        ("/dev/dri/card0", ""),
    ] {
        if !machine.in_made_up_system(&["/sys", "/dev/dri", "/proc/cmdline"]) {
            return;
        }
        machine.start_behind(&[&landlock, refused]);
        let explained = machine.explain();
        let is_named = !words.is_empty();
        let code = if is_named {
            "hardware.no-permission"
        } else {
            "hardware.not-used"
        };
        assert_eq!(explained.first(), code, "{refused}");
        let findings = explained.findings();
        assert!(findings.contains(words), "{findings}");
        let advice = explained.advice();
        // The words differ in a container, in which the test may run.
        assert_eq!(advice.contains("AppArmor"), is_named, "{advice}");
    }
}
