//! `<commands>`: prototypes and aliases.

use super::attributes::{ApiList, apis, bad_value, checked_name, definition_name, required_name, tokens};
use super::declarations;
use super::element::{Element, named};
use crate::diagnostic::{Code, Reporter};
use crate::model::{CType, Param};

/// Element `<command>`.
pub(crate) struct RawCommand<'a> {
    pub(crate) at: usize,
    pub(crate) name: &'a str,
    pub(crate) body: CommandBody<'a>,
}

/// Prototype of a command, or the target of an alias.
pub(crate) enum CommandBody<'a> {
    Alias(&'a str),
    Prototype {
        apis: ApiList<'a>,
        export: bool,
        return_type: CType,
        params: Vec<RawParam<'a>>,
    },
}

/// Element `<param>`.
pub(crate) struct RawParam<'a> {
    pub(crate) at: usize,
    pub(crate) apis: ApiList<'a>,
    pub(crate) param: Param,
}

pub(super) fn read<'a>(node: Element<'a>, report: &mut Reporter<'_>) -> Option<RawCommand<'a>> {
    let name = definition_name(node, &["proto", "name"], report)?;
    let name = checked_name(node, name, report)?;
    let body = if node.has_attribute("alias") {
        alias(node, report)
    } else {
        prototype(node, report)
    };
    Some(RawCommand {
        at: node.range().start,
        name,
        body: body?,
    })
}

/// Reads an alias. The alias has the prototype and the API list of its target. An alias with a separate prototype or API list is an error
/// (GEN-35).
fn alias<'a>(node: Element<'a>, report: &mut Reporter<'_>) -> Option<CommandBody<'a>> {
    let own =
        node.children().any(|child| child.is_element()) || node.has_attribute("api") || node.has_attribute("export");
    if own {
        let text = "an alias with a prototype, parameters or API list of its own";
        report.report(node.range().start, Code::AliasWithPrototype, text);
        return None;
    }
    required_name(node, "alias", report).map(CommandBody::Alias)
}

fn prototype<'a>(node: Element<'a>, report: &mut Reporter<'_>) -> Option<CommandBody<'a>> {
    let mut protos = named(node, "proto");
    let (Some(proto), None) = (protos.next(), protos.next()) else {
        report.report(
            node.range().start,
            Code::Missing,
            "a command needs one prototype or an alias",
        );
        return None;
    };
    let admitted = apis(node, "api", None, report);
    let exported = apis(node, "export", None, report);
    let params: Vec<_> = named(node, "param").map(|param| read_param(param, report)).collect();
    let (_, return_type) = declarations::read(proto, report)?;
    Some(CommandBody::Prototype {
        apis: admitted,
        export: exported.text().is_some() && exported.admits_loader(),
        return_type,
        params: params.into_iter().collect::<Option<_>>()?,
    })
}

fn read_param<'a>(node: Element<'a>, report: &mut Reporter<'_>) -> Option<RawParam<'a>> {
    let apis = apis(node, "api", None, report);
    let (name, ty) = declarations::read(node, report)?;
    let param = Param {
        name: name.to_owned(),
        ty,
        len: node.attribute("len").map(str::to_owned),
        optional: optional(node, report),
        object_type: node.attribute("objecttype").map(str::to_owned),
    };
    Some(RawParam {
        at: node.range().start,
        apis,
        param,
    })
}

/// Reads the `optional` attribute: one flag per indirection level (GEN-48).
fn optional(node: Element<'_>, report: &mut Reporter<'_>) -> Vec<bool> {
    let Some(list) = node.attribute("optional") else {
        return Vec::new();
    };
    let flags: Option<Vec<bool>> = tokens(list).map(|token| token.parse().ok()).collect();
    flags.unwrap_or_else(|| {
        bad_value(node, "optional", list, report);
        Vec::new()
    })
}
