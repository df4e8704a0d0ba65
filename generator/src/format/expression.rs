//! Function bodies: statements, calls, `match` and `unsafe` blocks.

use super::flat;
use super::list::{broken, elements};
use super::page::{CALL_WIDTH, INDENT, LITERAL_WIDTH, MAX_WIDTH, pad};
use super::tokens::Token;

/// Prints the statements of a block, each on its own line.
pub(super) fn statements(tokens: &[Token], depth: usize, out: &mut String) {
    let mut rest = tokens;
    while !rest.is_empty() {
        let end = statement_end(rest);
        let (statement, tail) = rest.split_at(end);
        rest = tail;
        pad(out, depth);
        let (statement, suffix) = match statement.split_last() {
            Some((last, head)) if last.is_punct(";") => (head, ";"),
            _ => (statement, ""),
        };
        print(statement, depth, depth, suffix, out);
        out.push('\n');
    }
}

/// A statement ends with a semicolon, or with the block of an `if`.
fn statement_end(tokens: &[Token]) -> usize {
    let is_if = tokens.first().is_some_and(|token| token.is_word("if"));
    let end = tokens
        .iter()
        .position(|token| token.is_punct(";") || (is_if && token.group('{').is_some()));
    end.map_or(tokens.len(), |end| end + 1)
}

/// Prints an expression that starts at `column` and is followed by `suffix`.
fn print(tokens: &[Token], depth: usize, column: usize, suffix: &str, out: &mut String) {
    if fits(tokens, column, suffix) {
        out.push_str(&flat::print(tokens));
        out.push_str(suffix);
        return;
    }
    match tokens {
        [keyword, subject @ .., Token::Group('{', arms)] if keyword.is_word("match") => {
            out.push_str(&format!("match {} {{\n", flat::print(subject)));
            match_arms(arms, depth + INDENT, out);
            pad(out, depth);
            out.push('}');
        }
        [head @ .., Token::Group('{', body)] if is_block(head) => {
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

/// Prints a line, continued where a space allows; the formatter leaves what stands in braces of a macro alone.
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

/// Whether a brace behind these words opens a block rather than a literal.
fn is_block(head: &[Token]) -> bool {
    let is_unsafe = head.last().is_some_and(|token| token.is_word("unsafe"));
    is_unsafe || head.first().is_some_and(|token| token.is_word("if"))
}

fn call(head: &[Token], arguments: &[Token], depth: usize, out: &mut String) {
    out.push_str(&flat::print(head));
    out.push('(');
    // A literal as the only argument opens on the line of the call.
    if let [prefix @ .., Token::Group('{', members)] = arguments
        && elements(arguments).count() == 1
    {
        out.push_str(&flat::print(prefix));
        out.push_str(" {\n");
        lines(members, depth + INDENT, out);
        pad(out, depth);
        out.push_str("})");
        return;
    }
    out.push('\n');
    let arguments: Vec<String> = elements(arguments).map(flat::print).collect();
    broken(&arguments, depth + INDENT, out);
    pad(out, depth);
    out.push(')');
}

fn lines(content: &[Token], depth: usize, out: &mut String) {
    for element in elements(content) {
        pad(out, depth);
        out.push_str(&flat::print(element));
        out.push_str(",\n");
    }
}

fn match_arms(arms: &[Token], depth: usize, out: &mut String) {
    for arm in elements(arms) {
        let Some(arrow) = arm.iter().position(|token| token.is_punct("=>")) else {
            continue;
        };
        let head = flat::print(&arm[..=arrow]);
        pad(out, depth);
        out.push_str(&head);
        out.push(' ');
        print(&arm[arrow + 1..], depth, depth + head.len() + 1, ",", out);
        out.push('\n');
    }
}

/// Whether an expression may stand on one line that ends within the limit.
fn fits(tokens: &[Token], column: usize, suffix: &str) -> bool {
    let keeps_one_line = !tokens
        .first()
        .is_some_and(|token| token.is_word("match") || token.is_word("if"));
    keeps_one_line && narrow(tokens) && column + flat::print(tokens).len() + suffix.len() <= MAX_WIDTH
}

/// Whether no call, literal or block inside has to be broken.
fn narrow(tokens: &[Token]) -> bool {
    tokens.iter().enumerate().all(|(index, token)| {
        let before = index.checked_sub(1).map(|at| &tokens[at]);
        match token {
            // A lone argument may fill the line.
            Token::Group('(', content) => {
                let alone = elements(content).count() == 1;
                (alone || flat::print(content).len() <= CALL_WIDTH) && narrow(content)
            }
            Token::Group('{', content) if before.is_some_and(|token| token.is_word("unsafe")) => {
                !content.iter().any(|token| token.is_punct(";")) && narrow(content)
            }
            Token::Group('{', _) if before.is_some_and(|token| token.is_punct("!")) => true,
            Token::Group('{', content) => flat::print(content).len() <= LITERAL_WIDTH,
            _ => true,
        }
    })
}
