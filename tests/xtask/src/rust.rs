//! Parses Rust sources and finds their tests.

use proc_macro2::{Span, TokenStream, TokenTree};
use std::collections::HashSet;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, ExprLit, Item, ItemFn, Lit, Meta};

/// A file with its syntax.
pub struct Source {
    /// Path of the file.
    pub path: String,
    /// Syntax of the file.
    pub file: syn::File,
    lines: Vec<String>,
}

/// A test function.
pub struct Test {
    /// Name of the function.
    pub name: String,
    /// Text of the function, with the comment before it.
    pub text: String,
}

impl Source {
    /// Parses a file with this text.
    ///
    /// # Errors
    /// Returns a message if the text is not Rust.
    pub fn new(path: &str, text: &str) -> Result<Self, String> {
        let file = syn::parse_file(text).map_err(|error| format!("{path}:{}: {error}", error.span().start().line))?;
        Ok(Self {
            path: path.to_owned(),
            file,
            lines: text.lines().map(str::to_owned).collect(),
        })
    }

    /// Returns the lines from `first` to `last`, including both.
    pub fn text(&self, first: usize, last: usize) -> String {
        self.lines[first - 1..last.min(self.lines.len())].join("\n")
    }

    /// Returns the lines of an item, including its attributes.
    pub fn text_of(&self, attributes: &[Attribute], span: Span) -> String {
        let starts = attributes.iter().map(|attribute| attribute.span().start().line);
        self.text(starts.fold(span.start().line, usize::min), span.end().line)
    }

    /// Returns the tests of the file, including tests in nested modules.
    pub fn tests(&self) -> Vec<Test> {
        let mut tests = Tests {
            source: self,
            found: Vec::new(),
        };
        tests.visit_file(&self.file);
        tests.found
    }
}

struct Tests<'a> {
    source: &'a Source,
    found: Vec<Test>,
}

impl<'ast> Visit<'ast> for Tests<'_> {
    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        if is_test(&function.attrs) {
            let text = self.source.text_of(&function.attrs, function.span());
            self.found.push(Test {
                name: function.sig.ident.to_string(),
                text,
            });
        }
        visit::visit_item_fn(self, function);
    }
}

/// Returns `true` if a function with the given attributes is a test.
pub fn is_test(attributes: &[Attribute]) -> bool {
    attributes
        .iter()
        .any(|attribute| matches!(&attribute.meta, Meta::Path(path) if path.is_ident("test")))
}

/// Returns `true` if an item with the given attributes exists only for tests.
pub fn is_for_tests(attributes: &[Attribute]) -> bool {
    let names_test = |tokens: &TokenStream| Tokens::new(tokens.clone()).words.contains("test");
    attributes.iter().any(|attribute| match &attribute.meta {
        // `not(test)` marks shipped code.
        Meta::List(list) => {
            list.path.is_ident("cfg") && names_test(&list.tokens) && !list.tokens.to_string().contains("not")
        }
        _ => false,
    })
}

/// Returns the attributes of an item. The list is empty for kinds of items without attributes.
pub fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// Returns the text of a documentation comment, with its lines joined by spaces.
pub fn comment(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(ExprLit {
                lit: Lit::Str(text), ..
            }) => Some(text.value().trim().to_owned()),
            _ => None,
        },
        _ => None,
    });
    lines.collect::<Vec<_>>().join(" ")
}

/// Tokens of a piece of code, for searches.
#[derive(Default)]
pub struct Tokens {
    /// Tokens in the order of the code. A string literal has quotes around it.
    row: Vec<String>,
    /// Names, and the words of string literals.
    pub words: HashSet<String>,
    /// String literals, and the parts of string literals that are between quotes.
    pub quoted: HashSet<String>,
}

impl Tokens {
    /// Creates the list of the tokens of a stream.
    pub fn new(stream: TokenStream) -> Self {
        let mut tokens = Self::default();
        tokens.take(stream);
        tokens
    }

