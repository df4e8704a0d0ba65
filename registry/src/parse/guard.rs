//! Checks the text before the XML crate reads it (GEN-85).
//!
//! The crate recurses over elements, and compares each attribute of an element with all other attributes. This module therefore limits
//! nesting and attribute counts first, in one pass without recursion.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::{LineTable, Source};

/// Maximum nesting of elements. The registry has seven levels.
const MAX_DEPTH: usize = 64;
/// Maximum number of attributes of an element. The registry has at most fourteen.
const MAX_ATTRIBUTES: usize = 64;

/// Rejects hostile text, and text that declares an encoding other than UTF-8. Returns the elements that are still open at the end.
pub(super) fn check(source: Source<'_>) -> Result<End<'_>, Diagnostic> {
    scan(source.body()).map_err(|(at, code, text)| {
        let (line, column) = LineTable::new(source.body()).place(source.body(), at);
        Diagnostic::in_text(source.name, line, column, code, text.to_owned())
    })
}

/// State at the end of a text.
pub(super) struct End<'a> {
    text: &'a str,
    /// Start of an incomplete tag, comment or other construct. Equal to the length of the text if all constructs are complete.
    complete: usize,
    /// Starts of the elements that are still open, outermost first.
    open: Vec<usize>,
}

impl End<'_> {
    /// Returns the diagnostic for a truncated text. The diagnostic names the end of the text and the elements that are still open. `at` is
    /// the place where the XML crate stopped. Returns `None` if this place is before the last construct, because the error then has another
    /// cause.
    pub(super) fn cut_off(&self, name: &str, at: Option<usize>) -> Option<Diagnostic> {
        let is_cut = self.complete < self.text.len() || !self.open.is_empty();
        if !is_cut || at.is_some_and(|at| at < self.complete) {
            return None;
        }
        let lines = LineTable::new(self.text);
        let (line, column) = lines.place(self.text, self.text.len());
        let inside = self.open.last().map_or(String::new(), |start| {
            let name = self.text[start + 1..].split([' ', '\t', '\r', '\n', '/', '>']).next();
            let (line, _) = lines.place(self.text, *start);
            format!(" inside `{}`, which starts in line {line}", name.unwrap_or_default())
        });
        let text = format!("the file ends here{inside}; it was cut off");
        Some(Diagnostic::in_text(name, line, column, Code::NotWellFormed, text))
    }
}

type Fault = (usize, Code, &'static str);

fn scan(text: &str) -> Result<End<'_>, Fault> {
    declared_encoding(text)?;
    let mut open = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find('<').map(|offset| at + offset) {
        let rest = &text[start..];
        let length = if rest.starts_with("<!--") {
            until(rest, "-->")
        } else if rest.starts_with("<![CDATA[") {
            until(rest, "]]>")
        } else if rest.starts_with("<?") {
            until(rest, "?>")
        } else if rest.starts_with("<!") {
            return Err((start, Code::NotWellFormed, "document type declarations are refused"));
        } else if rest.starts_with("</") {
            open.pop();
            until(rest, ">")
        } else {
            let tag = Tag::read(rest);
            if tag.attributes > MAX_ATTRIBUTES {
                return Err((start, Code::InputLimit, "an element has more than 64 attributes"));
            }
            if !tag.is_empty_element {
                open.push(start);
            }
            if open.len() > MAX_DEPTH {
                return Err((start, Code::InputLimit, "elements are nested more than 64 deep"));
            }
            tag.length
        };
        let Some(length) = length else {
            return Ok(End {
                text,
                complete: start,
                open,
            });
        };
        at = start + length;
    }
    let complete = text.len();
    Ok(End { text, complete, open })
}

/// Returns the length up to and including `end`, or `None` if `end` does not occur.
fn until(text: &str, end: &str) -> Option<usize> {
    text.find(end).map(|offset| offset + end.len())
}

struct Tag {
    /// Length of the tag, or `None` if the tag has no end.
    length: Option<usize>,
    attributes: usize,
    is_empty_element: bool,
}

impl Tag {
    /// Reads a start tag. Quoted values in the tag may contain `>`.
    fn read(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut tag = Self {
            length: None,
            attributes: 0,
            is_empty_element: false,
        };
        let mut at = 1;
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'>' => {
                    tag.length = Some(at + 1);
                    tag.is_empty_element = bytes[at - 1] == b'/';
                    break;
                }
                b'"' | b'\'' => {
                    tag.attributes += 1;
                    let Some(length) = bytes[at + 1..].iter().position(|other| other == byte) else {
                        break;
                    };
                    at += length + 2;
                }
                _ => at += 1,
            }
        }
        tag
    }
}

fn declared_encoding(text: &str) -> Result<(), Fault> {
    let Some(declaration) = text
        .strip_prefix("<?xml")
        .and_then(|rest| rest.split_once("?>"))
        .map(|(inside, _)| inside)
    else {
        return Ok(());
    };
    let Some((_, value)) = declaration.split_once("encoding") else {
        return Ok(());
    };
    let name = value
        .trim_start_matches(|c: char| c.is_whitespace() || c == '=')
        .trim_matches(['"', '\'', ' ']);
    let name = name.split(['"', '\'']).next().unwrap_or_default();
    if ["utf-8", "us-ascii"]
        .iter()
        .any(|known| known.eq_ignore_ascii_case(name))
    {
        Ok(())
    } else {
        Err((
            0,
            Code::BadEncoding,
            "the XML declaration claims an encoding other than UTF-8",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> Option<Code> {
        check(Source { name: "x.xml", text })
            .err()
            .map(|diagnostic| diagnostic.code)
    }

    #[test]
    fn gen_85_deep_nesting_is_refused_without_recursion() {
        assert_eq!(code(&"<a>".repeat(100_000)), Some(Code::InputLimit));
        assert_eq!(code(&"<a b='>'/>".repeat(100_000)), None);
        assert_eq!(code(&"<a><!-- <b> --><![CDATA[<c>]]></a>".repeat(1000)), None);
    }

    #[test]
    fn gen_85_attribute_floods_are_refused() {
        let attributes: String = (0..100_000).map(|index| format!(" a{index}='1'")).collect();
        assert_eq!(code(&format!("<a{attributes}/>")), Some(Code::InputLimit));
    }

    #[test]
    fn gen_85_entities_and_other_encodings_are_refused() {
        let bomb = "<!DOCTYPE a [<!ENTITY b 'cccc'>]><a>&b;</a>";
        assert_eq!(code(bomb), Some(Code::NotWellFormed));
        assert_eq!(
            code("<?xml version='1.0' encoding='ISO-8859-1'?><a/>"),
            Some(Code::BadEncoding)
        );
        assert_eq!(
            code("<?xml version='1.0' encoding=\"utf-8\" standalone='yes'?><a/>"),
            None
        );
    }
}
