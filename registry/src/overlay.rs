//! Merges overlays into a registry. An overlay is an additional registry file, for example for an extension that is not public yet.
//!
//! The chapters of an overlay are appended to the registry's chapters, in one text. All rules then apply to the whole text, as if it were a
//! single file, and a conflict is an ordinary duplicate definition.

use crate::diagnostic::{Code, Diagnostic, Reporter};
use crate::parse;
use crate::source::{Origins, Piece, Source};
use std::ops::Range;

/// Merges the overlays into the registry. Returns the text, and the origin of each piece of the text.
pub(crate) fn merge<'a>(base: Source<'a>, overlays: &[Source<'a>]) -> Result<(String, Origins<'a>), Vec<Diagnostic>> {
    let end = inside(base).map_err(|diagnostic| vec![diagnostic])?.end;
    let (head, tail) = base.body().split_at(end);
    let mut text = head.to_owned();
    let mut files = vec![base];
    let mut pieces = vec![piece(0, 0, 0)];
    let mut found = Vec::new();
    for overlay in overlays {
        match checked(*overlay) {
            Ok(range) => {
                pieces.push(piece(text.len(), files.len(), range.start));
                files.push(*overlay);
                text.push_str(&overlay.body()[range]);
            }
            Err(diagnostics) => found.extend(diagnostics),
        }
    }
    pieces.push(piece(text.len(), 0, end));
    text.push_str(tail);
    if found.is_empty() {
        Ok((text, Origins::new(&files, pieces)))
    } else {
        Err(found)
    }
}

const fn piece(start: usize, file: usize, origin: usize) -> Piece {
    Piece { start, file, origin }
}

/// Returns the text between the tags of an overlay's root, after checking that it consists of known constructs.
fn checked(overlay: Source<'_>) -> Result<Range<usize>, Vec<Diagnostic>> {
    let document = parse::document(overlay).map_err(|diagnostic| vec![diagnostic])?;
    let mut report = Reporter::new(Origins::one(overlay), &document);
    parse::constructs(&document, &mut report);
    let found = report.finish();
    if !found.is_empty() {
        return Err(found);
    }
    inside(overlay).map_err(|diagnostic| vec![diagnostic])
}

/// Returns the text between the tags of the root.
fn inside(source: Source<'_>) -> Result<Range<usize>, Diagnostic> {
    let document = parse::document(source)?;
    let root = document.root_element();
    let whole = root.range();
    let text = &source.body()[whole.clone()];
    // Comments and text are children too, so the start tag ends at the beginning of the first child.
    let start = root.first_child().map(|child| child.range().start);
    match (root.tag_name().name(), start, text.rfind("</")) {
        ("registry", Some(start), Some(end)) => Ok(start..whole.start + end),
        _ => {
            let text = "the root is no `registry` with something in it".to_owned();
            Err(Diagnostic::in_text(source.name, 1, 1, Code::Missing, text))
        }
    }
}
