//! Tests of an overlay that is merged into the public registry.

use crate::common::{VIDEO, VULKAN, good};
use vk_registry::model::Registry;
use vk_registry::{Code, Diagnostic, Source, load_with_overlays};

/// Extension that is not public yet, with a command, a structure, a handle, and values of a public enumeration.
const PRIVATE: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<registry>
  <types>
    <type category="handle" parent="VkDevice" objtypeenum="VK_OBJECT_TYPE_SWORD_ACME"><type>VK_DEFINE_NON_DISPATCHABLE_HANDLE</type>(<name>VkSwordACME</name>)</type>
    <type category="struct" name="VkSwordInfoACME" structextends="VkThingCreateInfo">
      <member values="VK_STRUCTURE_TYPE_SWORD_INFO_ACME"><type>VkStructureType</type> <name>sType</name></member>
      <member><type>uint32_t</type> <name>length</name></member>
    </type>
  </types>
  <commands>
    <command>
      <proto><type>VkResult</type> <name>vkSwingSwordACME</name></proto>
      <param><type>VkDevice</type> <name>device</name></param>
      <param><type>VkSwordACME</type> <name>sword</name></param>
      <param>const <type>VkSwordInfoACME</type>* <name>pInfo</name></param>
    </command>
  </commands>
  <extensions>
    <extension name="VK_ACME_sword" number="900" type="device" supported="vulkan">
      <require>
        <enum value="1" name="VK_ACME_SWORD_SPEC_VERSION"/>
        <enum value="&quot;VK_ACME_sword&quot;" name="VK_ACME_SWORD_EXTENSION_NAME"/>
        <enum offset="0" extends="VkObjectType" name="VK_OBJECT_TYPE_SWORD_ACME"/>
        <enum offset="0" extends="VkStructureType" name="VK_STRUCTURE_TYPE_SWORD_INFO_ACME"/>
        <type name="VkSwordACME"/>
        <type name="VkSwordInfoACME"/>
        <command name="vkSwingSwordACME"/>
      </require>
    </extension>
  </extensions>
</registry>
"#;

fn source<'a>(name: &'a str, text: &'a str) -> Source<'a> {
    Source { name, text }
}

fn merged(overlays: &[(&str, &str)]) -> Result<Registry, Vec<Diagnostic>> {
    let overlays: Vec<Source<'_>> = overlays.iter().map(|(name, text)| source(name, text)).collect();
    load_with_overlays(source("vk.xml", VULKAN), &overlays, source("video.xml", VIDEO))
}

/// Returns the overlay with one text replaced. The text must occur exactly once.
fn edited(from: &str, to: &str) -> String {
    assert_eq!(PRIVATE.matches(from).count(), 1, "`{from}` must occur once");
    PRIVATE.replace(from, to)
}

/// Returns the diagnostic for an overlay that must be refused.
fn refused(text: &str) -> Diagnostic {
    let found = merged(&[("private.xml", text)]).expect_err("a bad overlay");
    found.into_iter().next().expect("a diagnostic")
}

#[test]
fn an_overlay_adds_what_it_brings_and_changes_nothing_else() {
    let (public, both) = (
        good(VULKAN),
        merged(&[("private.xml", PRIVATE)]).expect("a good overlay"),
    );
    let command = &both.commands["vkSwingSwordACME"];
    assert_eq!(command.params[1].ty.base, "VkSwordACME");
    assert_eq!(command.providers[0].extension, "VK_ACME_sword");
    let types = &both.enums["VkObjectType"].enumerants;
    let sword = types
        .iter()
        .find(|it| it.name == "VK_OBJECT_TYPE_SWORD_ACME")
        .expect("the enumerant");
    assert_eq!(sword.value, 1_000_000_000 + 899 * 1000);
    let mut without = both;
    without.commands.remove("vkSwingSwordACME");
    without.extensions.remove("VK_ACME_sword");
    without.handles.remove("VkSwordACME");
    without.structs.remove("VkSwordInfoACME");
    for name in ["VkObjectType", "VkStructureType"] {
        let values = &mut without.enums.get_mut(name).expect(name).enumerants;
        values.retain(|it| !it.name.ends_with("_ACME"));
    }
    assert!(without == public);
}

