//! Tests of machines with several cards, and of drivers whose card the system does not list.

use super::*;
use crate::report::{Fact, Kind};

/// A card: its place, vendor, device ID and kernel driver.
pub(super) type Row = (&'static str, &'static str, &'static str, Option<&'static str>);

/// Sandy Bridge, for which no Vulkan driver exists.
const OLD: Row = ("0000:00:02.0", "0x8086", "0x0116", Some("i915"));
pub(super) const RADEON: Row = ("0000:03:00.0", "0x1002", "0x744c", Some("amdgpu"));
pub(super) const NVIDIAS: Row = ("0000:01:00.0", "0x10de", "0x2684", Some("nvidia"));

/// Adds cards, each with an open node.
pub(super) fn with(cards: &[Row]) -> System {
    let system = System::new();
    for (place, vendor, device, driver) in cards {
        system.card(place, "0x030000", vendor, *driver);
        system.file(&format!("sys/bus/pci/devices/{place}/device"), device);
    }
    system.file("dev/dri/renderD128", "");
    system
}

/// Returns the finding of least rank about hardware or a driver.
pub(super) fn first(report: Report) -> Dropped {
    let mut dropped = report.dropped;
    dropped.retain(|one| !one.is_noise());
    dropped.sort_by_key(|one| one.rank);
    dropped.remove(0)
}

pub(super) fn failed(library: &str, code: &str) -> Report {
    let mut failed = report();
    failed.dropped.push(Dropped {
        code: code.into(),
        rank: rank::BROKEN,
        ..codes::DRIVER_NONE_HAS_DEVICE.about(library)
    });
    failed
}

/// A laptop whose card of NVIDIA a rule of udev removes. The rule for the sound of a card removes no card.
#[test]
fn a_rule_that_removes_nvidias_card_is_named() {
    let rule =
        |class: &str| format!("# own\nATTR{{vendor}}==\"0x10de\", ATTR{{class}}==\"{class}\", ATTR{{remove}}=\"1\"");
    let of = |class: &str, library: &str, wanted: Option<&str>| {
        let system = with(&[("0000:00:02.0", "0x8086", "0x9a60", Some("i915"))]);
        system
            .file("etc/udev/rules.d/50-remove.rules", &rule(class))
            .file(library, "");
        let mut report = report();
        if let Some(value) = wanted {
            report.variables = crate::variables::Variables::with("__NV_PRIME_RENDER_OFFLOAD", value);
        }
        let found = system.found(report).dropped;
        let own = found.into_iter().find(|one| one.code == "hardware.removed");
        own.map(|one| (one.findings.joined("; "), one.advice, one.rank))
    };
    let library = "usr/lib64/libnvidia-glcore.so.550.54.14";
    let (findings, advice, rank) = of("0x03[0-9]*", library, Some("1")).expect("a finding");
    assert_eq!(
        findings,
        "/etc/udev/rules.d/50-remove.rules, line 2, removes the card from the PCI bus; __NV_PRIME_RENDER_OFFLOAD=1 asks for the card"
    );
    assert!(advice.contains("envycontrol -s hybrid"), "{advice}");
    assert_eq!(rank, rank::HARDWARE);
    assert!(of("0x03[0-9]*", library, None).is_some());
    assert!(of("0x03[0-9]*", "usr/lib64/libother.so", Some("1")).is_none());
    assert!(of("0x040300", library, None).is_none());
    let (findings, advice, _) = of("0x040300", library, Some("1")).expect("a finding");
    assert_eq!(findings, "__NV_PRIME_RENDER_OFFLOAD=1 asks for the card");
    assert!(advice.starts_with("If the machine has such a card"), "{advice}");
}

