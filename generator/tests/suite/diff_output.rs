//! Tests that every change to an emitted file is in the report between two registries, and in its exit code (GEN-90, GEN-91).

use crate::common::{HEADERS, committed_policy, committed_registry, fixture, policy};
use std::collections::{BTreeMap, BTreeSet};
use vk_registry::model::{Registry, Version};
use vkgen::diff::{self, Report, Severity, Side, View};
use vkgen::emit;
use vkgen::plan::Plan;
use vkgen::policy::Policy;

/// Returns the emitted files by path.
fn emitted(registry: &Registry, policy: &Policy) -> BTreeMap<String, String> {
    let files = emit::all(&Plan::draft(registry, policy).0).into_iter();
    files.map(|file| (file.path, file.text)).collect()
}

/// Asserts that report and output agree: the report lists exactly the files that differ, and the exit code matches. Returns `true` if a
/// file differs.
fn agrees(report: &Report, old: &BTreeMap<String, String>, new: &BTreeMap<String, String>, what: &str) -> bool {
    let paths: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let differing: Vec<&str> = paths
        .into_iter()
        .filter(|path| old.get(*path) != new.get(*path))
        .map(String::as_str)
        .collect();
    let section = report.section("files", "changed").expect("the section");
    let listed: Vec<&str> = section.entries.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(listed, differing, "{what}");
    assert!(differing.is_empty() || report.exit_code() != 0, "{what}: exit code 0");
    !differing.is_empty()
}

#[test]
fn gen_91_the_report_and_the_output_of_every_pair_of_headers_agree() {
    let policy = policy(&committed_policy());
    let read = |header: &&'static str| {
        let side = diff::side(fixture(header)?.to_str()?, &crate::common::xml_folder());
        let side = side.unwrap_or_else(|error| panic!("{header}: {error}"));
        let files = emitted(&side.registry, &policy);
        Some((*header, side, files))
    };
    let sides: Vec<_> = HEADERS.iter().filter_map(read).collect();
    let views: Vec<_> = sides.iter().map(|(_, side, _)| View::new(side, &policy)).collect();
    for ((old, _, old_files), old_view) in sides.iter().zip(&views) {
        for ((new, _, new_files), new_view) in sides.iter().zip(&views) {
            let report = diff::between(old_view, new_view);
            let what = format!("{old} -> {new}");
            assert_eq!(agrees(&report, old_files, new_files, &what), old != new, "{what}");
        }
    }
}

/// Kind of edit: its name, the section and severity in the report, the reported text, and the edit.
type Edit = (
    &'static str,
    (&'static str, &'static str),
    Severity,
    &'static str,
    fn(&mut Registry),
);

fn enumerant<'r>(registry: &'r mut Registry, of: &str, name: &str) -> &'r mut vk_registry::model::Enumerant {
    let found = registry.enums.get_mut(of).expect("the enumeration");
    let mut enumerants = found.enumerants.iter_mut();
    enumerants
        .find(|enumerant| enumerant.name == name)
        .expect("the enumerant")
}

