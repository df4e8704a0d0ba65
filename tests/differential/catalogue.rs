//! Reads the scenes from `catalogue.txt`. The file contains worlds (files and variables), programs (steps), and lists that combine worlds
//! with programs into scenes.

use std::collections::BTreeMap;

/// A line of the file, with the indented lines below it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Item {
    pub(crate) text: String,
    pub(crate) below: Vec<String>,
}

/// Scene: its files and variables, and the steps of its program.
pub(crate) struct Play {
    pub(crate) name: String,
    pub(crate) pieces: Vec<Item>,
    pub(crate) steps: Vec<String>,
}

/// All scenes of `catalogue.txt`.
pub(crate) struct Catalogue {
    pub(crate) plays: Vec<Play>,
}

/// Definitions of `catalogue.txt`, by name.
#[derive(Default)]
struct Parts {
    worlds: BTreeMap<String, Vec<Item>>,
    programs: BTreeMap<String, Vec<String>>,
}

impl Catalogue {
    /// Reads `catalogue.txt`.
    pub(crate) fn read() -> Self {
        Self::parse(include_str!("catalogue.txt")).unwrap_or_else(|error| panic!("catalogue.txt: {error}"))
    }

    /// Returns the scene of this name.
    pub(crate) fn play(&self, name: &str) -> &Play {
        let hit = self.plays.iter().find(|play| play.name == name);
        hit.unwrap_or_else(|| panic!("no scene {name}"))
    }

    fn parse(text: &str) -> Result<Self, String> {
        let (mut parts, mut plays) = (Parts::default(), Vec::new());
        for block in blocks(text) {
            let (kind, name) = block.text.split_once(' ').unwrap_or((&block.text, ""));
            match kind {
                "world" => drop(parts.worlds.insert(name.into(), items(&block.below))),
                "program" => drop(parts.programs.insert(name.into(), block.below)),
                "scenes" => plays.extend(parts.scenes(name)?),
                _ => return Err(format!("what is `{}`?", block.text)),
            }
        }
        let mut names: Vec<&str> = plays.iter().map(|play: &Play| play.name.as_str()).collect();
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(format!("two scenes are called {}", pair[0])),
            None => Ok(Catalogue { plays }),
        }
    }
}

impl Parts {
    /// Reads a line `scenes A B | C | D E`. Returns a scene for each combination of one word from each column. Words of the last column
    /// name programs, and words of the other columns name worlds. A scene uses all words that `+` joins.
    fn scenes(&self, text: &str) -> Result<Vec<Play>, String> {
        let mut choices: Vec<Vec<&str>> = vec![Vec::new()];
        for column in text.split('|') {
            let words: Vec<&str> = column.split_whitespace().collect();
            let mut longer = Vec::new();
            for choice in &choices {
                longer.extend(words.iter().map(|word| [&choice[..], &[*word]].concat()));
            }
            choices = longer;
        }
        choices.iter().map(|choice| self.scene(choice)).collect()
    }

    fn scene(&self, choice: &[&str]) -> Result<Play, String> {
        let (program, worlds) = choice.split_last().ok_or("scenes of nothing")?;
        let missing = |name: &str| format!("nothing is called `{name}`");
        let (mut pieces, mut steps) = (Vec::new(), Vec::new());
        for name in worlds.iter().flat_map(|words| words.split('+')) {
            pieces.extend(self.worlds.get(name).ok_or_else(|| missing(name))?.iter().cloned());
        }
        for name in program.split('+') {
            steps.extend(self.programs.get(name).ok_or_else(|| missing(name))?.iter().cloned());
        }
        Ok(Play {
            name: choice.join("."),
            pieces,
            steps,
        })
    }
}

/// Splits the text into items, which begin at the lines without indentation. The indented lines of an item lose their first two spaces.
/// Lines that begin with `#` are comments.
fn blocks(text: &str) -> Vec<Item> {
    items(
        text.lines()
            .filter(|line| !line.starts_with('#') && !line.trim().is_empty()),
    )
}

fn items(lines: impl IntoIterator<Item = impl AsRef<str>>) -> Vec<Item> {
    let mut list: Vec<Item> = Vec::new();
    for line in lines {
        match (line.as_ref().strip_prefix("  "), list.last_mut()) {
            (Some(line), Some(last)) => last.below.push(line.into()),
            _ => list.push(Item {
                text: line.as_ref().into(),
                below: Vec::new(),
            }),
        }
    }
    list
}
