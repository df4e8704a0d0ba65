//! Checks the English of comments and pages: forbidden beginnings and words, and long sentences. `prose.toml` contains the rules, the
//! permitted number of findings in each folder, and the exceptions.

use crate::comments::{self, Comment};
use crate::sentences::{page, sentences, words};
use crate::tree::Tree;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// Path of the file with the rules.
pub const FILE: &str = "tests/xtask/prose.toml";

/// Contents of `prose.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rules {
    /// Beginnings of the paths that the check skips.
    skipped: Vec<String>,
    /// Forbidden first words of documentation.
    beginnings: BTreeSet<String>,
    /// Forbidden first words of all comments in sources and scripts.
    anywhere: BTreeSet<String>,
    /// Maximum number of words in a sentence.
    sentence: usize,
    safety: Safety,
    #[serde(rename = "word")]
    words: Vec<Word>,
    #[serde(default, rename = "exception")]
    exceptions: Vec<Exception>,
    /// Maximum numbers of findings by folder. A file belongs to the longest of these paths with which its own path begins.
    limits: BTreeMap<String, Counts>,
}

/// Rules for the reasons in the SAFETY comments of unsafe blocks.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Safety {
    /// Minimum number of words in a reason.
    words: usize,
    /// Phrases that are not reasons.
    phrases: Vec<String>,
}

/// A word or phrase to avoid.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Word {
    find: Vec<String>,
    /// Advice in the message.
    write: String,
    /// Words that make the phrase acceptable if they are next to it.
    #[serde(default)]
    unless: BTreeSet<String>,
    /// Beginnings of paths where the word is a technical term.
    #[serde(default)]
    not_in: Vec<String>,
}

/// Text that breaks a rule and is permitted.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Exception {
    file: String,
    /// Part of the text to which the exception applies.
    text: String,
    reason: String,
}

/// Numbers of findings, one for each kind of rule.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Counts {
    beginnings: usize,
    words: usize,
    sentences: usize,
    safety: usize,
}

/// The kinds of rules.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Beginning,
    Word,
    Sentence,
    Safety,
}

/// Text that breaks a rule.
struct Finding {
    kind: Kind,
    /// Text to which an exception can apply.
    text: String,
    message: String,
}

/// Findings by folder.
type Found = BTreeMap<String, Vec<Finding>>;

impl Counts {
    fn get(&mut self, kind: Kind) -> &mut usize {
        match kind {
            Kind::Beginning => &mut self.beginnings,
            Kind::Word => &mut self.words,
            Kind::Sentence => &mut self.sentences,
            Kind::Safety => &mut self.safety,
        }
    }

    fn of(findings: &[Finding]) -> Self {
        let mut counts = Self::default();
        for finding in findings {
            *counts.get(finding.kind) += 1;
        }
        counts
    }
}

/// Returns a line for each finding in a folder with too many findings, and for each unused exception.
///
/// # Errors
/// Returns a message if the rules or a file cannot be read.
pub fn problems(tree: &Tree) -> Result<Vec<String>, String> {
    let rules = Rules::read(tree)?;
    let (found, mut wrong) = rules.found(tree)?;
    for (folder, findings) in &found {
        let mut counts = Counts::of(findings);
        let mut limits = rules.limits.get(folder).copied().unwrap_or_default();
        for kind in [Kind::Beginning, Kind::Word, Kind::Sentence, Kind::Safety] {
            let (count, limit) = (*counts.get(kind), *limits.get(kind));
            if count > limit {
                let places = findings.iter().filter(|finding| finding.kind == kind);
                wrong.extend(places.map(|finding| finding.message.clone()));
                wrong.push(format!(
                    "{folder}: {count} of these, and {FILE} allows {limit}: rewrite the new ones"
                ));
            }
        }
    }
    Ok(wrong)
}

/// Returns the rules with lower limits for the folders that have fewer findings.
///
/// # Errors
/// Returns a message if the rules or a file cannot be read.
pub fn lowered(tree: &Tree) -> Result<String, String> {
    let rules = Rules::read(tree)?;
    let (found, _) = rules.found(tree)?;
    let text = tree.read(FILE)?;
    let lines = text.split_inclusive('\n').map(|line| {
        let row = rules
            .limits
            .iter()
            .find(|(folder, _)| line.starts_with(&format!("\"{folder}\" = ")));
        row.map_or_else(
            || line.to_owned(),
            |(folder, limits)| {
                let mut limits = *limits;
                let mut counts = Counts::of(found.get(folder).map_or(&[], Vec::as_slice));
                let mut lower = |kind| (*limits.get(kind)).min(*counts.get(kind));
                format!(
                    "\"{folder}\" = {{ beginnings = {}, words = {}, sentences = {}, safety = {} }}\n",
                    lower(Kind::Beginning),
                    lower(Kind::Word),
                    lower(Kind::Sentence),
                    lower(Kind::Safety)
                )
            },
        )
    });
    Ok(lines.collect())
}

