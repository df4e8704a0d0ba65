//! Checks numbers of tests in documents: the number of all tests, and the number of passed tests.
//!
//! Every new test makes these numbers wrong, so prose must not contain them. The check permits numbers in the tables that `make documents`
//! writes, and in a paragraph that names the commit of the run.

use crate::words::{is_word, line, without_tables};

const NOUNS: [&str; 5] = ["cases", "tests", "statements", "scenes", "mutants"];
const GROUPS: [&str; 6] = ["applications", "drivers", "layers", "`app`", "`drivers`", "`layers`"];

/// Returns a line for each number of tests in a document, unless the paragraph with the number names the commit of the run.
pub fn problems(path: &str, text: &str) -> Vec<String> {
    let plain = without_tables(text);
    let mut wrong = Vec::new();
    let mut begin = 0;
    for paragraph in plain
        .split_inclusive('\n')
        .collect::<Vec<_>>()
        .chunk_by(|one, other| !is_blank(one) && !is_blank(other))
    {
        let length = paragraph.iter().map(|line| line.len()).sum::<usize>();
        let whole = &plain[begin..begin + length];
        if !has_commit(whole) {
            wrong.extend(counts(whole).into_iter().map(|(place, count)| {
                let number = line(text, begin + place);
                format!("{path}:{number} counts `{count}`: leave the count out, or name the commit of the run that printed it")
            }));
        }
        begin += length;
    }
    wrong
}

fn is_blank(line: &str) -> bool {
    line.trim().is_empty()
}

/// Returns the numbers of tests that a paragraph states, each with its offset in the text.
fn counts(text: &str) -> Vec<(usize, &str)> {
    let mut found: Vec<(usize, &str)> = Vec::new();
    for (place, _) in text.match_indices(|it: char| it.is_ascii_digit()) {
        let is_start = !text[..place].ends_with(|it: char| is_word(it) || it == '-' || it == ',');
        let is_inside = found.last().is_some_and(|(begin, count)| place < begin + count.len());
        if let Some(length) = count(&text[place..]).filter(|_| is_start && !is_inside) {
            found.push((place, &text[place..place + length]));
        }
    }
    found
}

/// Returns the length of the number of tests at the start of a text, or `None`. One form is a number with an optional `of` and another
/// number, up to two words, and a noun for tests. The other form is a number out of a group of tests.
fn count(text: &str) -> Option<usize> {
    let first = number(text)?;
    let second = first
        .strip_prefix(" of the ")
        .or(first.strip_prefix(" of "))
        .and_then(number);
    second
        .into_iter()
        .chain([first])
        .find_map(|rest| noun(rest).or_else(|| group(rest)))
        .map(|rest| text.len() - rest.len())
}

/// Returns the text after a number. The number can contain commas.
fn number(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches(|it: char| it.is_ascii_digit() || it == ',');
    (rest.len() < text.len() && text.starts_with(|it: char| it.is_ascii_digit())).then_some(rest)
}

fn noun(mut rest: &str) -> Option<&str> {
    for _ in 0..3 {
        let word = rest.strip_prefix(' ')?;
        if let Some(rest) = one_of(&NOUNS, word) {
            return Some(rest);
        }
        rest = word.trim_start_matches(|it: char| it.is_ascii_lowercase());
        if rest.len() == word.len() {
            return None;
        }
    }
    None
}

fn group(rest: &str) -> Option<&str> {
    one_of(&GROUPS, rest.strip_prefix(" of ")?)
}

/// Strips the first of `words` with which the text begins, if it is a whole word. Returns the rest of the text.
fn one_of<'a>(words: &[&str], text: &'a str) -> Option<&'a str> {
    words
        .iter()
        .find_map(|word| text.strip_prefix(word).filter(|rest| !rest.starts_with(is_word)))
}

/// Returns `true` if a text names a commit. A commit is a word of digits and letters from a to f, with at least one digit and one letter.
fn has_commit(text: &str) -> bool {
    text.split(|it| !is_word(it)).any(|word| {
        let is_hexadecimal = word
            .bytes()
            .all(|it| it.is_ascii_digit() || (b'a'..=b'f').contains(&it));
        is_hexadecimal
            && (9..=40).contains(&word.len())
            && word.contains(|it: char| it.is_ascii_digit())
            && word.contains(|it: char| it.is_ascii_lowercase())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_told_with_its_line() {
        for text in [
            "There are 942 cases.",
            "All 370 of `drivers` do what is expected.",
            "Of these, 144 of 146 of applications passed.",
            "| Linux | 1,024 behaviour cases |",
            "the 82 other killed mutants",
        ] {
            let lines = problems("docs/page.md", &format!("# Page\n\n{text}\n"));
            assert!(
                lines.len() == 1 && lines[0].starts_with("docs/page.md:3 counts"),
                "{text}: {lines:?}"
            );
        }
        let lines = problems("docs/page.md", "One.\n\nTwo, of\nwhich 12 cases are\nlong.\n");
        assert!(
            lines.len() == 1 && lines[0].contains("docs/page.md:4 counts `12 cases`"),
            "{lines:?}"
        );
    }

    #[test]
    fn other_numbers_tables_and_runs_are_none() {
        for text in [
            "Six cases are skipped; DRV-232 has cases, and APP-20 tests them.",
            "At most 16 patterns of one variable; 4 KiB of drivers.",
            "<!-- written by make documents: limits -->\n\n| cases | 12 cases |\n\n<!-- end -->",
            "The run of commit 0f086c15a was ended after 97 mutants.",
        ] {
            assert_eq!(problems("docs/page.md", text), [""; 0], "{text}");
        }
    }
}
