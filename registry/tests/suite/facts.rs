//! Tests of the facts that the reader finds in a small registry, one for each requirement.

use crate::common::{VULKAN, edited, good};
use vk_registry::model::{ExtensionKind, Level, Registry, StructKind, Version};

const V1_0: Version = Version { major: 1, minor: 0 };
const V1_1: Version = Version { major: 1, minor: 1 };

fn level(registry: &Registry, command: &str) -> Level {
    registry.commands[command].level
}

fn param_types(registry: &Registry, command: &str) -> Vec<String> {
    registry.commands[command]
        .params
        .iter()
        .map(|param| format!("{} {}", param.ty, param.name))
        .collect()
}

fn value(registry: &Registry, enumeration: &str, name: &str) -> Option<i128> {
    registry.enums[enumeration]
        .enumerants
        .iter()
        .find(|item| item.name == name)
        .map(|item| item.value)
}

/// GEN-10, GEN-25: the reader uses an element only at its exact path.
#[test]
fn gen_10_only_children_by_exact_path_count() {
    let registry = good(VULKAN);
    // The deprecation in version 1.1 and the remove in the Safety Critical feature do not provide the command.
    assert_eq!(registry.commands["vkCreateInstance"].core, Some(V1_0));
    assert!(registry.commands["vkCreateInstance"].providers.is_empty());
    // The parameter inside `implicitexternsyncparams` is not a parameter of the command.
    assert_eq!(param_types(&registry, "vkDestroyInstance"), ["VkInstance instance"]);
}

#[test]
fn gen_11_a_name_may_be_attribute_or_child_or_both_alike() {
    let both = edited(
        "category=\"bitmask\" requires",
        "name=\"VkThingFlags\" category=\"bitmask\" requires",
    );
    assert_eq!(good(&both), good(VULKAN));
}

#[test]
fn gen_12_declarations_come_apart_by_position() {
    let registry = good(VULKAN);
    let item = &registry.structs["VkThingCreateInfo"];
    let members: Vec<_> = item
        .members
        .iter()
        .map(|member| format!("{} {}", member.ty, member.name))
        .collect();
    assert_eq!(
        members,
        [
            "VkStructureType sType",
            "const void* pNext",
            "char[VK_MAX_TEXT] text",
            "uint32_t:24 mask",
            "const float* pValues",
            "uint32_t count",
            "uint64_t object",
            "VkObjectType kind",
        ]
    );
    assert_eq!(
        item.members[0].values.as_deref(),
        Some("VK_STRUCTURE_TYPE_THING_CREATE_INFO")
    );
    assert_eq!(item.members[4].len.as_deref(), Some("count"));
    assert_eq!(item.members[6].object_type.as_deref(), Some("kind"));
    assert_eq!(registry.structs["VkThingValue"].kind, StructKind::Union);
    assert_eq!(registry.structs["VkThingValue"].members[0].ty.array, ["3", "4"]);
    assert_eq!(param_types(&registry, "vkCmdThing")[1], "const float[2] constants");
}

#[test]
fn gen_15_the_header_version_is_that_of_this_api() {
    assert_eq!(good(VULKAN).header.to_string(), "1.1.7");
}

#[test]
fn gen_20_api_lists_are_compared_by_whole_tokens() {
    let registry = good(VULKAN);
    assert_eq!(
        registry.extensions.keys().collect::<Vec<_>>(),
        ["VK_EXT_other", "VK_KHR_thing"]
    );
    assert!(!registry.structs.contains_key("VkSafetyInfo"));
    let spaced = edited("supported=\"vulkan,vulkansc\"", "supported=\" vulkansc , vulkan \"");
    assert_eq!(good(&spaced), registry);
}

#[test]
fn gen_21_the_filter_reaches_blocks_definitions_members_and_enumerants() {
    let registry = good(VULKAN);
    assert!(!registry.commands.contains_key("vkSafetyOnly"));
    assert_eq!(registry.commands["vkCreateDevice"].return_type, "VkResult");
    assert_eq!(value(&registry, "VkThingFlagBits", "VK_THING_SAFE_BIT"), None);
}

#[test]
fn gen_22_the_filter_leaves_one_parameter_of_a_name() {
    let types = param_types(&good(VULKAN), "vkCreateDevice");
    assert_eq!(
        types,
        [
            "VkPhysicalDevice physicalDevice",
            "const VkThingCreateInfo* pInfo",
            "VkDevice* pDevice"
        ]
    );
}

#[test]
fn gen_23_disabled_extensions_are_only_reserved() {
    let registry = good(VULKAN);
    assert_eq!(
        registry.reserved_extensions.iter().collect::<Vec<_>>(),
        ["VK_EXT_reserved"]
    );
    assert_eq!(value(&registry, "VkResult", "VK_ERROR_RESERVED_EXT"), None);
    assert!(!registry.commands.contains_key("vkReservedEXT"));
}

