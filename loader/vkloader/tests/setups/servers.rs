//! Set-ups of servers and of developers: sandboxes without lists of devices, and device nodes that no user can open.

use super::launchers::with_extension;
use super::layers::stops;
use super::posted::card;
use super::{Machine, good};
use crate::machine::{built, library, skip};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// Creates empty folders in the imitated system.
fn folders(machine: &Machine, names: &[&str]) {
    for name in names {
        fs::create_dir_all(machine.path(&format!("system{name}"))).expect("folders");
    }
}

/// The missing list of devices is not a cause if a software driver works and nothing shows a card.
#[test]
fn a_sandbox_without_the_kernels_list_may_have_no_card() {
    let mut machine = Machine::new();
    machine.driver("soft", "device one\ndevice.type 4");
    folders(&machine, &["/sys", "/dev/dri"]);
    if !machine.in_made_up_system(&["/sys", "/dev/dri"]) {
        return;
    }
    let explained = machine.explain();
    assert_eq!((explained.code, explained.verdict()), (0, "software-only"));
    let reason = &explained.found("hardware.no-sys")["reason"];
    assert!(
        reason.as_str().is_some_and(|reason| reason.contains("it is unknown")),
        "{reason}"
    );
    // A driver that cannot be opened explains more than the list.
    let library = machine.file("libraries/libmock_soft.so", "no library");
    let explained = machine.explain();
    assert_eq!((explained.code, explained.verdict()), (1, "nothing"));
    assert_eq!(explained.first(), "driver.not-opened");
    assert!(explained.codes().contains(&"hardware.no-sys"));
    fs::copy(built("libmock_driver.so"), library).expect("a library");
    // A device node shows a card, which drivers do not find without the list.
    machine.file("system/dev/dri/renderD128", "");
    let explained = machine.explain();
    let reason = &explained.found("hardware.no-sys")["reason"];
    assert!(
        reason.as_str().is_some_and(|reason| reason.contains("do not find")),
        "{reason}"
    );
}

#[test]
fn a_folder_of_device_nodes_that_the_user_may_not_search_is_named() {
    let mut machine = Machine::new();
    machine.driver("soft", "device one\ndevice.type 4");
    card(&machine, "0000:01:00.0", "0x1002", Some("amdgpu"));
    let folder = machine.path("system/dev/dri");
    for file in [machine.file("journal", ""), folder.join("renderD128")] {
        fs::set_permissions(file, fs::Permissions::from_mode(0o666)).expect("the owner may");
    }
    if !machine.unprivileged() || !machine.in_made_up_system(&["/sys", "/dev/dri"]) {
        return;
    }
    let mode = |mode| fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).expect("the owner may");
    mode(0o700);
    let explained = machine.explain();
    let found = explained.found("hardware.no-permission");
    assert_eq!(found["name"], "/dev/dri", "{found:#}");
    assert!(found["advice"].to_string().contains("chmod a+rx /dev/dri"), "{found:#}");
    mode(0o755);
    let codes = machine.explain();
    assert!(
        !codes.codes().contains(&"hardware.no-permission"),
        "{:?}",
        codes.codes()
    );
}

#[test]
fn a_device_node_in_a_file_system_without_devices_is_named() {
    let mut machine = Machine::new();
    machine.driver("soft", "device one\ndevice.type 4");
    card(&machine, "0000:01:00.0", "0x1002", Some("amdgpu"));
    let node = machine.path("system/dev/dri/renderD128");
    fs::remove_file(&node).expect("a file");
    let made = Command::new("mknod")
        .args(["-m", "666"])
        .arg(&node)
        .args(["c", "1", "3"])
        .status();
    if !made.is_ok_and(|status| status.success()) {
        return skip("this user makes no device nodes");
    }
    // The sandbox mounts a folder without devices, if it is not handed over as a folder of devices.
    if !machine.in_made_up_system(&["/sys", "/dev/dri"]) {
        return;
    }
    let explained = machine.explain();
    let found = explained.found("hardware.no-permission");
    assert!(found["reason"].to_string().contains("nodev"), "{found:#}");
    assert!(
        found["advice"].to_string().contains("--dev-bind /dev/dri /dev/dri"),
        "{found:#}"
    );
    assert!(
        !explained.codes().contains(&"hardware.not-used"),
        "{:?}",
        explained.codes()
    );
}

