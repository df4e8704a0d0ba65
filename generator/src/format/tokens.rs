//! Joins multi-character punctuation into tokens, because the spaces around punctuation depend on the whole operator.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

/// Token of the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// Identifier, keyword or literal.
    Word(String),
    /// Punctuation, such as `::`, `->` or `,`.
    Punct(String),
    /// Group in brackets: its opening character and its content.
    Group(char, Vec<Token>),
    /// Doc comment: the text after `///`.
    Doc(String),
}

impl Token {
    pub(super) fn is_word(&self, text: &str) -> bool {
        matches!(self, Self::Word(word) if word == text)
    }

    pub(super) fn is_punct(&self, text: &str) -> bool {
        matches!(self, Self::Punct(punct) if punct == text)
    }

    /// Returns the content if this token is a group that opens with `open`.
    pub(super) fn group(&self, open: char) -> Option<&[Token]> {
        match self {
            Self::Group(found, content) if *found == open => Some(content),
            _ => None,
        }
    }
}

/// Returns the closing bracket for an opening bracket.
pub(super) fn closing(open: char) -> char {
    match open {
        '(' => ')',
        '[' => ']',
        _ => '}',
    }
}

/// Converts compiler tokens to tokens of the output.
pub(super) fn lower(stream: TokenStream) -> Vec<Token> {
    let mut tokens = Vec::new();
    // Punctuation to which the next character may belong too.
    let mut open_punct: Option<String> = None;
    for tree in stream {
        if let TokenTree::Punct(punct) = &tree {
            let mut text = open_punct.take().unwrap_or_default();
            text.push(punct.as_char());
            match punct.spacing() {
                Spacing::Joint => open_punct = Some(text),
                Spacing::Alone => push_punct(text, &mut tokens),
            }
            continue;
        }
        if let Some(text) = open_punct.take() {
            if text == "'" {
                tokens.push(Token::Word(format!("'{tree}")));
                continue;
            }
            push_punct(text, &mut tokens);
        }
        push(tree, &mut tokens);
    }
    if let Some(text) = open_punct {
        push_punct(text, &mut tokens);
    }
    tokens
}

/// Adds punctuation. Two angle brackets become two tokens and not a shift operator, because emitted code contains no
/// shifts.
fn push_punct(text: String, tokens: &mut Vec<Token>) {
    if text.len() > 1 && text.chars().all(|c| c == '<' || c == '>') {
        tokens.extend(text.chars().map(|c| Token::Punct(c.to_string())));
    } else {
        tokens.push(Token::Punct(text));
    }
}

fn push(tree: TokenTree, tokens: &mut Vec<Token>) {
    match tree {
        TokenTree::Group(group) => match group.delimiter() {
            Delimiter::None => tokens.extend(lower(group.stream())),
            delimiter => {
                let open = match delimiter {
                    Delimiter::Parenthesis => '(',
                    Delimiter::Bracket => '[',
                    Delimiter::Brace | Delimiter::None => '{',
                };
                let content = lower(group.stream());
                match (tokens.last(), doc(&content)) {
                    (Some(hash), Some(text)) if hash.is_punct("#") => {
                        tokens.pop();
                        tokens.push(Token::Doc(text));
                    }
                    _ => tokens.push(Token::Group(open, content)),
                }
            }
        },
        TokenTree::Ident(ident) => tokens.push(Token::Word(ident.to_string())),
        TokenTree::Literal(literal) => tokens.push(Token::Word(literal.to_string())),
        TokenTree::Punct(punct) => tokens.push(Token::Punct(punct.as_char().to_string())),
    }
}

/// Returns the text of a `doc = "…"` attribute.
fn doc(content: &[Token]) -> Option<String> {
    let [name, equals, Token::Word(literal)] = content else {
        return None;
    };
    let text = literal.strip_prefix('"')?.strip_suffix('"')?;
    (name.is_word("doc") && equals.is_punct("=")).then(|| text.replace("\\\"", "\"").replace("\\\\", "\\"))
}
