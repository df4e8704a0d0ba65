//! `<enums>` blocks and the `<enum>` elements inside and outside them.

use super::attributes::{ApiList, apis, bad_value, number, required, required_name};
use super::element::{Element, named};
use crate::diagnostic::{Code, Reporter};

/// Element `<enums>`.
pub(crate) struct RawEnums<'a> {
    pub(crate) at: usize,
    pub(crate) name: &'a str,
    pub(crate) kind: EnumsKind,
    pub(crate) bits: u32,
    pub(crate) entries: Vec<RawEnumerant<'a>>,
}

/// Kind of the entries of an `<enums>` block.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum EnumsKind {
    Constants,
    Values,
    Bits,
}

/// Element `<enum>`, in an `<enums>` block or in a `<require>`.
pub(crate) struct RawEnumerant<'a> {
    pub(crate) at: usize,
    pub(crate) name: &'a str,
    pub(crate) apis: ApiList<'a>,
    /// Enumeration of the enumerant, if the element is outside of that enumeration's block.
    pub(crate) extends: Option<&'a str>,
    /// C type of a constant.
    pub(crate) ty: Option<&'a str>,
    pub(crate) value: RawValue<'a>,
}

/// Value of an `<enum>` element, in one of several forms.
#[derive(Clone, Copy)]
pub(crate) enum RawValue<'a> {
    /// The element has no value. It requires a constant that another element defines.
    Reference,
    Literal(&'a str),
    BitPosition(u32),
    /// The value is an offset in the range of the extension with the number `number`, or of the extension that contains the element if
    /// `number` is `None` (GEN-69).
    Offset {
        offset: u32,
        number: Option<u32>,
        negative: bool,
    },
    Alias(&'a str),
}

pub(super) fn read<'a>(node: Element<'a>, report: &mut Reporter<'_>) -> Option<RawEnums<'a>> {
    let name = required(node, "name", report)?;
    let kind = match required(node, "type", report)? {
        "constants" => EnumsKind::Constants,
        "enum" => EnumsKind::Values,
        "bitmask" => EnumsKind::Bits,
        other => {
            bad_value(node, "type", other, report);
            return None;
        }
    };
    let bits = match node.attribute("bitwidth") {
        None | Some("32") => 32,
        Some("64") => 64,
        Some(other) => {
            bad_value(node, "bitwidth", other, report);
            return None;
        }
    };
    let entries = named(node, "enum")
        .filter_map(|entry| enumerant(entry, report))
        .collect();
    Some(RawEnums {
        at: node.range().start,
        name,
        kind,
        bits,
        entries,
    })
}

/// Reads an `<enum>`, which may be in an `<enums>` block or in a `<require>`.
pub(super) fn enumerant<'a>(node: Element<'a>, report: &mut Reporter<'_>) -> Option<RawEnumerant<'a>> {
    let apis = apis(node, "api", None, report);
    let name = required_name(node, "name", report)?;
    let value = value(node, report)?;
    let extends = node.attribute("extends");
    Some(RawEnumerant {
        at: node.range().start,
        name,
        apis,
        extends,
        ty: node.attribute("type"),
        value,
    })
}

fn value<'a>(node: Element<'a>, report: &mut Reporter<'_>) -> Option<RawValue<'a>> {
    let given = ["value", "bitpos", "offset", "alias"]
        .iter()
        .filter(|name| node.has_attribute(**name))
        .count();
    let belongs_to_offset =
        node.has_attribute("offset") || !(node.has_attribute("dir") || node.has_attribute("extnumber"));
    if given > 1 || !belongs_to_offset {
        report.report(
            node.range().start,
            Code::EnumerantConflict,
            "an enumerant whose value is given twice or in part",
        );
        return None;
    }
    if let Some(text) = node.attribute("value") {
        return Some(RawValue::Literal(text));
    }
    if let Some(target) = node.attribute("alias") {
        return Some(RawValue::Alias(target));
    }
    if let Some(text) = node.attribute("bitpos") {
        let position = number(node, "bitpos", report)?;
        if position > 63 {
            bad_value(node, "bitpos", text, report);
            return None;
        }
        return Some(RawValue::BitPosition(position));
    }
    if !node.has_attribute("offset") {
        return Some(RawValue::Reference);
    }
    let offset = number(node, "offset", report)?;
    let extension = if node.has_attribute("extnumber") {
        Some(number(node, "extnumber", report)?)
    } else {
        None
    };
    match node.attribute("dir") {
        None => Some(RawValue::Offset {
            offset,
            number: extension,
            negative: false,
        }),
        Some("-") => Some(RawValue::Offset {
            offset,
            number: extension,
            negative: true,
        }),
        Some(other) => {
            bad_value(node, "dir", other, report);
            None
        }
    }
}
