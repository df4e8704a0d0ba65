//! Programs in sandboxes that lack what a driver needs: its library, a library that it needs, device nodes, and lists of the kernel.

use super::companions::compile;
use super::posted::card;
use super::{Machine, good};
use crate::machine::{Explained, built, library, skip, vkloader};
use std::fs;
use std::process::Command;

/// Explains a program in a sandbox of bubblewrap that has the files of this system, changed by the options `more`. Returns `None` and reports
/// the test as skipped if the system makes no such sandbox.
fn in_bubblewrap(machine: &Machine, more: &[&str]) -> Option<Explained> {
    let start = ["bwrap", "--dev-bind", "/", "/", "--proc", "/proc"];
    let probe = [vkloader(), "probe"];
    let library = library();
    let program = [&start[..], more, &probe, &[library.to_str().expect("plain")]].concat();
    let possible = Command::new(start[0]).args(&start[1..]).arg("true").output();
    if !possible.is_ok_and(|made| made.status.success()) {
        skip("bubblewrap makes no sandbox here");
        return None;
    }
    Some(machine.explain_with(&[&["--"], &program[..]].concat()))
}

/// Asserts that the first finding is about a driver that did not open, with words of a fact and of the remedy.
fn assert_not_opened(explained: &Explained, fact: &str, remedy: &str) {
    assert_eq!(
        explained.first(),
        "driver.not-opened",
        "{:#}",
        explained.report["dropped"]
    );
    assert!(explained.findings().contains(fact), "{fact}: {}", explained.findings());
    assert!(explained.advice().contains(remedy), "{remedy}: {}", explained.advice());
}

#[test]
fn a_sandbox_without_the_drivers_library_is_named_with_the_option() {
    let mut machine = Machine::new();
    good(&mut machine);
    let folder = machine.path("libraries").display().to_string();
    let Some(explained) = in_bubblewrap(&machine, &["--tmpfs", &folder]) else {
        return;
    };
    let fact = format!(
        "exists outside of the sandbox of the program, and not in it: a file system without files (tmpfs) hides {folder}"
    );
    let file = format!("{folder}/libmock_good.so");
    assert_not_opened(&explained, &fact, &format!("bwrap --ro-bind {file} {file}"));
    let config = format!("{folder}/libmock_good.conf");
    let followed = [
        "--tmpfs",
        &folder,
        "--ro-bind",
        &file,
        &file,
        "--ro-bind",
        &config,
        &config,
    ];
    let explained = in_bubblewrap(&machine, &followed).expect("it was possible before");
    assert_eq!(explained.devices(), ["one"], "{:#}", explained.report["dropped"]);
}

#[test]
fn a_file_in_place_of_a_library_that_a_driver_needs_is_named() {
    let mut machine = Machine::new();
    let needed = needing(&mut machine);
    let Some(explained) = in_bubblewrap(&machine, &["--ro-bind", "/dev/null", &needed]) else {
        return;
    };
    assert_not_opened(
        &explained,
        &format!("{needed} is covered in the sandbox of the program: /dev/null is mounted there"),
        &format!("bwrap --ro-bind {needed} {needed}"),
    );
    let explained = in_bubblewrap(&machine, &[]).expect("it was possible before");
    assert_eq!(explained.devices(), ["one"], "{:#}", explained.report["dropped"]);
}

/// A variable names a manifest in a folder that the sandbox does not have.
#[test]
fn a_manifest_that_only_the_sandbox_lacks_comes_before_its_variable() {
    let mut machine = Machine::new();
    good(&mut machine);
    let own = machine.path("own").display().to_string();
    fs::create_dir(&own).expect("a folder");
    fs::rename(
        machine.path("data/vulkan/icd.d/good.json"),
        machine.path("own/good.json"),
    )
    .expect("one disk");
    machine.variable("VK_DRIVER_FILES", format!("{own}/good.json"));
    let Some(explained) = in_bubblewrap(&machine, &["--tmpfs", &own]) else {
        return;
    };
    assert_eq!(explained.first(), "file.not-found", "{:#}", explained.report["dropped"]);
    let file = format!("{own}/good.json");
    let remedy = format!("bwrap --ro-bind {file} {file}");
    assert!(explained.advice().contains(&remedy), "{}", explained.advice());
    let followed = ["--tmpfs", &own, "--ro-bind", &file, &file];
    let explained = in_bubblewrap(&machine, &followed).expect("it was possible before");
    assert_eq!(explained.devices(), ["one"], "{:#}", explained.report["dropped"]);
}

