//! Finds the comments in sources. The module contains a small lexer, because the parser removes plain comments.

/// A comment, or consecutive line comments of the same kind.
#[derive(Debug, PartialEq)]
pub struct Comment {
    /// Line on which the comment begins. The first line has the number 1.
    pub line: usize,
    /// `true` for documentation of an item or module, `false` for a plain comment.
    pub documents: bool,
    /// Text without the comment marks, with the same lines as in the source.
    pub text: String,
}

/// Returns the comments of a Rust source.
pub fn of_rust(text: &str) -> Vec<Comment> {
    let mut found = Vec::new();
    let mut place = 0;
    while place < text.len() {
        let rest = &text[place..];
        place += if rest.starts_with("//") {
            let length = rest.find('\n').unwrap_or(rest.len());
            let (mark, body) = rest[..length].split_at(if is_documentation(rest) { 3 } else { 2 });
            add(&mut found, text, place, mark, body);
            length
        } else if rest.starts_with("/*") {
            let length = block(rest);
            let body = rest[2..length].strip_suffix("*/").unwrap_or(&rest[2..length]);
            add(&mut found, text, place, "/*", body.trim());
            length
        } else {
            // The lexer skips a whole name, because the last letter of a name can look like the prefix of a string.
            literal(rest).unwrap_or_else(|| name(rest).max(rest.chars().next().map_or(1, char::len_utf8)))
        };
    }
    found
}

/// Returns the comments of a script, which are the lines that begin with `#`.
pub fn of_script(text: &str) -> Vec<Comment> {
    let mut found = Vec::new();
    let mut place = 0;
    for line in text.split_inclusive('\n') {
        let blanks = line.len() - line.trim_start().len();
        if let Some(body) = line.trim().strip_prefix('#').filter(|body| !body.starts_with('!')) {
            add(&mut found, text, place + blanks, "#", body);
        }
        place += line.len();
    }
    found
}

/// Returns the comments of a Python source: the lines that begin with `#`, and the docstrings of modules, classes and functions.
pub fn of_python(text: &str) -> Vec<Comment> {
    const MARK: &str = "\"\"\"";
    let mut found = of_script(text);
    let marks: Vec<usize> = text.match_indices(MARK).map(|(place, _)| place).collect();
    for (open, close) in marks.chunks_exact(2).map(|pair| (pair[0], pair[1])) {
        let begin = text[..open].rfind('\n').map_or(0, |end| end + 1);
        if text[begin..open].trim().is_empty() {
            let lines = text[open + MARK.len()..close].lines().map(str::trim);
            found.push(Comment {
                line: crate::words::line(text, open),
                documents: true,
                text: lines.collect::<Vec<_>>().join("\n"),
            });
        }
    }
    found
}

/// Adds a comment. If the line before contains a comment of the same kind, the function appends the text to that comment.
fn add(found: &mut Vec<Comment>, text: &str, place: usize, mark: &str, body: &str) {
    let line = crate::words::line(text, place);
    let documents = mark.len() == 3;
    let begin = text[..place].rfind('\n').map_or(0, |end| end + 1);
    let is_alone = text[begin..place].trim().is_empty();
    let body = body.strip_prefix(' ').unwrap_or(body).trim_end();
    match found.last_mut() {
        Some(last) if is_alone && last.documents == documents && last.line + last.text.split('\n').count() == line => {
            last.text.push('\n');
            last.text.push_str(body);
        }
        _ => found.push(Comment {
            line,
            documents,
            text: body.to_owned(),
        }),
    }
}

/// Returns `true` for a documentation comment. Four slashes begin a plain comment.
fn is_documentation(rest: &str) -> bool {
    rest.starts_with("//!") || (rest.starts_with("///") && !rest.starts_with("////"))
}

/// Returns the length of a block comment. The comment can contain other block comments.
fn block(rest: &str) -> usize {
    let mut depth = 0;
    let mut place = 0;
    while place < rest.len() {
        if rest[place..].starts_with("/*") {
            depth += 1;
            place += 2;
        } else if rest[place..].starts_with("*/") {
            depth -= 1;
            place += 2;
            if depth == 0 {
                return place;
            }
        } else {
            place += rest[place..].chars().next().map_or(1, char::len_utf8);
        }
    }
    rest.len()
}