#[test]
fn no_overlay_is_the_registry_itself() {
    assert!(merged(&[]).expect("the registry") == good(VULKAN));
}

#[test]
fn a_name_that_is_public_already_is_a_conflict_with_both_places() {
    for (from, to, name, place) in [
        (
            "vkSwingSwordACME</name>",
            "vkSetThingKHR</name>",
            "vkSetThingKHR",
            "private.xml",
        ),
        (
            "name=\"VkSwordInfoACME\" struct",
            "name=\"VkThingExtra\" struct",
            "VkThingExtra",
            "private.xml",
        ),
    ] {
        let found = refused(&edited(from, to));
        assert_eq!(
            (found.code, found.file.as_str()),
            (Code::DuplicateDefinition, place),
            "{found}"
        );
        assert!(found.text.contains(name) && found.text.contains(" vk.xml:"), "{found}");
    }
    let twice = merged(&[("private.xml", PRIVATE), ("other.xml", PRIVATE)]).expect_err("the same twice");
    assert!(twice.iter().all(|it| it.file == "other.xml"), "{}", twice[0]);
    assert!(twice[0].text.contains(" private.xml:4"), "{}", twice[0]);
}

#[test]
fn a_number_that_is_taken_is_a_conflict() {
    let taken = good(VULKAN).extensions.values().next().expect("an extension").number;
    let found = refused(&edited("number=\"900\"", &format!("number=\"{taken}\"")));
    assert_eq!(
        (found.code, found.file.as_str()),
        (Code::ExtensionNumber, "private.xml"),
        "{found}"
    );
    assert!(found.text.contains(" vk.xml:"), "{found}");
}

#[test]
fn mistakes_are_reported_where_they_were_written() {
    // Each row has the replaced text, the new text, the error code, and the named element.
    let cases = [
        (
            "<require>",
            "<require novelty=\"1\">",
            Code::UnknownAttribute,
            "<require ",
        ),
        (
            "<type>VkSwordACME</type>",
            "<type>VkAxeACME</type>",
            Code::UnresolvedType,
            "<command>",
        ),
        (
            "<command name=\"vkSwingSwordACME\"/>",
            "<command name=\"vkSwing\"/>",
            Code::RequiredUndefined,
            "<command name",
        ),
        (
            "number=\"900\" type=\"device\"",
            "number=\"900\" type=\"sword\"",
            Code::UnknownExtensionType,
            "<extension ",
        ),
    ];
    for (from, to, code, element) in cases {
        let text = edited(from, to);
        let before = &text[..text.find(element).expect("the element")];
        let line = u32::try_from(before.lines().count()).expect("a line");
        let found = merged(&[("private.xml", &text)]).expect_err("a mistake");
        let first = found
            .iter()
            .find(|it| it.code == code)
            .unwrap_or_else(|| panic!("{}", found[0]));
        assert_eq!((first.file.as_str(), first.line), ("private.xml", line), "{first}");
    }
    // After the text of the overlay, places again have the line numbers of the registry.
    let base = VULKAN.replace("</registry>", "<novelty/>\n</registry>");
    let found = load_with_overlays(
        source("vk.xml", &base),
        &[source("private.xml", PRIVATE)],
        source("video.xml", VIDEO),
    );
    let found = found.expect_err("an unknown element");
    let line = u32::try_from(VULKAN.lines().count()).expect("a line");
    assert_eq!(
        (found[0].file.as_str(), found[0].line),
        ("vk.xml", line),
        "{}",
        found[0]
    );
}

#[test]
fn what_is_no_registry_is_refused() {
    for (text, code) in [
        ("", Code::NotWellFormed),
        ("<registry>", Code::NotWellFormed),
        ("<registry/>", Code::Missing),
        ("<sword><types/></sword>", Code::UnknownElement),
        ("<registry origin=\"acme\"><types/></registry>", Code::UnknownAttribute),
        ("<!DOCTYPE a><registry/>", Code::NotWellFormed),
    ] {
        let found = refused(text);
        assert_eq!(
            (found.code, found.file.as_str()),
            (code, "private.xml"),
            "{text}: {found}"
        );
    }
}
