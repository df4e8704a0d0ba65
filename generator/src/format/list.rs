//! Prints lists between brackets: finds the end of each element, and breaks the lines.

use super::page::pad;
use super::tokens::Token;

/// Returns the parts between commas. Commas inside angle brackets do not separate parts.
pub(super) fn elements(content: &[Token]) -> impl Iterator<Item = &[Token]> {
    let mut angles = 0usize;
    content
        .split(move |token| {
            match token {
                Token::Punct(text) if text == "<" => angles += 1,
                Token::Punct(text) if text == ">" => angles = angles.saturating_sub(1),
                _ => {}
            }
            angles == 0 && token.is_punct(",")
        })
        .filter(|element| !element.is_empty())
}

/// Prints the elements of a list that does not fit on a line, one per line.
pub(super) fn broken(elements: &[String], depth: usize, out: &mut String) {
    for element in elements {
        pad(out, depth);
        out.push_str(element);
        out.push_str(",\n");
    }
}
