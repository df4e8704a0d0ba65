//! Registry and policy that do not fit together (GEN-70, GEN-83): each kind is named with its place.

mod common;

use common::{committed_policy, committed_registry, edited, problems};
use vkgen::policy::Policy;

/// The single complaint about an edited policy.
fn complaint(from: &str, to: &str) -> String {
    let found = problems(&committed_registry(), &edited(&committed_policy(), from, to));
    assert_eq!(found.len(), 1, "{found:#?}");
    found.into_iter().next().unwrap_or_default()
}

/// GEN-71a to GEN-71i
#[test]
fn gen_70_the_committed_policy_fits() {
    assert_eq!(
        problems(&committed_registry(), &committed_policy()),
        Vec::<String>::new()
    );
}

#[test]
fn gen_70_a_special_command_without_a_row_is_refused() {
    let text = complaint("    \"vkCreateSampler\",\n", "");
    assert!(
        text.contains("error[unclassified-command]: vkCreateSampler") && text.contains("raw_handle"),
        "{text}"
    );
}

#[test]
fn gen_70_a_row_for_an_ordinary_command_is_stale() {
    let text = complaint(
        "    \"vkCreateSampler\",\n",
        "    \"vkCreateSampler\",\n    \"vkCmdDraw\",\n",
    );
    assert!(text.contains("error[stale-policy]: vkCmdDraw"), "{text}");
    assert!(
        text.starts_with("policy.toml:") && !text.starts_with("policy.toml:1:1"),
        "{text}"
    );
}

#[test]
fn gen_70_a_row_for_a_command_that_does_not_exist_is_stale() {
    let text = complaint(
        "    \"vkCreateSampler\",\n",
        "    \"vkCreateSampler\",\n    \"vkCmdJuggle\",\n",
    );
    assert!(text.contains("error[stale-policy]: vkCmdJuggle"), "{text}");
}

#[test]
fn gen_70_two_rows_contradict() {
    let text = complaint(
        "    \"vkCreateSampler\",\n",
        "    \"vkCreateSampler\",\n    \"vkCreateSampler\",\n",
    );
    assert!(
        text.contains("error[policy-contradiction]: vkCreateSampler: has two treatments"),
        "{text}"
    );
}

#[test]
fn gen_50_a_new_global_command_is_refused() {
    let row = "    \"vkEnumerateInstanceVersion\",\n";
    let extra = "\n[[treatment]]\ncommands = [\"vkEnumerateInstanceVersion\"]\nreason = \"none\"\n";
    let text = edited(&committed_policy(), row, "") + extra;
    let found = problems(&committed_registry(), &text);
    assert!(
        found.iter().any(|line| line.contains("error[new-global-command]")),
        "{found:?}"
    );
}

#[test]
fn gen_65_a_first_parameter_of_an_unlisted_kind_is_refused() {
    let mut registry = committed_registry();
    let command = registry.commands.get_mut("vkQueueSubmit").expect("the command");
    command.params[0].name = "sword".to_owned();
    let found = problems(&registry, &committed_policy());
    assert_eq!(found.len(), 1, "{found:#?}");
    let expected = "error[unknown-parameter]: vkQueueSubmit: its first parameter is `VkQueue sword`";
    assert!(found[0].contains(expected), "{found:?}");
    let text = complaint(
        "\"physicalDevice\", \"queue\"]",
        "\"physicalDevice\", \"queue\", \"sword\"]",
    );
    assert!(text.contains("error[stale-policy]: sword"), "{text}");
}

#[test]
fn gen_71_an_instance_command_needs_a_handwritten_end() {
    let row = "commands = [\"vkDestroyInstance\"]\nentry = \"handwritten\"\nend = \"handwritten\"";
    let text = complaint(row, "commands = [\"vkDestroyInstance\"]\nentry = \"handwritten\"");
    assert!(
        text.contains("error[policy-contradiction]: vkDestroyInstance") && text.contains("S3"),
        "{text}"
    );
}

#[test]
fn gen_43_a_by_value_type_is_never_guessed() {
    let text = problems(
        &committed_registry(),
        &edited(
            &committed_policy(),
            "xcb_visualid_t = { rust = \"u32\", size = 4 }\n",
            "",
        ),
    );
    assert!(
        text.iter().all(|line| line.contains("error[unknown-by-value-type]")) && !text.is_empty(),
        "{text:?}"
    );
}

