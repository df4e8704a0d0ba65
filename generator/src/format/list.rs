//! Lists between brackets: where their elements end, and how many of them stand on a line.

use super::page::{MAX_WIDTH, SHORT_ELEMENT, pad};
use super::tokens::Token;

/// The parts between commas; commas inside angle brackets do not count.
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

/// Elements of a broken list: packed if all are short, otherwise one a line.
pub(super) fn broken(elements: &[String], depth: usize, out: &mut String) {
    if elements.iter().all(|element| element.len() <= SHORT_ELEMENT) {
        packed(elements, depth, out);
        return;
    }
    for element in elements {
        pad(out, depth);
        out.push_str(element);
        out.push_str(",\n");
    }
}

/// As many short elements on a line as fit.
fn packed(elements: &[String], depth: usize, out: &mut String) {
    let mut column = 0;
    for element in elements {
        let width = element.len() + ",".len();
        if column > 0 && column + 1 + width < MAX_WIDTH {
            out.push(' ');
            column += 1 + width;
        } else {
            if column > 0 {
                out.push('\n');
            }
            pad(out, depth);
            column = depth + width;
        }
        out.push_str(element);
        out.push(',');
    }
    out.push('\n');
}
