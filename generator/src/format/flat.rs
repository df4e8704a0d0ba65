//! Prints tokens on one line, with spaces between some of them.

use super::tokens::{Token, closing};

/// Returns the tokens as one line without surrounding space.
pub(super) fn print(tokens: &[Token]) -> String {
    let mut out = String::new();
    append(tokens, &mut out);
    out
}

fn append(tokens: &[Token], out: &mut String) {
    for (index, token) in tokens.iter().enumerate() {
        let before_previous = index.checked_sub(2).map(|at| &tokens[at]);
        if let Some(previous) = index.checked_sub(1).map(|at| &tokens[at])
            && spaced(before_previous, previous, token)
        {
            out.push(' ');
        }
        match token {
            Token::Word(text) | Token::Punct(text) => out.push_str(text),
            Token::Doc(_) => {}
            Token::Group(open, content) => {
                // In an import list, the braces have no spaces inside.
                let imports = index.checked_sub(1).is_some_and(|at| tokens[at].is_punct("::"));
                let padded = *open == '{' && !content.is_empty() && !imports;
                out.push(*open);
                if padded {
                    out.push(' ');
                }
                append(content, out);
                if padded {
                    out.push(' ');
                }
                out.push(closing(*open));
            }
        }
    }
}

/// Words before a parenthesis or bracket that is neither a call nor an index.
const KEYWORDS: [&str; 10] = [
    "as", "const", "else", "for", "if", "in", "let", "match", "mut", "return",
];
/// Punctuation with a space on both sides.
const INFIX: [&str; 11] = ["->", "=>", "=", "==", "!=", "&&", "||", "|", "+", "/", ">="];

/// Returns `true` if there is a space between the neighbouring tokens `left` and `right`. `before_left` is the token before `left`.
fn spaced(before_left: Option<&Token>, left: &Token, right: &Token) -> bool {
    match (left, right) {
        (_, Token::Punct(text)) if INFIX.contains(&text.as_str()) => true,
        (Token::Punct(text), _) if INFIX.contains(&text.as_str()) => true,
        // Separators and postfix operators have no space before them.
        (_, Token::Punct(text)) if matches!(text.as_str(), "," | ";" | ":" | "." | "::" | ">" | "?") => false,
        (Token::Punct(text), _) if matches!(text.as_str(), "," | ";" | ":") => true,
        (Token::Punct(text), Token::Group('[', _)) if text == "#" => false,
        // Prefix operators, separators of paths, and the `<` of generics have no space after them.
        (Token::Punct(text), _) if matches!(text.as_str(), "." | "::" | "<" | "&" | "*" | "-" | "#") => false,
        (Token::Punct(text), Token::Group(open, _)) if text == "!" => {
            *open == '{' && matches!(before_left, Some(Token::Word(_)))
        }
        (Token::Punct(text), _) if text == "!" => false,
        (Token::Word(word), Token::Punct(text)) if text == "!" => is_keyword(word),
        (Token::Word(_), Token::Punct(text)) if text == "<" => false,
        (Token::Word(word), Token::Punct(_)) => word == "pub" || is_keyword(word),
        (Token::Group(..), Token::Punct(_)) => false,
        (Token::Word(word), Token::Group('(' | '[', _)) => is_keyword(word),
        (Token::Group('(' | '[', _), Token::Group('(' | '[', _)) => false,
        (Token::Punct(text), Token::Group('(', _)) if text == ">" => false,
        _ => true,
    }
}

fn is_keyword(word: &str) -> bool {
    word.starts_with('\'') || KEYWORDS.contains(&word)
}
