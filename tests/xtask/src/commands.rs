//! Checks the commands that documents show.
//!
//! Every command has a row in `commands.toml`. The row names a test file that runs the command, and the words in that file that run it. For
//! a command that no test runs, the row gives the reason. The check reports a command without a row, a row that no document needs, and a
//! row whose words are not in the test file.

use crate::tree::Tree;
use crate::words::line;
use serde::Deserialize;
use std::collections::BTreeSet;

/// Path of the file with a row for each command in the documents.
const FILE: &str = "tests/xtask/commands.toml";
/// Words after the fence of a code block that contains shell commands.
const SHELLS: [&str; 4] = ["", "sh", "bash", "console"];

/// Contents of `commands.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rows {
    /// Programs with which a command can begin, after assignments of variables. Scripts of the project are programs too.
    programs: Vec<String>,
    /// Names of programs and files that prose mentions.
    names: BTreeSet<String>,
    run: Vec<Run>,
    not_run: Vec<NotRun>,
}

/// A command that a test runs.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Run {
    command: String,
    file: String,
    words: String,
}

/// A command that no test runs.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NotRun {
    command: String,
    why: String,
}

impl Rows {
    /// Reads `tests/xtask/commands.toml`. Each row is about a command in the documents, and names a test that runs it, or gives a reason.
    ///
    /// # Errors
    /// Returns a message if the file cannot be read, or if a reason is empty.
    pub fn read(tree: &Tree) -> Result<Self, String> {
        let rows: Self = toml::from_str(&tree.read(FILE)?).map_err(|error| format!("{FILE}: {error}"))?;
        match rows.not_run.iter().find(|row| row.why.trim().is_empty()) {
            Some(row) => Err(format!("{FILE}: `{}` has no reason", row.command)),
            None => Ok(rows),
        }
    }

    /// Returns the commands of a document, each with its line. The commands are in indented and fenced lines, and in code within prose.
    pub fn shown(&self, text: &str) -> Vec<(usize, String)> {
        let (mut found, mut prose) = (Vec::new(), String::new());
        let mut fence: Option<String> = None;
        for (index, whole) in text.lines().enumerate() {
            if let Some(kind) = whole.strip_prefix("```") {
                fence = if fence.is_none() {
                    Some(kind.trim().to_owned())
                } else {
                    None
                };
            } else if fence.is_some() || whole.starts_with("    ") {
                if fence.as_deref().is_none_or(|kind| SHELLS.contains(&kind)) {
                    let code = whole.trim();
                    // Three spaces separate columns, and each column can contain a command.
                    let parts = code.strip_prefix("$ ").unwrap_or(code).split("   ");
                    found.extend(
                        parts
                            .flat_map(|part| self.single(part))
                            .map(|command| (index + 1, command)),
                    );
                }
            } else {
                prose.push_str(whole);
            }
            prose.push('\n');
        }
        for (place, code) in code_of(&prose) {
            found.extend(
                self.single(&code.replace('\n', " "))
                    .into_iter()
                    .map(|command| (line(&prose, place), command)),
            );
        }
        found
    }

    /// Returns the commands in a piece of code, without the comment. `&&` separates two commands.
    fn single(&self, code: &str) -> Vec<String> {
        let code = code.trim();
        let code = if code.starts_with('#') { "" } else { code };
        let code = code.split_once(" #").map_or(code, |(before, _)| before).trim_end();
        let parts = code
            .split(" && ")
            .filter(|part| self.is_command(part) && !self.names.contains(*part));
        parts.map(str::to_owned).collect()
    }

    fn is_command(&self, text: &str) -> bool {
        let mut words = text
            .split(' ')
            .filter(|word| !word.is_empty())
            .skip_while(|word| is_setting(word));
        let Some(first) = words.next() else {
            return false;
        };
        match first {
            // Prose also mentions this program without a command.
            "vkloader" | "target/release/vkloader" => words.next().is_some(),
            first if first.starts_with("make/") => first.len() > 5,
            first if first.starts_with("registry/") || first.starts_with("tests/") => first.ends_with(".sh"),
            first => self.programs.iter().any(|program| program == first),
        }
    }

    /// Returns a line for each command without a row, and for each incorrect row. `read` returns the text of a file.
    pub fn problems(&self, documents: &[(String, String)], read: impl Fn(&str) -> Option<String>) -> Vec<String> {
        let rows: Vec<&str> = self
            .run
            .iter()
            .map(|row| row.command.as_str())
            .chain(self.not_run.iter().map(|row| row.command.as_str()))
            .collect();
        let mut unused: BTreeSet<&str> = rows.iter().copied().collect();
        let mut wrong = Vec::new();
        for (path, text) in documents {
            for (number, command) in self.shown(text) {
                let fits = |row: &&str| command == **row || (row.ends_with('=') && command.starts_with(*row));
                let fitting: Vec<&str> = rows.iter().filter(|row| fits(row)).copied().collect();
                if fitting.is_empty() {
                    wrong.push(format!(
                        "{path}:{number} shows `{command}`: say in {FILE} which test runs it, or why none does"
                    ));
                }
                unused.retain(|row| !fitting.contains(row));
            }
        }
        wrong.extend(
            unused
                .iter()
                .map(|row| format!("{FILE} has a row for `{row}`, which no document shows")),
        );
        for Run { command, file, words } in &self.run {
            if !read(file).is_some_and(|text| text.contains(words.as_str())) {
                wrong.push(format!(
                    "{FILE}: {file} does not run `{command}` any more: it lacks {words}"
                ));
            }
        }
        wrong
    }
}

/// Returns `true` if a word assigns a value to a variable.
fn is_setting(word: &str) -> bool {
    let name = word
        .split_once('=')
        .filter(|(_, value)| !value.is_empty())
        .map_or("", |(name, _)| name);
    !name.is_empty() && name.bytes().all(|it| it.is_ascii_uppercase() || it == b'_')
}

/// Returns the code within prose, each piece with its place. The code can continue on the next line of its paragraph.
fn code_of(prose: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut begin = 0;
    while let Some(open) = prose[begin..].find('`').map(|place| begin + place) {
        let rest = &prose[open + 1..];
        let Some(length) = rest.find('`') else { break };
        if length == 0 || rest[..length].contains("\n\n") {
            begin = open + 1;
            continue;
        }
        found.push((open, &rest[..length]));
        begin = open + length + 2;
    }
    found
}