/// A second card that cannot render, or that is reserved, does not hide the cause for a card that can.
#[test]
fn a_harmless_card_does_not_hide_the_cause_of_another() {
    let guest: Row = ("0000:04:00.0", "0x10de", "0x2684", Some("vfio-pci"));
    let server: Row = ("0000:05:00.0", "0x1a03", "0x2000", Some("ast"));
    let bare: Row = ("0000:05:00.0", "0x1a03", "0x2000", None);
    for other in [OLD, guest, server, bare] {
        let system = with(&[other, RADEON]);
        let found = first(system.found(idle(&["libvulkan_radeon.so"])));
        assert_eq!(found.code, "hardware.not-used", "{other:?}");
        assert!(found.name.contains("1002:744c"), "{}", found.name);
        let found = first(system.found(idle(&["libvulkan_lvp.so"])));
        assert_eq!(found.code, "hardware.no-driver", "{other:?}");
    }
    let found = first(with(&[guest]).found(idle(&["libvulkan_radeon.so"])));
    assert_eq!(
        (found.code.as_str(), found.rank),
        ("hardware.for-guests", rank::HARDWARE)
    );
}

/// Mesa's driver for virtual machines fails on each machine without such a device.
#[test]
fn a_driver_for_other_hardware_comes_after_the_card() {
    let bare: Row = ("0000:03:00.0", "0x1002", "0x744c", None);
    let failing = || failed("libvulkan_virtio.so", "driver.creation-failed");
    assert_eq!(first(with(&[bare]).found(failing())).code, "hardware.no-kernel-driver");
    let virtual_card: Row = ("0000:00:02.0", "0x1af4", "0x1050", Some("virtio-pci"));
    let found = with(&[virtual_card]).found(failing());
    let driver = found.dropped.iter().find(|one| one.code == "driver.creation-failed");
    assert_eq!(driver.map(|one| one.rank), Some(rank::BROKEN));
}

/// The repair of a driver whose card has no obstacle helps without the other card.
#[test]
fn the_broken_driver_of_a_card_comes_before_the_obstacle_of_another() {
    let mut both = failed("libvulkan_radeon.so", "driver.not-opened");
    both.dropped.append(&mut idle(&["libvulkan_nouveau.so"]).dropped);
    let bare: Row = ("0000:01:00.0", "0x10de", "0x2684", None);
    let found = first(with(&[bare, RADEON]).found(both));
    assert_eq!(found.name, "libvulkan_radeon.so");
    let mut other = failed("libvulkan_intel.so", "driver.not-opened");
    other.dropped.append(&mut idle(&["libvulkan_nouveau.so"]).dropped);
    assert_eq!(first(with(&[bare]).found(other)).code, "hardware.no-kernel-driver");
}

#[test]
fn a_closed_node_explains_only_its_own_card() {
    let system = with(&[RADEON, NVIDIAS]);
    let machine = Machine::at(system.0.path());
    let cards = machine.cards();
    let closed = |node: &str| [machine.path(node)];
    for (node, of_radeon, of_nvidia) in [
        ("dev/nvidiactl", false, true),
        ("dev/dri/renderD128", true, true),
        ("dev/dri/renderD129", false, false),
    ] {
        let explained = |vendor: u32| {
            let card = cards.iter().find(|card| card.vendor == vendor).expect("a card");
            is_explained(card, &[], &closed(node), &machine)
        };
        assert_eq!((explained(0x1002), explained(0x10DE)), (of_radeon, of_nvidia), "{node}");
    }
    let versions = [codes::HARDWARE_NVIDIA_VERSIONS.about("NVIDIA")];
    let explained: Vec<bool> = cards
        .iter()
        .map(|card| is_explained(card, &versions, &[], &machine))
        .collect();
    assert_eq!(explained, [true, false], "{cards:?}");
}

/// On a laptop whose other card works, the driver of NVIDIA fails because the kernel module has another version than the driver.
#[test]
fn other_versions_come_before_the_driver_that_fails_for_them() {
    let mut failing = failed("libGLX_nvidia.so.0", "driver.creation-failed");
    failing.hardware = with(&[NVIDIAS]).found(report()).hardware;
    let mut found = [codes::HARDWARE_NVIDIA_VERSIONS.about("NVIDIA")];
    crate::causes::hardware::idle::before_driver(&mut found, &mut failing);
    assert!(found[0].rank < failing.dropped[0].rank);
}