/// The trace is not the reason if a sandbox cannot be made.
#[test]
fn a_sandbox_that_fails_is_named_with_its_message() {
    let machine = Machine::new();
    let Some(explained) = in_bubblewrap(&machine, &["--ro-bind", "/nowhere", "/nowhere"]) else {
        return;
    };
    assert_eq!(
        explained.first(),
        "program.failed-early",
        "{:#}",
        explained.report["dropped"]
    );
    assert!(explained.findings().contains("bwrap: "), "{}", explained.findings());
}

/// The socket of the compositor is in a folder that the sandbox does not have.
#[test]
fn a_socket_of_a_display_that_only_the_sandbox_lacks_is_named() {
    let mut machine = Machine::new();
    machine.driver("good", "device one");
    let program = machine.c_program(
        "#include <dlfcn.h>\nint main(void) { dlopen(\"libvulkan.so.1\", 2); return dlopen(\"libwayland-client.so.0\", 2) ? 3 : 4; }\n",
    );
    let folder = machine.path("run").display().to_string();
    fs::create_dir(&folder).expect("a folder");
    let _server = std::os::unix::net::UnixListener::bind(machine.path("run/wayland-0")).expect("a socket");
    machine.variable("XDG_RUNTIME_DIR", &folder);
    machine.variable("WAYLAND_DISPLAY", "wayland-0");
    let library = library();
    let sandbox = ["bwrap", "--dev-bind", "/", "/", "--proc", "/proc"];
    let explained = |more: &[&str]| {
        let start = ["--library", library.to_str().expect("plain"), "--"];
        machine.explain_with(&[&start, &sandbox[..], more, &[&program]].concat())
    };
    let possible = Command::new(sandbox[0]).args(&sandbox[1..]).arg("true").status();
    if !possible.is_ok_and(|status| status.success()) {
        return skip("bubblewrap makes no sandbox here");
    }
    let found = explained(&["--tmpfs", &folder]);
    assert_eq!(found.first(), "display.missing", "{:#}", found.report["dropped"]);
    let socket = format!("{folder}/wayland-0");
    let remedy = format!("bwrap --ro-bind {socket} {socket}");
    assert!(found.advice().contains(&remedy), "{}", found.advice());
    assert!(!explained(&[]).codes().contains(&"display.missing"));
    // A program may not notice that it has no display.
    let text = "#include <dlfcn.h>\nint main(void) { dlopen(\"libvulkan.so.1\", 2); return *(volatile int *)8; }\n";
    machine.c_program(text);
    let found = explained(&["--tmpfs", &folder]);
    assert_eq!(found.first(), "program.crashed", "{:#}", found.report["dropped"]);
    assert!(found.advice().contains(&remedy), "{}", found.advice());
    assert!(!explained(&[]).advice().contains(&remedy));
}

