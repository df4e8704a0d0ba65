//! `<feature>` and `<extension>`: the elements that make names available.

use super::attributes::{ApiList, DISABLED, apis, number, required, required_name, version};
use super::element::{Element, named};
use super::enums::{RawEnumerant, enumerant};
use crate::diagnostic::Reporter;
use crate::model::Version;

/// Element `<feature>` or `<extension>`.
pub(crate) struct RawProvider<'a> {
    pub(crate) at: usize,
    pub(crate) name: &'a str,
    /// Attribute `api` of a feature, or `supported` of an extension.
    pub(crate) apis: ApiList<'a>,
    pub(crate) depends: Option<&'a str>,
    pub(crate) kind: ProviderKind<'a>,
    pub(crate) requires: Vec<RawRequire<'a>>,
    pub(crate) removes: Vec<Named<'a>>,
    pub(crate) removed_commands: Vec<Named<'a>>,
    /// Deprecated commands, each with its replacement.
    pub(crate) deprecated: Vec<(&'a str, Option<&'a str>)>,
}

/// Data that only a feature or only an extension has.
pub(crate) enum ProviderKind<'a> {
    Feature(Version),
    Extension(RawExtension<'a>),
}

/// Attributes of an extension.
pub(crate) struct RawExtension<'a> {
    pub(crate) number: u32,
    pub(crate) kind: Option<&'a str>,
    pub(crate) platform: Option<&'a str>,
    pub(crate) provisional: bool,
    pub(crate) promoted_to: Option<&'a str>,
    pub(crate) deprecated_by: Option<&'a str>,
    pub(crate) obsoleted_by: Option<&'a str>,
}

/// Element `<require>`.
pub(crate) struct RawRequire<'a> {
    pub(crate) at: usize,
    pub(crate) apis: ApiList<'a>,
    pub(crate) depends: Option<&'a str>,
    pub(crate) commands: Vec<Named<'a>>,
    pub(crate) types: Vec<Named<'a>>,
    pub(crate) enums: Vec<RawEnumerant<'a>>,
}

/// Reference to a name.
#[derive(Clone, Copy)]
pub(crate) struct Named<'a> {
    pub(crate) at: usize,
    pub(crate) name: &'a str,
}

pub(super) fn read<'a>(node: Element<'a>, report: &mut Reporter<'_>) -> Option<RawProvider<'a>> {
    let name = required_name(node, "name", report);
    let (apis, kind) = if node.has_tag_name("feature") {
        let apis = apis(node, "api", None, report);
        (apis, version(node, "number", report).map(ProviderKind::Feature))
    } else {
        // An extension must have this list. In other elements, a missing list means all APIs (GEN-20).
        required(node, "supported", report);
        (
            apis(node, "supported", Some(DISABLED), report),
            extension(node, report).map(ProviderKind::Extension),
        )
    };
    let requires = named(node, "require").map(|child| require(child, report)).collect();
    let removed = |what| named(node, "remove").flat_map(move |child| named(child, what));
    let removes = removed("type")
        .chain(removed("enum"))
        .filter_map(|child| reference(child, report))
        .collect();
    let removed_commands = removed("command")
        .filter_map(|child| reference(child, report))
        .collect();
    let deprecated = named(node, "deprecate")
        .flat_map(|child| named(child, "command"))
        .filter_map(|child| Some((required(child, "name", report)?, child.attribute("supersededby"))))
        .collect();
    let (at, depends) = (node.range().start, node.attribute("depends"));
    Some(RawProvider {
        at,
        name: name?,
        apis,
        depends,
        kind: kind?,
        requires,
        removes,
        removed_commands,
        deprecated,
    })
}

fn extension<'a>(node: Element<'a>, report: &mut Reporter<'_>) -> Option<RawExtension<'a>> {
    required(node, "number", report)?;
    Some(RawExtension {
        number: number(node, "number", report)?,
        kind: node.attribute("type"),
        platform: node.attribute("platform"),
        provisional: node.attribute("provisional") == Some("true"),
        promoted_to: node.attribute("promotedto"),
        deprecated_by: node.attribute("deprecatedby"),
        obsoleted_by: node.attribute("obsoletedby"),
    })
}

fn require<'a>(node: Element<'a>, report: &mut Reporter<'_>) -> RawRequire<'a> {
    RawRequire {
        at: node.range().start,
        apis: apis(node, "api", None, report),
        depends: node.attribute("depends"),
        commands: named(node, "command")
            .filter_map(|child| reference(child, report))
            .collect(),
        types: named(node, "type")
            .filter_map(|child| reference(child, report))
            .collect(),
        enums: named(node, "enum")
            .filter_map(|child| enumerant(child, report))
            .collect(),
    }
}

/// Reads a reference by name. The names of headers are names of types too, so a name need not be an identifier.
fn reference<'a>(node: Element<'a>, report: &mut Reporter<'_>) -> Option<Named<'a>> {
    required(node, "name", report).map(|name| Named {
        at: node.range().start,
        name,
    })
}
