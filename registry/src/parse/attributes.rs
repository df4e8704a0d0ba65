//! Reads attributes and names.

use super::element::Element;
use crate::declaration::is_identifier;
use crate::diagnostic::{Code, Reporter};
use crate::model::Version;

/// API for which the loader is built.
pub(crate) const API: &str = "vulkan";

const KNOWN_APIS: [&str; 3] = [API, "vulkansc", "vulkanbase"];

/// Word in `supported` of an extension that provides nothing (GEN-23).
pub(crate) const DISABLED: &str = "disabled";

/// Comma-separated list of APIs. A missing list means all APIs (GEN-20).
#[derive(Clone, Copy, Debug)]
pub(crate) struct ApiList<'a>(Option<&'a str>);

impl<'a> ApiList<'a> {
    /// Returns `true` if the list contains the loader's API as a whole token, or is missing.
    pub(crate) fn admits_loader(self) -> bool {
        self.0.is_none_or(|list| tokens(list).any(|token| token == API))
    }

    pub(crate) fn text(self) -> Option<&'a str> {
        self.0
    }
}

/// Returns the entries of a comma-separated list.
pub(crate) fn tokens(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim).filter(|token| !token.is_empty())
}

/// Reads an API list, and checks each token. `extra` is a token that the attribute may contain in addition to APIs.
pub(super) fn apis<'a>(
    node: Element<'a>,
    attribute: &str,
    extra: Option<&str>,
    report: &mut Reporter<'_>,
) -> ApiList<'a> {
    let list = node.attribute(attribute);
    for token in list.unwrap_or(API).split(',').map(str::trim) {
        if !KNOWN_APIS.contains(&token) && Some(token) != extra {
            let text = format!("unknown API `{token}` in `{attribute}`");
            report.report(node.range().start, Code::UnknownApi, text);
        }
    }
    ApiList(list)
}

/// Reads an attribute, and reports an error if the attribute is missing.
pub(super) fn required<'a>(node: Element<'a>, attribute: &str, report: &mut Reporter<'_>) -> Option<&'a str> {
    let value = node.attribute(attribute);
    if value.is_none() {
        report.report(
            node.range().start,
            Code::Missing,
            format!("attribute `{attribute}` is missing"),
        );
    }
    value
}

/// Reads a name attribute that must be a C identifier.
pub(super) fn required_name<'a>(node: Element<'a>, attribute: &str, report: &mut Reporter<'_>) -> Option<&'a str> {
    let name = required(node, attribute, report)?;
    checked_name(node, name, report)
}

/// Reads a number, or returns `None` if the attribute is missing. Reports an invalid number.
pub(super) fn number(node: Element<'_>, attribute: &str, report: &mut Reporter<'_>) -> Option<u32> {
    let text = node.attribute(attribute)?;
    let value = text.parse().ok();
    if value.is_none() {
        bad_value(node, attribute, text, report);
    }
    value
}

/// Reads a version such as `1.4`.
pub(super) fn version(node: Element<'_>, attribute: &str, report: &mut Reporter<'_>) -> Option<Version> {
    let text = required(node, attribute, report)?;
    let value = Version::parse(text);
    if value.is_none() {
        bad_value(node, attribute, text, report);
    }
    value
}

pub(super) fn bad_value(node: Element<'_>, attribute: &str, value: &str, report: &mut Reporter<'_>) {
    report.report(
        node.range().start,
        Code::BadValue,
        format!("cannot read `{value}` as value of `{attribute}`"),
    );
}

/// Returns the name of a definition, from an attribute or from the child at `path` (GEN-11).
pub(super) fn definition_name<'a>(node: Element<'a>, path: &[&str], report: &mut Reporter<'_>) -> Option<&'a str> {
    let attribute = node.attribute("name");
    let child = path
        .iter()
        .try_fold(node, |node, step| {
            node.children().find(|child| child.has_tag_name(*step))
        })
        .filter(|found| *found != node)
        .and_then(|found| found.text())
        .map(str::trim);
    match (attribute, child) {
        (Some(name), None) | (None, Some(name)) => Some(name),
        (Some(name), Some(other)) if name == other => Some(name),
        (Some(name), Some(other)) => {
            let text = format!("two names, `{name}` and `{other}`");
            report.report(node.range().start, Code::BadName, text);
            None
        }
        (None, None) => {
            report.report(node.range().start, Code::BadName, "a definition without a name");
            None
        }
    }
}

/// Returns the name if it is a C identifier, and reports any other name.
pub(super) fn checked_name<'a>(node: Element<'_>, name: &'a str, report: &mut Reporter<'_>) -> Option<&'a str> {
    if is_identifier(name) {
        return Some(name);
    }
    report.report(
        node.range().start,
        Code::BadName,
        format!("`{name}` is no C identifier"),
    );
    None
}