/// Returns the length of a string or character with its prefix, or `None` if `rest` begins with neither.
fn literal(rest: &str) -> Option<usize> {
    let prefix = ["br", "cr", "r", "b", "c", ""].into_iter().find(|prefix| {
        rest.strip_prefix(prefix).is_some_and(|rest| {
            rest.starts_with('"') || (prefix.ends_with('r') && rest.trim_start_matches('#').starts_with('"'))
        })
    });
    if let Some(prefix) = prefix {
        let rest = &rest[prefix.len()..];
        let length = if prefix.ends_with('r') {
            raw(rest)
        } else {
            quoted(rest, '"')
        };
        return Some(prefix.len() + length);
    }
    let mark = rest.strip_prefix('b').unwrap_or(rest);
    let inside = mark.strip_prefix('\'')?;
    // After a lifetime's first character, there is no second quotation mark.
    let first = inside.chars().next()?;
    let is_character = first == '\\' || inside[first.len_utf8()..].starts_with('\'');
    is_character.then(|| rest.len() - mark.len() + quoted(mark, '\''))
}

/// Returns the length of a string that begins and ends with `mark`. A mark after a backslash does not end the string.
fn quoted(rest: &str, mark: char) -> usize {
    let mut protected = false;
    for (place, character) in rest.char_indices().skip(1) {
        match character {
            _ if protected => protected = false,
            '\\' => protected = true,
            _ if character == mark => return place + 1,
            _ => {}
        }
    }
    rest.len()
}

/// Returns the length of a raw string after the letter `r`.
fn raw(rest: &str) -> usize {
    let marks = rest.len() - rest.trim_start_matches('#').len();
    let end = format!("\"{}", "#".repeat(marks));
    let body = marks + 1;
    rest[body..]
        .find(&end)
        .map_or(rest.len(), |length| body + length + end.len())
}

/// Returns the length of the name or number at the start of `rest`.
fn name(rest: &str) -> usize {
    rest.find(|character: char| !crate::words::is_word(character))
        .unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(usize, bool, String)> {
        let comments = of_rust(text).into_iter();
        comments.map(|it| (it.line, it.documents, it.text)).collect()
    }

    #[test]
    fn lines_of_one_kind_are_one_comment() {
        let text = "//! A\n//! b.\n\n/// C\n// d\nfn f() {} // e\n// f\n\n/* g /* h */ */\n";
        let expected = [
            (1, true, "A\nb."),
            (4, true, "C"),
            (5, false, "d"),
            (6, false, "e\nf"),
            (9, false, "g /* h */"),
        ];
        assert_eq!(
            found(text),
            expected.map(|(line, documents, text)| (line, documents, text.to_owned()))
        );
    }

    #[test]
    fn texts_are_no_comments() {
        for text in [
            "\"// a\"",
            "\"\\\"// a\"",
            "r#\"\"// a\"#",
            "br\"\\\" ",
            "'\"'; \"// a\"",
            "b'\\''; c\"// a\"",
            "number\"// a\"",
        ] {
            assert_eq!(found(text), [], "{text}");
        }
        assert_eq!(found("fn f<'a>(x: &'a str) {} // b"), [(1, false, "b".to_owned())]);
    }

    #[test]
    fn scripts_have_lines() {
        let comments = of_script("#!/bin/sh\n# a\n# b\nx # c\n    # d\n");
        let lines: Vec<(usize, &str)> = comments.iter().map(|it| (it.line, it.text.as_str())).collect();
        assert_eq!(lines, [(2, "a\nb"), (5, "d")]);
    }

    #[test]
    fn documentation_of_python_is_found() {
        let comments =
            of_python("\"\"\"A.\"\"\"\n# b\ndef f():\n    \"\"\"C\n\n    d.\n    \"\"\"\n    x = \"\"\"\n\"\"\"\n");
        let found: Vec<_> = comments
            .iter()
            .map(|it| (it.line, it.documents, it.text.as_str()))
            .collect();
        assert_eq!(found, [(2, false, "b"), (1, true, "A."), (4, true, "C\n\nd.\n")]);
    }
}
