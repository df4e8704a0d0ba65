//! Checks the requirement numbers of `docs/reference/`, such as APP-1: the definition of each number, the places that cite it, and the
//! tests that verify the requirement.
//!
//! A page defines a number with an anchor. Code, tests and documents cite numbers. The check reports a cited number without a definition, a
//! number with neither a test nor a reason in its entry, and a number with both.

use crate::tree::Tree;
use crate::words::{digits, is_word, line, links, without_code};
use std::collections::{BTreeMap, BTreeSet};

/// Folder of the pages of the reference.
pub const FOLDER: &str = "docs/reference";
/// Comment that marks the start of the link targets in a document.
const BEGIN: &str = "<!-- written by make documents: numbers -->";
const END: &str = "<!-- end -->";
const KINDS: [&str; 6] = ["APP", "DRV", "LAY", "BI", "GEN", "LSV"];
/// Folders with files that can cite a requirement number. Files at the root can cite a number too.
const FOLDERS: [&str; 8] = [
    "docs",
    "generated",
    "generator",
    "loader",
    "make",
    "packaging",
    "registry",
    "tests",
];
const KINDS_OF_FILES: [&str; 11] = ["c", "h", "html", "in", "json", "md", "py", "rs", "sh", "toml", "txt"];
/// Files that the check skips, because they were downloaded, recorded or generated, or because they describe requirement numbers
/// themselves.
const BESIDE: [&str; 4] = [
    "registry/snapshot/",
    "tests/bench-runs/",
    "tests/inputs/",
    "tests/xtask/",
];

/// A requirement number in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found<'a> {
    /// Place in the text where the citation starts.
    pub place: usize,
    /// Citation as text.
    pub text: &'a str,
    kind: usize,
    value: u32,
}

/// An entry of the reference, which defines a requirement number.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Number that the entry defines.
    pub number: String,
    /// Name of the page that contains the entry.
    pub page: String,
    /// Line at which the entry begins.
    pub line: usize,
    /// Reason why no test verifies the requirement, if the page gives one.
    pub reason: Option<String>,
    anchor: String,
}

/// Names of the tests for each requirement number.
pub type Shown = BTreeMap<String, Vec<String>>;

/// Returns the requirement numbers that a text contains, such as APP-1.
pub fn written(text: &str) -> Vec<Found<'_>> {
    let found = text.match_indices('-').filter_map(|(dash, _)| {
        if !text.as_bytes().get(dash + 1).is_some_and(u8::is_ascii_digit) {
            return None;
        }
        let kind = KINDS.iter().position(|kind| text[..dash].ends_with(kind))?;
        let place = dash - KINDS[kind].len();
        let (value, rest) = digits(&text[dash + 1..])?;
        let rest = rest.strip_prefix(|it: char| it.is_ascii_lowercase()).unwrap_or(rest);
        let is_whole = !text[..place].ends_with(is_word) && !rest.starts_with(is_word);
        is_whole.then(|| Found {
            place,
            text: &text[place..text.len() - rest.len()],
            kind,
            value: value.parse().unwrap_or(u32::MAX),
        })
    });
    found.collect()
}

/// Iterates over the requirement numbers in the names of tests. A name begins with the numbers of the requirements that the test verifies:
/// `drv_131_...`, `app_194a_...`.
fn named(text: &str) -> impl Iterator<Item = String> + '_ {
    text.match_indices('_').filter_map(|(mark, _)| {
        if !text.as_bytes().get(mark + 1).is_some_and(u8::is_ascii_digit) {
            return None;
        }
        let kind = KINDS
            .iter()
            .find(|kind| text[..mark].ends_with(&kind.to_ascii_lowercase()))?;
        let before = &text[..mark - kind.len()];
        let (value, rest) = digits(&text[mark + 1..])?;
        let after = rest.strip_prefix(|it: char| it.is_ascii_lowercase()).unwrap_or(rest);
        let letter = &rest[..rest.len() - after.len()];
        let is_whole =
            !before.ends_with(|it: char| it.is_ascii_lowercase() || it.is_ascii_digit()) && after.starts_with('_');
        is_whole.then(|| format!("{kind}-{}{letter}", value.trim_start_matches('0')))
    })
}

/// Returns the requirement numbers that a text cites. A range includes all defined numbers between its ends.
pub fn cited(text: &str, defined: &BTreeSet<String>) -> BTreeSet<String> {
    let plain = written(text);
    let mut found: BTreeSet<String> = plain.iter().map(|it| it.text.to_owned()).collect();
    found.extend(named(text));
    for pair in plain.windows(2) {
        let [first, last] = pair else { continue };
        if first.kind == last.kind && &text[first.place + first.text.len()..last.place] == " to " {
            let between = defined.iter().filter(|number| {
                written(number)
                    .first()
                    .is_some_and(|it| it.kind == first.kind && (first.value..=last.value).contains(&it.value))
            });
            found.extend(between.cloned());
        }
    }
    found
}

