//! Set-ups after interrupted upgrades, with settings that other programs left, and in sessions without a display.

use super::releases::for_newer_system;
use super::{Machine, Row, good, try_all};
use crate::machine::Explained;
use std::fs;
use std::os::unix::fs::PermissionsExt;

const MANIFEST: &str = "data/vulkan/icd.d/good.json";
const LIBRARY: &str = "libraries/libmock_good.so";
const SETTINGS: &str = "data/vulkan/loader_settings.d/vk_loader_settings.json";

/// Installs a driver whose manifest names the library without a folder.
fn by_name(machine: &mut Machine) {
    good(machine);
    machine.manifest("good", "libmock_good.so".as_ref(), "");
    let folder = machine.path("libraries").display().to_string();
    machine.variable("LD_LIBRARY_PATH", folder);
}

pub(super) const ROWS: &[Row] = &[
    Row::new(
        "the disk was full when the library was written",
        |machine| {
            by_name(machine);
            fs::write(machine.path(LIBRARY), "").expect("written");
        },
        "driver.not-opened",
    )
    .about("libmock_good.so is not a library: 0 bytes")
    .remedy("einstall", |machine| {
        fs::remove_file(machine.path(LIBRARY)).expect("a file");
        machine.driver("good", "device one");
    }),
    Row::new(
        "a layer's library is missing, and the manifest of the driver is broken",
        |machine| {
            good(machine);
            machine.file(MANIFEST, "{");
            machine.layer("gone");
        },
        "file.invalid-json",
    )
    .about("good.json")
    .remedy("einstall", good),
    Row::new(
        "a settings file leaves out a layer that a variable asks for",
        |machine| {
            good(machine);
            let more = r#", "enable_environment": {"SHOW_HUD": "1"}"#;
            machine.working_layer("implicit", "hud", "", more);
            machine.variable("SHOW_HUD", "1");
            fs::create_dir_all(machine.path("data/vulkan/loader_settings.d")).expect("folders");
            let manifest = machine.path("data/vulkan/implicit_layer.d/hud.json");
            machine.file(
                SETTINGS,
                format!(
                    r#"{{"file_format_version": "1.0.0", "settings": {{"layers": [
                    {{"name": "VK_LAYER_hud", "path": "{}", "control": "off", "treat_as_implicit_manifest": true}},
                    {{"control": "unordered_layer_location"}}]}}}}"#,
                    manifest.display()
                ),
            );
        },
        "layer.listed-in-settings",
    )
    .about("SHOW_HUD is set")
    .remedy("delete the file: rm ", |machine| {
        fs::remove_file(machine.path(SETTINGS)).expect("a file")
    })
    .gone(),
];

/// One of two drivers fails to create its device.
#[test]
fn the_driver_that_creates_no_device_is_named_beside_one_that_works() {
    const CREATE: &str = "int (*devices)(void *, unsigned *, void **) = dlsym(library, \"vkEnumeratePhysicalDevices\");\n\
        int (*make)(void *, const void *, const void *, void **) = dlsym(library, \"vkCreateDevice\");\n\
        struct { int type; const void *next; int flags, family, count; const float *priorities; } queue = {2, NULL, 0, 0, 1, &(float){1}};\n\
        struct { int type; const void *next; int flags, queues; const void *queue; const void *rest[6]; } device = {3, NULL, 0, 1, &queue};\n\
        void *cards[2], *made; count = 2; if (create(&info, NULL, &instance)) return 9; devices(instance, &count, cards);\n\
        for (unsigned card = 0; card < count; card++) if (make(cards[card], &device, NULL, &made)) return 2;";
    let mut machine = Machine::new();
    good(&mut machine);
    machine.driver("bad", "device two\nfail vkCreateDevice -3 1 99");
    const WITHOUT: &str = "VK_LOADER_DRIVERS_DISABLE=bad.json PROGRAM";
    let explained = machine.explain();
    let found = explained.found("device.not-created")["advice"].to_string();
    assert!(found.contains(WITHOUT), "{found}");
    let explained = of_program(&machine, CREATE);
    assert_eq!(explained.first(), "program.call-failed");
    let reason = explained.report["dropped"][0]["reason"].to_string();
    assert!(
        reason.contains("libmock_bad.so (two) failed with VK_ERROR_INITIALIZATION_FAILED"),
        "{reason}"
    );
    assert!(explained.advice().contains(WITHOUT), "{}", explained.advice());
    machine.variable("VK_LOADER_DRIVERS_DISABLE", "bad.json");
    assert!(!of_program(&machine, CREATE).codes().contains(&"program.call-failed"));
}