/// A driver that remained from an earlier card does not come before the broken driver of the present card.
#[test]
fn a_driver_without_its_card_comes_after_the_driver_of_the_other_card() {
    let mut both = failed("libGLX_nvidia.so.0", "driver.no-global-function");
    both.dropped
        .append(&mut failed("libvulkan_radeon.so", "driver.not-opened").dropped);
    let found = first(with(&[RADEON]).found(both));
    assert_eq!(found.name, "libvulkan_radeon.so");
}

#[test]
fn a_card_that_the_system_does_not_list_is_not_called_missing() {
    let driver = || failed("libGLX_nvidia.so.0", "driver.creation-failed");
    let advice = |system: &System| system.found(driver()).dropped.remove(0).advice;
    let usual = driver().dropped.remove(0).advice;
    // The list of PCI devices of a sandbox such as that of gVisor is empty.
    let system = System::new();
    assert_eq!(advice(&system), usual);
    system.card("0000:00:1f.0", "0x020000", "0x8086", None);
    assert!(
        advice(&system).contains("prime-select on-demand"),
        "{}",
        advice(&system)
    );
    for node in ["dev/nvidia0", "dev/nvmap", "dev/nvhost-ctrl-gpu"] {
        let system = System::new();
        system.card("0000:00:1f.0", "0x020000", "0x8086", None);
        assert_eq!(advice(system.file(node, "")), usual, "{node}");
    }
}

#[test]
fn a_missing_card_comes_with_the_words_of_the_surroundings() {
    for (file, text, words) in [
        ("proc/cpuinfo", "flags : fpu hypervisor", "an instance with a GPU"),
        (
            "proc/sys/kernel/osrelease",
            "5.15.90-microsoft-standard-WSL2",
            "the driver dzn",
        ),
        (".dockerenv", "", "The kernel of the host lists no graphics card"),
        ("etc/hostname", "ann", "remove the packages of this driver"),
    ] {
        let system = System::new();
        system.card("0000:00:1f.0", "0x020000", "0x8086", None).file(file, text);
        let found = system.found(failed("libGLX_nvidia.so.0", "driver.creation-failed"));
        let advice = &found.dropped[0].advice;
        assert!(advice.contains(words), "{file}: {advice}");
    }
}

/// Before Mesa 22.3, the usual driver for Intel's cards also serves those of 2012 to 2015.
#[test]
fn a_broken_usual_driver_of_old_cards_is_not_called_missing() {
    let haswell: Row = ("0000:00:02.0", "0x8086", "0x0416", Some("i915"));
    let found = first(with(&[haswell]).found(failed("libvulkan_intel.so", "driver.not-opened")));
    assert_eq!(found.code, "driver.not-opened");
    let found = first(with(&[haswell]).found(idle(&["libvulkan_intel.so"])));
    assert_eq!(found.code, "hardware.no-driver");
}

#[test]
fn a_driver_that_asks_for_a_variable_is_the_cause_only_without_a_usable_card() {
    let line = |word: &str| Fact::printed(&format!("WARNING: pass {word} if you know"));
    let asking = |word: &str| {
        let mut asking = idle(&["libvulkan_nouveau.so"]);
        asking.dropped[0].findings.push(line(word));
        asking
    };
    let word = "NVK_I_WANT_A_BROKEN_VULKAN_DRIVER=1";
    let system = with(&[("0000:01:00.0", "0x10de", "0x13c2", Some("nouveau"))]);
    let found = first(system.found(asking(word)));
    assert_eq!(
        (found.code.as_str(), found.rank),
        ("driver.no-devices", rank::HARDWARE + 1)
    );
    assert!(found.advice.ends_with(&format!("{word} PROGRAM")), "{}", found.advice);
    // The broken driver of another card comes first.
    let both = with(&[("0000:01:00.0", "0x10de", "0x13c2", Some("nouveau")), RADEON]);
    let mut broken = asking(word);
    broken
        .dropped
        .append(&mut failed("libvulkan_radeon.so", "driver.not-opened").dropped);
    assert_eq!(first(both.found(broken)).code, "driver.not-opened");
    // The word comes from a library, and users copy it into a shell.
    let found = first(system.found(asking("x;id;A_I_WANT_A_BROKEN_VULKAN_DRIVER=1")));
    assert_eq!(found.code, "hardware.not-used");
    let mut usable = with_first_card();
    usable.dropped = asking(word).dropped;
    assert_eq!(first(system.found(usable)).rank, rank::ASIDE);
}

