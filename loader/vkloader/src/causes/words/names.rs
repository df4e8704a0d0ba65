//! Finds variables whose names are almost the name of a variable that the loader reads, or consist of the same words.

use crate::report::{Dropped, codes, rank};
use promises::variable::TABLE;

/// Upper bound on the letters by which a misspelt name differs from the right name.
const MOST_LETTERS: usize = 2;

/// Returns a finding about a variable that the loader does not read, if its name differs by a few letters from the name of a variable that
/// the loader reads.
pub(super) fn misspelt(name: &str) -> Option<Dropped> {
    let is_unknown = name.starts_with("VK_") && TABLE.iter().all(|row| row.name != name);
    let is_near = |known: &str| differing(known, name) <= MOST_LETTERS || in_same_words(known) == in_same_words(name);
    let near = TABLE.iter().filter(|row| is_unknown && is_near(row.name));
    let meant = near.min_by_key(|row| differing(row.name, name))?.name;
    Some(Dropped {
        reason: format!(
            "The loader does not read {name}, so this variable has no effect; {meant} has almost the same name."
        ),
        advice: format!("Correct the name to {meant}, or: unset {name}"),
        rank: rank::ASIDE,
        ..codes::VARIABLE_NO_MATCH.about(name)
    })
}

/// Words that stand for the same thing in the names of variables. The second word of each row replaces the first one in comparisons.
const SAME: [(&str, &str); 5] = [
    ("ICD", "DRIVER"),
    ("FILENAME", "FILE"),
    ("PATH", "FILE"),
    ("ENABLED", "ENABLE"),
    ("DISABLED", "DISABLE"),
];

/// Returns the words of a name in the singular, in alphabetical order, with one word for each thing in [`SAME`].
fn in_same_words(name: &str) -> Vec<&str> {
    let singular = name.split('_').map(|word| word.strip_suffix('S').unwrap_or(word));
    let mut words: Vec<&str> = singular
        .map(|word| {
            SAME.iter()
                .find(|(one, _)| *one == word)
                .map_or(word, |(_, other)| other)
        })
        .collect();
    words.sort_unstable();
    words
}

/// Returns the number of letters to insert, remove or replace so that two words are equal.
pub(in crate::causes) fn differing(one: &str, other: &str) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (place, letter) in one.bytes().enumerate() {
        let mut before = row[0];
        row[0] = place + 1;
        for (index, own) in other.bytes().enumerate() {
            let replaced = before + usize::from(own != letter);
            before = row[index + 1];
            row[index + 1] = replaced.min(before + 1).min(row[index] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_variables_with_a_wrong_letter_are_known() {
        for (name, meant) in [
            ("VK_ICD_FILENAME", Some("VK_ICD_FILENAMES")),
            ("VK_LOADER_DRIVER_SELECT", Some("VK_LOADER_DRIVERS_SELECT")),
            ("VK_INSTANCE_LAYER", Some("VK_INSTANCE_LAYERS")),
            ("VK_ICD_FILENAMES", None),
            ("VK_ICD_FILES", Some("VK_ICD_FILENAMES")),
            ("VK_DRIVER_FILENAMES", Some("VK_DRIVER_FILES")),
            ("VK_LOADER_DISABLE_DRIVERS", Some("VK_LOADER_DRIVERS_DISABLE")),
            ("VK_LAYER_ENABLES", None),
            ("VK_KHRONOS_PROFILES", None),
            ("PATH", None),
        ] {
            let found = misspelt(name);
            let is_right = |found: &Dropped| meant.is_some_and(|meant| found.advice.contains(&format!("to {meant},")));
            assert_eq!(found.as_ref().map(is_right), meant.map(|_| true), "{name}");
        }
    }
}
