//! Prints items: finds the end of each item, and breaks its lines.

use super::expression;
use super::flat;
use super::list::{broken, elements};
use super::page::{ARRAY_WIDTH, INDENT, MAX_WIDTH, pad};
use super::tokens::{Token, closing};

/// Prints items one after the other. Blank lines separate items, except short declarations of the same kind.
pub(super) fn print(tokens: &[Token], depth: usize, out: &mut String) {
    let mut rest = tokens;
    let mut previous: Option<Item> = None;
    while let Some(item) = next(&mut rest) {
        if previous
            .as_ref()
            .is_some_and(|previous| !previous.stays_close_to(&item))
        {
            out.push('\n');
        }
        item.print(depth, out);
        previous = Some(item);
    }
}

/// Tokens of an item.
struct Item<'a> {
    docs: Vec<&'a str>,
    attributes: Vec<&'a [Token]>,
    /// Keyword that determines the kind of the item.
    keyword: &'a str,
    body: &'a [Token],
}

/// Keywords of items that end with a semicolon, even after braces.
const DECLARATIONS: [&str; 4] = ["use", "type", "const", "static"];
/// Words that may precede the keyword of an item.
const QUALIFIERS: [&str; 3] = ["pub", "unsafe", "extern"];

fn next<'a>(rest: &mut &'a [Token]) -> Option<Item<'a>> {
    let (mut docs, mut attributes) = (Vec::new(), Vec::new());
    loop {
        match *rest {
            [Token::Doc(text), tail @ ..] => {
                docs.push(text.as_str());
                *rest = tail;
            }
            [hash, Token::Group('[', content), tail @ ..] if hash.is_punct("#") => {
                attributes.push(content.as_slice());
                *rest = tail;
            }
            _ => break,
        }
    }
    let keyword = keyword(rest)?;
    let ends_with_semicolon = DECLARATIONS.contains(&keyword) && !is_const_function(rest);
    let end = rest
        .iter()
        .position(|token| token.is_punct(";") || (!ends_with_semicolon && token.group('{').is_some()));
    let (body, tail) = rest.split_at(end.map_or(rest.len(), |end| end + 1));
    *rest = tail;
    Some(Item {
        docs,
        attributes,
        keyword,
        body,
    })
}

fn keyword(tokens: &[Token]) -> Option<&str> {
    tokens.iter().find_map(|token| match token {
        Token::Word(word) if !QUALIFIERS.contains(&word.as_str()) && !word.starts_with('"') => Some(word.as_str()),
        _ => None,
    })
}

fn is_const_function(tokens: &[Token]) -> bool {
    let is_item = |token: &Token| matches!(token, Token::Word(word) if word != "pub" && word != "const");
    tokens
        .iter()
        .find(|token| is_item(token))
        .is_some_and(|token| token.is_word("fn") || token.is_word("unsafe"))
}

impl Item<'_> {
    fn stays_close_to(&self, next: &Item<'_>) -> bool {
        let short = |item: &Item<'_>| matches!(item.keyword, "use" | "mod" | "const" | "type");
        self.keyword == next.keyword && short(self) && next.docs.is_empty() && next.attributes.is_empty()
    }

    fn print(&self, depth: usize, out: &mut String) {
        for doc in &self.docs {
            pad(out, depth);
            out.push_str(format!("///{doc}").trim_end());
            out.push('\n');
        }
        for attribute in &self.attributes {
            pad(out, depth);
            out.push_str("#[");
            nested(attribute, depth, "#[]".len(), out);
            out.push_str("]\n");
        }
        pad(out, depth);
        match self.keyword {
            "fn" => function(self.body, depth, out),
            "struct" | "union" | "enum" => structure(self.body, depth, out),
            "impl" | "mod" | "trait" => container(self.body, depth, out),
            "type" => alias(self.body, depth, out),
            "const" if is_const_function(self.body) => function(self.body, depth, out),
            "const" | "static" => value(self.body, depth, out),
            _ => out.push_str(&flat::print(self.body)),
        }
        out.push('\n');
    }
}

