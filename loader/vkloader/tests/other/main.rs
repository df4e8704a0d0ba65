//! `vkloader` on machines whose programs use another loader or have no loader.

#[path = "../machine/mod.rs"]
mod machine;

mod ignored;

use machine::{Explained, Machine, built, skip, vkloader};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// Returns a machine with an installed `vkloader`, a driver with a card, and a folder of libraries that programs search first.
fn machine() -> Machine {
    let mut machine = not_installed();
    machine.install();
    machine
}

/// Returns a machine like the result of [`machine`], but without an installed `vkloader`.
fn not_installed() -> Machine {
    let mut machine = Machine::new();
    machine.driver("card", "device card\ndevice.vendor 4318\ndevice.id 7\ndevice.uuid 1");
    let folder = machine.path("first");
    fs::create_dir(&folder).expect("a folder");
    machine.variable("LD_LIBRARY_PATH", folder.to_str().expect("plain"));
    machine
}

/// Returns a machine whose programs use the loader of this system. Reports the test as skipped and returns `None` if the system has only
/// this project's loader.
fn with_peer() -> Option<(Machine, PathBuf)> {
    let usual = "/usr/lib/x86_64-linux-gnu/libvulkan.so.1";
    let peer = std::env::var_os("VKL_PEER_LIBRARY").map_or_else(|| usual.into(), PathBuf::from);
    let real = fs::canonicalize(&peer)
        .ok()
        .filter(|peer| !knows(peer, "VK_LOADER_TRACE"));
    let Some(peer) = real else {
        skip("there is no loader of others here");
        return None;
    };
    let machine = machine();
    symlink(&peer, machine.path("first/libvulkan.so.1")).expect("a link");
    Some((machine, peer))
}

fn knows(loader: &Path, variable: &str) -> bool {
    let bytes = fs::read(loader).unwrap_or_default();
    bytes.windows(variable.len()).any(|part| part == variable.as_bytes())
}

fn differences<'a>(explained: &'a Explained, what: &str) -> Vec<&'a Value> {
    let all = explained.report["other_loader"]["differences"]
        .as_array()
        .expect("a list");
    all.iter().filter(|one| one["what"] == what).collect()
}

#[test]
fn the_loader_that_programs_get_is_asked_the_same() {
    let Some((machine, peer)) = with_peer() else { return };
    let explained = machine.explain_with(&[]);
    assert_eq!((explained.code, explained.devices()), (0, vec!["card"]));
    let other = &explained.report["other_loader"];
    assert_eq!(other["path"], peer.to_str().expect("plain"));
    assert!(
        other["version"]
            .as_str()
            .is_some_and(|version| version.starts_with("1.")),
        "{other:#}"
    );
    assert_eq!(other["is_compared"], true);
    for what in ["device", "order", "driver", "call"] {
        assert_eq!(differences(&explained, what), [&Value::Null; 0], "{other:#}");
    }
    let driver = explained.report["devices"][0]["driver"].as_str().expect("a path");
    assert!(driver.ends_with("libmock_card.so"), "{driver}");
    let asked = explained.report["loader"]["path"].as_str().expect("a path");
    assert!(asked.ends_with("libexec/vulkan-loader-rs/libvulkan.so.1"), "{asked}");
    let text = machine.run(&["explain"]);
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(text.contains("Programs on this machine get another loader"), "{text}");
    assert!(text.contains(peer.to_str().expect("plain")), "{text}");
}