/// Returns the paths of the reference's pages.
pub fn pages(tree: &Tree) -> Vec<String> {
    tree.files(FOLDER)
        .into_iter()
        .filter(|path| path.ends_with(".md"))
        .collect()
}

/// Returns the entries of the pages, in their order.
///
/// # Errors
/// Returns a message if a page cannot be read.
pub fn entries(tree: &Tree) -> Result<Vec<Entry>, String> {
    let mut found = Vec::new();
    for path in pages(tree) {
        let text = tree.read(&path)?;
        let page = path.rsplit('/').next().unwrap_or_default();
        let places: Vec<(usize, usize, &str, &str)> = definitions(&text).collect();
        for (index, &(begin, end, anchor, number)) in places.iter().enumerate() {
            let next = places.get(index + 1).map_or(text.len(), |after| after.0);
            let is_row = text[..begin].rsplit('\n').next().unwrap_or_default().starts_with('|')
                || text[begin..].starts_with('|');
            let part = &text[end..next];
            // An entry ends at a heading or an empty line. In a table, the entry ends with its row.
            let part = if is_row {
                part.split('\n').next().unwrap_or_default().trim_end_matches([' ', '|'])
            } else {
                let part = part.split("\n\n").next().unwrap_or_default();
                part.split("\n#").next().unwrap_or_default()
            };
            found.push(Entry {
                number: number.to_owned(),
                page: page.to_owned(),
                line: line(&text, begin),
                reason: reason(part.trim_end_matches([' ', '-', '\n'])),
                anchor: anchor.to_owned(),
            });
        }
    }
    Ok(found)
}

/// Iterates over the definitions in a page. Each definition consists of begin, end, anchor and number.
fn definitions(text: &str) -> impl Iterator<Item = (usize, usize, &str, &str)> {
    text.match_indices("<a id=\"").filter_map(|(begin, mark)| {
        let (anchor, rest) = text[begin + mark.len()..].split_once('"')?;
        let (number, rest) = rest.strip_prefix("></a>**")?.split_once("**")?;
        let is_number = written(number).first().is_some_and(|it| it.text == number);
        is_number.then(|| (begin, text.len() - rest.len(), anchor, number))
    })
}

/// Returns the reason why no test verifies an entry, or `None`. The reason is the text in parentheses at the end of a line.
fn reason(part: &str) -> Option<String> {
    const MARK: &str = " (no case: ";
    part.match_indices(MARK).find_map(|(place, _)| {
        let (reason, rest) = part[place + MARK.len()..].split_once(')')?;
        (!reason.contains('(') && (rest.is_empty() || rest.starts_with('\n'))).then(|| reason.to_owned())
    })
}

/// Returns the files that can cite requirement numbers.
pub fn citing(tree: &Tree) -> Vec<String> {
    let mut found: Vec<String> = FOLDERS.iter().flat_map(|folder| tree.files(folder)).collect();
    found.extend(tree.root_documents());
    found.retain(|path| {
        let kind = path.rsplit_once('.').map_or("", |(_, kind)| kind);
        KINDS_OF_FILES.contains(&kind) && !BESIDE.iter().any(|beside| path.starts_with(beside))
    });
    found.sort();
    found
}

/// Returns for each requirement number the names of the tests that verify it: first behaviour tests, then unit tests and scripts.
///
/// # Errors
/// Returns a message if a file with tests cannot be read.
pub fn shown(tree: &Tree, cases: &[(String, String)], defined: &BTreeSet<String>) -> Result<Shown, String> {
    let mut found = Shown::new();
    let mut add = |name: &str, text: &str| {
        for number in cited(text, defined) {
            found.entry(number).or_default().push(name.to_owned());
        }
    };
    for (name, text) in cases {
        add(name, text);
    }
    for path in citing(tree) {
        let has_scripts = ["tests/abi/", "tests/real/", "tests/windows/"]
            .iter()
            .any(|folder| path.starts_with(folder));
        if path.ends_with(".rs") && !path.starts_with("tests/tests/") && !path.starts_with("generated/") {
            let text = tree.read(&path)?;
            if text.contains("#[test]") {
                for test in tree.source(&path)?.tests() {
                    add(&format!("{path}: {}", test.name), &test.text);
                }
            }
        } else if has_scripts && [".py", ".c", ".h"].iter().any(|end| path.ends_with(end)) {
            add(&path, &tree.read(&path)?);
        }
    }
    Ok(found)
}

/// Returns a text with its requirement numbers in brackets, which makes the numbers links.
pub fn bracketed(text: &str) -> String {
    let mut out = String::new();
    let mut rest = 0;
    for found in written(text) {
        out.push_str(&text[rest..found.place]);
        out.extend(["[", found.text, "]"]);
        rest = found.place + found.text.len();
    }
    out + &text[rest..]
}