/// Adds a driver that needs the library `libvkltneed.so` beside it. Returns the path of the library.
fn needing(machine: &mut Machine) -> String {
    let text = machine.file("need.c", "int vklt_need(void) { return 1; }\n");
    let needed = machine.path("libraries/libvkltneed.so");
    let compiled = |words: &[&std::ffi::OsStr]| {
        let status = Command::new("cc").args(["-shared", "-fPIC", "-o"]).args(words).status();
        assert!(status.expect("a compiler").success());
    };
    compiled(&[needed.as_os_str(), text.as_os_str()]);
    machine.driver("needy", "device one");
    // The driver of this library is the one that was just copied, under another name.
    let folder = machine.path("libraries");
    for ending in ["so", "conf"] {
        let to = folder.join(format!("libvkltinner.{ending}"));
        fs::rename(folder.join(format!("libmock_needy.{ending}")), to).expect("one folder");
    }
    let outer = machine.file(
        "outer.c",
        "int vklt_need(void);\nint vklt_outer(void) { return vklt_need(); }\n",
    );
    let mut command = Command::new("cc");
    command.args(["-shared", "-fPIC", "-Wl,--no-as-needed", "-Wl,-rpath,$ORIGIN", "-o"]);
    command
        .arg(folder.join("libmock_needy.so"))
        .arg(outer)
        .arg("-L")
        .arg(&folder);
    command.args(["-l:libvkltinner.so", "-lvkltneed"]);
    assert!(command.status().expect("a compiler").success());
    machine.variable("LD_LIBRARY_PATH", folder.to_str().expect("plain"));
    needed.to_str().expect("plain").into()
}

#[test]
fn a_folder_that_a_sandbox_does_not_have_is_named_from_inside() {
    let mut machine = Machine::new();
    good(&mut machine);
    let folder = machine.path("libraries").display().to_string();
    let words = ["bwrap", "--dev-bind", "/", "/", "--proc", "/proc", "--tmpfs", &folder];
    if !machine.start_with(words.map(String::from).into()) {
        return;
    }
    // The folder is below a folder for temporary files, so that only a known sandbox explains the empty file system.
    machine.variable("container", "firejail");
    let explained = machine.explain();
    let file = format!("{folder}/libmock_good.so");
    let fact = format!("a file system without files (tmpfs) is mounted on {folder}, where {file} would be");
    assert_not_opened(
        &explained,
        &fact,
        &format!("firejail --noblacklist={file} --whitelist={file} PROGRAM"),
    );
    machine.start_with(Vec::new());
    assert_eq!(machine.explain().devices(), ["one"]);
}

/// A container gets the manifests of its host, but not the driver.
#[test]
fn a_driver_of_the_host_that_a_container_lacks_is_named_with_the_volume() {
    let mut machine = Machine::new();
    machine.manifest("good", "/nowhere/own/libmock_good.so".as_ref(), "");
    fs::create_dir_all(machine.path("system/run")).expect("folders");
    machine.file("system/run/.containerenv", "");
    let manifests = machine.path("data/vulkan/icd.d").display().to_string();
    let run = machine.path("system/run").display().to_string();
    let words = [
        "bwrap", "--bind", "/", "/", "--dev", "/dev", "--bind", &run, "/run", "--bind", &manifests, &manifests,
    ];
    if !machine.start_with(words.map(String::from).into()) {
        return;
    }
    let fact = format!(
        "comes from outside of the container (mounted at {manifests}), and /nowhere/own/libmock_good.so does not"
    );
    assert_not_opened(
        &machine.explain(),
        &fact,
        "podman run -v /nowhere/own:/nowhere/own:ro IMAGE",
    );
    // The image has the driver, and lacks a library that the driver needs.
    compile(
        &machine,
        "libraries/libvklneeded.so",
        "int needed;\n",
        &["-Wl,-soname,libvklneeded.so"],
    );
    let needed = machine.path("libraries/libvklneeded.so");
    compile(
        &machine,
        "libraries/libowndriver.so",
        "int driver;\n",
        &[needed.to_str().expect("plain")],
    );
    fs::remove_file(&needed).expect("just made");
    machine.manifest("good", &machine.path("libraries/libowndriver.so"), "");
    let explained = machine.explain();
    assert_not_opened(&explained, "libvklneeded.so is missing, which ", "libvklneeded.so");
    assert!(!explained.advice().contains("podman"), "{}", explained.advice());
    machine.manifest("good", "/nowhere/own/libmock_good.so".as_ref(), "");
    machine.start_with(Vec::new());
    let explained = machine.explain();
    assert!(!explained.advice().contains("podman"), "{}", explained.advice());
}