#[test]
fn gen_80_unknown_names_are_refused() {
    let cases = [
        ("wrapped-handles = [\n", "wrapped-handles = [\n    \"VkSword\",\n"),
        (
            "command = \"vkCreateDevice\"\nnot-in = [\"instance\"]",
            "command = \"vkJuggle\"\nnot-in = [\"instance\"]",
        ),
        (
            "structure-types = [",
            "structure-types = [\"VK_STRUCTURE_TYPE_SWORD\", ",
        ),
        ("lifecycle = [\n", "lifecycle = [\n    \"vkJuggle\",\n"),
        ("[platforms]\n", "[platforms]\nabacus = {}\n"),
        ("structs = [\n", "structs = [\n    \"VkSword\",\n"),
        ("copied-chains = [", "copied-chains = [\"VkSword\", "),
        (
            "device-extensions = [\n",
            "device-extensions = [\n    \"VK_KHR_sword\",\n",
        ),
        (
            "[exports]\nextensions = [\n",
            "[exports]\nextensions = [\n    \"VK_KHR_sword\",\n",
        ),
        (
            "[types.by-value]\n",
            "[types.by-value]\nSWORD = { rust = \"u32\", size = 4 }\n",
        ),
    ];
    for (from, to) in cases {
        let text = complaint(from, to);
        assert!(text.contains("error[unknown-name]"), "{text}");
    }
}

#[test]
fn gen_71_an_emulated_command_has_a_body_that_answers() {
    let absent = "absent = { severity = \"info\"";
    let text = complaint(absent, &format!("emulated = true\n{absent}"));
    assert!(
        text.contains("error[policy-contradiction]: vkAcquireXlibDisplayEXT"),
        "{text}"
    );
    let row = "commands = [\"vkReleaseDisplayEXT\"]\nend = \"handwritten\"\n";
    let text = complaint(row, "commands = [\"vkReleaseDisplayEXT\"]\n");
    assert!(
        text.contains("error[policy-contradiction]: vkReleaseDisplayEXT: is emulated"),
        "{text}"
    );
    let text = complaint(&format!("{row}emulated = true\n"), row);
    assert!(text.contains("error[stale-policy]: vkReleaseDisplayEXT"), "{text}");
}

#[test]
fn gen_62_an_exception_of_a_table_is_one() {
    let last = "command = \"vkGetInstanceProcAddr\"\nnot-in = [\"driver\"]\n";
    for (to, expected) in [
        (
            "command = \"vkGetInstanceProcAddr\"\nnot-in = [\"driver\", \"device\"]\n",
            "error[stale-policy]",
        ),
        (
            "command = \"vkGetInstanceProcAddr\"\nin = [\"instance\"]\nnot-in = [\"driver\"]\n",
            "error[stale-policy]",
        ),
        ("command = \"vkGetInstanceProcAddr\"\n", "error[stale-policy]"),
        (
            "command = \"vkCreateDevice\"\nnot-in = [\"driver\"]\n",
            "error[policy-contradiction]: vkCreateDevice",
        ),
    ] {
        let text = complaint(last, to);
        assert!(text.starts_with("policy.toml:") && text.contains(expected), "{text}");
    }
}

#[test]
fn gen_60_a_structure_type_that_a_structure_brings_is_stale() {
    let text = complaint(
        "structure-types = [",
        "structure-types = [\"VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO\", ",
    );
    assert!(
        text.contains("error[stale-policy]: VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO"),
        "{text}"
    );
}

#[test]
fn gen_70_every_exception_has_a_reason() {
    let text = edited(
        &committed_policy(),
        "reason = \"emulated by the function of core 1.0 (DRV-161)\"",
        "reason = \" \"",
    );
    let complaint = Policy::parse("policy.toml", &text).expect_err("no reason");
    assert!(complaint.contains("error[policy-reason]"), "{complaint}");
}

#[test]
fn gen_80_an_unknown_key_is_refused_with_its_place() {
    let text = edited(&committed_policy(), "[platforms]\n", "[platform]\n");
    let complaint = Policy::parse("policy.toml", &text).expect_err("an unknown key");
    assert!(
        complaint.starts_with("policy.toml:") && complaint.contains("error[policy-syntax]"),
        "{complaint}"
    );
}
