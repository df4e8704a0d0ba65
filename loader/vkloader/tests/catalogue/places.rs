//! Tests of the library that is used to ask drivers, and of drivers that only the user's programs find.

use crate::asked::*;
use crate::closure::compile;
use crate::machine::{Machine, library, skip};
use std::path::Path;

/// Runs an update and returns its error output.
fn errors(machine: &Machine, words: &[&str]) -> String {
    let output = machine.run(&[&["catalogue", "update"], words].concat());
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// DRV-276: if the machine has no loader, the update uses the library that came with `vkloader`, even from an unpacked archive.
#[test]
fn the_library_of_the_program_asks_if_the_machine_has_no_loader() {
    let mut machine = machine();
    machine.driver("a", "device one");
    std::fs::create_dir(machine.path("first")).expect("a folder");
    machine.file("first/libvulkan.so.1", "");
    machine.variable("LD_LIBRARY_PATH", machine.path("first").display().to_string());
    machine.install_as("folder/vkloader", "folder/libvulkan.so.1");
    let text = errors(&machine, &["--user"]);
    let own = machine.path("folder/libvulkan.so.1");
    let words = format!(
        "programs on this machine have no Vulkan loader, so {} asks",
        own.display()
    );
    assert!(text.contains(&words), "{text}");
    assert_eq!(driver(&written(&machine), "a")["outcome"], "answered");
    // A library on the command line is not replaced by another library.
    let text = errors(&machine, &["--user", "--library", "/nowhere/libvulkan.so.1"]);
    assert!(text.contains("no Vulkan loader could be opened"), "{text}");
}

/// DRV-276: if the linker finds a driver's library only through `LD_LIBRARY_PATH`, an update of the system's catalogue reports the library,
/// with remedies. Containers with NVIDIA's driver are an example.
#[test]
fn a_library_that_only_a_variable_leads_to_is_reported_with_the_remedies() {
    let mut machine = machine();
    machine.driver("a", "device one");
    machine.manifest("a", Path::new("libmock_a.so"), "");
    let mut words: Vec<String> = ["bwrap", "--bind", "/", "/", "--dev", "/dev"].map(String::from).into();
    let hidden = ["/usr/local/share", "/usr/share/vulkan", "/etc/vulkan"];
    for folder in hidden.into_iter().filter(|folder| Path::new(folder).exists()) {
        words.extend(["--tmpfs".into(), folder.into()]);
    }
    let manifests = machine.path("data/vulkan").display().to_string();
    words.extend(["--ro-bind".into(), manifests, "/usr/local/share/vulkan".into()]);
    if !machine.start_with(words) {
        return;
    }
    let (root, asking) = (
        machine.path("root").display().to_string(),
        library().display().to_string(),
    );
    let of_system = ["--root", &root, "--library", &asking];
    let missing = "the dynamic linker does not find libmock_a.so";
    let text = errors(&machine, &of_system);
    assert!(text.contains(missing) && !text.contains("LD_LIBRARY_PATH"), "{text}");
    let libraries = machine.path("libraries").display().to_string();
    machine.variable("LD_LIBRARY_PATH", &libraries);
    let text = errors(&machine, &of_system);
    let words = format!("{missing} without LD_LIBRARY_PATH, which leads to it in {libraries}. Run");
    assert!(text.contains(&words), "{text}");
    for remedy in ["vkloader catalogue update --user", "/etc/ld.so.conf.d"] {
        assert!(text.contains(remedy), "{text}");
    }
    good(&machine, &["update"]);
    assert_eq!(driver(&written(&machine), "a")["outcome"], "answered");
}

/// DRV-276: the system's service starts no second update while one runs, so an update notices a driver that is installed meanwhile.
#[test]
fn a_driver_that_is_installed_during_an_update_is_asked() {
    let mut machine = machine();
    let (done, later) = (machine.path("done"), machine.path("later.json"));
    let place = machine.path("root/var/cache/vulkan-loader");
    machine.driver("b", "device one");
    std::fs::rename(machine.path("data/vulkan/icd.d/b.json"), &later).expect("a manifest");
    let folder = "/usr/local/share/vulkan/icd.d";
    let (once, from) = (done.display(), later.display());
    machine.driver(
        "a",
        &format!("run vkCreateInstance [ -e {once} ] || {{ touch {once}; cp {from} {folder}/b.json; }}\ndevice one"),
    );
    let mut words: Vec<String> = ["bwrap", "--bind", "/", "/", "--dev", "/dev"].map(String::from).into();
    for folder in ["/usr/local/share", "/usr/share/vulkan", "/etc/vulkan"] {
        if Path::new(folder).exists() {
            words.extend(["--tmpfs".into(), folder.into()]);
        }
    }
    let manifests = machine.path("data/vulkan").display().to_string();
    words.extend(["--bind".into(), manifests, "/usr/local/share/vulkan".into()]);
    if !machine.start_with(words) {
        return;
    }
    let (root, asking) = (
        machine.path("root").display().to_string(),
        library().display().to_string(),
    );
    let text = errors(&machine, &["--changed", "--root", &root, "--library", &asking]);
    let known = unpack(&place.join(file(&machine).file_name().expect("a name")));
    for name in ["a", "b"] {
        assert_eq!(driver(&known, name)["outcome"], "answered", "{name}: {text}");
    }
}

/// The dynamic linker finds the driver's library, but the library lacks a dependency and therefore returns no functions.
#[test]
fn a_library_without_functions_has_an_entry_that_says_so() {
    let mut machine = machine();
    machine.driver("a", "device one");
    machine.manifest("a", Path::new("libempty.so"), "");
    let empty = machine.path("libraries/libempty.so");
    if !compile(&empty, "int empty;", &[]) {
        return skip("there is no C compiler");
    }
    machine.variable("LD_LIBRARY_PATH", machine.path("libraries").display().to_string());
    let text = good(&machine, &["update"]);
    assert!(text.contains("failed ("), "{text}");
    let entry = driver(&written(&machine), "a");
    assert_eq!(entry["outcome"], "failed", "{entry:#}");
    assert_eq!(entry["library"]["path"], empty.display().to_string());
}

#[test]
fn the_remedy_fits_the_catalogue_that_cannot_be_written() {
    let mut machine = machine();
    if !machine.unprivileged() {
        return;
    }
    let (root, asking) = (
        machine.path("root").display().to_string(),
        library().display().to_string(),
    );
    let text = errors(&machine, &["--user", "--library", &asking]);
    assert!(
        text.contains("set XDG_CACHE_HOME") && !text.contains("--user"),
        "{text}"
    );
    let text = errors(&machine, &["--root", &root, "--library", &asking]);
    assert!(text.contains("--user writes the user's own"), "{text}");
}
