//! Finds words, lines and code in documents.

/// Returns `true` if a character is part of a word.
pub fn is_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_'
}

/// Returns the line number of a place in a text. The first line has the number 1.
pub fn line(text: &str, place: usize) -> usize {
    text[..place].matches('\n').count() + 1
}

/// Returns `true` if `text` contains `word` as a whole word.
pub fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word)
        .any(|(place, _)| !text[..place].ends_with(is_word) && !text[place + word.len()..].starts_with(is_word))
}

/// Returns the digits at the start of a text, and the remaining text.
pub fn digits(text: &str) -> Option<(&str, &str)> {
    let end = text
        .find(|character: char| !character.is_ascii_digit())
        .unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

/// Returns the version at the start of a text, and the remaining text. A version consists of three numbers with dots
/// between them.
pub fn version(text: &str) -> Option<(&str, &str)> {
    let mut rest = digits(text)?.1;
    for _ in 0..2 {
        rest = digits(rest.strip_prefix('.')?)?.1;
    }
    Some(text.split_at(text.len() - rest.len()))
}

/// Returns the text with spaces instead of code, in blocks and within lines. All positions in the text remain the same.
pub fn without_code(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut fenced = false;
    for line in text.split_inclusive('\n') {
        if fenced || line.starts_with("```") {
            fenced = if fenced { line.trim_end() != "```" } else { true };
            plain.extend(line.chars().map(blank));
            continue;
        }
        let mut rest = line;
        while let Some(begin) = rest.find('`') {
            let Some(length) = rest[begin + 1..].find('`').filter(|length| *length > 0) else {
                break;
            };
            let end = begin + length + 2;
            plain.push_str(&rest[..begin]);
            plain.extend(rest[begin..end].chars().map(blank));
            rest = &rest[end..];
        }
        plain.push_str(rest);
    }
    plain
}

/// Returns the text with spaces instead of the parts that `make documents` writes.
pub fn without_tables(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(begin) = rest.find("<!-- written by ") {
        let end = rest[begin..]
            .find("<!-- end -->")
            .map_or(rest.len(), |length| begin + length);
        plain.push_str(&rest[..begin]);
        plain.extend(rest[begin..end].chars().map(blank));
        rest = &rest[end..];
    }
    plain + rest
}

/// Returns a space for a character of one byte that is not a newline, and every other character unchanged.
fn blank(character: char) -> char {
    match character {
        '\n' => '\n',
        // Places count bytes, so the replacement must have as many bytes as the character. A character of several bytes, which is rare
        // here, stays.
        _ if character.len_utf8() == 1 => ' ',
        other => other,
    }
}

/// Returns the links of a text without code: the place and the target of each.
pub fn links(plain: &str) -> Vec<(usize, &str)> {
    let found = plain.match_indices("](").filter_map(|(place, _)| {
        let target = &plain[place + 2..];
        let end = target.find(')')?;
        let target = &target[..end];
        (!target.contains(char::is_whitespace)).then_some((place, target))
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_blanked_out_and_places_stay() {
        let text = "a `b` c\n```\n[x](y)\n```\n[z](w) `open\n";
        let plain = without_code(text);
        assert_eq!(plain.len(), text.len());
        assert_eq!(plain.lines().next(), Some("a     c"));
        assert_eq!(links(&plain), [(text.find("](w)").expect("the link"), "w")]);
        assert!(plain.contains("`open"));
    }

    #[test]
    fn a_version_has_three_numbers() {
        assert_eq!(version("1.4.366,"), Some(("1.4.366", ",")));
        assert_eq!(version("1.4,"), None);
        assert_eq!(version("1.4.x"), None);
    }

    #[test]
    fn words_are_whole() {
        assert!(has_word("the HOME, here", "HOME") && !has_word("XHOME HOMES", "HOME"));
    }
}
