//! The profiles of Mesa's drivers: files that change a driver's answers for programs with certain names.

use crate::catalogue::{self, identity_of};
use record::WHOLE_NAME;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Folder in which packages install profiles, and the administrator's file. A driver that was built for other folders contains other paths
/// in its library file.
const USUAL: [&str; 2] = ["/usr/share/drirc.d", "/etc/drirc"];
/// Device node that lavapipe needs for some extensions. The record contains the path only if the node is missing, because the open nodes
/// are recorded anyway.
const BUFFERS: &str = "/dev/udmabuf";

/// Attribute of a profile that selects a program by the whole name of its executable.
const EXECUTABLE: &str = "executable=";

/// Attributes of a profile that select programs.
const ATTRIBUTES: [&str; 4] = [
    EXECUTABLE,
    "executable_regexp=",
    "application_name_match=",
    "engine_name_match=",
];

/// Usual lower bound on the length in bytes of the parts of a pattern that identify a program. If no part of a pattern is so long,
/// [`SHORTEST`] applies.
const USUAL_LENGTH: usize = 3;
/// Lower bound on the length in bytes of a part of a pattern, for patterns such as `X4`.
const SHORTEST: usize = 2;

/// The profiles on this machine.
pub(super) struct Profiles {
    /// Parts of program names, one part on each line.
    pub(super) names: Vec<u8>,
    /// The files, each with its identity, in the format that the record uses.
    pub(super) files: Vec<Vec<u8>>,
}

/// Reads the profiles of the driver that has a function at the address `function`. Returns `None` if a file cannot be read, or if a
/// profile selects programs in a way that parts of program names cannot express.
pub(super) fn read(function: usize) -> Option<Profiles> {
    let mut files: BTreeSet<PathBuf> = USUAL.into_iter().map(PathBuf::from).collect();
    let driver = library_at(function).and_then(|path| fs::read(path).ok());
    files.extend(catalogue::profiles(&driver.unwrap_or_default()));
    let mut files = catalogue::with_entries(files);
    let mut names = Vec::new();
    for text in files.iter().filter(|path| path.is_file()).map(fs::read_to_string) {
        let text = text.ok()?;
        if needs_content(&text) {
            return None;
        }
        for (attribute, pattern) in patterns(&text) {
            names.extend(parts(pattern).or_else(|| whole(attribute, pattern))?);
        }
    }
    names.sort();
    names.dedup();
    files.extend(Some(BUFFERS.into()).filter(|path: &PathBuf| !path.exists()));
    let line = |path: &PathBuf| {
        let mut line = path.as_os_str().as_encoded_bytes().to_vec();
        line.push(0);
        line.extend(identity_of(Path::new(path)).unwrap_or_default().into_bytes());
        line
    };
    Some(Profiles {
        names: names.join("\n").into_bytes(),
        files: files.iter().map(line).collect(),
    })
}

/// Returns the path of the file that this process has mapped at an address.
fn library_at(address: usize) -> Option<PathBuf> {
    let maps = fs::read_to_string("/proc/self/maps").ok()?;
    maps.lines().find_map(|line| {
        let (first, rest) = line.split_once('-')?;
        let (end, rest) = rest.split_once(' ')?;
        let number = |text: &str| usize::from_str_radix(text, 16).ok();
        let is_here = (number(first)?..number(end)?).contains(&address);
        is_here.then(|| rest.find('/').map(|at| PathBuf::from(&rest[at..])))?
    })
}

/// Returns `true` if a profile selects programs only by a checksum of their content.
fn needs_content(text: &str) -> bool {
    let mut elements = text.split('<').filter(|element| element.starts_with("application"));
    elements.any(|element| element.contains("sha1=") && !ATTRIBUTES.iter().any(|known| element.contains(known)))
}

/// Returns the line that stores the whole name of an executable. Used for short names such as `X`, of which [`parts`] finds no part that is
/// long enough. Returns `None` if the attribute selects programs by a pattern instead of a name.
fn whole(attribute: &str, name: &str) -> Option<Vec<String>> {
    let is_name = attribute == EXECUTABLE && !name.is_empty() && !name.contains(['\n', '&']);
    is_name.then(|| vec![format!("{}{name}", char::from(WHOLE_NAME))])
}

/// Returns the attributes that select programs, each with its value.
fn patterns(text: &str) -> impl Iterator<Item = (&'static str, &str)> {
    ATTRIBUTES.into_iter().flat_map(move |attribute| {
        text.split(attribute).skip(1).filter_map(move |rest| {
            let quote = rest.chars().next().filter(|first| "\"'".contains(*first))?;
            Some((attribute, rest[1..].split(quote).next()?))
        })
    })
}

/// Returns the parts of a pattern without special characters. Each matching name contains at least one of the parts. Returns `None` if an
/// alternative in the pattern has no part that is long enough, or contains an optional group or a class of characters.
fn parts(pattern: &str) -> Option<Vec<String>> {
    let pattern = without_cases(pattern);
    let mut found = Vec::new();
    for alternative in pattern.split('|') {
        let is_usual = |character: char| character.is_alphanumeric() || " -_'".contains(character);
        if [")?", ")*", "){"].iter().any(|end| alternative.contains(end)) {
            return None;
        }
        let mut of_it = Vec::new();
        let mut rest = alternative;
        while !rest.is_empty() {
            let end = rest.find(|character| !is_usual(character)).unwrap_or(rest.len());
            let (part, after) = rest.split_at(end);
            // In a regular expression, `?`, `*` and `{` can make the preceding character optional.
            let is_optional = after.starts_with(['?', '*', '{']);
            let part = if is_optional {
                part.get(..end.saturating_sub(1))?
            } else {
                part
            };
            if part.len() >= SHORTEST {
                of_it.push(part.to_owned());
            }
            rest = after_special(after)?;
        }
        if of_it.iter().any(|part| part.len() >= USUAL_LENGTH) {
            of_it.retain(|part| part.len() >= USUAL_LENGTH);
        }
        if of_it.is_empty() {
            return None;
        }
        found.extend(of_it);
    }
    Some(found)
}

