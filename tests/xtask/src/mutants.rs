//! Lists possible mutants of Rust sources, and the functions that contain them. A mutant changes one line, and a test should fail on it.
//!
//! The functions of this module read tokens, so that comments, strings and attributes remain unchanged. The bodies of macros are included.
//! `tests/mutants` builds and tests the mutants.

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// Contents of a file, as far as they concern mutants. Lines are counted from 1.
#[derive(Debug, Default, Serialize)]
pub struct Scanned {
    mutants: Vec<Mutant>,
    functions: Vec<Function>,
    /// First and last line of each item that exists only in tests.
    tests: Vec<(usize, usize)>,
}

/// A changed line.
#[derive(Debug, Serialize)]
struct Mutant {
    line: usize,
    kind: &'static str,
    /// Text of the changed line.
    new: String,
}

/// A function with a body.
#[derive(Debug, Serialize)]
struct Function {
    first: usize,
    last: usize,
    /// Number of characters in front of the content of the body.
    body: usize,
    /// `true` if a call can be inserted at the beginning of the body. A function that is evaluated at compile time, or that consists of
    /// machine code, can contain no call.
    open: bool,
    /// Return type, if the line of the keyword `fn` ends with the opening brace of the body. Empty if the function returns nothing.
    #[serde(skip)]
    returned: Option<String>,
}

/// Beginnings of lines that are not mutated. Assertions and hints for the compiler have no effect if their conditions are true.
const UNSEEN: [&str; 6] = ["use ", "#", "//", "assert", "debug_assert", "core::hint::"];
/// Beginnings of lines that are neither a call nor an assignment.
const NO_STATEMENT: [&str; 11] = [
    "let ", "return", "break", "continue", "use ", "pub ", "const ", "static ", "type ", "else", "fn ",
];
/// Calls that reserve space. No test can detect additional space for an element.
const ROOM: [&str; 6] = [
    "copy_with_room(",
    ".try_room(",
    ".try_exact_room(",
    "try_with_capacity(",
    "try_reserve(",
    "try_reserve_exact(",
];
/// Methods that fill a list, which must have space.
const FILLS: [&str; 6] = [
    ".push(",
    ".extend(",
    ".extend_from_slice(",
    ".set_len(",
    ".spare_capacity_mut(",
    ".as_mut_ptr(",
];
/// Operators that a mutant exchanges, with their kind.
const SWAPS: [(&str, &str, &str); 14] = [
    ("comparison", " == ", " != "),
    ("comparison", " != ", " == "),
    ("comparison", " < ", " <= "),
    ("comparison", " <= ", " < "),
    ("comparison", " > ", " >= "),
    ("comparison", " >= ", " > "),
    ("connective", " && ", " || "),
    ("connective", " || ", " && "),
    ("arithmetic", " + ", " - "),
    ("arithmetic", " - ", " + "),
    ("arithmetic", " += ", " -= "),
    ("arithmetic", " -= ", " += "),
    ("arithmetic", " | ", " & "),
    ("arithmetic", " & ", " | "),
];

/// Prints the contents of files in `folder` as JSON, with the files' names as keys.
///
/// # Errors
/// Returns a message if a file cannot be read, or is not Rust.
pub fn print(folder: &Path, files: &[&str]) -> Result<(), String> {
    let mut all = BTreeMap::new();
    for file in files {
        let failed = |error: &dyn ToString| format!("{file}: {}", error.to_string());
        let text = std::fs::read_to_string(folder.join(file)).map_err(|error| failed(&error))?;
        all.insert(file, scan(&text).map_err(|error| failed(&error))?);
    }
    println!("{}", serde_json::to_string(&all).map_err(|error| error.to_string())?);
    Ok(())
}

