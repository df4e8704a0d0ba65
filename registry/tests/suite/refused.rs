//! Tests that each kind of mistake in an otherwise valid registry is reported with its code (GEN-83).

use crate::common::{VULKAN, codes, edited, load_text};
use std::collections::BTreeSet;
use vk_registry::{Code, Source, load};

/// Expected code, text of the fixture, and its replacement.
type Case = (Code, &'static str, &'static str);

const READING: &[Case] = &[
    (Code::NotWellFormed, "</registry>", ""),
    (
        Code::NotWellFormed,
        "<platforms comment",
        "<!DOCTYPE a><platforms comment",
    ),
    (Code::BadEncoding, "encoding=\"UTF-8\"?>", "encoding=\"UTF-16\"?>"),
    (Code::UnknownElement, "<formats>", "<novelty/><formats>"),
    (
        Code::UnknownElement,
        "<platforms comment",
        "<?target x?><platforms comment",
    ),
    (
        Code::UnknownElement,
        "<require comment=\"base\">",
        "<require comment=\"base\"><struct name=\"x\"/>",
    ),
    (
        Code::UnknownAttribute,
        "<require comment=\"base\">",
        "<require novelty=\"base\">",
    ),
    (
        Code::UnknownAttribute,
        "<platform name=\"xcb\"",
        "<platform xml:lang=\"en\" name=\"xcb\"",
    ),
    (
        Code::UnexpectedText,
        "<require comment=\"base\">",
        "<require comment=\"base\">prose",
    ),
    (
        Code::UnknownApi,
        "supported=\"vulkan\" provisional",
        "supported=\"vulkan,vulkannext\" provisional",
    ),
    (Code::UnknownApi, "<require api=\"vulkansc\">", "<require api=\"\">"),
    (Code::Missing, " supported=\"disabled\"", ""),
    (Code::Missing, " number=\"3\"", ""),
    (Code::Missing, "<type name=\"int\"/>", "<type name=\"VisualID\"/>"),
    (Code::BadValue, "number=\"3\" type", "number=\"three\" type"),
    (Code::BadValue, "number=\"1.1\">", "number=\"1\">"),
    (Code::BadValue, "optional=\"false,true\"", "optional=\"maybe\""),
    (
        Code::BadValue,
        "type=\"bitmask\" bitwidth=\"64\"",
        "type=\"bitmask\" bitwidth=\"128\"",
    ),
    (Code::BadValue, "bitpos=\"40\"", "bitpos=\"64\""),
    (Code::BadValue, "dir=\"-\"", "dir=\"+\""),
    (Code::BadValue, "category=\"union\"", "category=\"variant\""),
    (
        Code::BadValue,
        "depends=\"VK_VERSION_1_0\" deprecatedby",
        "depends=\"VK_VERSION_1_0&#10;\" deprecatedby",
    ),
    (Code::BadName, "<name>vkSetThingKHR</name>", ""),
    (Code::BadName, "<name>vkSetThingKHR</name>", "<name>vk SetThing</name>"),
    (
        Code::BadName,
        "<type category=\"union\" name=\"VkThingValue\">",
        "<type category=\"union\">",
    ),
    (
        Code::BadName,
        "category=\"bitmask\" requires",
        "name=\"VkOther\" category=\"bitmask\" requires",
    ),
    (
        Code::BadDeclaration,
        "<name>constants</name>[2]",
        "<name>constants</name>[2",
    ),
    (
        Code::BadDeclaration,
        "<param><type>xcb_connection_t</type>*",
        "<param>volatile <type>xcb_connection_t</type>*",
    ),
    (
        Code::BadDeclaration,
        "VK_DEFINE_NON_DISPATCHABLE_HANDLE",
        "VK_DEFINE_OTHER",
    ),
    (Code::BadDeclaration, ")(void);</type>", ")(void)</type>"),
];