/// Prints an attribute, or a condition in an attribute. The text between the parentheses gets its own lines if it does not fit on the line
/// with `beside` other characters.
fn nested(tokens: &[Token], depth: usize, beside: usize, out: &mut String) {
    let line = flat::print(tokens);
    let Some((Token::Group('(', content), head)) = tokens.split_last() else {
        return out.push_str(&line);
    };
    if depth + line.len() + beside <= MAX_WIDTH {
        return out.push_str(&line);
    }
    out.push_str(&format!("{}(\n", flat::print(head)));
    for (index, element) in elements(content).enumerate() {
        out.push_str(if index > 0 { ",\n" } else { "" });
        pad(out, depth + INDENT);
        nested(element, depth + INDENT, ",".len(), out);
    }
    out.push('\n');
    pad(out, depth);
    out.push(')');
}

/// Prints a `fn`. If the signature does not fit on a line, each parameter is on a separate line.
fn function(tokens: &[Token], depth: usize, out: &mut String) {
    let (body, signature) = match tokens.split_last() {
        Some((Token::Group('{', body), signature)) => (Some(body.as_slice()), signature),
        Some((_, signature)) => (None, signature),
        None => return,
    };
    let line = flat::print(signature);
    let tail = if body.is_some() { " {".len() } else { ";".len() };
    if depth + line.len() + tail <= MAX_WIDTH {
        out.push_str(&line);
    } else {
        vertical_parameters(signature, depth, out);
    }
    match body {
        None => out.push(';'),
        Some([]) => out.push_str(" {}"),
        Some(body) => {
            out.push_str(" {\n");
            expression::statements(body, depth + INDENT, out);
            pad(out, depth);
            out.push('}');
        }
    }
}

/// Breaks the first parenthesised group, which has the parameters.
fn vertical_parameters(tokens: &[Token], depth: usize, out: &mut String) {
    let at = tokens
        .iter()
        .rposition(|token| token.is_word("fn"))
        .and_then(|from| (from..tokens.len()).find(|&at| tokens[at].group('(').is_some()));
    let Some(at) = at else {
        out.push_str(&flat::print(tokens));
        return;
    };
    out.push_str(&flat::print(&tokens[..at]));
    vertical('(', tokens[at].group('(').unwrap_or_default(), depth, out);
    let tail = &tokens[at + 1..];
    if !tail.is_empty() {
        out.push(' ');
        out.push_str(&flat::print(tail));
    }
}

/// Prints a bracketed list with one element per line.
fn vertical(open: char, content: &[Token], depth: usize, out: &mut String) {
    out.push(open);
    out.push('\n');
    for element in elements(content) {
        pad(out, depth + INDENT);
        out.push_str(&flat::print(element));
        out.push_str(",\n");
    }
    pad(out, depth);
    out.push(closing(open));
}

/// Prints a `struct`, `union` or `enum` with one member per line.
fn structure(tokens: &[Token], depth: usize, out: &mut String) {
    let Some((Token::Group('{', content), head)) = tokens.split_last() else {
        out.push_str(&flat::print(tokens));
        return;
    };
    out.push_str(&flat::print(head));
    if content.is_empty() {
        out.push_str(" {}");
        return;
    }
    out.push_str(" {\n");
    for member in elements(content) {
        member_line(member, depth + INDENT, out);
    }
    pad(out, depth);
    out.push('}');
}

/// Prints a member with its docs. A type that does not fit is on a separate line.
fn member_line(member: &[Token], depth: usize, out: &mut String) {
    let docs = member.iter().take_while(|token| matches!(token, Token::Doc(_))).count();
    for token in &member[..docs] {
        if let Token::Doc(text) = token {
            pad(out, depth);
            out.push_str(format!("///{text}").trim_end());
            out.push('\n');
        }
    }
    let member = &member[docs..];
    pad(out, depth);
    let line = flat::print(member);
    if depth + line.len() < MAX_WIDTH {
        out.push_str(&line);
    } else if let Some(colon) = member.iter().position(|token| token.is_punct(":")) {
        out.push_str(&flat::print(&member[..=colon]));
        out.push('\n');
        pad(out, depth + INDENT);
        out.push_str(&flat::print(&member[colon + 1..]));
    }
    out.push_str(",\n");
}

/// Prints an `impl`, `mod` or `trait`, which contain items in braces.
fn container(tokens: &[Token], depth: usize, out: &mut String) {
    let Some((Token::Group('{', content), head)) = tokens.split_last() else {
        out.push_str(&flat::print(tokens));
        return;
    };
    out.push_str(&flat::print(head));
    if content.is_empty() {
        out.push_str(" {}");
        return;
    }
    out.push_str(" {\n");
    print(content, depth + INDENT, out);
    pad(out, depth);
    out.push('}');
}

