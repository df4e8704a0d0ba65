//! Parses XML text into raw records, with one file for each chapter of the registry.
//!
//! A record contains the data of one element. The parser does not look up, filter or resolve names. Children are addressed by exact path,
//! because `command`, `param`, `type` and `enum` occur in several unrelated places (GEN-10).

pub(crate) mod attributes;
pub(crate) mod commands;
mod declarations;
mod element;
pub(crate) mod enums;
mod guard;
pub(crate) mod platforms;
pub(crate) mod providers;
pub(crate) mod schema;
mod strict;
pub(crate) mod types;
mod video;

use crate::diagnostic::{Code, Diagnostic, Reporter};
use crate::source::Source;
use element::{chapter, named};
use roxmltree::Document;

/// Records of `vk.xml`, in file order.
pub(crate) struct Raw<'a> {
    pub(crate) platforms: Vec<platforms::RawPlatform<'a>>,
    pub(crate) types: Vec<types::RawType<'a>>,
    pub(crate) enums: Vec<enums::RawEnums<'a>>,
    pub(crate) commands: Vec<commands::RawCommand<'a>>,
    pub(crate) providers: Vec<providers::RawProvider<'a>>,
}

/// Checks the text, so that the XML crate never receives input that it cannot handle, and parses it into a tree.
pub(crate) fn document<'a>(source: Source<'a>) -> Result<Document<'a>, Diagnostic> {
    let end = guard::check(source)?;
    Document::parse(source.body()).map_err(|error| {
        use roxmltree::Error;
        // roxmltree has no position for an unclosed root or an unexpected end of the text.
        let at = match &error {
            Error::UnclosedRootNode | Error::UnexpectedEndOfStream => None,
            error => Some(offset(source.body(), error.pos())),
        };
        if let Some(cut_off) = end.cut_off(source.name, at) {
            return cut_off;
        }
        let place = error.pos();
        Diagnostic::in_text(
            source.name,
            place.row,
            place.col,
            Code::NotWellFormed,
            format!("not well-formed: {error}"),
        )
    })
}

/// Returns the byte offset of a line and column, both counted from 1.
fn offset(text: &str, place: roxmltree::TextPos) -> usize {
    let before = text.split_inclusive('\n').take((place.row as usize).saturating_sub(1));
    before.map(str::len).sum::<usize>() + (place.col as usize).saturating_sub(1)
}

/// Reads the records of `vk.xml`.
pub(crate) fn vulkan<'a>(document: &'a Document<'a>, report: &mut Reporter<'_>) -> Raw<'a> {
    let root = document.root_element();
    strict::check(root, schema::VULKAN, report);
    Raw {
        platforms: chapter(root, "platforms", "platform")
            .filter_map(|node| platforms::read(node, report))
            .collect(),
        types: chapter(root, "types", "type")
            .filter_map(|node| types::read(node, report))
            .collect(),
        enums: named(root, "enums")
            .filter_map(|node| enums::read(node, report))
            .collect(),
        commands: chapter(root, "commands", "command")
            .filter_map(|node| commands::read(node, report))
            .collect(),
        providers: named(root, "feature")
            .chain(chapter(root, "extensions", "extension"))
            .filter_map(|node| providers::read(node, report))
            .collect(),
    }
}

/// Checks that a part of a Vulkan registry contains only known constructs.
pub(crate) fn constructs(document: &Document<'_>, report: &mut Reporter<'_>) {
    strict::check(document.root_element(), schema::VULKAN, report);
}

/// Checks that `video.xml` defines nothing that the loader would have to know (GEN-4).
pub(crate) fn video(document: &Document<'_>, report: &mut Reporter<'_>) {
    let root = document.root_element();
    video::check(root, report);
    strict::check(root, schema::VIDEO, report);
}