const NAMES: &[Case] = &[
    // The enumerant is declared twice: in the same block, with equal or different values, in the blocks of two
    // enumerations, or by the same provider.
    (
        Code::DuplicateDefinition,
        "<enum value=\"0\" name=\"VK_SUCCESS\"/>",
        "<enum value=\"0\" name=\"VK_SUCCESS\"/><enum value=\"0\" name=\"VK_SUCCESS\"/>",
    ),
    (
        Code::DuplicateDefinition,
        "<enum api=\"vulkansc\" bitpos=\"9\" name=\"VK_THING_SAFE_BIT\"/>",
        "<enum bitpos=\"9\" name=\"VK_THING_A_BIT\"/>",
    ),
    (
        Code::DuplicateDefinition,
        "<enum bitpos=\"40\" name=\"VK_WIDE_METHOD_BIT\"/>",
        "<enum bitpos=\"40\" name=\"VK_THING_A_BIT\"/>",
    ),
    (
        Code::DuplicateDefinition,
        "<enum bitpos=\"4\" extends=\"VkThingFlagBits\" name=\"VK_THING_B_BIT_KHR\"/>",
        "<enum bitpos=\"4\" extends=\"VkThingFlagBits\" name=\"VK_THING_B_BIT_KHR\"/>\
         <enum bitpos=\"4\" extends=\"VkThingFlagBits\" name=\"VK_THING_B_BIT_KHR\"/>",
    ),
    (
        Code::DuplicateDefinition,
        "<command api=\"vulkansc\" export",
        "<command api=\"vulkan\" export",
    ),
    (Code::DuplicateDefinition, "<param api=\"vulkansc\">", "<param>"),
    (Code::DuplicateDefinition, "<member api=\"vulkansc\">", "<member>"),
    (
        Code::DuplicateDefinition,
        "name=\"VK_EXT_other\" number",
        "name=\"VK_KHR_thing\" number",
    ),
    (
        Code::DuplicateDefinition,
        "<type name=\"VkResult\" category=\"enum\"/>",
        "<type name=\"VkResult\" category=\"enum\"/><type name=\"VkResult\" category=\"enum\"/>",
    ),
    (
        Code::RequiredUndefined,
        "<command name=\"vkCmdThing\"/>",
        "<command name=\"vkCmdThing\"/><command name=\"vkNone\"/>",
    ),
    (
        Code::RequiredUndefined,
        "<type name=\"VkThingValue\"/>",
        "<type name=\"VkThingValue\"/><type name=\"VkNone\"/>",
    ),
    (
        Code::RequiredUndefined,
        "<enum name=\"VK_MAX_TEXT\"/>",
        "<enum name=\"VK_MAX_NONE\"/>",
    ),
    // No definition passes the filter, but a provider in scope requires the name (GEN-22).
    (
        Code::RequiredUndefined,
        "<command api=\"vulkan,vulkanbase\" export=\"vulkan\">",
        "<command api=\"vulkanbase\">",
    ),
    (Code::NeverRequired, "<command name=\"vkReservedEXT\"/>", ""),
    (Code::NeverRequired, "<type name=\"VkThingValue\"/>", ""),
    (
        Code::AliasCycle,
        "<command name=\"vkCmdThingKHR\" alias=\"vkCmdThing\"/>",
        "<command name=\"vkCmdThingKHR\" alias=\"vkLoop\"/><command name=\"vkLoop\" alias=\"vkCmdThingKHR\"/>",
    ),
    (Code::AliasCycle, "alias=\"VkThingExtra\"", "alias=\"VkThingExtraKHR\""),
    (
        Code::AliasCycle,
        "name=\"VK_THING_OLD_A_BIT\" alias=\"VK_THING_A_BIT\"",
        "name=\"VK_THING_OLD_A_BIT\" alias=\"VK_THING_OLDER_A_BIT\"",
    ),
    (Code::AliasTarget, "alias=\"vkCmdThing\"", "alias=\"vkCmdNothing\""),
    (Code::AliasTarget, "alias=\"VkThingFlags\"", "alias=\"VkThingFlagBits\""),
    (Code::AliasTarget, "alias=\"VK_MAX_TEXT\"", "alias=\"VK_MAX_NONE\""),
    (
        Code::AliasWithPrototype,
        "alias=\"vkCmdThing\"/>",
        "alias=\"vkCmdThing\"><proto><type>void</type> <name>vkCmdThingKHR</name></proto></command>",
    ),
    (
        Code::AliasWithPrototype,
        "alias=\"vkCmdThing\"/>",
        "alias=\"vkCmdThing\" api=\"vulkan\"/>",
    ),
];