#[test]
fn each_cause_after_an_upgrade_is_named_and_its_remedy_helps() {
    try_all(ROWS);
}

/// An installation with a strict mask makes manifests that only root may read. One command permits all of them.
#[test]
fn one_remedy_permits_all_manifests_of_a_folder() {
    let mut machine = Machine::new();
    good(&mut machine);
    machine.driver("other", "device two");
    if !machine.unprivileged() {
        return;
    }
    for name in ["good", "other"] {
        let path = machine.path(&format!("data/vulkan/icd.d/{name}.json"));
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).expect("the owner may");
    }
    let explained = machine.explain();
    let folder = machine.path("data/vulkan/icd.d");
    let command = format!("chmod o+r {}/*.json", folder.display());
    assert_eq!(explained.first(), "file.not-opened");
    assert!(explained.advice().ends_with(&command), "{}", explained.advice());
}

/// The manifest names the library without a folder, and only root may read the library.
#[test]
fn a_library_that_this_user_may_not_read_is_found_by_its_name() {
    let mut machine = Machine::new();
    by_name(&mut machine);
    if !machine.unprivileged() {
        return;
    }
    fs::set_permissions(machine.path(LIBRARY), fs::Permissions::from_mode(0o600)).expect("the owner may");
    let explained = machine.explain();
    assert_eq!(explained.first(), "driver.not-opened");
    let command = format!("chmod o+r {}", machine.path(LIBRARY).display());
    assert!(explained.advice().ends_with(&command), "{}", explained.advice());
}

/// Compiles a program that opens the library, calls `lines` and ends with the status 1, and explains it.
fn of_program(machine: &Machine, lines: &str) -> Explained {
    let program = machine.c_program(&format!(
        "#include <dlfcn.h>\n#include <stddef.h>\n#include <stdio.h>\n#include <stdlib.h>\n\
         struct {{ int type; const void *next; int flags; const void *app; int layers; const void *names; int count; const char **list; }} info = {{1}};\n\
         int main(void) {{ void *library = dlopen(\"libvulkan.so.1\", RTLD_NOW), *instance;\n\
         int (*list)(const char *, unsigned *, void *) = dlsym(library, \"vkEnumerateInstanceExtensionProperties\");\n\
         int (*create)(void *, void *, void **) = dlsym(library, \"vkCreateInstance\");\n\
         unsigned count; list(NULL, &count, NULL);\n{lines} return 1; }}\n"
    ));
    let library = crate::machine::library();
    machine.explain_with(&["--library", library.to_str().expect("plain"), "--", &program])
}

/// vkcube opens the library of its display only when it needs it.
#[test]
fn a_program_that_opens_the_library_of_its_display_itself_lacks_the_display() {
    let mut machine = Machine::new();
    good(&mut machine);
    machine.variable("DISPLAY", ":4712");
    let explained = of_program(&machine, "dlopen(\"libxcb.so.1\", RTLD_NOW);");
    assert_eq!(explained.first(), "display.missing");
    assert!(
        explained.findings().contains("DISPLAY is :4712"),
        "{}",
        explained.findings()
    );
    assert_eq!(of_program(&machine, "").first(), "program.no-instance");
}

/// Without a display, Wine asks for an extension that exists nowhere.
#[test]
fn wine_without_a_display_is_told_as_that() {
    let machine = Machine::new();
    machine.driver("good", "device one");
    let explained = of_program(
        &machine,
        "const char *name = \"VK_WINE_nulldrv_surface\"; info.count = 1; info.list = &name; create(&info, NULL, &instance);",
    );
    assert_eq!(explained.first(), "display.missing");
    assert!(
        explained.findings().contains("neither DISPLAY"),
        "{}",
        explained.findings()
    );
}

#[test]
fn a_variable_with_the_library_of_a_removed_game_is_named() {
    let mut machine = Machine::new();
    good(&mut machine);
    let lines = "if (getenv(\"SDL_VULKAN_LIBRARY\")) puts(\"no\");";
    machine.variable("SDL_VULKAN_LIBRARY", "/nowhere/libvulkan.so.1");
    let explained = of_program(&machine, lines);
    assert_eq!(explained.first(), "variable.of-program");
    assert!(
        explained.advice().contains("unset SDL_VULKAN_LIBRARY"),
        "{}",
        explained.advice()
    );
    machine.unset("SDL_VULKAN_LIBRARY");
    assert_eq!(of_program(&machine, lines).first(), "program.no-instance");
}