#[test]
fn gen_24_removes_count_in_providers_of_this_api_only() {
    assert!(good(VULKAN).commands.contains_key("vkDestroyInstance"));
    let text = edited(
        "<deprecate",
        "<remove><command name=\"vkDestroyInstance\"/></remove><deprecate",
    )
    .replace(
        "export=\"vulkan,vulkansc\">\n      <proto><type>void",
        "export=\"vulkansc\">\n      <proto><type>void",
    );
    let registry = good(&text);
    assert!(!registry.commands.contains_key("vkDestroyInstance"));
    assert!(registry.unlisted_commands["vkDestroyInstance"].contains("VK_COMPUTE_VERSION_1_1"));
}

#[test]
fn gen_26_split_and_flat_features_give_the_same_versions() {
    let split = good(VULKAN);
    assert_eq!(split.commands["vkCmdThing"].core, Some(V1_1));
    assert_eq!(split.core_versions.iter().collect::<Vec<_>>(), [&V1_0, &V1_1]);
    let empty = "<feature api=\"vulkan,vulkansc,vulkanbase\" name=\"VK_VERSION_1_0\" number=\"1.0\" depends=\"VK_BASE_VERSION_1_0\"/>";
    let flat = edited(empty, "")
        .replace("VK_BASE_VERSION_1_0", "VK_VERSION_1_0")
        .replace("VK_COMPUTE_VERSION_1_1", "VK_VERSION_1_1")
        .replace(" apitype=\"internal\"", "")
        .replace(",vulkanbase", "");
    assert_eq!(good(&flat), split);
}

#[test]
fn gen_26_the_lowest_number_wins_whatever_the_order() {
    let text = edited(
        "<command name=\"vkCmdThing\"/>",
        "<command name=\"vkCmdThing\"/><command name=\"vkCreateDevice\"/>",
    );
    assert_eq!(good(&text).commands["vkCreateDevice"].core, Some(V1_0));
}

#[test]
fn gen_30_every_provider_is_kept_with_its_condition() {
    let registry = good(VULKAN);
    let command = &registry.commands["vkSetThingKHR"];
    let providers: Vec<_> = command
        .providers
        .iter()
        .map(|item| (item.extension.as_str(), item.depends.as_deref()))
        .collect();
    assert_eq!(
        providers,
        [
            ("VK_EXT_other", None),
            ("VK_KHR_thing", Some("VK_EXT_other+VkThingExtra::deepThing"))
        ]
    );
}

/// GEN-33, GEN-34: an alias can precede its target, and is a separate command.
#[test]
fn gen_33_an_alias_may_stand_before_its_target_and_is_an_entry_point_of_its_own() {
    let registry = good(VULKAN);
    let (alias, target) = (&registry.commands["vkCmdThingKHR"], &registry.commands["vkCmdThing"]);
    assert_eq!(alias.alias.as_deref(), Some("vkCmdThing"));
    assert_eq!(
        (&alias.params, alias.level, &alias.return_type),
        (&target.params, target.level, &target.return_type)
    );
    assert_eq!((alias.core, alias.export), (None, false));
    assert!(target.providers.is_empty() && target.alias.is_none());
    assert_eq!(registry.type_aliases["VkThingExtraKHR"], "VkThingExtra");
}

#[test]
fn gen_37_an_empty_deprecation_differs_from_none() {
    let registry = good(VULKAN);
    let thing = &registry.extensions["VK_KHR_thing"];
    assert_eq!(thing.deprecated_by.as_deref(), Some(""));
    assert_eq!(registry.extensions["VK_EXT_other"].deprecated_by, None);
    assert_eq!(thing.promoted_to.as_deref(), Some("VK_VERSION_1_0"));
    assert_eq!(
        (thing.kind, thing.number, thing.spec_version),
        (ExtensionKind::Instance, 2, 4)
    );
    assert!(registry.extensions["VK_EXT_other"].provisional);
}

#[test]
fn gen_41_width_comes_from_the_typedef_and_not_from_the_name() {
    let registry = good(VULKAN);
    assert_eq!(
        (
            registry.bitmasks["VkThingFlags"].bits,
            registry.bitmasks["VkWideMethodFlags"].bits
        ),
        (32, 64)
    );
    assert_eq!(
        registry.bitmasks["VkWideMethodFlags"].bits_enum.as_deref(),
        Some("VkWideMethodFlagBits")
    );
    assert_eq!(registry.enums["VkWideMethodFlagBits"].bits, 64);
}

#[test]
fn gen_42_function_pointers_come_in_two_shapes() {
    let registry = good(VULKAN);
    let (new, flat) = (
        &registry.function_pointers["PFN_vkAllocate"],
        &registry.function_pointers["PFN_vkFree"],
    );
    assert_eq!(new.params, flat.params);
    assert_eq!(new.return_type.to_string(), "void*");
    assert_eq!(flat.return_type.to_string(), "void");
    assert!(registry.function_pointers["PFN_vkVoid"].params.is_empty());
}

