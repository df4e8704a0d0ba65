//! Tests that each kind of change is in its section with its severity (GEN-90, GEN-91). Each test changes one fact.

use crate::common::changed;
use vk_registry::model::{Extension, Registry, Version};
use vkgen::diff::{self, Report, Severity};

/// Asserts that a section has one entry with this name and severity, and that the entry has a change with this text.
fn assert_entry(report: &Report, section: (&str, &str), name: &str, severity: Severity, text: &str) {
    let entries = &report.section(section.0, section.1).expect("the section").entries;
    let found = entries.iter().find(|entry| entry.name == name);
    let entry = found.unwrap_or_else(|| panic!("no {name} in {section:?}: {entries:?}"));
    assert_eq!(entry.severity, severity, "{entry:?}");
    assert!(
        entry.changes.iter().any(|change| change.text.contains(text)),
        "{entry:?}"
    );
}

const COMMANDS: (&str, &str) = ("commands", "changed");

#[test]
fn gen_91_a_change_of_the_calling_convention_breaks() {
    let class = |from: &'static str, to: &'static str| {
        changed(move |new| {
            let params = new
                .commands
                .get_mut("vkCmdDraw")
                .expect("the command")
                .params
                .iter_mut();
            let of_type = |param: &&mut vk_registry::model::Param| param.ty.base == from;
            params
                .filter(of_type)
                .take(1)
                .for_each(|param| param.ty.base = to.to_owned());
        })
    };
    let report = class("uint32_t", "uint64_t");
    assert_entry(
        &report,
        COMMANDS,
        "vkCmdDraw",
        Severity::Breaking,
        "(vertexCount): u32 -> u64",
    );
    assert_eq!(report.exit_code(), 4);
    // A call passes an enumeration in the same way as the integer that represents it.
    let report = class("uint32_t", "VkBool32");
    assert_entry(
        &report,
        COMMANDS,
        "vkCmdDraw",
        Severity::Informational,
        "VkBool32 vertexCount",
    );
    // The change of the parameter's type breaks no program, but the emitted signature changes.
    assert_eq!(report.exit_code(), 1);

    let report = changed(|new| {
        new.commands.get_mut("vkCmdDraw").expect("the command").params.pop();
    });
    assert_entry(
        &report,
        COMMANDS,
        "vkCmdDraw",
        Severity::Breaking,
        "number of arguments: 5 -> 4",
    );

    let report = changed(|new| {
        new.commands.get_mut("vkCmdDraw").expect("the command").return_type = "VkResult".to_owned();
    });
    assert_entry(
        &report,
        COMMANDS,
        "vkCmdDraw",
        Severity::Breaking,
        "returns: nothing -> i32",
    );

    let report = changed(|new| {
        let command = new.commands.get_mut("vkCmdDraw").expect("the command");
        command.params[0].ty.base = "VkQueue".to_owned();
        command.first_handle = Some("VkQueue".to_owned());
    });
    assert_entry(
        &report,
        COMMANDS,
        "vkCmdDraw",
        Severity::Breaking,
        "dispatchable handle VkCommandBuffer -> dispatchable handle VkQueue",
    );

    let report = changed(|new| {
        new.bitmasks.get_mut("VkCommandPoolTrimFlags").expect("the flags").bits = 64;
    });
    assert_entry(
        &report,
        COMMANDS,
        "vkTrimCommandPool",
        Severity::Breaking,
        "(flags): u32 -> u64",
    );
}

#[test]
fn gen_91_another_spelling_breaks_nothing() {
    let report = changed(|new| {
        let command = new.commands.get_mut("vkCreateSampler").expect("the command");
        command.params[1].ty.base = "VkSamplerCreateInfoKHR".to_owned();
    });
    assert_entry(
        &report,
        COMMANDS,
        "vkCreateSampler",
        Severity::Informational,
        "-> const VkSamplerCreateInfoKHR* pCreateInfo",
    );
    let report = changed(|new| {
        let command = new.commands.get_mut("vkGetQueryPoolResults").expect("the command");
        command.params[1].optional = vec![true];
    });
    let section = ("commands", "annotations");
    assert_entry(
        &report,
        section,
        "vkGetQueryPoolResults",
        Severity::Informational,
        "optional: none -> true",
    );
    assert_eq!(report.exit_code(), 0);
}

/// GEN-91, GEN-32: the report separates changes of providers, conditions and platforms.
#[test]
fn gen_91_providers_conditions_and_platforms_are_told_apart() {
    let name = "vkCmdSetLineStippleEnableEXT";
    let report = changed(|new| {
        new.commands.get_mut(name).expect("the command").providers[0].depends = None;
    });
    assert_entry(&report, COMMANDS, name, Severity::Informational, "-> none");
    let report = changed(|new| {
        new.commands.get_mut(name).expect("the command").providers.pop();
    });
    assert_entry(&report, COMMANDS, name, Severity::Concerns, "providers: ");
    let report = changed(|new| {
        new.commands.get_mut(name).expect("the command").platform = Some("xcb".to_owned());
    });
    assert_entry(&report, COMMANDS, name, Severity::Concerns, "platform: none -> xcb");
    assert_eq!(report.exit_code(), 1);
}

#[test]
fn gen_90_a_removed_command_breaks_and_takes_its_export_along() {
    let report = changed(|new| {
        new.commands.remove("vkCmdDraw");
    });
    assert_entry(
        &report,
        ("commands", "removed"),
        "vkCmdDraw",
        Severity::Breaking,
        "core 1.0",
    );
    assert_entry(
        &report,
        ("exports", "removed"),
        "vkCmdDraw",
        Severity::Breaking,
        "linux, windows, macos",
    );
}