fn scan(text: &str) -> Result<Scanned, proc_macro2::LexError> {
    let lines: Vec<Vec<char>> = text.lines().map(|line| line.chars().collect()).collect();
    let mut scan = Scan {
        plain: lines.iter().map(|line| vec![' '; line.len()]).collect(),
        lines,
        found: Scanned::default(),
    };
    scan.stream(text.parse()?);
    for number in 1..=scan.lines.len() {
        scan.mutate(number);
    }
    Ok(scan.found)
}

struct Scan {
    lines: Vec<Vec<char>>,
    /// The lines, with blanks in the place of comments, strings and attributes.
    plain: Vec<Vec<char>>,
    found: Scanned,
}

impl Scan {
    /// Reads the tokens of a file or group.
    fn stream(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            if let Some((length, attribute)) = attribute(&tokens[at..]) {
                at += length;
                if is_for_tests(attribute) {
                    let end = end_of_item(&tokens[at..]).unwrap_or_else(|| attribute.span_close());
                    self.found.tests.push((token.span().start().line, end.end().line));
                }
                continue;
            }
            if let Some(body) = body(&tokens, at) {
                self.function(&tokens, at, body);
            }
            match token {
                TokenTree::Group(group) => {
                    if group.delimiter() != Delimiter::None {
                        self.copy(group.span_open());
                        self.copy(group.span_close());
                    }
                    self.stream(group.stream());
                }
                TokenTree::Literal(literal)
                    if !literal.to_string().starts_with(|first: char| first.is_ascii_digit()) => {}
                _ => self.copy(token.span()),
            }
            at += 1;
        }
    }

    /// Copies a token to the plain line.
    fn copy(&mut self, span: Span) {
        let (line, columns) = (span.start().line - 1, span.start().column..span.end().column);
        self.plain[line][columns.clone()].copy_from_slice(&self.lines[line][columns]);
    }

    /// Adds the function whose keyword is at the index `at`, and whose body is at the index `body`.
    fn function(&mut self, tokens: &[TokenTree], at: usize, body: usize) {
        let TokenTree::Group(group) = &tokens[body] else {
            return;
        };
        let (begin, open) = (tokens[at].span().start(), group.span_open().end());
        let ends_before = |token: &TokenTree| match token {
            TokenTree::Punct(sign) => sign.as_char() == ';',
            TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
            _ => false,
        };
        let mut before = tokens[..at].iter().rev().take_while(|token| !ends_before(token));
        let is_closed = before.any(|token| match token {
            TokenTree::Group(group) => group.to_string().contains("naked"),
            token => is_word(token, "const"),
        });
        let line = &self.lines[begin.line - 1];
        let arrow = tokens[at..body]
            .windows(2)
            .find(|signs| is_sign(&signs[0], '-') && is_sign(&signs[1], '>'));
        let returned = (begin.line == open.line && open.column == line.len()).then(|| {
            let Some([_, sign]) = arrow else {
                return String::new();
            };
            let text: String = line[sign.span().end().column..open.column - 1].iter().collect();
            text.trim().to_owned()
        });
        let before: usize = self.lines[..open.line - 1].iter().map(|line| line.len() + 1).sum();
        self.found.functions.push(Function {
            first: begin.line,
            last: group.span_close().end().line,
            body: before + open.column,
            open: !is_closed && !group.to_string().contains("naked_asm"),
            returned,
        });
    }

    /// Adds the mutants of a line.
    fn mutate(&mut self, number: usize) {
        let is_of_tests = |&(first, last): &(usize, usize)| (first..=last).contains(&number);
        let (line, plain) = (&self.lines[number - 1], &self.plain[number - 1]);
        let text: String = line.iter().collect();
        let is_unseen = UNSEEN.iter().any(|start| text.trim_start().starts_with(start));
        if is_unseen || self.found.tests.iter().any(is_of_tests) {
            return;
        }
        let mut changes = changes(line, plain);
        if self.is_spare_room(number) {
            changes.retain(|(kind, _)| *kind != "statement");
        }
        let functions = self.found.functions.iter().filter(|function| function.first == number);
        for kind in functions.filter_map(|function| function.returned.as_deref()) {
            for value in values(kind) {
                changes.push(("return", format!("{text} return{value};")));
            }
        }
        let changes = changes.into_iter();
        self.found.mutants.extend(changes.map(|(kind, new)| Mutant {
            line: number,
            kind,
            new,
        }));
    }

    /// Returns `true` if a line only reserves space for a list, and the function fills this list only with methods that reserve space
    /// themselves.
    fn is_spare_room(&self, number: usize) -> bool {
        let text = |line: &[char]| line.iter().collect::<String>();
        let line = text(&self.plain[number - 1]);
        let calls = ROOM.iter().filter(|call| call.starts_with('.'));
        let Some(list) = calls.filter_map(|call| Some(line.split_once(call)?.0.trim())).next() else {
            return false;
        };
        let around = self
            .found
            .functions
            .iter()
            .filter(|each| (each.first..=each.last).contains(&number));
        let Some(function) = around.max_by_key(|each| each.first) else {
            return false;
        };
        let mut lines = self.plain[function.first - 1..function.last]
            .iter()
            .map(|line| text(line));
        let is_path = list
            .chars()
            .all(|letter| letter.is_alphanumeric() || "_.".contains(letter));
        is_path && !lines.any(|line| FILLS.iter().any(|fill| line.contains(&format!("{list}{fill}"))))
    }
}