/// Returns the text of a document, with link targets at its end for the numbers that it cites. Also returns an error for each citation that
/// is not a link.
pub fn with_places(path: &str, text: &str, entries: &[Entry]) -> (String, Vec<String>) {
    let mut text = match text.split_once(&format!("\n{BEGIN}\n")) {
        Some((before, rest)) => before.to_owned() + rest.split_once(&format!("{END}\n")).map_or("", |(_, after)| after),
        None => text.to_owned(),
    };
    let plain = without_code(&text);
    let home = |number: &str| {
        entries
            .iter()
            .find(|entry| entry.number == number)
            .map(|entry| entry.page.as_str())
    };
    let (mut used, mut wrong) = (BTreeSet::new(), Vec::new());
    for found in written(&plain) {
        let after = &plain[found.place + found.text.len()..];
        if plain[..found.place].ends_with('[') && after.starts_with(']') && !after.starts_with("](") {
            used.insert((found.kind, found.value, found.text));
        } else {
            wrong.push(format!(
                "{path}:{} cites {} otherwise than as [{}], which leads to it",
                line(&plain, found.place),
                found.text,
                found.text
            ));
        }
    }
    for (place, target) in links(&plain) {
        let (page, anchor) = target.split_once('#').unwrap_or((target, ""));
        let number = anchor.to_uppercase();
        let is_number = written(&number).first().is_some_and(|it| it.text == number);
        if is_number && home(&number) != page.rsplit('/').next() {
            wrong.push(format!(
                "{path}:{} links to {target}, which is not there",
                line(&plain, place)
            ));
        }
    }
    if !used.is_empty() {
        let folder = crate::links::relative(path, FOLDER);
        text.push_str(&format!("\n{BEGIN}\n\n"));
        for (_, _, number) in used {
            text.push_str(&format!(
                "[{number}]: {folder}/{}#{}\n",
                home(number).unwrap_or("?"),
                number.to_lowercase()
            ));
        }
        text.push_str(&format!("\n{END}\n"));
    }
    (text, wrong)
}

/// Returns the tests for each requirement number. Also returns a line for each number that is cited without a definition, or defined
/// without a test.
///
/// # Errors
/// Returns a message if a file cannot be read.
pub fn problems(tree: &Tree, cases: &[(String, String)]) -> Result<(Shown, Vec<String>), String> {
    let entries = entries(tree)?;
    let mut wrong = Vec::new();
    let mut defined = BTreeSet::new();
    for entry in &entries {
        let Entry {
            number,
            page,
            line,
            anchor,
            ..
        } = entry;
        if !defined.insert(number.clone()) {
            wrong.push(format!("{FOLDER}/{page}:{line} defines {number} again"));
        }
        if *anchor != number.to_lowercase() {
            wrong.push(format!("{FOLDER}/{page}:{line} gives {number} the anchor {anchor}"));
        }
    }
    wrong.extend(bad_links(tree, &entries)?);
    for path in citing(tree) {
        let text = tree.read(&path)?;
        if cited(&text, &BTreeSet::new()).is_subset(&defined) {
            continue;
        }
        for (index, part) in text.lines().enumerate() {
            let unknown = cited(part, &BTreeSet::new());
            let lines = unknown.difference(&defined).map(|number| {
                format!(
                    "{path}:{} cites {number}, which no page of {FOLDER}/ defines",
                    index + 1
                )
            });
            wrong.extend(lines);
        }
    }
    let shown = shown(tree, cases, &defined)?;
    for Entry {
        number,
        page,
        line,
        reason,
        ..
    } in &entries
    {
        match (reason, shown.get(number)) {
            (None, None) => wrong.push(format!(
                "{FOLDER}/{page}:{line}: no case shows {number}: write one, or end its entry with (no case: REASON)"
            )),
            (Some(_), Some(names)) => wrong.push(format!(
                "{FOLDER}/{page}:{line} says why no case shows {number}, but {} does",
                names[0]
            )),
            _ => {}
        }
    }
    Ok((shown, wrong))
}

/// Returns a line for each link in the reference to a requirement number that has no definition.
fn bad_links(tree: &Tree, entries: &[Entry]) -> Result<Vec<String>, String> {
    let mut wrong = Vec::new();
    for path in pages(tree) {
        let text = tree.read(&path)?;
        let own = path.rsplit('/').next().unwrap_or_default();
        for (place, target) in links(&text) {
            let Some((page, anchor)) = target.split_once('#') else {
                continue;
            };
            let number = anchor.to_uppercase();
            let page = if page.is_empty() { own } else { page };
            let is_number = written(&number).first().is_some_and(|it| it.text == number);
            let is_there = entries.iter().any(|entry| entry.page == page && entry.anchor == anchor);
            if is_number && !is_there {
                wrong.push(format!(
                    "{path}:{} links to {target}, which is not there",
                    line(&text, place)
                ));
            }
        }
    }
    Ok(wrong)
}