/// A driver lists no device because its call failed, so that the failure and its message come first.
#[test]
fn the_failed_call_of_a_driver_comes_before_its_empty_list() {
    let printing = |mut report: Report| {
        report.dropped[0]
            .findings
            .push(Fact::printed("the kernel driver is too old"));
        report
    };
    let mut failing = printing(failed("libvulkan_radeon.so", "device.enumeration-failed"));
    failing.dropped.append(&mut idle(&["libvulkan_radeon.so"]).dropped);
    let found = first(with(&[RADEON]).found(failing));
    assert_eq!(found.code, "device.enumeration-failed");
    assert!(found.head_facts().iter().any(|fact| fact.contains("is too old")));
    let found = first(with(&[RADEON]).found(printing(idle(&["libvulkan_radeon.so"]))));
    assert_eq!(found.code, "hardware.not-used");
    assert!(found.head_facts().iter().any(|fact| fact.contains("is too old")));
}

/// The driver of the second card is installed, so that the user probably wants to use the card.
#[test]
fn an_unused_card_whose_driver_lacks_its_manifest_is_missed() {
    let system = with(&[("0000:03:00.0", "0x1002", "0x2684", Some("amdgpu")), NVIDIAS]);
    system
        .file("usr/lib64/libGLX_nvidia.so.0", "")
        .file("dev/nvidiactl", "")
        .file("dev/nvidia0", "");
    let found = first(system.found(with_first_card()));
    assert_eq!(
        (found.code.as_str(), found.rank),
        ("hardware.no-manifest", rank::ASKED_FOR)
    );
}

#[test]
fn a_file_that_a_driver_could_not_open_keeps_its_remedy() {
    let remedy = |kind: Kind| {
        let mut report = failed("/usr/lib/libvulkan_radeon.so", "device.enumeration-failed");
        let fact = Fact::new(
            kind,
            "it could not open /dev/dri/renderD128: this user may not read the file",
        );
        report.dropped[0].findings = [fact].into();
        report.dropped[0].advice = "Own.".into();
        with(&[RADEON]).found(report).dropped.remove(0).advice
    };
    assert_eq!(remedy(Kind::NotOpened), "Own.");
    assert!(remedy(Kind::Sentence).contains("kernel driver amdgpu"));
    let system = with(&[RADEON]);
    let machine = Machine::at(system.0.path());
    let failed = failed("libvulkan_radeon.so", "device.enumeration-failed")
        .dropped
        .remove(0);
    assert!(lacks_node(&failed, &machine, &[machine.path("dev/dri/renderD128")]));
}

#[test]
fn a_card_that_is_too_old_explains_its_driver_that_failed() {
    let fermi: Row = ("0000:01:00.0", "0x10de", "0x0de1", Some("nvidia"));
    let failed = || failed("libGLX_nvidia.so.0", "driver.creation-failed");
    let system = with(&[fermi]);
    system.file("dev/nvidiactl", "").file("dev/nvidia0", "");
    let found = first(system.found(failed()));
    assert_eq!(
        (found.code.as_str(), found.rank),
        ("hardware.without-vulkan", rank::BROKEN + 1)
    );
    // A software driver that fails for another reason has a remedy of its own.
    let mut lavapipe = failed();
    lavapipe.dropped[0].name = "libvulkan_lvp.so".into();
    lavapipe.dropped[0].names_file = true;
    assert_eq!(first(system.found(lavapipe)).name, "libvulkan_lvp.so");
    let mut other = failed();
    other.dropped[0].name = "amdvlk64.so".into();
    assert_eq!(first(system.found(other)).code, "hardware.without-vulkan");
    system.card("0000:03:00.0", "0x030000", "0x10de", Some("nvidia"));
    assert_ne!(first(system.found(failed())).code, "hardware.without-vulkan");
}

