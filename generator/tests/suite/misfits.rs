//! Tests of a registry and a policy that conflict (GEN-70, GEN-83). The generator reports each kind of problem with its place.

use crate::common::{committed_policy, committed_registry, edited, problems};
use vk_registry::model::{Command, ExtensionKind, Registry};
use vkgen::policy::Policy;

/// Returns the only problem of an edited policy.
fn complaint(from: &str, to: &str) -> String {
    let found = problems(&committed_registry(), &edited(&committed_policy(), from, to));
    assert_eq!(found.len(), 1, "{found:#?}");
    found.into_iter().next().unwrap_or_default()
}

fn command_of<'r>(registry: &'r mut Registry, name: &str) -> &'r mut Command {
    registry.commands.get_mut(name).expect("the command")
}

/// Adds a copy of a structure under another name.
fn add_structure(registry: &mut Registry, like: &str, name: &str) {
    let mut structure = registry.structs[like].clone();
    structure.name = name.to_owned();
    registry.structs.insert(name.to_owned(), structure);
}

/// GEN-70, GEN-71a to GEN-71i: the committed policy fits the committed registry.
#[test]
fn gen_70_the_committed_policy_fits() {
    assert_eq!(
        problems(&committed_registry(), &committed_policy()),
        Vec::<String>::new()
    );
}