#[test]
fn every_difference_is_named_with_its_reason() {
    let Some((mut machine, peer)) = with_peer() else { return };
    let filter = "VK_LOADER_VENDOR_ID_FILTER";
    if knows(&peer, filter) {
        skip("this loader knows all variables that hide devices");
        return;
    }
    machine.driver("soft", "device soft\ndevice.vendor 65541\ndevice.type 4\ndevice.uuid 2");
    machine.variable(filter, "65541");
    machine.variable("VK_LOADER_DRIVER_POLICY", "keep-open");
    let explained = machine.explain_with(&[]);
    let mut devices = explained.devices();
    devices.sort_unstable();
    assert_eq!(devices, ["card", "soft"], "what programs get");
    assert_eq!(explained.code, 0);
    let names: Vec<&Value> = differences(&explained, "variable")
        .iter()
        .map(|one| &one["name"])
        .collect();
    assert!(names.contains(&&filter.into()), "{names:?}");
    let device = &differences(&explained, "device")[0];
    assert_eq!((&device["name"], &device["only"]), (&"card".into(), &"other".into()));
    let because = device["because"].as_str().unwrap_or_default();
    assert!(
        because.contains(filter) && because.contains("does not know"),
        "{device:#}"
    );
    // The loader that programs use ignores the filter variable, so the report has no finding about the variable.
    assert!(
        !explained.codes().contains(&"device.id-filter"),
        "{:?}",
        explained.codes()
    );
    assert_eq!(explained.report["hidden"], serde_json::json!([]));
    let card = explained.report["devices"]
        .as_array()
        .expect("a list")
        .iter()
        .find(|one| one["name"] == "card");
    let driver = card.and_then(|card| card["driver"].as_str()).unwrap_or_default();
    assert!(driver.ends_with("libmock_card.so"), "{driver}");
    let only_here: Vec<&Value> = differences(&explained, "extension")
        .into_iter()
        .filter(|one| one["only"] == "asked")
        .collect();
    assert!(!only_here.is_empty());
    let (_, list) = said(&machine, &["devices"]);
    assert!(list.contains("card") && list.contains("soft"), "{list}");
}

#[test]
fn drivers_that_another_loader_does_not_find_are_named() {
    let Some((mut machine, peer)) = with_peer() else { return };
    let soft = machine.driver("soft", "device soft\ndevice.vendor 65541\ndevice.uuid 2");
    let elsewhere = machine.path("elsewhere.json");
    fs::rename(soft, &elsewhere).expect("moved");
    let name = "VK_LOADER_DRIVERS_SELECT";
    if !knows(&peer, name) {
        skip("this loader knows no filter of drivers");
        return;
    }
    // Both loaders support `VK_ADD_DRIVER_FILES`, so the report names no difference.
    machine.variable("VK_ADD_DRIVER_FILES", elsewhere.to_str().expect("plain"));
    machine.variable(name, "card*");
    let explained = machine.explain_with(&[]);
    assert_eq!(explained.devices(), ["card"]);
    for what in ["device", "driver", "variable"] {
        assert_eq!(
            differences(&explained, what),
            [&Value::Null; 0],
            "{:#}",
            explained.report["other_loader"]
        );
    }
}

/// The remedy is to replace the damaged loader, and the test does so.
#[test]
fn a_machine_whose_loader_does_not_open_says_so() {
    let machine = machine();
    let broken = machine.file("first/libvulkan.so.1", "no library");
    let explained = machine.explain_with(&[]);
    assert_eq!(
        (explained.code, explained.verdict(), explained.devices()),
        (1, "nothing", vec![])
    );
    assert_eq!(explained.first(), "loader.not-opened");
    assert!(
        explained.findings().contains("libvulkan.so.1"),
        "{}",
        explained.findings()
    );
    assert!(
        explained.advice().contains(&format!("replace {}", broken.display())),
        "{}",
        explained.advice()
    );
    let hidden = &explained.report["hidden"][0];
    assert_eq!(
        (&hidden["name"], &hidden["by_what"]),
        (&"card".into(), &"loader".into())
    );
    fs::remove_file(&broken).expect("removed");
    symlink(machine::library(), &broken).expect("a link");
    let repaired = machine.explain_with(&[]);
    assert_eq!((repaired.code, repaired.devices()), (0, vec!["card"]));
    assert_eq!(repaired.report["other_loader"], Value::Null);
}