/// In Flatpak, the folder of manifests was below a link to nothing.
#[test]
fn a_manifest_is_not_to_be_written_below_a_broken_link() {
    let system = with(&[NVIDIAS]);
    system
        .file("dev/nvidiactl", "")
        .file("dev/nvidia0", "")
        .file("usr/lib/x86_64-linux-gnu/libGLX_nvidia.so.0", "");
    let link = system.0.path().join("etc/vulkan");
    fs::create_dir_all(system.0.path().join("etc")).expect("a folder");
    let advice = || first(system.found(idle(&["libvulkan_lvp.so"]))).advice;
    assert!(advice().contains("write one: mkdir -p /etc/vulkan"), "{}", advice());
    symlink("/usr/lib/GL/vulkan", &link).expect("a link");
    let expected = format!(
        "Correct the link {}, or mount /usr/lib/GL/vulkan. Then: ",
        link.display()
    );
    assert!(advice().starts_with(&expected), "{}", advice());
}

#[test]
fn a_series_of_nvidias_driver_without_vulkan_is_told() {
    for (version, is_old) in [("340.108", true), ("470.256.02", false)] {
        let system = with(&[NVIDIAS]);
        let text = format!("NVRM version: NVIDIA UNIX x86_64 Kernel Module  {version}  Thu Jun 13 00:00:00 UTC 2024");
        system
            .file("dev/nvidiactl", "")
            .file("dev/nvidia0", "")
            .file("proc/driver/nvidia/version", &text);
        let advice = first(system.found(idle(&["libvulkan_lvp.so"]))).advice;
        assert_eq!(advice.contains("the loaded series has no Vulkan"), is_old, "{advice}");
    }
}

#[test]
fn nodes_that_nvidias_driver_needs_for_a_device_are_named() {
    let usual = codes::DEVICE_NOT_CREATED.remedy;
    let advice = |nodes: &[&str], own: &str| {
        let system = with(&[NVIDIAS]);
        for node in [&["dev/nvidiactl", "dev/nvidia0"], nodes].concat() {
            system.file(node, "");
        }
        let mut failed = failed("a card", codes::DEVICE_NOT_CREATED.name);
        failed.dropped[0].file = Some("/usr/lib/libGLX_nvidia.so.0".into());
        failed.dropped[0].advice = own.into();
        system.found(failed).dropped.remove(0).advice
    };
    let first = advice(&["dev/nvidia-uvm"], usual);
    assert!(first.contains("modprobe -a nvidia_modeset, and"), "{first}");
    assert_eq!(advice(&["dev/nvidia-uvm", "dev/nvidia-modeset"], usual), usual);
    assert_eq!(advice(&["dev/nvidia-uvm"], "Close programs."), "Close programs.");
}

#[test]
fn a_library_of_windows_that_is_not_searched_is_named() {
    let advice = |file: &str, subject: &str| {
        let system = System::new();
        system
            .file("proc/sys/kernel/osrelease", "5.15.90-microsoft-standard-WSL2")
            .file("dev/dxg", "")
            .file(file, "");
        let mut failed = failed("/usr/lib/libvulkan_dzn.so", "device.enumeration-failed");
        failed.dropped[0].subject = subject.into();
        system.found(failed).dropped.remove(0).advice
    };
    assert!(advice("usr/lib/wsl/lib/libdxcore.so", "driver").contains("LD_LIBRARY_PATH=/usr/lib/wsl/lib PROGRAM"));
    assert!(advice("etc/hostname", "driver").contains("-v /usr/lib/wsl:/usr/lib/wsl"));
    // A variable disabled the driver, so the program did not load it.
    assert!(!advice("etc/hostname", "driver manifest").contains("/usr/lib/wsl"));
}

