//! Reads `video.xml` only to check that it defines no command and no handle.

use super::element::{Element, chapter, named};
use crate::diagnostic::{Code, Reporter};

/// Reports commands and handles in the video registry, in the places where `vk.xml` has them.
pub(super) fn check(root: Element<'_>, report: &mut Reporter<'_>) {
    let commands = chapter(root, "commands", "command");
    let handles = chapter(root, "types", "type").filter(|node| node.attribute("category") == Some("handle"));
    let required = chapter(root, "extensions", "extension")
        .flat_map(|node| named(node, "require"))
        .flat_map(|node| named(node, "command"));
    for node in commands.chain(handles).chain(required) {
        let text = "the video registry defines a command or a handle";
        report.report(node.range().start, Code::VideoEntryPoint, text);
    }
}
