//! Splits the prose of pages and comments into paragraphs, sentences and words.

use crate::comments::Comment;
use crate::words::without_tables;

/// Returns the paragraphs, items and cells of a page, without the tables that `make documents` writes.
pub(crate) fn page(text: &str) -> Vec<Comment> {
    let plain = without_tables(text);
    let mut found = Vec::new();
    let mut fenced = false;
    for (place, line) in plain.lines().enumerate() {
        let is_fence = line.trim_start().starts_with("```");
        fenced ^= is_fence;
        // A line that begins with four spaces is code only after an empty line. Within a paragraph or item, it continues the text.
        let is_code = fenced
            || is_fence
            || (line.starts_with("    ") && found.last().is_none_or(|it: &Comment| it.text.is_empty()));
        let cells = if line.starts_with('|') {
            line.split('|').collect()
        } else {
            vec![line]
        };
        for cell in cells {
            let text = if is_code { "" } else { cell };
            match found.last_mut() {
                Some(last) if !is_start(text) && !line.starts_with('|') && !last.text.is_empty() => {
                    last.text.push('\n');
                    last.text.push_str(text);
                }
                _ => found.push(Comment {
                    line: place + 1,
                    documents: false,
                    text: text.to_owned(),
                }),
            }
        }
    }
    found
}

/// Returns `true` for a line that begins a paragraph, an item or a heading.
fn is_start(line: &str) -> bool {
    let line = line.trim_start();
    let item = line.trim_start_matches(|it: char| it.is_ascii_digit());
    line.is_empty()
        || line.starts_with(['#', '|'])
        || item.starts_with("- ")
        || item.starts_with("* ")
        || (item.len() < line.len() && item.starts_with(". "))
}

/// Returns the sentences of a text. The end of a paragraph, an item or a heading also ends a sentence.
pub(crate) fn sentences(text: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut fenced = false;
    for line in text.lines() {
        let is_fence = line.trim_start().starts_with("```");
        fenced ^= is_fence;
        if is_fence || is_start(line) {
            found.push(String::new());
        }
        if !fenced && !is_fence {
            let last = found.len() - 1;
            found[last].push_str(line);
            found[last].push(' ');
        }
    }
    found.iter().flat_map(|part| split(&without_spans(part))).collect()
}

/// Returns the sentences of a paragraph. A sentence ends at a full stop or similar mark, if blanks and no small letter follow.
fn split(paragraph: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut begin = 0;
    for (place, _) in paragraph.match_indices(['.', '?', '!']) {
        let rest = &paragraph[place + 1..];
        let rest = rest.trim_start_matches([')', '"']);
        let next = rest.trim_start();
        if next.len() < rest.len() && !next.starts_with(|it: char| it.is_ascii_lowercase()) {
            found.push(paragraph[begin..=place].to_owned());
            begin = place + 1;
        }
    }
    found.push(paragraph[begin..].to_owned());
    found
}

/// Replaces each code span and each target of a link by one word.
fn without_spans(text: &str) -> String {
    let mut plain = String::new();
    for (place, part) in text.split('`').enumerate() {
        plain.push_str(if place % 2 == 0 { part } else { "CODE" });
    }
    let mut parts = plain.split("](");
    let mut joined = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        joined.push_str(part.split_once(')').map_or(part, |(_, rest)| rest));
    }
    joined
}

/// Returns the words of a sentence without punctuation. All words are in lower case, except names in capitals.
pub(crate) fn words(sentence: &str) -> Vec<String> {
    let parts = sentence.split_whitespace();
    let bare = parts.map(|part| part.trim_matches(|it: char| !it.is_alphanumeric()));
    let bare = bare.filter(|word| !word.is_empty());
    let is_name = |word: &str| word.len() > 1 && !word.contains(char::is_lowercase);
    bare.map(|word| {
        if is_name(word) {
            word.to_owned()
        } else {
            word.to_lowercase()
        }
    })
    .collect()
}