#[test]
fn drivers_without_a_card_are_known() {
    let cards = with(&[RADEON]).found(report()).hardware;
    for (library, expected) in [
        ("/usr/lib/libvulkan_radeon.so", false),
        ("/usr/lib/libvulkan_asahi.so", true),
        ("/usr/lib/libvulkan_lvp.so", false),
        ("/usr/lib/libunknown.so", false),
    ] {
        let one = failed(library, "driver.not-opened").dropped.remove(0);
        assert_eq!(is_without_card(&one, &cards), expected, "{library}");
    }
}

/// Some packages install Mesa's driver for WSL on every machine.
#[test]
fn a_driver_for_wsl_explains_nothing_on_another_machine() {
    let system = System::new();
    let mut report = failed("/usr/lib/libvulkan_dzn.so", "driver.creation-failed");
    report.dropped[0].rank = rank::BROKEN;
    let found = system.found(report);
    let driver = found.dropped.iter().find(|one| one.name.ends_with("libvulkan_dzn.so"));
    let driver = driver.expect("the finding");
    assert_eq!(driver.rank, rank::ASIDE);
    assert!(driver.advice.contains("only for WSL"), "{driver:?}");
}

#[test]
fn a_container_without_a_list_of_cards_comes_with_nvidias_capabilities() {
    let advice = |file: &str| {
        let system = System::new();
        system.file(file, "").file("dev/nvidia0", "");
        let found = system.found(failed("libGLX_nvidia.so.0", "driver.creation-failed"));
        found.dropped[0].advice.contains("NVIDIA_DRIVER_CAPABILITIES=all")
    };
    assert!(advice(".dockerenv") && !advice("etc/hostname"));
}

#[test]
fn each_kind_of_container_has_its_own_words_for_nvidias_libraries() {
    for (file, text, words) in [
        (".dockerenv", "", "docker run"),
        ("run/systemd/container", "lxc", "nvidia.runtime=true"),
        ("run/secrets/kubernetes.io/token", "", "runtime class nvidia"),
    ] {
        let system = with(&[NVIDIAS]);
        system
            .file(file, text)
            .file("dev/nvidiactl", "")
            .file("dev/nvidia0", "");
        let found = first(system.found(idle(&["libvulkan_lvp.so"])));
        assert_eq!(found.code, "hardware.no-driver", "{file}");
        assert!(found.advice.contains(words), "{file}: {}", found.advice);
    }
}

/// NVIDIA's driver fails because nouveau uses its card, and the other card of the laptop works.
#[test]
fn an_obstacle_of_the_second_card_comes_before_its_driver() {
    let nouveau: Row = ("0000:01:00.0", "0x10de", "0x2520", Some("nouveau"));
    let intel: Row = ("0000:00:02.0", "0x8086", "0x3e9b", Some("i915"));
    let failing = || {
        let mut failing = failed("/usr/lib/libGLX_nvidia.so.0", "driver.creation-failed");
        let seen = crate::probe::Device {
            vendor: 0x8086,
            device: 0x3E9B,
            created: Some(0),
            ..crate::probe::Device::default()
        };
        failing.devices.push(crate::report::of_other(&seen, ""));
        failing
    };
    let found = first(with(&[intel, nouveau]).found(failing()));
    assert_eq!(
        (found.code.as_str(), found.rank),
        ("hardware.nouveau", rank::CONSEQUENCE)
    );
    // A tool that switches the card off writes a rule for it.
    let system = with(&[intel]);
    system.file(
        "etc/udev/rules.d/50-remove.rules",
        "ATTR{vendor}==\"0x10de\", ATTR{class}==\"0x030000\", ATTR{remove}=\"1\"",
    );
    let mut found = system.found(failing()).dropped;
    found.sort_by_key(|one| one.rank);
    let codes: Vec<&str> = found.iter().map(|one| one.code.as_str()).collect();
    assert_eq!(codes, ["hardware.removed", "driver.creation-failed"]);
}