const TYPES: &[Case] = &[
    (
        Code::UnresolvedType,
        "<type>xcb_connection_t</type>*",
        "<type>xcb_unheard_of_t</type>*",
    ),
    (
        Code::UnresolvedType,
        "<enum>VK_MAX_TEXT</enum>",
        "<enum>VK_MAX_NONE</enum>",
    ),
    (
        Code::UnresolvedType,
        "<type>VkFlags64</type>",
        "<type>VkFlags128</type>",
    ),
    (
        Code::UnresolvedType,
        "bitvalues=\"VkWideMethodFlagBits\"",
        "bitvalues=\"VkNoFlagBits\"",
    ),
    (
        Code::UnresolvedType,
        "structextends=\"VkThingCreateInfo,",
        "structextends=\"VkNoCreateInfo,",
    ),
    (
        Code::UnresolvedType,
        "<type requires=\"xcb/xcb.h\" name=\"xcb_window_t\"/>",
        "<type requires=\"x.h\" name=\"xcb_window_t\"/>",
    ),
    (
        Code::UnresolvedType,
        "extends=\"VkThingFlagBits\"",
        "extends=\"VkNoFlagBits\"",
    ),
    (
        Code::StructByValue,
        "<param api=\"vulkan\">const <type>VkThingCreateInfo</type>*",
        "<param api=\"vulkan\"><type>VkThingCreateInfo</type>",
    ),
    (
        Code::StructByValue,
        "<proto><type>VkBool32</type>",
        "<proto><type>VkThingValue</type>",
    ),
    (
        Code::HandleObjectType,
        " objtypeenum=\"VK_OBJECT_TYPE_COMMAND_POOL\"",
        "",
    ),
    (
        Code::HandleObjectType,
        " objtypeenum=\"VK_OBJECT_TYPE_COMMAND_POOL\"",
        " objtypeenum=\"VK_OBJECT_TYPE_NONE\"",
    ),
    (Code::HandleParent, "parent=\"VkCommandPool\"", "parent=\"VkNothing\""),
    (Code::ParentCycle, "parent=\"VkDevice\"", "parent=\"VkCommandBuffer\""),
    (Code::NoLevel, "parent=\"VkCommandPool\"", "parent=\"VkInstance\""),
    (
        Code::EnumerantConflict,
        "<enum offset=\"0\" extends=\"VkStructureType\" name",
        "<enum offset=\"1\" extends=\"VkStructureType\" name",
    ),
    (Code::EnumerantConflict, " extnumber=\"2\"", ""),
    (
        Code::EnumerantConflict,
        "<enum bitpos=\"4\" extends=\"VkThingFlagBits\" name=\"VK_THING_B_BIT_KHR\"/>",
        "<enum bitpos=\"4\" extends=\"VkThingFlagBits\" name=\"VK_THING_A_BIT\"/>",
    ),
    (Code::EnumerantConflict, "value=\"0x7FFFFFFF\"", "value=\"all of them\""),
    (
        Code::EnumerantConflict,
        "<enum bitpos=\"40\"",
        "<enum bitpos=\"40\" value=\"1\"",
    ),
];