/// Replaces sets such as `[Dd]` by one character, because the comparison of names ignores upper and lower case.
fn without_cases(pattern: &str) -> String {
    let mut plain = String::new();
    let mut rest = pattern;
    while let Some(at) = rest.find(['[', '\\']) {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        let set = rest.strip_prefix('[').and_then(|set| set.split_once(']'));
        let letter = set.and_then(|(within, _)| within.chars().next());
        let is_letter = |(within, _): &(&str, &str)| {
            let mut all = within.chars();
            all.all(|one| one.is_ascii_alphabetic() && letter.is_some_and(|first| first.eq_ignore_ascii_case(&one)))
        };
        if let Some(((_, after), letter)) = set.filter(is_letter).zip(letter) {
            plain.push(letter);
            rest = after;
        } else {
            // Copies two characters: an escape sequence, or the bracket at the beginning of any other set and the character after it.
            let length = rest.chars().take(2).map(char::len_utf8).sum();
            plain.push_str(&rest[..length]);
            rest = &rest[length..];
        }
    }
    plain + rest
}

/// Returns the rest of a pattern after the special element at its beginning: an escaped character, a set of characters, a number of
/// repetitions, or a single character. Returns `None` if a set has no end, or contains a class.
fn after_special(pattern: &str) -> Option<&str> {
    let mut rest = pattern.chars();
    match rest.next() {
        Some('\\') => {
            rest.next();
        }
        Some('{') => return Some(rest.as_str().split_once('}')?.1),
        Some('[') => {
            let set = rest.as_str();
            let set = set.strip_prefix('^').unwrap_or(set);
            // A closing bracket at the beginning of a set is a member of the set.
            let set = set.strip_prefix(']').unwrap_or(set);
            let (within, after) = set.split_once(']')?;
            return (!within.contains('[')).then_some(after);
        }
        _ => {}
    }
    Some(rest.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drv_284_a_short_name_of_an_executable_is_compared_as_a_whole() {
        let text = r#"<application name="Xorg" executable="X"><application name="b" engine_name_match="X"/>"#;
        let lines: Vec<_> = patterns(text).map(|(attribute, name)| whole(attribute, name)).collect();
        assert_eq!(lines, [Some(vec!["=X".into()]), None]);
        // An entity such as `&amp;` stands for another character.
        for name in ["", "&amp;", "X\nY"] {
            assert_eq!(whole(EXECUTABLE, name), None, "{name}");
        }
    }

    #[test]
    fn drv_284_programs_are_recognised_by_parts_of_patterns() {
        let text =
            r#"<application name="A" executable="a game.exe"/><engine engine_name_match='UnrealEngine4.*|Unity' />"#;
        let found: Vec<_> = patterns(text).map(|(_, pattern)| pattern).collect();
        assert_eq!(found, ["a game.exe", "UnrealEngine4.*|Unity"]);
        assert_eq!(parts(found[0]), Some(vec!["a game".into(), "exe".into()]));
        assert_eq!(parts(found[1]), Some(vec!["UnrealEngine4".into(), "Unity".into()]));
        assert_eq!(parts("Unity|.*"), None);
        assert_eq!(parts("^ab$"), Some(vec!["ab".into()]));
        assert_eq!(parts("game2?.*x"), Some(vec!["game".into()]));
        assert_eq!(parts("Mari[0-9]+[.]x"), Some(vec!["Mari".into()]));
        assert!(needs_content(r#"<application name="a" sha1="0123"/>"#));
        assert!(!needs_content(
            r#"<application name="a" executable="b" sha1="0123"/><a sha1="0"/>"#
        ));
        let own = library_at(library_at as *const () as usize);
        assert_eq!(own, std::env::current_exe().ok());
        assert_eq!(library_at(1), None);
        assert_eq!(parts("X4"), Some(vec!["X4".into()]));
        assert_eq!(parts("X4.game"), Some(vec!["game".into()]));
        assert_eq!(parts("[Dd]i[Rr][Tt]4"), Some(vec!["DiRT4".into()]));
        assert_eq!(parts(r"\[Dd]abc[x"), None);
        assert_eq!(parts("[Dd]?abc[^a]de"), Some(vec!["abc".into()]));
        assert_eq!(parts("[]abc]game"), Some(vec!["game".into()]));
        assert_eq!(parts("[^]abc]game"), Some(vec!["game".into()]));
        assert_eq!(parts(r"\wide\.ab"), Some(vec!["ide".into()]));
        assert_eq!(parts("[a-z]{10,20}"), None);
        for unusual in [
            "[abc]",
            "[abc",
            "abc(def)?",
            "abc(def)*",
            "[[:alpha:]abc]game",
            r"\wx\.",
            "x",
        ] {
            assert_eq!(parts(unusual), None, "{unusual}");
        }
    }
}