const ENUMS: (&str, &str) = ("enumerations", "changed");
const VALUES: &[Edit] = &[
    ("VkResult", ENUMS, Severity::Breaking, "VK_NOT_READY: 1 -> 77", |new| {
        enumerant(new, "VkResult", "VK_NOT_READY").value = 77;
    }),
    (
        "VkStructureType",
        ENUMS,
        Severity::Breaking,
        "VK_STRUCTURE_TYPE_APPLICATION_INFO: 0 -> 77",
        |new| {
            enumerant(new, "VkStructureType", "VK_STRUCTURE_TYPE_APPLICATION_INFO").value = 77;
        },
    ),
    ("VkResult", ENUMS, Severity::Breaking, "without VK_NOT_READY", |new| {
        let found = new.enums.get_mut("VkResult").expect("the enumeration");
        found.enumerants.retain(|enumerant| enumerant.name != "VK_NOT_READY");
    }),
    ("VkResult", ENUMS, Severity::Concerns, "with VK_SWORD = 77", |new| {
        let mut fresh = enumerant(new, "VkResult", "VK_NOT_READY").clone();
        (fresh.name, fresh.value) = ("VK_SWORD".to_owned(), 77);
        new.enums
            .get_mut("VkResult")
            .expect("the enumeration")
            .enumerants
            .push(fresh);
    }),
    (
        "VkDebugUtilsMessageSeverityFlagBitsEXT",
        ENUMS,
        Severity::Breaking,
        "VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT: 4096 -> 8192",
        |new| {
            let name = "VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT";
            enumerant(new, "VkDebugUtilsMessageSeverityFlagBitsEXT", name).value = 8192;
        },
    ),
    ("VkResult", ENUMS, Severity::Breaking, "width: 32 -> 64", |new| {
        new.enums.get_mut("VkResult").expect("the enumeration").bits = 64;
    }),
    (
        "VkResult",
        ENUMS,
        Severity::Concerns,
        "holds: values -> flag bits",
        |new| {
            new.enums.get_mut("VkResult").expect("the enumeration").bitmask = true;
        },
    ),
    (
        "VkInstanceCreateFlags",
        ("flags", "changed"),
        Severity::Breaking,
        "width: 32 -> 64",
        |new| {
            new.bitmasks.get_mut("VkInstanceCreateFlags").expect("the flags").bits = 64;
        },
    ),
    (
        "VK_UUID_SIZE",
        ("constants", "changed"),
        Severity::Breaking,
        "uint32_t 16 -> uint32_t 32U",
        |new| {
            new.constants.get_mut("VK_UUID_SIZE").expect("the constant").value = "32U".to_owned();
        },
    ),
    (
        "VK_SWORD",
        ("constants", "changed"),
        Severity::Concerns,
        "new: uint32_t 16",
        |new| {
            let mut fresh = new.constants["VK_UUID_SIZE"].clone();
            fresh.name = "VK_SWORD".to_owned();
            new.constants.insert(fresh.name.clone(), fresh);
        },
    ),
];

const TYPES: &[Edit] = &[
    (
        "VkDeviceSize",
        ("types", "changed"),
        Severity::Concerns,
        "uint64_t -> uint32_t",
        |new| {
            new.base_types.get_mut("VkDeviceSize").expect("the type").target = Some("uint32_t".to_owned());
        },
    ),
    (
        "PFN_vkFreeFunction",
        ("types", "changed"),
        Severity::Concerns,
        "VkBool32",
        |new| {
            let pointer = new.function_pointers.get_mut("PFN_vkFreeFunction").expect("the type");
            pointer.return_type.base = "VkBool32".to_owned();
        },
    ),
    (
        "PFN_vkSword",
        ("types", "added"),
        Severity::Concerns,
        "function pointer",
        |new| {
            let mut fresh = new.function_pointers["PFN_vkFreeFunction"].clone();
            fresh.name = "PFN_vkSword".to_owned();
            new.function_pointers.insert(fresh.name.clone(), fresh);
        },
    ),
    (
        "VkApplicationInfo",
        ("structures", "changed"),
        Severity::Breaking,
        "with const char* pSword",
        |new| {
            let structure = new.structs.get_mut("VkApplicationInfo").expect("the structure");
            structure.members[2].name = "pSword".to_owned();
        },
    ),
    (
        "VkSwordKHR",
        ("handles", "added"),
        Severity::Concerns,
        "not dispatchable",
        |new| {
            let mut fresh = new.handles["VkBuffer"].clone();
            fresh.name = "VkSwordKHR".to_owned();
            new.handles.insert(fresh.name.clone(), fresh);
        },
    ),
    (
        "VkBuffer",
        ("handles", "changed"),
        Severity::Concerns,
        "object type: ",
        |new| {
            new.handles.get_mut("VkBuffer").expect("the handle").object_type = "VK_OBJECT_TYPE_IMAGE".to_owned();
        },
    ),
];