    /// Returns the tokens of a text that contains Rust code, without brackets.
    pub fn of(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    fn take(&mut self, stream: TokenStream) {
        for token in stream {
            match token {
                TokenTree::Group(group) => {
                    let (open, close) = match group.delimiter() {
                        proc_macro2::Delimiter::Parenthesis => ("(", ")"),
                        proc_macro2::Delimiter::Brace => ("{", "}"),
                        proc_macro2::Delimiter::Bracket => ("[", "]"),
                        proc_macro2::Delimiter::None => ("", ""),
                    };
                    self.row.push(open.to_owned());
                    self.take(group.stream());
                    self.row.push(close.to_owned());
                }
                TokenTree::Ident(ident) => {
                    self.words.insert(ident.to_string());
                    self.row.push(ident.to_string());
                }
                TokenTree::Punct(punct) => self.row.push(punct.as_char().to_string()),
                TokenTree::Literal(literal) => self.take_literal(Lit::new(literal)),
            }
        }
    }

    fn take_literal(&mut self, literal: Lit) {
        let text = match &literal {
            Lit::Str(text) => text.value(),
            Lit::ByteStr(text) => String::from_utf8_lossy(&text.value()).into_owned(),
            Lit::CStr(text) => text.value().to_string_lossy().into_owned(),
            Lit::Int(number) => {
                self.row.push(number.to_string());
                return;
            }
            _ => return,
        };
        self.words.extend(
            text.split(|it| !crate::words::is_word(it))
                .filter(|it| !it.is_empty())
                .map(str::to_owned),
        );
        if text.contains('"') {
            self.quoted.extend(text.split('"').map(str::to_owned));
        }
        self.row.push(format!("\"{text}\""));
        self.quoted.insert(text);
    }

    /// Returns `true` if the list contains the tokens in `wanted` one after the other.
    pub fn has_row(&self, wanted: &[String]) -> bool {
        self.row.windows(wanted.len()).any(|row| row == wanted)
    }

    /// Returns `true` if a name contains `part`.
    pub fn has_part(&self, part: &str) -> bool {
        self.words.iter().any(|word| word.contains(part))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Tokens {
        Tokens::new(text.parse().expect("Rust"))
    }

    #[test]
    fn texts_and_names_are_told_apart() {
        let tokens = tokens(r#"let x = scene.interface(3); y("{\"a b\": VK_X}"); c"plain""#);
        assert!(tokens.has_row(&Tokens::of(". interface ( 3 )")) && !tokens.has_row(&Tokens::of(". interface ( 4 )")));
        assert!(tokens.quoted.contains("a b") && tokens.quoted.contains("plain") && !tokens.quoted.contains("x"));
        assert!(tokens.words.contains("VK_X") && tokens.has_part("terfac"));
    }

    #[test]
    fn tests_have_the_comments_before_them() {
        let source = Source::new(
            "a.rs",
            "mod m {\n    /// APP-1\n    #[test]\n    fn one() {\n        // APP-2\n    }\n}\nfn two() {}\n",
        );
        let tests = source.expect("Rust").tests();
        assert_eq!(tests.len(), 1);
        assert_eq!(tests[0].name, "one");
        assert_eq!(
            tests[0].text,
            "    /// APP-1\n    #[test]\n    fn one() {\n        // APP-2\n    }"
        );
    }

    #[test]
    fn what_tests_alone_have_is_known() {
        let source = Source::new(
            "a.rs",
            "#[cfg(test)] mod a {}\n#[cfg(all(test, unix))] mod b {}\n#[cfg(not(test))] mod c {}\nmod d {}",
        );
        let source = source.expect("Rust");
        let found: Vec<bool> = source
            .file
            .items
            .iter()
            .map(|item| is_for_tests(attributes(item)))
            .collect();
        assert_eq!(found, [true, true, false, false]);
    }
}