/// A layer that a variable enables crashes. The variable takes precedence over the one that disables layers.
#[test]
fn the_variable_that_enables_a_crashing_layer_is_unset() {
    let mut machine = Machine::new();
    good(&mut machine);
    stops(&machine, "*(volatile int *)8 = 1");
    let folder = machine.path("data/vulkan/explicit_layer.d");
    fs::create_dir_all(&folder).expect("a folder");
    let manifest = machine.path("data/vulkan/implicit_layer.d/stops.json");
    fs::rename(manifest, folder.join("stops.json")).expect("one file system");
    machine.variable("VK_LOADER_LAYERS_ENABLE", "*stops*");
    let explained = machine.explain();
    assert_eq!((explained.code, explained.first()), (1, "program.crashed"));
    let advice = explained.advice();
    assert!(
        advice.starts_with("Stop using this layer: unset VK_LOADER_LAYERS_ENABLE"),
        "{advice}"
    );
    assert!(!advice.contains("VK_LOADER_LAYERS_DISABLE"), "{advice}");
    machine.unset("VK_LOADER_LAYERS_ENABLE");
    assert_eq!(machine.explain().devices(), ["one"]);
}

/// Hides the folder of the system's data, and shows the machine's folder `system` in place of the system's manifests.
fn hide_data(machine: &mut Machine) -> bool {
    folders(machine, &["/manifests"]);
    let manifests = machine.path("system/manifests").display().to_string();
    let words = [
        "bwrap",
        "--bind",
        "/",
        "/",
        "--dev",
        "/dev",
        "--tmpfs",
        "/usr/share",
        "--bind",
    ];
    let words = words.into_iter().chain([manifests.as_str(), "/usr/share/vulkan/icd.d"]);
    machine.start_with(words.map(String::from).collect())
}

#[test]
fn drivers_without_their_manifests_are_named_with_the_folder() {
    let mut machine = Machine::new();
    let library = machine.path("libraries/libvulkan_radeon.so");
    fs::copy(built("libmock_driver.so"), &library).expect("a library");
    machine.variable("LD_LIBRARY_PATH", machine.path("libraries").display().to_string());
    if !hide_data(&mut machine) {
        return;
    }
    let explained = machine.explain();
    assert_eq!((explained.code, explained.first()), (1, "driver.none-installed"));
    let shown = library.display().to_string();
    assert!(explained.findings().contains(&shown), "{}", explained.findings());
    assert!(
        explained.advice().contains("--ro-bind /usr/share/vulkan"),
        "{}",
        explained.advice()
    );
}

#[test]
fn the_variable_that_leaves_out_other_drivers_comes_before_an_update() {
    let mut machine = Machine::new();
    good(&mut machine);
    let program = with_extension(&machine);
    let library = library();
    let words = [
        "--",
        &program,
        library.to_str().expect("plain"),
        "VK_EXT_swapchain_colorspace",
    ];
    machine.variable(
        "VK_DRIVER_FILES",
        machine.path("data/vulkan/icd.d/good.json").display().to_string(),
    );
    if !hide_data(&mut machine) {
        return;
    }
    let explained = machine.explain_with(&words);
    assert!(
        explained.advice().starts_with("Update the driver"),
        "{}",
        explained.advice()
    );
    fs::write(machine.path("system/manifests/rich.json"), "{}").expect("a file");
    let explained = machine.explain_with(&words);
    assert_eq!(explained.first(), "instance.extension-missing");
    let advice = explained.advice();
    assert!(
        advice.starts_with("Let the loader search all drivers: unset VK_DRIVER_FILES"),
        "{advice}"
    );
}

/// A service of systemd has no access to a folder (`InaccessiblePaths=`), whose permissions are not the reason.
#[test]
fn a_folder_that_systemd_hides_from_a_service_is_named() {
    let mut machine = Machine::new();
    good(&mut machine);
    folders(&machine, &["/systemd/inaccessible/dir", "/own"]);
    let (hidden, own) = (
        machine.path("system/systemd/inaccessible/dir"),
        machine.path("system/own"),
    );
    fs::set_permissions(&hidden, fs::Permissions::from_mode(0o000)).expect("the owner may");
    let (hidden, own) = (hidden.display().to_string(), own.display().to_string());
    machine.variable("VK_DRIVER_FILES", format!("{own}/icd.json"));
    let words = ["bwrap", "--bind", "/", "/", "--dev", "/dev", "--bind", &hidden, &own];
    if !machine.unprivileged() || !machine.start_with(words.map(String::from).into()) {
        return;
    }
    let explained = machine.explain();
    assert_eq!(explained.first(), "file.not-opened", "{:#}", explained.report);
    let reason = explained.report["dropped"][0]["reason"].to_string();
    assert!(
        reason.contains(&format!("systemd hides {own} from this service")),
        "{reason}"
    );
    let advice = explained.advice();
    assert!(
        advice.contains(&format!("InaccessiblePaths= without {own}")),
        "{advice}"
    );
    assert!(!advice.contains("chmod"), "{advice}");
}