/// Returns the length of an attribute at the beginning of `tokens`, and its content.
fn attribute(tokens: &[TokenTree]) -> Option<(usize, &Group)> {
    let inner = usize::from(tokens.get(1).is_some_and(|token| is_sign(token, '!')));
    match tokens.get(1 + inner) {
        Some(TokenTree::Group(group)) if is_sign(&tokens[0], '#') && group.delimiter() == Delimiter::Bracket => {
            Some((2 + inner, group))
        }
        _ => None,
    }
}

/// Returns `true` if an attribute restricts its item to tests: `cfg(test)`, or `cfg(all(test, …))`.
fn is_for_tests(attribute: &Group) -> bool {
    let mut tokens: Vec<TokenTree> = attribute.stream().into_iter().collect();
    for word in ["cfg", "all"] {
        match tokens.as_slice() {
            [name, TokenTree::Group(group), ..] if is_word(name, word) => tokens = group.stream().into_iter().collect(),
            _ if word == "cfg" => return false,
            _ => {}
        }
    }
    tokens.first().is_some_and(|token| is_word(token, "test"))
}

/// Returns the last token of the item at the beginning of `tokens`: its semicolon, or the closing brace of its body.
fn end_of_item(tokens: &[TokenTree]) -> Option<Span> {
    tokens.iter().find_map(|token| match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Some(group.span_close()),
        token => is_sign(token, ';').then(|| token.span()),
    })
}

/// Returns the index of the body of the function whose keyword is at the index `at`. The name of a function in a macro may be `$name`.
fn body(tokens: &[TokenTree], at: usize) -> Option<usize> {
    let named = match tokens.get(at + 1)? {
        TokenTree::Ident(_) => true,
        token => is_sign(token, '$'),
    };
    if !is_word(&tokens[at], "fn") || !named {
        return None;
    }
    let rest = tokens.iter().enumerate().skip(at + 2);
    for (index, token) in rest {
        match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => return Some(index),
            token if is_sign(token, ';') => return None,
            _ => {}
        }
    }
    None
}

fn is_sign(token: &TokenTree, sign: char) -> bool {
    matches!(token, TokenTree::Punct(found) if found.as_char() == sign)
}

fn is_word(token: &TokenTree, word: &str) -> bool {
    matches!(token, TokenTree::Ident(found) if found == word)
}