/// Tests the library in a build folder, and in the folder into which the one-file form unpacks its files.
#[test]
fn the_library_beside_the_program_is_asked_where_programs_get_another() {
    for name in ["libvulkan.so", "libvulkan.so.1"] {
        let mut machine = not_installed();
        let library = format!("build/{name}");
        machine.install_as("build/vkloader", &library);
        machine.file("first/libvulkan.so.1", "no library");
        let explained = machine.explain_with(&[]);
        assert_eq!(
            (explained.code, explained.first()),
            (1, "loader.not-opened"),
            "{:#}",
            explained.report
        );
        let asked = explained.report["loader"]["path"].as_str().expect("a path");
        assert!(asked.ends_with(&library), "{asked}");
        assert_eq!(explained.report["hidden"][0]["name"], "card");
    }
}

#[test]
fn files_are_listed_with_the_library_beside_the_program() {
    let mut machine = not_installed();
    machine.install_as("build/vkloader", "build/libvulkan.so");
    machine.file("first/libvulkan.so.1", "no library");
    let output = machine.run(&["files"]);
    let said = String::from_utf8_lossy(&output.stderr);
    let listed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(listed.contains("libraries/libmock_card.so"), "{listed}");
    // The list must not contain a loader, because a sandbox has its own loader.
    assert!(!listed.contains("build/"), "{listed}");
}

