//! Reads the behaviour tests and the code that each test uses.

use crate::rust::{Source, Tokens, is_test};
use crate::tree::Tree;
use crate::words::digits;
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use syn::spanned::Spanned;
use syn::{Attribute, Item};

/// A test function.
pub struct Case {
    /// Names of the group, the file and the function, with two colons between them.
    pub name: String,
    /// Text of the function, without the functions that it calls.
    pub own: String,
    /// Names and texts in the case and in the functions that it calls.
    parts: Vec<Rc<Tokens>>,
}

impl Case {
    /// Creates a test with only a name.
    pub fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            own: String::new(),
            parts: Vec::new(),
        }
    }

    /// Iterates over the names and texts in the case and in the functions that it calls.
    pub fn parts(&self) -> impl Iterator<Item = &Tokens> {
        self.parts.iter().map(Rc::as_ref)
    }
}

/// A function, constant, structure or table entry of a file of tests.
struct Part {
    text: String,
    tokens: Rc<Tokens>,
    is_case: bool,
}

/// Returns all cases, each with the functions of its file that it calls directly or through other functions.
///
/// # Errors
/// Returns a message if a file of cases cannot be read.
pub fn cases(tree: &Tree) -> Result<Vec<Case>, String> {
    let mut found = Vec::new();
    for path in tree.files("tests/tests") {
        let words: Vec<&str> = path.split('/').collect();
        let (&[_, _, group, file], true) = (words.as_slice(), path.ends_with(".rs")) else {
            continue;
        };
        let parts = parts(&*tree.source(&path)?);
        for (name, part) in parts.iter().filter(|(_, part)| part.is_case) {
            found.push(Case {
                name: format!("{group}::{}::{name}", file.trim_end_matches(".rs")),
                own: part.text.clone(),
                parts: used(&parts, name),
            });
        }
    }
    Ok(found)
}

/// Returns the part `name` and all parts that it uses, except other tests.
fn used(parts: &BTreeMap<String, Part>, name: &str) -> Vec<Rc<Tokens>> {
    let mut seen = BTreeSet::from([name]);
    let mut waiting = vec![name];
    let mut found = Vec::new();
    while let Some(name) = waiting.pop() {
        let tokens = &parts[name].tokens;
        found.push(Rc::clone(tokens));
        for (other, part) in parts {
            if !part.is_case && tokens.words.contains(other.as_str()) && seen.insert(other) {
                waiting.push(other);
            }
        }
    }
    found
}

/// Returns the functions, constants and structures of a file, and the cases in the file's tables.
fn parts(source: &Source) -> BTreeMap<String, Part> {
    let mut found = BTreeMap::new();
    for item in &source.file.items {
        let (name, attributes): (_, &[Attribute]) = match item {
            Item::Fn(item) => (&item.sig.ident, &item.attrs),
            Item::Const(item) => (&item.ident, &item.attrs),
            Item::Static(item) => (&item.ident, &item.attrs),
            Item::Struct(item) => (&item.ident, &item.attrs),
            Item::Macro(item) if item.ident.is_none() => {
                found.extend(table(source, &item.mac.tokens));
                continue;
            }
            _ => continue,
        };
        let text = source.text_of(attributes, item.span());
        let part = Part {
            text,
            tokens: Rc::new(Tokens::new(item.to_token_stream())),
            is_case: is_test(attributes),
        };
        found.insert(name.to_string(), part);
    }
    found
}

/// Returns the tests in a table inside a macro, each with the comment before the test. An entry consists of a name that begins with a
/// requirement number, and a colon.
fn table(source: &Source, stream: &TokenStream) -> Vec<(String, Part)> {
    let all: Vec<TokenTree> = stream.clone().into_iter().collect();
    let is_head = |at: usize| match (&all[at], all.get(at + 1)) {
        (TokenTree::Ident(name), Some(TokenTree::Punct(colon))) => {
            colon.as_char() == ':' && has_number(&name.to_string())
        }
        _ => false,
    };
    let heads: Vec<usize> = (0..all.len()).filter(|at| is_head(*at)).collect();
    let starts: Vec<usize> = heads.iter().map(|head| with_comment(&all, *head)).collect();
    let ends = starts.iter().skip(1).copied().chain([all.len()]);
    let rows = heads.iter().zip(starts.iter().copied().zip(ends));
    let found = rows.map(|(head, (first, end))| {
        let text = source.text(all[first].span().start().line, all[end - 1].span().end().line);
        let own: TokenStream = all[first..end].iter().cloned().collect();
        (
            all[*head].to_string(),
            Part {
                text,
                tokens: Rc::new(Tokens::new(own)),
                is_case: true,
            },
        )
    });
    found.collect()
}

/// Returns the index of the first token of the documentation comment before the token at `place`. In a token stream, each line of such a
/// comment is an attribute: a `#` and a group in brackets.
fn with_comment(all: &[TokenTree], mut place: usize) -> usize {
    while let Some([TokenTree::Punct(mark), TokenTree::Group(_)]) = place.checked_sub(2).map(|first| &all[first..place])
        && mark.as_char() == '#'
    {
        place -= 2;
    }
    place
}

/// Returns `true` if a name begins with a requirement number: letters, an underscore, digits, an optional letter, and an underscore.
fn has_number(name: &str) -> bool {
    let Some((kind, rest)) = name.split_once('_') else {
        return false;
    };
    let Some((_, rest)) = digits(rest) else {
        return false;
    };
    let rest = rest.strip_prefix(|it: char| it.is_ascii_lowercase()).unwrap_or(rest);
    !kind.is_empty() && kind.bytes().all(|it| it.is_ascii_lowercase()) && rest.starts_with('_')
}