const PROVIDERS: &[Case] = &[
    (
        Code::BadDepends,
        "depends=\"VK_EXT_other+VkThingExtra::deepThing\"",
        "depends=\"VK_EXT_other+\"",
    ),
    (
        Code::UnknownDependency,
        "depends=\"VK_EXT_other+VkThingExtra::deepThing\"",
        "depends=\"VK_EXT_none\"",
    ),
    (
        Code::UnknownDependency,
        "depends=\"VK_EXT_other+VkThingExtra::deepThing\"",
        "depends=\"VkThingExtra::shallowThing\"",
    ),
    (
        Code::UnknownSuccessor,
        "promotedto=\"VK_VERSION_1_0\"",
        "promotedto=\"VK_VERSION_1_9\"",
    ),
    (
        Code::UnknownSuccessor,
        "deprecatedby=\"\"",
        "deprecatedby=\"VK_KHR_none\"",
    ),
    (
        Code::UnknownSuccessor,
        "obsoletedby=\"VK_KHR_thing\"",
        "obsoletedby=\"VK_KHR_thing,VK_KHR_none\"",
    ),
    (
        Code::UnknownSuccessor,
        "supersededby=\"vkCreateDevice\"",
        "supersededby=\"vkCreateNothing\"",
    ),
    (Code::UnknownPlatform, "platform=\"xcb\"", "platform=\"xcv\""),
    (
        Code::PlatformConflict,
        "supported=\"vulkan\" provisional",
        "supported=\"vulkan\" platform=\"provisional\" provisional",
    ),
    (
        Code::UnknownExtensionType,
        "number=\"3\" type=\"device\"",
        "number=\"3\"",
    ),
    (
        Code::UnknownExtensionType,
        "number=\"3\" type=\"device\"",
        "number=\"3\" type=\"queue\"",
    ),
    (
        Code::ExtensionNumber,
        "number=\"3\" type=\"device\"",
        "number=\"2\" type=\"device\"",
    ),
    (
        Code::ExtensionConstants,
        "<enum value=\"1\" name=\"VK_EXT_OTHER_SPEC_VERSION\"/>",
        "",
    ),
    (
        Code::ExtensionConstants,
        "value=\"&quot;VK_EXT_other&quot;\"",
        "value=\"&quot;VK_EXT_others&quot;\"",
    ),
    (
        Code::ExtensionConstants,
        "name=\"VK_EXT_OTHER_SPEC_VERSION\"/>",
        "name=\"VK_EXT_OTHER_SPEC_VERSION\"/><enum value=\"7\" name=\"VK_EXT_SEVEN\"/>",
    ),
    (Code::ExportMismatch, "<command export=\"vulkan\">", "<command>"),
    (
        Code::ExportMismatch,
        "<command>\n      <proto><type>VkBool32",
        "<command export=\"vulkan\">\n      <proto><type>VkBool32",
    ),
    (
        Code::RemoveUnrequired,
        "<deprecate",
        "<remove><command name=\"vkReservedEXT\"/></remove><deprecate",
    ),
    (
        Code::MissingHeaderVersion,
        "VK_HEADER_VERSION</name> 7",
        "VK_HEADER_VERSION</name> seven",
    ),
    (
        Code::MissingHeaderVersion,
        "#define <name>VK_HEADER_VERSION</name> 7",
        "//#define <name>VK_HEADER_VERSION</name> 7",
    ),
    (
        Code::MissingHeaderVersion,
        "(0, 1, 1, VK_HEADER_VERSION)",
        "(0, 1, 1, 7)",
    ),
    (
        Code::VersionMismatch,
        "(0, 1, 1, VK_HEADER_VERSION)",
        "(0, 1, 2, VK_HEADER_VERSION)",
    ),
];

/// GEN-83: every mistake is reported with its code, including the mistakes of GEN-27, GEN-35, GEN-38 and GEN-45.
#[test]
fn gen_83_every_mistake_is_reported_with_its_code() {
    for (code, from, to) in [READING, NAMES, TYPES, PROVIDERS].concat() {
        let found = codes(&edited(from, to));
        assert!(
            found.contains(&code),
            "`{from}` -> `{to}` should be {}, was {found:?}",
            code.word()
        );
    }
}