/// Returns the changes of a line, each with its kind and the new line, except changes of returned values.
fn changes(line: &[char], plain: &[char]) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    let mut change = |kind, begin: usize, end: usize, new: &str| {
        let text = line[..begin].iter().copied().chain(new.chars());
        found.push((kind, text.chain(line[end..].iter().copied()).collect()));
    };
    for (kind, old, new) in SWAPS {
        let old: Vec<char> = old.chars().collect();
        let places = plain.windows(old.len()).enumerate();
        for (at, _) in places.filter(|(_, part)| *part == old) {
            change(kind, at, at + old.len(), new);
        }
    }
    let at = |index: usize| plain.get(index).copied().unwrap_or(' ');
    let before = |index: usize| index.checked_sub(1).map_or(' ', at);
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    for index in (0..plain.len()).filter(|&index| at(index) == '!') {
        let (last, next) = (before(index), at(index + 1));
        if !is_part(last) && last != '!' && (is_part(next) || next == '(') {
            change("negation", index, index + 1, "");
        }
    }
    if let Some((begin, end)) = condition(plain) {
        let text: String = line[begin..end].iter().collect();
        change("condition", begin, end, &format!("!({text})"));
    }
    let room = room(plain);
    let mut index = 0;
    while index < plain.len() {
        let length = plain[index..]
            .iter()
            .take_while(|character| character.is_ascii_digit())
            .count();
        let (begin, end) = (index, index + length);
        index = end + 1;
        let is_alone = |character: char| !is_part(character) && character != '.';
        let is_number = length > 0 && is_alone(before(begin)) && before(begin) != '#' && is_alone(at(end));
        let is_room = room.is_some_and(|(first, last)| first < begin && begin < last);
        let number: String = plain[begin..end].iter().collect();
        if let Some(number) = number.parse::<u128>().ok().filter(|_| is_number && !is_room) {
            change("constant", begin, end, &(number + 1).to_string());
        }
    }
    if is_statement(plain) {
        found.push(("statement", String::new()));
    }
    found
}

/// Returns the place of the condition of `if` or `while`, if the line contains the whole condition.
fn condition(plain: &[char]) -> Option<(usize, usize)> {
    let text: String = plain.iter().collect();
    let text = text.trim_start();
    let text = text.strip_prefix("} else ").unwrap_or(text);
    let text = text.strip_prefix("if ").or_else(|| text.strip_prefix("while "))?;
    let condition = text.strip_suffix(" {")?;
    let end = plain.len() - 2;
    let is_pattern = condition.starts_with("let ") || condition.contains(" let ");
    (!condition.is_empty() && !is_pattern).then(|| (end - condition.chars().count(), end))
}

/// Returns the place of code that reserves space.
fn room(plain: &[char]) -> Option<(usize, usize)> {
    let text: String = plain.iter().collect();
    let usual = text
        .strip_prefix("const USUAL_")
        .and_then(|rest| rest.split_once(": usize = "));
    if usual.is_some_and(|(_, value)| value.trim_end_matches(';').bytes().all(|byte| byte.is_ascii_digit())) {
        return Some((0, plain.len()));
    }
    let first = ROOM.iter().filter_map(|call| text.find(call)).min()?;
    let last = text.rfind(')')?;
    let count = |end: usize| text[..end].chars().count();
    (first < last).then(|| (count(first), count(last)))
}

/// Returns `true` if a line is a call or an assignment.
fn is_statement(plain: &[char]) -> bool {
    let text: String = plain.iter().collect();
    let statement = text.trim_start();
    let begins = |first: char| first.is_alphanumeric() || "_*&(".contains(first);
    let count = |sign: char| text.matches(sign).count();
    statement.len() < text.len()
        && statement.starts_with(begins)
        && text.ends_with(';')
        && !NO_STATEMENT.iter().any(|start| statement.starts_with(start))
        && count('(') == count(')')
        && count('{') == count('}')
}

