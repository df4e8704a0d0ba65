//! Tests that order and indentation in the XML text do not affect the model. Also tests that the removal of a used attribute, a command, a
//! parameter or a `<require>` changes the model.

use crate::common::{VULKAN, codes, good, load_text};
use roxmltree::{Document, Node};
use std::collections::BTreeSet;

/// Writes an element as text. `reverse` reverses the order of attributes and of independent children, and `indent` replaces blank text.
fn rewrite(node: Node<'_, '_>, change: &Change, out: &mut String) {
    if node.is_text() {
        let text = node.text().unwrap_or_default();
        let is_blank = text.trim().is_empty();
        // White space in a macro is part of its C text.
        let is_c_text = node.parent().is_some_and(|parent| parent.has_tag_name("type"));
        out.push_str(&if is_blank && change.indent && !is_c_text {
            "\n\t\t\t\t".to_owned()
        } else {
            escaped(text)
        });
    }
    if !node.is_element() {
        return;
    }
    let mut attributes: Vec<_> = node
        .attributes()
        .map(|a| format!(" {}=\"{}\"", a.name(), escaped(a.value())))
        .collect();
    let mut children: Vec<_> = node.children().collect();
    let is_list =
        ["require", "extensions", "commands", "platforms", "types", "registry"].contains(&node.tag_name().name());
    if change.reverse {
        attributes.reverse();
        if is_list {
            children.reverse();
        }
    }
    let name = node.tag_name().name();
    out.push_str(&format!("<{name}{}>", attributes.concat()));
    children.into_iter().for_each(|child| rewrite(child, change, out));
    out.push_str(&format!("</{name}>"));
}

struct Change {
    reverse: bool,
    indent: bool,
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

fn rewritten(change: &Change) -> String {
    let document = Document::parse(VULKAN).expect("the fixture");
    let mut out = String::new();
    rewrite(document.root_element(), change, &mut out);
    out
}

#[test]
fn gen_85_order_of_attributes_and_of_independent_siblings_does_not_matter() {
    assert_eq!(
        good(&rewritten(&Change {
            reverse: true,
            indent: false
        })),
        good(VULKAN)
    );
}

#[test]
fn gen_85_indentation_does_not_matter() {
    assert_eq!(
        good(&rewritten(&Change {
            reverse: false,
            indent: true
        })),
        good(VULKAN)
    );
}

/// Attributes that can be removed from the fixture without an effect: documentation, attributes that the reader ignores, and attributes
/// whose value means the same as a missing attribute.
const HARMLESS: &[&str] = &[
    "registry/platforms@comment",
    "registry/platforms/platform@comment",
    "registry/tags@comment",
    "registry/tags/tag@name",
    "registry/tags/tag@author",
    "registry/tags/tag@contact",
    "registry/types@comment",
    // The removal of `requires` changes only platform types and flags types. It has no effect on other types, such as `void`.
    "registry/types/type@requires",
    "registry/types/type/member@optional",
    "registry/enums/enum@deprecated",
    "registry/enums/unused@start",
    "registry/enums/unused@comment",
    "registry/commands@comment",
    "registry/commands/command@successcodes",
    "registry/feature@apitype",
    "registry/feature@depends",
    "registry/feature/require@comment",
    "registry/feature/deprecate@explanationlink",
    "registry/extensions@comment",
    "registry/extensions/extension@author",
    "registry/extensions/extension@contact",
    "registry/formats/format@name",
    "registry/formats/format@whatever",
];

#[test]
fn gen_83_dropping_any_used_attribute_shows() {
    let expected = good(VULKAN);
    let document = Document::parse(VULKAN).expect("the fixture");
    let harmless: BTreeSet<&str> = HARMLESS.iter().copied().collect();
    let mut unnoticed = BTreeSet::new();
    for node in document.descendants().filter(Node::is_element) {
        for attribute in node.attributes() {
            // A list that contains `vulkan` has the same meaning as a missing list.
            let is_list = attribute.name() == "api";
            if if is_list {
                admits(attribute.value())
            } else {
                is_out_of_scope(node)
            } {
                continue;
            }
            let range = attribute.range();
            let text = format!("{}{}", &VULKAN[..range.start], &VULKAN[range.end..]);
            if load_text(&text).as_ref() == Ok(&expected) {
                unnoticed.insert(format!("{}@{}", path(node), attribute.name()));
            }
        }
    }
    let unexplained: Vec<_> = unnoticed
        .iter()
        .filter(|name| !harmless.contains(name.as_str()))
        .collect();
    assert_eq!(unexplained, Vec::<&String>::new());
    let stale: Vec<_> = harmless.iter().filter(|name| !unnoticed.contains(**name)).collect();
    assert_eq!(stale, Vec::<&&str>::new());
}

#[test]
fn gen_83_dropping_or_renaming_any_command_param_or_require_shows() {
    let expected = good(VULKAN);
    let document = Document::parse(VULKAN).expect("the fixture");
    let used = [
        "registry/commands/command",
        "registry/commands/command/param",
        "registry/feature/require",
        "registry/extensions/extension/require",
    ];
    for node in document
        .descendants()
        .filter(|node| node.is_element() && used.contains(&path(*node).as_str()))
    {
        let range = node.range();
        let dropped = format!("{}{}", &VULKAN[..range.start], &VULKAN[range.end..]);
        if !is_out_of_scope(node) {
            assert!(
                load_text(&dropped).as_ref() != Ok(&expected),
                "dropped {}",
                &VULKAN[range.clone()]
            );
        }
        let name_end = range.start + 1 + node.tag_name().name().len();
        let renamed = format!("{}x{}", &VULKAN[..name_end], &VULKAN[name_end..]);
        assert!(!codes(&renamed).is_empty(), "renamed {}", &VULKAN[range]);
    }
}

fn admits(list: &str) -> bool {
    list.split(',').any(|token| token == "vulkan")
}

/// Returns `true` if the element belongs to another API, to a disabled extension, or to a command that only providers of these two kinds
/// require.
fn is_out_of_scope(node: Node<'_, '_>) -> bool {
    node.ancestors().any(|node| {
        let list = node.attribute("supported").or(node.attribute("api"));
        let is_unlisted = node.has_tag_name("command")
            && node
                .descendants()
                .any(|child| matches!(child.text(), Some("vkReservedEXT" | "vkSafetyOnly")));
        is_unlisted || list.is_some_and(|list| !admits(list))
    })
}

fn path(node: Node<'_, '_>) -> String {
    let mut names: Vec<_> = node
        .ancestors()
        .filter(Node::is_element)
        .map(|node| node.tag_name().name())
        .collect();
    names.reverse();
    names.join("/")
}