#[test]
fn an_option_that_the_loader_of_programs_does_not_know_has_a_warning() {
    let Some((machine, peer)) = with_peer() else { return };
    let run = || {
        let output = machine.run(&["run", "--devices", "none", "--", "true"]);
        assert!(output.status.success());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let said = run();
    assert!(said.contains("VK_LOADER_VISIBLE_DEVICES has no effect"), "{said}");
    let name = peer.file_name().and_then(|name| name.to_str()).expect("a plain name");
    assert!(said.contains(name), "{said}");
    fs::remove_file(machine.path("first/libvulkan.so.1")).expect("it is there");
    symlink(machine::library(), machine.path("first/libvulkan.so.1")).expect("a link");
    assert_eq!(run(), "");
}

#[test]
fn a_library_beside_the_program_that_belongs_to_another_user_is_not_opened() {
    if !steady::is_superuser() {
        return skip("only the superuser can give a file to another user");
    }
    let mut machine = not_installed();
    machine.install_as("build/vkloader", "build/libvulkan.so");
    machine.file("first/libvulkan.so.1", "no library");
    std::os::unix::fs::chown(machine.path("build/libvulkan.so"), Some(65534), None).expect("the superuser may");
    let output = machine.run(&["explain", "--json"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("no Vulkan loader could be opened"), "{said}");
}

/// If the first folder for temporary files is not writable, `vkloader` uses the next one.
#[test]
fn a_folder_for_temporary_files_that_is_gone_prevents_nothing() {
    let mut machine = machine();
    symlink(machine::library(), machine.path("first/libvulkan.so.1")).expect("a link");
    machine.variable("TMPDIR", "/nowhere/tmp");
    let program = vkloader();
    for words in [&[][..], &["--", program, "probe", "libvulkan.so.1"]] {
        let explained = machine.explain_with(words);
        assert_eq!((explained.code, explained.devices()), (0, vec!["card"]), "{words:?}");
    }
}

/// The programs' loader is replaced by a driver's library, which fails as a loader.
#[test]
fn a_loader_that_fails_where_this_one_works_is_the_cause() {
    let machine = machine();
    let file = machine.path("first/libvulkan.so.1");
    fs::copy(built("libmock_driver.so"), &file).expect("cargo built the mock driver");
    let journal = machine.path("journal");
    machine.file(
        "first/libvulkan.so.conf",
        format!("ordinal 0\njournal {}\nfail vkCreateInstance -9\n", journal.display()),
    );
    let explained = machine.explain_with(&[]);
    assert_eq!((explained.code, explained.first()), (1, "loader.failed"));
    assert_eq!(explained.found("loader.failed")["name"], file.to_str().expect("plain"));
    // The file belongs to no package, so no package can be updated.
    let has_other = Path::new("/usr/lib/x86_64-linux-gnu/libvulkan.so.1").exists();
    let words = if has_other {
        format!("Take {} out of LD_LIBRARY_PATH, ", machine.path("first").display())
    } else {
        format!("Update or rebuild {}, ", file.display())
    };
    assert!(explained.advice().starts_with(&words), "{}", explained.advice());
    let call = differences(&explained, "call");
    assert_eq!(call[0]["name"], "vkCreateInstance", "{call:?}");
    let hidden = explained.found("device.hidden-by-loader");
    assert_eq!(hidden["name"], "card");
    if has_other {
        let advice = hidden["advice"].as_str().unwrap_or_default();
        assert!(advice.starts_with(&words), "{advice}");
        assert!(
            advice.ends_with("For one program: env -u LD_LIBRARY_PATH PROGRAM"),
            "{advice}"
        );
    }
    fs::remove_file(&file).expect("removed");
    symlink(machine::library(), &file).expect("a link");
    assert_eq!(machine.explain_with(&[]).devices(), ["card"]);
}

#[test]
fn a_program_runs_under_the_library_that_is_carried() {
    let Some((machine, peer)) = with_peer() else { return };
    let program = vkloader();
    let explained = machine.explain_with(&["--", program, "probe", "libvulkan.so.1"]);
    assert_eq!((explained.code, explained.devices()), (0, vec!["card"]));
    let other = &explained.report["other_loader"];
    assert_eq!(
        (&other["path"], &other["is_compared"]),
        (&peer.to_str().expect("plain").into(), &false.into())
    );
}

#[test]
fn where_programs_get_this_library_nothing_is_compared() {
    let machine = machine();
    symlink(machine::library(), machine.path("first/libvulkan.so.1")).expect("a link");
    let explained = machine.explain_with(&[]);
    assert_eq!((explained.code, explained.devices()), (0, vec!["card"]));
    assert_eq!(explained.report["other_loader"], Value::Null);
    assert_eq!(explained.report["other_word_size"], Value::Null);
}

/// `vkloader` runs the `vkloader` of the other word size, if that is installed. A program of the test's own word size replaces the other
/// `vkloader` in this test.
#[test]
fn what_programs_of_the_other_word_size_get_is_told() {
    let machine = machine();
    symlink(machine::library(), machine.path("first/libvulkan.so.1")).expect("a link");
    let place = machine.path("libexec/vulkan-loader-rs/32/bin");
    fs::create_dir_all(&place).expect("folders");
    let stand_in = place.join("vkloader");
    steady::copy_program(Path::new(vkloader()), &stand_in, 0o755);
    let explained = machine.explain_with(&[]);
    let size = &explained.report["other_word_size"];
    assert_eq!((&size["word_size"], &size["verdict"]), (&32.into(), &"hardware".into()));
    assert_eq!(size["devices"][0], "card");
    // A machine that cannot run the other `vkloader` has no programs of that word size.
    fs::write(&stand_in, "no program").expect("written");
    assert_eq!(machine.explain_with(&[]).report["other_word_size"], Value::Null);
}

fn said(machine: &Machine, words: &[&str]) -> (Option<i32>, String) {
    let output = machine.run(words);
    (
        output.status.code(),
        String::from_utf8_lossy(&output.stdout).into_owned(),
    )
}

/// Source of a loader that is too old to support the variables that disable drivers. The loader crashes with the bad driver, and works
/// without that driver.
const OLD: &str = r#"
#include <stdlib.h>
#include <string.h>
static int none(void *name, unsigned *count, void *all) { *count = 0; return 0; }
static int layers(unsigned *count, void *all) { *count = 0; return 0; }
static int devices(void *instance, unsigned *count, void **all) { *count = 0; return 0; }
static void destroy(void *instance, void *allocator) {}
static int create(void *info, void *allocator, void **instance) {
    if (!getenv("VK_ICD_FILENAMES")) abort();
    *instance = malloc(8);
    return 0;
}
void *vkGetInstanceProcAddr(void *instance, const char *name) {
    if (!strcmp(name, "vkCreateInstance")) return create;
    if (!strcmp(name, "vkDestroyInstance")) return destroy;
    if (!strcmp(name, "vkEnumeratePhysicalDevices")) return devices;
    if (!strcmp(name, "vkEnumerateInstanceExtensionProperties")) return none;
    if (!strcmp(name, "vkEnumerateInstanceLayerProperties")) return layers;
    return 0;
}
"#;

/// Returns a machine whose programs use a loader that is compiled from the C source `text`.
fn with_loader(text: &str) -> Machine {
    let machine = machine();
    let source = machine.file("loader.c", text);
    let made = std::process::Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .args([&machine.path("first/libvulkan.so.1"), &source])
        .status();
    assert!(made.expect("a compiler").success());
    machine
}

#[test]
fn a_remedy_does_not_name_a_variable_that_the_loader_of_programs_lacks() {
    let machine = with_loader(OLD);
    machine.driver("bad", "device two\ncrash vkCreateInstance");
    let explained = machine.explain_with(&[]);
    assert_eq!(
        explained.first(),
        "program.crashed",
        "{:#}",
        explained.report["dropped"]
    );
    let wanted = format!(
        "VK_ICD_FILENAMES={} PROGRAM",
        machine.path("data/vulkan/icd.d/card.json").display()
    );
    assert!(explained.advice().contains(&wanted), "{}", explained.advice());
    // The examined library supports `VK_LOADER_DRIVERS_DISABLE`, so a report that is only about this library recommends that variable.
    assert!(
        machine
            .explain()
            .advice()
            .contains("VK_LOADER_DRIVERS_DISABLE=bad.json PROGRAM")
    );
}

#[test]
fn a_settings_file_that_the_loader_of_programs_does_not_read_is_a_difference() {
    let machine = with_loader(&OLD.replace("if (!getenv(\"VK_ICD_FILENAMES\")) abort();", ""));
    fs::create_dir_all(machine.path("data/vulkan/loader_settings.d")).expect("folders");
    machine.file(
        "data/vulkan/loader_settings.d/vk_loader_settings.json",
        r#"{"file_format_version": "1.0.0", "settings": {"additional_drivers_use_exclusively": true, "additional_drivers": [{"path": "/nowhere.json"}]}}"#,
    );
    let explained = machine.explain_with(&[]);
    assert!(
        !explained.codes().contains(&"settings.active"),
        "{:?}",
        explained.codes()
    );
    let found = &differences(&explained, "settings")[0];
    assert!(
        found["name"]
            .as_str()
            .is_some_and(|name| name.ends_with("vk_loader_settings.json"))
    );
    assert!(
        found["text"]
            .as_str()
            .is_some_and(|text| text.contains("does not read such a file"))
    );
    // `explain` selects the library under test, which reads the settings file.
    assert_eq!(machine.explain().first(), "settings.active");
}

#[test]
fn a_damaged_loader_in_a_folder_of_a_variable_is_named() {
    let mut machine = machine();
    let path = machine.file("first/libvulkan.so.1", "no library");
    let explained = machine.explain_with(&[]);
    assert_eq!((explained.code, explained.first()), (1, "loader.not-opened"));
    assert!(
        explained.findings().contains("is not a library: 10 bytes"),
        "{}",
        explained.findings()
    );
    let folder = path.parent().expect("a folder").display().to_string();
    assert!(
        explained
            .advice()
            .starts_with(&format!("Take {folder} out of LD_LIBRARY_PATH")),
        "{}",
        explained.advice()
    );
    machine.unset("LD_LIBRARY_PATH");
    assert!(!machine.explain_with(&[]).findings().contains("is not a library"));
}

#[test]
fn a_library_that_only_has_the_name_of_the_loader_is_told() {
    let machine = with_loader("int nothing;\n");
    let explained = machine.explain_with(&[]);
    assert_eq!(explained.first(), "loader.not-opened");
    assert!(
        explained.findings().contains("is not a Vulkan loader"),
        "{}",
        explained.findings()
    );
    let folder = machine.path("first").display().to_string();
    assert!(
        explained
            .advice()
            .starts_with(&format!("Take {folder} out of LD_LIBRARY_PATH")),
        "{}",
        explained.advice()
    );
}