/// Returns the values that a function of this type can return instead, each after a blank.
fn values(returned: &str) -> &'static [&'static str] {
    let is_number = |name: &str| {
        let bits = name.strip_prefix(['u', 'i']).unwrap_or_default();
        bits == "size" || (!bits.is_empty() && bits.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let last = returned.split('<').next().and_then(|path| path.rsplit("::").next());
    match returned {
        "" => &[""],
        "bool" => &[" true", " false"],
        "VkResult" => &[" VkResult::VK_SUCCESS", " VkResult::VK_ERROR_INITIALIZATION_FAILED"],
        _ if returned.starts_with("Option<") => &[" None"],
        _ if last == Some("Result") && returned.contains("Result<()") => &[" Ok(())"],
        _ if is_number(returned) => &[" 0"],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mutants(text: &str) -> Vec<(usize, &'static str, String)> {
        let found = scan(text).expect("Rust").mutants.into_iter();
        found
            .map(|mutant| (mutant.line, mutant.kind, mutant.new.trim().to_owned()))
            .collect()
    }

    #[test]
    fn each_kind_of_mutant_is_made() {
        for (line, expected) in [
            ("let x = a == b;", &[("comparison", "let x = a != b;")][..]),
            ("let x = a && b;", &[("connective", "let x = a || b;")]),
            ("let x = !a(b);", &[("negation", "let x = a(b);")]),
            ("if a(b) {", &[("condition", "if !(a(b)) {")]),
            ("let x = a(9, b1, 1.5);", &[("constant", "let x = a(10, b1, 1.5);")]),
            ("list.clear();", &[("statement", "")]),
            ("let x = list.try_room(1);", &[]),
            ("let x = \"a == 1 // !b\"; // 1", &[]),
            ("if let Some(x) = y {", &[]),
            ("assert!(a == b);", &[]),
        ] {
            let end = if line.ends_with('{') { "}" } else { "" };
            let found = mutants(&format!("mod m {{\n    {line}\n{end}}}"));
            let expected: Vec<_> = expected
                .iter()
                .map(|(kind, new)| (2, *kind, (*new).to_owned()))
                .collect();
            assert_eq!(found, expected, "{line}");
        }
    }

    #[test]
    fn a_reservation_is_dropped_if_the_list_needs_it() {
        for (fill, is_made) in [("try_push(1)?", false), ("push(1)", true), ("extend([1])", true)] {
            let text = format!("fn f() {{\n    list.try_exact_room(many)?;\n    list.{fill};\n}}");
            let is_drop = |(line, kind, _): &(usize, &str, String)| (*line, *kind) == (2, "statement");
            assert_eq!(mutants(&text).iter().any(is_drop), is_made, "{fill}");
        }
    }

    #[test]
    fn the_returned_value_depends_on_the_type() {
        for (kind, expected) in [
            ("", &["return;"][..]),
            (" -> bool", &["return true;", "return false;"]),
            (" -> fmt::Result<()>", &["return Ok(());"]),
            (" -> u32", &["return 0;"]),
            (" -> Option<u8>", &["return None;"]),
            (" -> Vec<u8>", &[]),
        ] {
            let line = format!("pub(crate) unsafe fn f(g: impl Fn() -> u8){kind} {{");
            let found: Vec<_> = mutants(&format!("{line}\n}}"))
                .into_iter()
                .map(|mutant| mutant.2)
                .collect();
            let expected: Vec<_> = expected.iter().map(|end| format!("{line} {end}")).collect();
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn functions_and_items_of_tests_are_found() {
        let text = "#[cfg(test)]\nmod tests {\n    fn a() {}\n}\nconst fn b() {\n}\n#[unsafe(naked)]\nfn c() {}\nm! { fn $d(x: [u8; 2]) {}\n fn e(); }";
        let found = scan(text).expect("Rust");
        assert_eq!(found.tests, [(1, 4)]);
        let functions: Vec<_> = found
            .functions
            .iter()
            .map(|each| (each.first, each.last, each.open))
            .collect();
        assert_eq!(functions, [(3, 3, true), (5, 6, false), (8, 8, false), (9, 9, true)]);
        let body = found.functions[3].body;
        assert_eq!(text.chars().nth(body - 1), Some('{'));
        assert!(found.mutants.iter().all(|mutant| mutant.line > 4));
    }
}