#[test]
fn gen_90_a_special_command_without_a_row_needs_a_decision() {
    let report = changed(|new| {
        let mut command = new.commands["vkQueuePresentKHR"].clone();
        command.name = "vkQueuePresentACME".to_owned();
        command
            .params
            .push(new.commands["vkDestroySurfaceKHR"].params[1].clone());
        new.commands.insert(command.name.clone(), command);
    });
    let section = ("special", "added");
    assert_entry(
        &report,
        section,
        "vkQueuePresentACME",
        Severity::Undecided,
        "wrapped_handle; NO TREATMENT",
    );
    assert_eq!(report.exit_code(), 4);
    assert!(
        report.verdict().contains("1 thing needs a decision"),
        "{}",
        report.verdict()
    );
}

#[test]
fn gen_90_a_row_that_nothing_needs_any_more_is_stale() {
    let report = changed(|new| {
        new.commands
            .get_mut("vkCreateSampler")
            .expect("the command")
            .params
            .remove(1);
    });
    assert_entry(
        &report,
        ("policy", "stale"),
        "vkCreateSampler",
        Severity::Undecided,
        "is not special",
    );
    assert_entry(
        &report,
        ("special", "removed"),
        "vkCreateSampler",
        Severity::Informational,
        "raw_handle",
    );
    assert!(
        report.verdict().contains("`emit` refuses ") && report.exit_code() == 4,
        "{}",
        report.verdict()
    );
}

/// GEN-90, GEN-36: the report lists promotions of extensions and promotions of commands.
#[test]
fn gen_90_promotions_are_of_extensions_and_of_commands() {
    let report = changed(|new| {
        new.extensions.get_mut("VK_EXT_debug_utils").expect("it").promoted_to = Some("VK_VERSION_1_5".to_owned());
        let command = new
            .commands
            .get_mut("vkSetDebugUtilsObjectNameEXT")
            .expect("the command");
        command.core = Some(Version { major: 1, minor: 5 });
        new.core_versions.insert(Version { major: 1, minor: 5 });
    });
    let text = "promoted to: none -> VK_VERSION_1_5";
    assert_entry(
        &report,
        ("promotions", "extensions"),
        "VK_EXT_debug_utils",
        Severity::Concerns,
        text,
    );
    assert_entry(
        &report,
        ("extensions", "changed"),
        "VK_EXT_debug_utils",
        Severity::Concerns,
        text,
    );
    let name = "vkSetDebugUtilsObjectNameEXT";
    assert_entry(
        &report,
        ("promotions", "commands"),
        name,
        Severity::Concerns,
        "became core in 1.5",
    );
    assert_entry(&report, ("exports", "added"), name, Severity::Concerns, "linux");
    let versions = &report.section("core_versions", "added").expect("the section").entries;
    assert_eq!(versions.len(), 1);
}

#[test]
fn gen_90_extensions_come_go_and_change_sides() {
    let name = "VK_KHR_swapchain";
    let moved = |new: &mut Registry| -> Extension {
        let extension = new.extensions.remove(name).expect("the extension");
        new.reserved_extensions.insert(name.to_owned());
        extension
    };
    let report = changed(|new| drop(moved(new)));
    assert_entry(
        &report,
        ("extensions", "disabled"),
        name,
        Severity::Concerns,
        "device extension",
    );
    assert!(
        report
            .section("extensions", "removed")
            .expect("the section")
            .entries
            .is_empty()
    );
    let report = changed(|new| {
        new.extensions.get_mut(name).expect("it").kind = vk_registry::model::ExtensionKind::Instance;
    });
    assert_entry(
        &report,
        ("extensions", "changed"),
        name,
        Severity::Breaking,
        "-> instance extension",
    );
}

#[test]
fn gen_90_a_new_dispatchable_handle_is_flagged() {
    let report = changed(|new| {
        let mut handle = new.handles["VkQueue"].clone();
        handle.name = "VkSwordACME".to_owned();
        new.handles.insert(handle.name.clone(), handle);
        new.handles.get_mut("VkBuffer").expect("the handle").dispatchable = true;
    });
    assert_entry(
        &report,
        ("handles", "added"),
        "VkSwordACME",
        Severity::Concerns,
        "DISPATCHABLE",
    );
    assert_entry(
        &report,
        ("handles", "changed"),
        "VkBuffer",
        Severity::Breaking,
        "dispatchable: false -> true",
    );
}

#[test]
fn the_layout_of_an_emitted_structure_breaks_when_it_moves() {
    let report = changed(|new| {
        new.structs
            .get_mut("VkApplicationInfo")
            .expect("the structure")
            .members
            .swap(2, 6);
    });
    assert_entry(
        &report,
        ("structures", "changed"),
        "VkApplicationInfo",
        Severity::Breaking,
        "size or offsets",
    );
}

#[test]
fn a_comment_never_grows_past_what_hosts_take() {
    let report = changed(|new| {
        let template = new.commands["vkCmdDraw"].clone();
        new.commands.retain(|name, _| !name.starts_with("vkCmd"));
        for number in 0..3_000 {
            let mut command = template.clone();
            command.name = format!("vkCmdJuggle{number}");
            command.platform = Some("*`|<b>".to_owned());
            new.commands.insert(command.name.clone(), command);
        }
    });
    let text = diff::markdown(&report);
    assert!(text.len() < 65_536, "{}", text.len());
    assert!(text.contains(" more, which the HTML and JSON reports list"));
    assert!(!text.contains("<b>"));
}