impl Rules {
    fn read(tree: &Tree) -> Result<Self, String> {
        toml::from_str(&tree.read(FILE)?).map_err(|error| format!("{FILE}: {error}"))
    }

    /// Returns the findings of all files, and a line for each unused exception.
    fn found(&self, tree: &Tree) -> Result<(Found, Vec<String>), String> {
        let mut found = Found::new();
        let mut used = BTreeSet::new();
        for path in tree.files("") {
            if self.skipped.iter().any(|skipped| path.starts_with(skipped)) {
                continue;
            }
            let Some(read) = reader(&path) else {
                continue;
            };
            let mut findings = self.findings(&path, &read(&tree.read(&path)?));
            findings.retain(|finding| {
                let fits = |row: &Exception| row.file == path && finding.text.contains(&row.text);
                let place = self.exceptions.iter().position(fits);
                used.extend(place);
                place.is_none()
            });
            found.entry(self.folder(&path)).or_default().extend(findings);
        }
        let rows = self
            .exceptions
            .iter()
            .enumerate()
            .filter(|(place, _)| !used.contains(place));
        let unused = rows.map(|(_, row)| {
            format!(
                "{FILE}: unused exception `{}` of {} ({})",
                row.text, row.file, row.reason
            )
        });
        Ok((found, unused.collect()))
    }

    /// Returns the folder whose limit applies to a file.
    fn folder(&self, path: &str) -> String {
        let folders = self.limits.keys().filter(|folder| path.starts_with(folder.as_str()));
        folders.max_by_key(|folder| folder.len()).cloned().unwrap_or_default()
    }

    fn findings(&self, path: &str, comments: &[Comment]) -> Vec<Finding> {
        let mut found = Vec::new();
        for comment in comments {
            let begin = found.len();
            if !path.ends_with(".md") {
                self.judge_beginning(comment, &mut found);
            }
            self.judge_safety(comment, &mut found);
            for sentence in sentences(&comment.text) {
                self.judge_sentence(path, &sentence, &mut found);
            }
            for finding in &mut found[begin..] {
                finding.message = format!("{path}:{}: {}", comment.line, finding.message);
            }
        }
        found
    }

    fn judge_beginning(&self, comment: &Comment, found: &mut Vec<Finding>) {
        let first = subject(&comment.text).split(|it: char| !it.is_alphanumeric()).next();
        let first = capitalised(first.unwrap_or_default());
        if self.anywhere.contains(&first) || comment.documents && self.beginnings.contains(&first) {
            found.push(Finding {
                kind: Kind::Beginning,
                text: comment.text.clone(),
                message: format!(
                    "`{first}` begins a comment: begin with a noun phrase, or with a verb (\"Returns …\")"
                ),
            });
        }
    }

    fn judge_safety(&self, comment: &Comment, found: &mut Vec<Finding>) {
        let Some(reason) = comment.text.strip_prefix("SAFETY:") else {
            return;
        };
        let count = words(reason).len();
        let phrase = self
            .safety
            .phrases
            .iter()
            .find(|phrase| reason.contains(phrase.as_str()));
        let what = match phrase {
            Some(phrase) => format!("`{phrase}` in SAFETY"),
            None if count < self.safety.words => format!("SAFETY of {count} words"),
            None => return,
        };
        found.push(Finding {
            kind: Kind::Safety,
            text: reason.to_owned(),
            message: format!("{what}: name the precondition, and why it holds here"),
        });
    }

    fn judge_sentence(&self, path: &str, sentence: &str, found: &mut Vec<Finding>) {
        let words = words(sentence);
        let mut add = |kind, message| {
            let text = sentence.to_owned();
            found.push(Finding { kind, text, message });
        };
        if words.len() > self.sentence {
            let begin = words[..6].join(" ");
            let message = format!(
                "{} words in `{begin} …`: write sentences of at most {}",
                words.len(),
                self.sentence
            );
            add(Kind::Sentence, message);
        }
        for rule in self
            .words
            .iter()
            .filter(|rule| !rule.not_in.iter().any(|begin| path.starts_with(begin)))
        {
            for phrase in rule.find.iter().filter(|phrase| rule.is_in(phrase, &words)) {
                add(Kind::Word, format!("`{phrase}`: write {}", rule.write));
            }
        }
    }
}

impl Word {
    /// Returns `true` if the words contain the phrase, and none of the phrase's exceptions is next to it.
    fn is_in(&self, phrase: &str, words: &[String]) -> bool {
        let phrase: Vec<&str> = phrase.split(' ').collect();
        let is_allowed = |place: Option<usize>| {
            let word = place.and_then(|place| words.get(place));
            word.is_some_and(|word| self.unless.contains(word))
        };
        words.windows(phrase.len()).enumerate().any(|(place, row)| {
            row == phrase && !is_allowed(place.checked_sub(1)) && !is_allowed(Some(place + phrase.len()))
        })
    }
}