const COMMANDS: &[Edit] = &[
    (
        "vkCmdDraw",
        ("commands", "changed"),
        Severity::Informational,
        "uint32_t sword",
        |new| {
            new.commands.get_mut("vkCmdDraw").expect("the command").params[1].name = "sword".to_owned();
        },
    ),
    (
        "vkCmdDraw",
        ("exports", "removed"),
        Severity::Breaking,
        "linux, windows, macos",
        |new| {
            new.commands.remove("vkCmdDraw");
        },
    ),
    (
        "vkCmdSword",
        ("commands", "added"),
        Severity::Concerns,
        "level device",
        |new| {
            let mut fresh = new.commands["vkCmdDraw"].clone();
            fresh.name = "vkCmdSword".to_owned();
            new.commands.insert(fresh.name.clone(), fresh);
        },
    ),
    (
        "vkTrimCommandPool",
        ("commands", "changed"),
        Severity::Concerns,
        "core: 1.1 -> 1.3",
        |new| {
            new.commands.get_mut("vkTrimCommandPool").expect("the command").core = Some(Version { major: 1, minor: 3 });
        },
    ),
    (
        "VK_KHR_sword",
        ("extensions", "added"),
        Severity::Concerns,
        "instance extension",
        |new| {
            let mut fresh = new.extensions["VK_KHR_surface"].clone();
            fresh.name = "VK_KHR_sword".to_owned();
            new.extensions.insert(fresh.name.clone(), fresh);
        },
    ),
    ("1.5", ("core_versions", "added"), Severity::Concerns, "", |new| {
        new.core_versions.insert(Version { major: 1, minor: 5 });
    }),
];

#[test]
fn gen_91_every_kind_of_edit_that_changes_the_output_is_reported() {
    let (old, policy) = (committed_registry(), policy(&committed_policy()));
    let side = |registry: Registry| Side {
        registry,
        unknown: Vec::new(),
    };
    let committed = side(old.clone());
    let view = View::new(&committed, &policy);
    for (name, (group, section), severity, text, edit) in [VALUES, TYPES, COMMANDS].concat() {
        let mut new = old.clone();
        edit(&mut new);
        let edited = side(new);
        let after = View::new(&edited, &policy);
        let report = diff::between(&view, &after);
        // The test of all pairs of headers emits the files a second time and without the views.
        let differs = agrees(&report, view.emitted(), after.emitted(), name);
        assert!(differs, "{name}: no file changes");
        let entries = &report.section(group, section).expect("the section").entries;
        let entry = entries.iter().find(|entry| entry.name == name);
        let entry = entry.unwrap_or_else(|| panic!("no {name} in {group} {section}: {entries:?}"));
        assert_eq!(entry.severity, severity, "{entry:?}");
        let says = |change: &vkgen::diff::Change| change.text.contains(text);
        assert!(text.is_empty() || entry.changes.iter().any(says), "{text:?}: {entry:?}");
    }
}

#[test]
fn gen_91_a_value_that_is_not_emitted_is_a_remark() {
    let old = committed_registry();
    let mut new = old.clone();
    enumerant(&mut new, "VkBlendFactor", "VK_BLEND_FACTOR_ONE").value = 77;
    let side = |registry| Side {
        registry,
        unknown: Vec::new(),
    };
    let report = diff::compare(&side(old), &side(new), &policy(&committed_policy()));
    let entries = &report.section("enumerations", "changed").expect("the section").entries;
    assert_eq!((entries.len(), entries[0].severity), (1, Severity::Informational));
    assert_eq!((entries[0].name.as_str(), report.exit_code()), ("VkBlendFactor", 0));
}

#[test]
fn gen_91_what_changes_the_snapshot_alone_is_no_difference_to_be_silent_about() {
    let old = committed_registry();
    let mut new = old.clone();
    let structure = new.structs.get_mut("VkBufferCopy").expect("the structure");
    structure.members[0].name = "sword".to_owned();
    let side = |registry| Side {
        registry,
        unknown: Vec::new(),
    };
    let report = diff::compare(&side(old), &side(new), &policy(&committed_policy()));
    let entries = &report.section("files", "snapshot").expect("the section").entries;
    assert_eq!((entries.len(), entries[0].name.as_str()), (1, "structs.txt"));
    // The checksum in the manifest changes, but no compiled file changes.
    assert_eq!(
        (report.verdict().as_str(), report.exit_code()),
        ("nothing that concerns the loader", 0)
    );
}