#[test]
fn gen_70_a_special_command_without_a_row_is_refused() {
    let found = problems(
        &committed_registry(),
        &edited(&committed_policy(), "    \"vkCreateSampler\",\n", ""),
    );
    // The first problem is a step in the row's `reviewed` that no remaining command of the row has.
    assert_eq!(found.len(), 2, "{found:#?}");
    let text = &found[1];
    assert!(
        text.contains("error[unclassified-command]: vkCreateSampler") && text.contains("raw_handle"),
        "{text}"
    );
    // The message has the sentence that `explain` prints, a link to the recipe, the name of the policy file, and a row to paste.
    for part in [
        "S5: a raw 64-bit value may be a handle",
        "docs/recipes.md#a-special-command",
        "into policy.toml, such as\n    [[treatment]]\n    commands = [\"vkCreateSampler\"]\n",
        "\n        \"pCreateInfo -> VkSamplerCreateInfo\",\n",
        "\n    reason = \"\"",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
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
    command_of(&mut registry, "vkQueueSubmit").params[0].name = "sword".to_owned();
    let found = problems(&registry, &committed_policy());
    assert_eq!(found.len(), 1, "{found:#?}");
    let expected = "error[unknown-parameter]: vkQueueSubmit: its first parameter is `VkQueue sword`";
    assert!(found[0].contains(expected), "{found:?}");
    assert!(
        found[0].ends_with("list it in `checked-parameters` of policy.toml"),
        "{found:?}"
    );
    let text = complaint("queue = \"VkQueue\"\n", "queue = \"VkQueue\"\nsword = \"VkQueue\"\n");
    assert!(text.contains("error[stale-policy]: sword"), "{text}");
    // The name `device` now belongs to a parameter that is not a `VkDevice`. The trampoline would check the parameter as a `VkDevice`.
    command_of(&mut registry, "vkQueueSubmit").params[0].name = "device".to_owned();
    let found = problems(&registry, &committed_policy());
    assert!(
        found[0].contains("but trampolines check a parameter of that name as a VkDevice"),
        "{found:?}"
    );
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
    let row = "commands = [\"vkGetPhysicalDeviceImageFormatProperties\"]\n";
    let absent = "absent = { severity = \"error\", value = \"VK_ERROR_INITIALIZATION_FAILED\" }\n";
    let text = complaint(&format!("{row}{absent}"), row);
    assert!(
        text.contains("error[stale-policy]: vkGetPhysicalDeviceImageFormatProperties"),
        "{text}"
    );
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

#[test]
fn gen_74_a_treatment_holds_for_what_it_was_reviewed_for() {
    let chains = [
        ("VkDeviceCreateInfo", "VkDeviceGroupDeviceCreateInfo", "vkCreateDevice"),
        (
            "VkPhysicalDeviceProperties2",
            "VkPhysicalDeviceGroupProperties",
            "vkGetPhysicalDeviceProperties2",
        ),
        (
            "VkSwapchainCreateInfoKHR",
            "VkPhysicalDeviceSurfaceInfo2KHR",
            "vkCreateSwapchainKHR",
        ),
        (
            "VkPhysicalDeviceSurfaceInfo2KHR",
            "VkSwapchainCreateInfoKHR",
            "vkGetPhysicalDeviceSurfaceFormats2KHR",
        ),
    ];
    for (base, like, command) in chains {
        let mut registry = committed_registry();
        add_structure(&mut registry, like, "VkSwordACME");
        registry.structs.get_mut("VkSwordACME").expect("it").extends = vec![base.to_owned()];
        let found = problems(&registry, &committed_policy());
        let start = format!("error[unreviewed-treatment]: {command}: ");
        let line = format!("\n        \"{base}.pNext -> VkSwordACME\",\n");
        assert!(
            found.iter().any(|text| text.contains(&start) && text.contains(&line)),
            "{found:#?}"
        );
        assert!(
            found
                .iter()
                .all(|text| text.contains("add to `reviewed` of its row in policy.toml")),
            "{found:#?}"
        );
    }
}

#[test]
fn gen_74_another_way_to_a_known_member_is_no_longer_reviewed() {
    let mut registry = committed_registry();
    let structure = registry.structs.get_mut("VkDeviceQueueCreateInfo").expect("it");
    let mut member = structure.members[1].clone();
    (member.name, member.ty.base) = ("pGroup".to_owned(), "VkDeviceGroupDeviceCreateInfo".to_owned());
    structure.members.push(member);
    let found = problems(&registry, &committed_policy()).concat();
    assert!(
        found.contains("error[unreviewed-treatment]: vkCreateDevice: "),
        "{found}"
    );
    assert!(
        found.contains("\"VkDeviceQueueCreateInfo.pGroup -> VkDeviceGroupDeviceCreateInfo\","),
        "{found}"
    );
}

#[test]
fn gen_74_what_was_reviewed_and_is_gone_is_stale() {
    let text = complaint(
        "\"pSamplers -> VkSamplerCreateInfo\",",
        "\"pSamplers -> VkSamplerCreateInfo\",\n    \"pSwords -> VkSword\",",
    );
    assert!(
        text.contains("error[stale-policy]: ") && text.contains("has `pSwords -> VkSword`; remove it"),
        "{text}"
    );
    // After the registry renames a structure, lines in `reviewed` may still contain the old name, which is now an alias.
    let mut registry = committed_registry();
    add_structure(&mut registry, "VkSamplerCreateInfo", "VkSwordCreateInfo");
    registry.structs.remove("VkSamplerCreateInfo");
    registry
        .type_aliases
        .insert("VkSamplerCreateInfo".to_owned(), "VkSwordCreateInfo".to_owned());
    for structure in registry.structs.values_mut() {
        for extended in structure
            .extends
            .iter_mut()
            .filter(|name| *name == "VkSamplerCreateInfo")
        {
            *extended = "VkSwordCreateInfo".to_owned();
        }
    }
    assert_eq!(problems(&registry, &committed_policy()), Vec::<String>::new());
}

#[test]
fn gen_71_handles_that_a_command_returns_are_seen_wherever_they_lie() {
    let mut registry = committed_registry();
    // The command returns a handle.
    command_of(&mut registry, "vkQueueWaitIdle").return_type = "VkQueue".to_owned();
    // The driver writes a handle into a structure.
    let structure = registry.structs.get_mut("VkMemoryRequirements2").expect("it");
    let mut member = structure.members[0].clone();
    (member.name, member.ty.base, member.values) = ("queue".to_owned(), "VkQueue".to_owned(), None);
    structure.members.push(member);
    let found = problems(&registry, &committed_policy()).concat();
    for (command, step) in [
        ("vkQueueWaitIdle", "\"return -> VkQueue\","),
        (
            "vkGetBufferMemoryRequirements2",
            "\"VkMemoryRequirements2.queue -> VkQueue\",",
        ),
    ] {
        let start = format!("error[unclassified-command]: {command}: is special (outputs_dispatchable)");
        assert!(found.contains(&start) && found.contains(step), "{found}");
    }
}

#[test]
fn gen_71_raw_handles_without_a_mark_and_callbacks_are_seen() {
    let mut registry = committed_registry();
    let kind = registry.structs["VkDebugUtilsObjectNameInfoEXT"].members[2].clone();
    let structure = registry.structs.get_mut("VkFenceCreateInfo").expect("it");
    let mut handle = kind.clone();
    (handle.name, handle.ty.base) = ("object".to_owned(), "uint64_t".to_owned());
    structure.members.extend([kind.clone(), handle]);
    let structure = registry.structs.get_mut("VkEventCreateInfo").expect("it");
    let mut callback = kind;
    (callback.name, callback.ty.base) = ("pfn".to_owned(), "PFN_vkGetInstanceProcAddrLUNARG".to_owned());
    structure.members.push(callback);
    let found = problems(&registry, &committed_policy()).concat();
    assert!(found.contains("vkCreateFence: is special (raw_handle)"), "{found}");
    assert!(found.contains("vkCreateEvent: is special (wrapped_handle)"), "{found}");
}

#[test]
fn gen_71_another_name_of_a_treated_command_needs_a_decision() {
    let mut registry = committed_registry();
    let mut command = registry.commands["vkGetPhysicalDeviceFeatures2"].clone();
    (command.name, command.alias) = ("vkGetPhysicalDeviceFeatures2ACME".to_owned(), Some(command.name));
    registry.commands.insert(command.name.clone(), command);
    let found = problems(&registry, &committed_policy());
    let expected = "error[unclassified-command]: vkGetPhysicalDeviceFeatures2ACME: is special (other_name)";
    assert!(found.len() == 1 && found[0].contains(expected), "{found:#?}");
}

#[test]
fn gen_51_a_driver_may_lack_a_command_of_an_instance_extension() {
    let mut registry = committed_registry();
    let extension = registry.extensions.get_mut("VK_KHR_fragment_shading_rate").expect("it");
    extension.kind = ExtensionKind::Instance;
    let found = problems(&registry, &committed_policy()).concat();
    assert!(
        found.contains("vkGetPhysicalDeviceFragmentShadingRatesKHR: is special (instance_extension)"),
        "{found}"
    );
}

#[test]
fn gen_48_returned_handles_are_counted_or_made_by_hand() {
    for len in ["pInfo->list->count", "value / 4", "pQueueCount"] {
        let mut registry = committed_registry();
        command_of(&mut registry, "vkGetDeviceQueue").params[3].len = Some(len.to_owned());
        let found = problems(&registry, &committed_policy());
        let expected =
            "error[policy-contradiction]: vkGetDeviceQueue: returns handles that a generated trampoline cannot count";
        assert!(found.len() == 1 && found[0].contains(expected), "{len}: {found:#?}");
    }
}