/// Shows `vkloader` an imitated system with a card, in which it may make sandboxes.
fn with_card(machine: &mut Machine) -> bool {
    card(machine, "0000:01:00.0", "0x1002", Some("amdgpu"));
    let own = |path: &str| machine.path(&format!("system{path}")).display().to_string();
    let mut words: Vec<String> = ["bwrap", "--cap-add", "ALL", "--bind", "/", "/", "--dev", "/dev"]
        .map(String::from)
        .into();
    words.extend([
        "--bind".into(),
        own("/sys"),
        "/sys".into(),
        "--bind".into(),
        own("/dev/dri"),
        "/dev/dri".into(),
    ]);
    machine.start_with(words)
}

#[test]
fn device_nodes_and_lists_that_only_the_sandbox_lacks_are_named_with_the_option() {
    let mut machine = Machine::new();
    let library = super::posted::driver_as(&machine, "libvulkan_radeon.so", "");
    assert!(built("libmock_driver.so").exists() && !library.is_empty());
    if !with_card(&mut machine) {
        return;
    }
    let Some(explained) = in_bubblewrap(&machine, &["--dev", "/dev"]) else {
        return;
    };
    let found = explained.found("hardware.no-node");
    assert!(
        found["findings"]
            .to_string()
            .contains("/dev/dri/renderD128 exists outside of the sandbox"),
        "{found:#}"
    );
    assert!(
        found["advice"]
            .to_string()
            .contains("bwrap --dev-bind /dev/dri /dev/dri"),
        "{found:#}"
    );
    assert!(
        !explained.codes().contains(&"hardware.not-used"),
        "{:?}",
        explained.codes()
    );
    let explained = in_bubblewrap(&machine, &["--tmpfs", "/sys"]).expect("it was possible before");
    let found = explained.found("hardware.no-sys");
    assert!(
        found["advice"].to_string().contains("bwrap --ro-bind /sys /sys"),
        "{found:#}"
    );
    let explained = in_bubblewrap(&machine, &["--dev", "/dev", "--tmpfs", "/sys"]).expect("it was possible before");
    assert!(
        explained
            .advice()
            .contains("bwrap --ro-bind /sys /sys --dev-bind /dev/dri /dev/dri"),
        "{}",
        explained.advice()
    );
    let explained = in_bubblewrap(&machine, &[]).expect("it was possible before");
    let codes = explained.codes();
    assert!(
        !codes.contains(&"hardware.no-node") && !codes.contains(&"hardware.no-sys"),
        "{codes:?}"
    );
}

/// The dynamic linker's cache lists a library in a folder that this user may not search.
#[test]
fn a_closed_folder_of_the_linkers_cache_is_named() {
    let mut machine = Machine::new();
    let library = machine.path("libraries/libmock_good.so");
    machine.driver("good", "device one");
    machine.manifest("good", "libmock_good.so".as_ref(), "");
    let folder = machine.path("libraries");
    fs::create_dir_all(machine.path("system/etc")).expect("folders");
    let cache = machine.path("system/etc/ld.so.cache");
    let mut command = Command::new("/sbin/ldconfig");
    let made = command.arg("-X").arg("-C").arg(&cache).arg(&folder).status();
    if !made.is_ok_and(|status| status.success()) {
        return skip("ldconfig makes no cache here");
    }
    for file in [machine.file("journal", ""), library] {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(file, fs::Permissions::from_mode(0o666)).expect("the owner may");
    }
    if !machine.unprivileged() || !machine.in_made_up_system(&["/etc/ld.so.cache"]) {
        return;
    }
    let mode = |mode| {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).expect("the owner may");
    };
    mode(0o700);
    let explained = machine.explain();
    let shown = folder.display().to_string();
    assert_not_opened(
        &explained,
        &format!("this user may not search the folder {shown}"),
        &format!("chmod o+x {shown}"),
    );
    mode(0o755);
    assert_eq!(machine.explain().devices(), ["one"]);
}
