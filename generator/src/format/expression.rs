//! Prints function bodies: statements, calls, macros and `unsafe` blocks.

use super::flat;
use super::list::{broken, elements};
use super::page::{CALL_WIDTH, INDENT, MAX_WIDTH, pad};
use super::tokens::Token;

/// Prints the statements of a block, each on its own line.
pub(super) fn statements(tokens: &[Token], depth: usize, out: &mut String) {
    let mut rest = tokens;
    while !rest.is_empty() {
        let end = rest.iter().position(|token| token.is_punct(";"));
        let end = end.map_or(rest.len(), |end| end + 1);
        let (statement, tail) = rest.split_at(end);
        rest = tail;
        pad(out, depth);
        let (statement, suffix) = match statement.split_last() {
            Some((last, head)) if last.is_punct(";") => (head, ";"),
            _ => (statement, ""),
        };
        print(statement, depth, suffix, out);
        out.push('\n');
    }
}

/// Prints an expression, and `suffix` after it.
fn print(tokens: &[Token], depth: usize, suffix: &str, out: &mut String) {
    if fits(tokens, depth, suffix) {
        out.push_str(&flat::print(tokens));
        out.push_str(suffix);
        return;
    }
    match tokens {
        [head @ .., Token::Group('{', body)] if head.last().is_some_and(|token| token.is_word("unsafe")) => {
            out.push_str(&format!("{} {{\n", flat::print(head)));
            statements(body, depth + INDENT, out);
            pad(out, depth);
            out.push('}');
        }
        [head @ .., Token::Group('(', arguments)] => call(head, arguments, depth, out),
        [name, bang, Token::Group('{', content)] if bang.is_punct("!") => {
            out.push_str(&format!("{}! {{\n", flat::print(std::slice::from_ref(name))));
            wrapped(&flat::print(content), depth + INDENT, out);
            pad(out, depth);
            out.push('}');
        }
        _ => out.push_str(&flat::print(tokens)),
    }
    out.push_str(suffix);
}

/// Prints a line, and breaks it at spaces if it is too long. rustfmt does not change text between the braces of a macro.
fn wrapped(line: &str, depth: usize, out: &mut String) {
    let mut rest = line;
    while depth + rest.len() > MAX_WIDTH {
        let Some(cut) = rest[..=MAX_WIDTH - depth].rfind(' ') else {
            break;
        };
        pad(out, depth);
        out.push_str(&rest[..cut]);
        out.push('\n');
        rest = &rest[cut + 1..];
    }
    pad(out, depth);
    out.push_str(rest);
    out.push('\n');
}

fn call(head: &[Token], arguments: &[Token], depth: usize, out: &mut String) {
    out.push_str(&flat::print(head));
    out.push('(');
    out.push('\n');
    let arguments: Vec<String> = elements(arguments).map(flat::print).collect();
    broken(&arguments, depth + INDENT, out);
    pad(out, depth);
    out.push(')');
}

/// Returns `true` if an expression fits on one line within the limit.
fn fits(tokens: &[Token], column: usize, suffix: &str) -> bool {
    narrow(tokens) && column + flat::print(tokens).len() + suffix.len() <= MAX_WIDTH
}

/// Returns `true` if every call, literal and block in `tokens` fits on its line.
fn narrow(tokens: &[Token]) -> bool {
    tokens.iter().enumerate().all(|(index, token)| {
        let before = index.checked_sub(1).map(|at| &tokens[at]);
        match token {
            // A call with a single argument may use the full width of the line.
            Token::Group('(', content) => {
                let alone = elements(content).count() == 1;
                (alone || flat::print(content).len() <= CALL_WIDTH) && narrow(content)
            }
            Token::Group('{', content) if before.is_some_and(|token| token.is_word("unsafe")) => {
                !content.iter().any(|token| token.is_punct(";")) && narrow(content)
            }
            Token::Group('{', _) if before.is_some_and(|token| token.is_punct("!")) => true,
            _ => true,
        }
    })
}