/// Returns the text of a comment without labels. A label is a number of the reference, `SAFETY`, or the name and parameters of a script's
/// function.
fn subject(text: &str) -> &str {
    let mut rest = text.trim_start();
    while let Some((label, after)) = rest.split_once(':') {
        if !after.starts_with(char::is_whitespace) || !is_label(label) {
            break;
        }
        rest = after.trim_start();
    }
    rest
}

/// Returns `true` if a text is a label: `SAFETY`, requirement numbers, or a shell function with its parameters.
fn is_label(text: &str) -> bool {
    let words = text.split([' ', ',']).filter(|word| !word.is_empty());
    let is_number = |word: &str| {
        word == "to"
            || word
                .split_once('-')
                .is_some_and(|(kind, number)| is_upper(kind) && number.starts_with(|it: char| it.is_ascii_digit()))
    };
    let is_function = |word: &str| !word.is_empty() && word.chars().all(|it| it.is_ascii_lowercase() || it == '_');
    let mut parameters = words.clone().skip(1);
    text == "SAFETY"
        || words.clone().all(is_number)
        || (words.clone().next().is_some_and(is_function)
            && parameters.all(|word| is_upper(word.trim_matches(['.', '[', ']']))))
}

/// Returns `true` if a text consists of capital letters and digits.
fn is_upper(text: &str) -> bool {
    !text.is_empty()
        && text
            .chars()
            .all(|it| it.is_ascii_uppercase() || it.is_ascii_digit() || it == '_')
}

/// Returns a word with a capital first letter.
fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// Returns the function that finds the prose of a file. The end of the file's path selects the function.
fn reader(path: &str) -> Option<fn(&str) -> Vec<Comment>> {
    match path.rsplit(['.', '/']).next()? {
        "rs" => Some(comments::of_rust),
        "py" => Some(comments::of_python),
        "sh" | "toml" | "Makefile" => Some(comments::of_script),
        "md" => Some(page),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: &str = "\
skipped = []
beginnings = [\"It\"]
anywhere = [\"What\", \"Its\"]
sentence = 8
safety = { words = 5, phrases = [\"as above\"] }
word = [
    { find = [\"mend\"], write = \"fix\" },
    { find = [\"is no\"], write = \"invalid\", unless = [\"there\", \"longer\"], not_in = [\"b/\"] },
]
limits = { \"a/\" = { beginnings = 0, words = 0, sentences = 0, safety = 0 } }
";

    fn found(path: &str, text: &str) -> Vec<String> {
        let rules: Rules = toml::from_str(RULES).expect("rules");
        let findings = rules.findings(path, &reader(path).expect("a reader")(text));
        findings.into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn findings_name_the_place_the_word_and_the_advice() {
        for (text, expected) in [
            ("\n/// It is so.\nfn f() {}", "a/b.rs:2: `It` begins a comment"),
            ("// What it is.", "a/b.rs:1: `What` begins a comment"),
            ("/// APP-1 to APP-3, LAY-4a: its name.", "`Its` begins a comment"),
            ("// SAFETY: its five words are these.", "`Its` begins a comment"),
            ("// Mend\n// this.", "a/b.rs:1: `mend`: write fix"),
            ("// X is no\n// name.", "a/b.rs:1: `is no`: write invalid"),
            ("// SAFETY: it is open.", "SAFETY of 3 words"),
            ("// SAFETY: the same reason holds as above.", "`as above` in SAFETY"),
            ("/// A b c d e\n/// f g h i.", "9 words in `a b c d e f …`"),
        ] {
            let lines = found("a/b.rs", text);
            assert!(lines.len() == 1 && lines[0].contains(expected), "{text}: {lines:?}");
        }
        assert!(found("a/b.md", "# A\n\nSo we mend it.\n")[0].starts_with("a/b.md:3: `mend`"));
        assert!(found("a/b.sh", "x\n# mend\n")[0].starts_with("a/b.sh:2: "));
        assert!(found("a/b.sh", "# f NAME [MORE...]: what it does.\n")[0].starts_with("a/b.sh:1: `What`"));
        assert!(found("a/b.py", "def f():\n    \"\"\"What it does.\"\"\"\n")[0].starts_with("a/b.py:2: `What`"));
    }

    #[test]
    fn good_prose_is_passed() {
        for text in [
            "// It is so in a plain comment.",
            "/// Whatever.",
            "// a list of words: its end",
            "// There is no x. X is no longer y.",
            "// `mend` mending MEND",
            "/// A b c d. E f g h.\n///\n/// - I j k l\n/// - m n o p\n/// ```\n/// a b c d e f g h i j\n/// ```",
            "// SAFETY: the file is still open.",
        ] {
            assert_eq!(found("a/b.rs", text), [""; 0], "{text}");
        }
        assert_eq!(found("b/b.rs", "// X is no y."), [""; 0]);
        let page =
            "A b c d\n- e f g h\n1. i j k l\n\n    a b c d e f g h i j\n\n| a b c d | e f g h i |\n```\nmend\n```\n";
        assert_eq!(found("a/b.md", page), [""; 0]);
    }
}
