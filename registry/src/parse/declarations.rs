//! Reads C declarations from text mixed with elements (GEN-12).

use super::attributes::checked_name;
use super::element::Element;
use crate::declaration::Pieces;
use crate::diagnostic::{Code, Reporter};
use crate::model::CType;

/// Returns the text of a node, with the text of its children inserted. `<comment>` children are not inserted, because they are prose.
pub(super) fn spliced(node: Element<'_>) -> String {
    let mut text = String::new();
    let is_prose = |child: &Element<'_>| child.is_element() && child.tag_name().name() == "comment";
    for child in node
        .children()
        .filter(|child| (child.is_text() || child.is_element()) && !is_prose(child))
    {
        text.push_str(child.text().unwrap_or_default());
    }
    text
}

/// Splits a `<param>`, `<member>` or `<proto>` into the declared name and its type.
pub(super) fn read<'a>(node: Element<'a>, report: &mut Reporter<'_>) -> Option<(&'a str, CType)> {
    let parsed = split(node).and_then(|(pieces, name)| {
        let pieces = Pieces {
            before: &pieces[0],
            base: &pieces[1],
            between: &pieces[2],
            after: &pieces[3],
        };
        Some((name, pieces.c_type().ok()?))
    });
    let Some((name, ty)) = parsed else {
        let text = format!(
            "cannot take `{}` apart",
            spliced(node).split_whitespace().collect::<Vec<_>>().join(" ")
        );
        report.report(node.range().start, Code::BadDeclaration, text);
        return None;
    };
    checked_name(node, name, report).map(|name| (name, ty))
}

/// Splits a declaration into four texts: before `<type>`, in `<type>`, between `<type>` and `<name>`, and after `<name>`. Also returns the
/// declared name.
fn split(node: Element<'_>) -> Option<([String; 4], &str)> {
    let mut pieces = <[String; 4]>::default();
    let mut place = 0;
    let mut name = None;
    for child in node.children() {
        if child.is_text() {
            pieces[place].push_str(child.text()?);
        } else if child.is_element() {
            match (child.tag_name().name(), place) {
                ("comment", _) => {}
                ("type", 0) => {
                    pieces[1].push_str(child.text()?);
                    place = 2;
                }
                ("name", 2) => {
                    name = Some(child.text()?.trim());
                    place = 3;
                }
                ("enum", 3) => pieces[3].push_str(child.text()?.trim()),
                _ => return None,
            }
        }
    }
    Some((pieces, name?))
}
