//! Set-ups with layers that another manifest, or the layer of Vulkan Configurator, affects.

use super::{Machine, Row, good, try_all};
use crate::machine::skip;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Manifest of a layer whose library was removed.
const OLD: &str = "data/vulkan/implicit_layer.d/old.json";
/// Manifest of the layer that Vulkan Configurator makes.
const OVERRIDE: &str = "data/vulkan/implicit_layer.d/VkLayer_override.json";

/// Returns the manifest of an override layer with the members `more`.
fn overriding(more: &str) -> String {
    format!(
        r#"{{"file_format_version": "1.1.2", "layer": {{"name": "VK_LAYER_LUNARG_override", "type": "GLOBAL", "api_version": "1.3.0",
        "implementation_version": "1", "description": "", "component_layers": [], {more},
        "disable_environment": {{"OFF_override": "1"}}}}}}"#
    )
}

pub(super) const ROWS: &[Row] = &[
    Row::new(
        "an older manifest of a layer names a library that was removed",
        |machine| {
            good(machine);
            let whole = machine.working_layer("implicit", "odd", "", "");
            let folder = machine.path("share/vulkan/implicit_layer.d");
            fs::create_dir_all(&folder).expect("folders");
            fs::rename(whole, folder.join("odd.json")).expect("moved");
            let share = machine.path("share").display().to_string();
            machine.variable("XDG_DATA_DIRS", share);
            let old = machine.layer_of("odd", Path::new("/nowhere/libgone.so"));
            fs::rename(old, machine.path(OLD)).expect("moved");
        },
        "layer-library.not-opened",
    )
    .about("/nowhere/libgone.so")
    .remedy("data/vulkan/implicit_layer.d/old.json", |machine| {
        fs::remove_file(machine.path(OLD)).expect("removed");
    })
    .gone(),
    Row::new(
        "an override layer excludes a layer",
        |machine| {
            good(machine);
            machine.working_layer("implicit", "odd", "", "");
            machine.file(OVERRIDE, overriding(r#""blacklisted_layers": ["VK_LAYER_odd"]"#));
        },
        "layer.blacklisted",
    )
    .about("VkLayer_override.json excludes it")
    .remedy("or, if you do not use it: rm ", |machine| {
        fs::remove_file(machine.path(OVERRIDE)).expect("removed");
    })
    .gone(),
];

#[test]
fn the_manifest_that_affects_a_layer_is_named() {
    try_all(ROWS);
}

/// Most override layers for other programs are there on purpose.
#[test]
fn an_override_layer_for_another_program_is_no_fault() {
    let mut machine = Machine::new();
    good(&mut machine);
    machine.file(OVERRIDE, overriding(r#""app_keys": ["/opt/other/game"]"#));
    let explained = machine.explain();
    let found = explained.found("layer.other-executable");
    let advice = found["advice"].as_str().unwrap_or_default();
    assert!(advice.starts_with("Vulkan Configurator makes this layer"), "{advice:?}");
    let library = crate::machine::library();
    let output = machine.run(&["explain", "--library", library.to_str().expect("plain")]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.starts_with("+ 1 device can be used.\n\n"), "{text}");
}

/// The dynamic linker finds an old driver in a folder of the variable, and the whole driver in its cache.
#[test]
fn a_driver_that_crashes_in_a_folder_of_the_variable_leads_away_from_the_variable() {
    let mut machine = Machine::new();
    machine.driver("card", "device card");
    machine.manifest("card", Path::new("libmock_card.so"), "");
    for folder in ["old", "system/etc"] {
        fs::create_dir_all(machine.path(folder)).expect("folders");
    }
    let whole = machine.path("libraries");
    fs::copy(whole.join("libmock_card.so"), machine.path("old/libmock_card.so")).expect("copied");
    let lines = fs::read_to_string(whole.join("libmock_card.conf")).expect("just written");
    machine.file("old/libmock_card.conf", format!("{lines}crash vkCreateInstance\n"));
    let folders = machine.file("folders.conf", format!("{}\n", whole.display()));
    let mut command = Command::new("/sbin/ldconfig");
    command.arg("-X").arg("-f").arg(folders);
    let made = command.arg("-C").arg(machine.path("system/etc/ld.so.cache")).status();
    if !made.is_ok_and(|status| status.success()) {
        return skip("there is no ldconfig here");
    }
    if !machine.in_made_up_system(&["/etc/ld.so.cache"]) {
        return;
    }
    let old = machine.path("old").display().to_string();
    machine.variable("LD_LIBRARY_PATH", old);
    let explained = machine.explain();
    assert_eq!(explained.first(), "program.crashed", "{:#}", explained.report);
    let advice = explained.advice();
    assert!(advice.contains("env -u LD_LIBRARY_PATH PROGRAM"), "{advice}");
    machine.unset("LD_LIBRARY_PATH");
    assert_eq!(machine.explain().devices(), ["card"]);
}
