//! Finds the places where a registry mentions a name, for explanations with line numbers (GEN-2).

use crate::diagnostic::{Diagnostic, snippet};
use crate::parse;
use crate::source::{LineTable, Source};
use roxmltree::Node;

/// Element that defines, requires or refers to a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    /// Line of the element, counted from 1.
    pub line: u32,
    /// Column of the element in characters, counted from 1.
    pub column: u32,
    /// Path of the element, for example `registry/extensions/extension/require/command`.
    pub path: String,
    /// Feature or extension that contains the element, or `None` outside of them.
    pub provider: Option<String>,
    /// Element as one line, cut at 160 characters.
    pub snippet: String,
}

/// Finds all elements with `name` as name, alias, parent, condition or other attribute, in file order.
///
/// The search skips uses of a type in parameters and members, because some handles have thousands of uses.
///
/// # Errors
/// Returns a diagnostic if the text is not well-formed. Unknown constructs are searched too, and cause no error.
pub fn mentions(source: Source<'_>, name: &str) -> Result<Vec<Mention>, Diagnostic> {
    let document = parse::document(source)?;
    let text = source.body();
    let lines = LineTable::new(text);
    let found = document
        .descendants()
        .filter(|node| node.is_element() && speaks_of(*node, name))
        .map(|node| {
            let (line, column) = lines.place(text, node.range().start);
            let snippet = snippet(text.get(node.range()).unwrap_or_default());
            Mention {
                line,
                column,
                path: path(node),
                provider: provider(node),
                snippet,
            }
        });
    Ok(found.collect())
}

fn speaks_of(node: Node<'_, '_>, name: &str) -> bool {
    let is_word = |text: &str| {
        text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .any(|word| word == name)
    };
    let defines = |parent: Node<'_, '_>| {
        parent
            .children()
            .any(|child| child.has_tag_name("name") && child.text().map(str::trim) == Some(name))
    };
    let is_definition = ["type", "command"].contains(&node.tag_name().name());
    let proto = || node.children().find(|child| child.has_tag_name("proto"));
    node.attributes()
        .any(|attribute| attribute.name() != "comment" && is_word(attribute.value()))
        || is_definition && (defines(node) || proto().is_some_and(defines))
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

fn provider(node: Node<'_, '_>) -> Option<String> {
    let is_provider = |node: &Node<'_, '_>| {
        node.has_tag_name("extension") || node.has_tag_name("feature") && node.has_attribute("number")
    };
    node.ancestors()
        .skip(1)
        .find(is_provider)?
        .attribute("name")
        .map(str::to_owned)
}