/// Prints a `type`. The type after `=` moves to the next line if it fits there, and is broken otherwise.
fn alias(tokens: &[Token], depth: usize, out: &mut String) {
    let line = flat::print(tokens);
    let equals = tokens.iter().position(|token| token.is_punct("="));
    let Some(equals) = equals.filter(|_| depth + line.len() > MAX_WIDTH) else {
        out.push_str(&line);
        return;
    };
    let (left, right) = tokens.split_at(equals + 1);
    out.push_str(&flat::print(left));
    let next_line = flat::print(right);
    if depth + INDENT + next_line.len() <= MAX_WIDTH {
        out.push('\n');
        pad(out, depth + INDENT);
        out.push_str(&next_line);
        return;
    }
    if long_function(left, right, depth, out) {
        return;
    }
    out.push(' ');
    if let ([name, open, inner @ .., close, _semicolon], true) = (right, right[0].is_word("Option")) {
        out.push_str(&flat::print(&[name.clone(), open.clone()]));
        out.push('\n');
        pad(out, depth + INDENT);
        let inner_line = flat::print(inner);
        if depth + INDENT + inner_line.len() < MAX_WIDTH {
            out.push_str(&inner_line);
        } else {
            vertical_parameters(inner, depth + INDENT, out);
        }
        out.push_str(",\n");
        pad(out, depth);
        out.push_str(&flat::print(std::slice::from_ref(close)));
    } else {
        vertical_parameters(&right[..right.len() - 1], depth, out);
    }
    out.push(';');
}

/// Prints a function-pointer type whose name is too long for its line, in the same way as rustfmt. Returns `false`, and prints nothing, for
/// any other item. The program rustfmt measures the return type from the column after the opening parenthesis, where the line has no space
/// for the return type.
fn long_function(left: &[Token], right: &[Token], depth: usize, out: &mut String) -> bool {
    let parameters = right.iter().position(|token| token.group('(').is_some());
    let (Some(at), [function @ .., _semicolon]) = (parameters, right) else {
        return false;
    };
    let result = flat::print(&function[at + 1..]);
    let opening = depth + flat::print(left).len() + 1 + flat::print(&function[..at]).len() + "(".len();
    if result.is_empty() || opening + 1 + result.len() < MAX_WIDTH {
        return false;
    }
    if opening + 1 + result.len() == MAX_WIDTH {
        out.push(' ');
        vertical_parameters(&function[..=at], depth, out);
        out.push('\n');
        pad(out, depth + INDENT);
        out.push_str(&result);
    } else {
        out.push('\n');
        pad(out, depth + INDENT);
        vertical_parameters(function, depth + INDENT, out);
    }
    out.push(';');
    true
}

/// Prints a `const` or `static`. An array fills its lines, or has one element per line. Any other value is on the same line or on the next.
fn value(tokens: &[Token], depth: usize, out: &mut String) {
    let line = flat::print(tokens);
    let Some(equals) = tokens.iter().position(|token| token.is_punct("=")) else {
        out.push_str(&line);
        return;
    };
    let (left, right) = tokens.split_at(equals + 1);
    if let [Token::Group('[', content), _semicolon] | [_, Token::Group('[', content), _semicolon] = right
        && !content.is_empty()
        && !content.iter().any(|token| token.is_punct(";"))
    {
        out.push_str(&flat::print(left));
        out.push(' ');
        if right.len() == 3 {
            out.push_str(&flat::print(&right[..1]));
        }
        array(content, depth, depth + flat::print(left).len() + 1, out);
        out.push(';');
        return;
    }
    if depth + line.len() <= MAX_WIDTH {
        out.push_str(&line);
    } else {
        out.push_str(&flat::print(left));
        out.push('\n');
        pad(out, depth + INDENT);
        out.push_str(&flat::print(right));
    }
}

fn array(content: &[Token], depth: usize, column: usize, out: &mut String) {
    let elements: Vec<String> = elements(content).map(flat::print).collect();
    let line = elements.join(", ");
    if line.len() <= ARRAY_WIDTH && column + line.len() + "[];".len() <= MAX_WIDTH {
        out.push_str(&format!("[{line}]"));
        return;
    }
    out.push_str("[\n");
    broken(&elements, depth + INDENT, out);
    pad(out, depth);
    out.push(']');
}