#[test]
fn gen_4_entry_points_in_the_video_registry_are_refused() {
    let vk = Source {
        name: "vk.xml",
        text: VULKAN,
    };
    for addition in [
        "<commands><command name=\"a\"/></commands>",
        "<types><type category=\"handle\"><name>VkX</name></type></types>",
        "<extensions><extension name=\"e\"><require><command name=\"a\"/></require></extension></extensions>",
    ] {
        let text = crate::common::VIDEO.replace("</registry>", &format!("{addition}</registry>"));
        let found = load(
            vk,
            Source {
                name: "video.xml",
                text: &text,
            },
        )
        .expect_err(addition);
        assert!(
            found.iter().any(|diagnostic| diagnostic.code == Code::VideoEntryPoint),
            "{addition}"
        );
        assert!(
            found.iter().all(|diagnostic| diagnostic.file == "video.xml"),
            "{addition}"
        );
    }
}

#[test]
fn gen_83_no_code_is_without_a_test() {
    // Other tests cause these two codes: the tests of hostile inputs, and the test of the video registry.
    let elsewhere = [Code::InputLimit, Code::VideoEntryPoint];
    let tested: BTreeSet<Code> = [READING, NAMES, TYPES, PROVIDERS]
        .concat()
        .iter()
        .map(|case| case.0)
        .chain(elsewhere)
        .collect();
    let untested: Vec<_> = Code::ALL.iter().filter(|code| !tested.contains(code)).collect();
    assert_eq!(untested, Vec::<&Code>::new());
}

#[test]
fn gen_3_diagnostics_name_place_code_path_and_element() {
    let found = load_text(&edited("<require comment=\"base\">", "<require novelty=\"base\">"))
        .expect_err("an unknown attribute");
    let line = VULKAN
        .lines()
        .position(|line| line.contains("comment=\"base\""))
        .expect("the fixture")
        + 1;
    let text = found[0].to_string();
    let expected = format!(
        "vk.xml:{line}:14: error[unknown-attribute]: unknown attribute `novelty` (in registry/feature/require); "
    );
    assert!(text.starts_with(&expected), "{text}");
    assert!(
        text.contains("schema.rs") && text.contains("\n    <require novelty=\"base\">"),
        "{text}"
    );
    assert!(text.lines().all(|line| line.chars().count() < 260), "{text}");
}

#[test]
fn gen_3_all_mistakes_of_a_run_are_reported_up_to_a_cap() {
    let two = edited("<formats>", "<novelty/><formats>").replace("parent=\"VkCommandPool\"", "parent=\"VkNothing\"");
    assert_eq!(
        codes(&two)
            .iter()
            .filter(|code| matches!(code, Code::UnknownElement | Code::HandleParent))
            .count(),
        2
    );
    assert_eq!(
        codes(&edited("<formats>", &format!("{}<formats>", "<novelty/>".repeat(500)))).len(),
        100
    );
}

#[test]
fn gen_80_unknown_constructs_can_be_set_aside() {
    let text = edited("<formats>", "<novelty/><formats>");
    let sources = (
        Source {
            name: "vk.xml",
            text: &text,
        },
        Source {
            name: "video.xml",
            text: crate::common::VIDEO,
        },
    );
    // A mistake is reported even if the number of unknown constructs exceeds the limit of the report.
    let flood = "<novelty/>".repeat(200);
    let text_with_mistake =
        edited("<formats>", &format!("{flood}<formats>")).replace("parent=\"VkCommandPool\"", "parent=\"VkNo\"");
    let broken = Source {
        name: "vk.xml",
        text: &text_with_mistake,
    };
    assert!(vk_registry::load_tolerant(broken, sources.1).is_err());
    let (registry, unknown) = vk_registry::load_tolerant(sources.0, sources.1).expect("only unknown constructs");
    assert_eq!(registry, crate::common::good(VULKAN));
    assert_eq!(
        unknown.iter().map(|diagnostic| diagnostic.code).collect::<Vec<_>>(),
        [Code::UnknownElement]
    );
}