#[test]
fn gen_44_base_types_are_what_their_c_branch_says() {
    let registry = good(VULKAN);
    assert_eq!(registry.base_types["MTLDevice_id"].target.as_deref(), Some("void*"));
    assert_eq!(registry.base_types["AHardwareBuffer"].target, None);
    assert_eq!(registry.base_types["VkBool32"].target.as_deref(), Some("uint32_t"));
    assert_eq!(registry.platform_types["xcb_window_t"].header, "xcb/xcb.h");
    assert!(!registry.platform_types.contains_key("uint32_t"));
}

#[test]
fn gen_47_the_walk_to_the_device_passes_through_other_handles() {
    let registry = good(VULKAN);
    assert!(!registry.handles["VkCommandPool"].dispatchable);
    assert_eq!(level(&registry, "vkCmdThing"), Level::Device);
    assert_eq!(
        registry.commands["vkCmdThing"].first_handle.as_deref(),
        Some("VkCommandBuffer")
    );
}

#[test]
fn gen_48_len_and_optional_are_carried() {
    let registry = good(VULKAN);
    let device = &registry.commands["vkCreateDevice"].params[2];
    assert_eq!(
        (device.len.as_deref(), device.optional.as_slice()),
        (Some("pInfo->count"), &[false, true][..])
    );
    let object = &registry.commands["vkGetSurfaceSupportKHR"].params[2];
    assert_eq!(object.object_type.as_deref(), Some("kind"));
}

#[test]
fn gen_50_the_first_parameter_by_value_decides() {
    let registry = good(VULKAN);
    assert_eq!(level(&registry, "vkCreateInstance"), Level::Global);
    assert_eq!(level(&registry, "vkDestroyInstance"), Level::Instance);
    assert_eq!(level(&registry, "vkCreateDevice"), Level::PhysicalDevice);
    let pointer = edited(
        "<param optional=\"true\"><type>VkInstance</type>",
        "<param><type>VkInstance</type>*",
    );
    assert_eq!(level(&good(&pointer), "vkDestroyInstance"), Level::Global);
}

#[test]
fn gen_51_the_level_is_not_that_of_the_extension() {
    let registry = good(VULKAN);
    assert_eq!(registry.extensions["VK_KHR_thing"].kind, ExtensionKind::Instance);
    assert_eq!(level(&registry, "vkSetThingKHR"), Level::Device);
}

#[test]
fn gen_54_one_provider_without_platform_is_enough() {
    let registry = good(VULKAN);
    assert_eq!(
        registry.commands["vkGetSurfaceSupportKHR"].platform.as_deref(),
        Some("xcb")
    );
    assert_eq!(registry.commands["vkSetThingKHR"].platform, None);
    assert_eq!(registry.platforms["xcb"].protect, "VK_USE_PLATFORM_XCB_KHR");
}

#[test]
fn gen_69_values_are_literal_counted_or_those_of_the_target() {
    let registry = good(VULKAN);
    for (enumeration, name, expected) in [
        ("VkResult", "VK_ERROR_OUT", -1),
        ("VkResult", "VK_ERROR_THING_KHR", -1_000_001_003),
        // A feature declares this enumerant with `extnumber`, and the extension with that number declares the enumerant too.
        ("VkStructureType", "VK_STRUCTURE_TYPE_THING_EXTRA", 1_000_001_000),
        ("VkThingFlagBits", "VK_THING_ALL", 0x7fff_ffff),
        ("VkThingFlagBits", "VK_THING_B_BIT_KHR", 16),
        ("VkThingFlagBits", "VK_THING_OLDER_A_BIT", 1),
        ("VkWideMethodFlagBits", "VK_WIDE_METHOD_BIT", 1 << 40),
    ] {
        assert_eq!(value(&registry, enumeration, name), Some(expected), "{name}");
    }
    let older = registry.enums["VkThingFlagBits"]
        .enumerants
        .iter()
        .find(|item| item.name == "VK_THING_OLDER_A_BIT");
    assert_eq!(older.and_then(|item| item.alias.as_deref()), Some("VK_THING_A_BIT"));
    assert_eq!(registry.constants["VK_MAX_TEXT_KHR"].value, "256");
}

#[test]
fn gen_71_structures_know_what_they_extend_in_this_api() {
    assert_eq!(good(VULKAN).structs["VkThingExtra"].extends, ["VkThingCreateInfo"]);
}

#[test]
fn gen_82_what_reaches_no_table_is_listed_with_the_reason() {
    let registry = good(VULKAN);
    let unlisted: Vec<_> = registry
        .unlisted_commands
        .iter()
        .map(|(name, why)| (name.as_str(), why.as_str()))
        .collect();
    assert_eq!(
        unlisted,
        [
            (
                "vkReservedEXT",
                "only the disabled extension VK_EXT_reserved provides it"
            ),
            ("vkSafetyOnly", "only VKSC_VERSION_1_0 provides it, for vulkansc"),
        ]
    );
}
