//! `<platforms>`: the platform words, and the macros that guard them.

use super::attributes::{required, required_name};
use super::element::Element;
use crate::diagnostic::Reporter;

/// Element `<platform>`.
pub(crate) struct RawPlatform<'a> {
    pub(crate) at: usize,
    pub(crate) name: &'a str,
    pub(crate) protect: &'a str,
}

pub(super) fn read<'a>(node: Element<'a>, report: &mut Reporter<'_>) -> Option<RawPlatform<'a>> {
    let name = required_name(node, "name", report);
    let protect = required(node, "protect", report);
    Some(RawPlatform {
        at: node.range().start,
        name: name?,
        protect: protect?,
    })
}