/// A program that checks the devices itself fails without a failed call.
#[test]
fn a_program_that_takes_no_device_comes_with_the_devices_that_it_saw() {
    let mut machine = Machine::new();
    good(&mut machine);
    let list = "int (*devices)(void *, unsigned *, void *) = dlsym(library, \"vkEnumeratePhysicalDevices\");\n\
        if (create(&info, NULL, &instance)) return 9; devices(instance, &count, NULL);";
    let explained = of_program(&machine, list);
    assert_eq!(explained.first(), "program.chose-none");
    assert!(
        explained.findings().contains("it saw one (discrete, Vulkan 1."),
        "{}",
        explained.findings()
    );
    assert!(
        explained.advice().contains("vulkaninfo lists"),
        "{}",
        explained.advice()
    );
    // A software device is the only one of a machine without a card.
    machine.driver("good", "device one\ndevice.type 4");
    fs::create_dir_all(machine.path("system/sys")).expect("a folder");
    if machine.in_made_up_system(&["/sys"]) {
        let explained = of_program(&machine, list);
        assert!(
            explained.found("program.chose-none")["advice"]
                .to_string()
                .contains("only software devices")
        );
    }
}

/// A low limit on open files stops vkloader itself.
#[test]
fn a_limit_on_open_files_that_stops_vkloader_is_named() {
    let mut machine = Machine::new();
    good(&mut machine);
    let words = ["sh", "-c", "ulimit -Sn 4 && exec \"$@\"", "sh"].map(String::from);
    assert!(machine.start_with(words.into()));
    let library = crate::machine::library();
    let output = machine.run(&["explain", "--library", library.to_str().expect("plain")]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("may open only 4 files") && said.contains("ulimit"),
        "{said}"
    );
}

/// A script ends before it starts the program, so nothing is known about Vulkan.
#[test]
fn a_script_that_fails_before_the_program_is_not_said_to_use_no_vulkan() {
    let mut machine = Machine::new();
    good(&mut machine);
    let library = crate::machine::library();
    let explain = |script| {
        let explained =
            machine.explain_with(&["--library", library.to_str().expect("plain"), "--", "sh", "-c", script]);
        (
            explained.first().to_owned(),
            explained.report["dropped"][0]["reason"].to_string(),
        )
    };
    let (first, reason) = explain("true; exit 3");
    assert!(
        first == "program.failed-early" && reason.contains("ended with status 3, before it opened a Vulkan loader"),
        "{reason}"
    );
    assert!(!reason.contains("uses no Vulkan"), "{reason}");
    assert!(explain("true; exit 0").1.contains("uses no Vulkan"));
}

/// A variable names the driver of a newer system by its path, and another variable leads to the libraries beside the driver.
#[test]
fn a_driver_of_a_newer_system_comes_with_the_variable_of_its_libraries() {
    let mut machine = Machine::new();
    machine.driver("bad", "device one");
    fs::create_dir_all(machine.path("newer/icd.d")).expect("folders");
    for_newer_system(&machine, "newer/libmock_bad.so");
    let library = machine.path("newer/libmock_bad.so");
    let manifest = machine.manifest("newer", &library, "");
    let moved = machine.path("newer/icd.d/newer.json");
    fs::rename(manifest, &moved).expect("one file system");
    let [folder, usual] = ["newer", "libraries"].map(|folder| machine.path(folder).display().to_string());
    machine.variable("VK_DRIVER_FILES", moved.display().to_string());
    machine.variable("LD_LIBRARY_PATH", format!("{folder}:{usual}"));
    let explained = machine.explain();
    if !explained.findings().contains("lacks the version GLIBC_2.999") {
        return crate::machine::skip("the C library here has no versions of its symbols");
    }
    assert_eq!(explained.first(), "driver.not-opened");
    let advice = explained.advice();
    let wanted = format!("Also take {folder} out of LD_LIBRARY_PATH");
    assert!(
        advice.contains("unset VK_DRIVER_FILES") && advice.contains(&wanted),
        "{advice}"
    );
    machine.unset("LD_LIBRARY_PATH");
    machine.unset("VK_DRIVER_FILES");
    assert_eq!(machine.explain().devices(), ["one"]);
}
