//! Why the loader leaves something out: a code that stays the same for good, what it means, and what helps.
//!
//! The library writes the codes into its trace, `vkloader explain` tells the rest, and `docs/using.md` has all of it as a table.
//! New codes may be added; one that was published is neither renamed nor given another meaning.

#![no_std]
#![forbid(unsafe_code)]

pub mod rank;
mod table;

pub use table::{Code, TABLE};

/// One line of [`TABLE`].
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The code that this line is about.
    pub code: Code,
    /// How it is written: the part it is about, a dot, and the problem, in small letters and hyphens.
    pub name: &'static str,
    /// What it means, as one sentence.
    pub meaning: &'static str,
    /// What helps, as one sentence; empty where nothing is wrong.
    pub remedy: &'static str,
}

impl Code {
    /// The line of [`TABLE`] about this code.
    pub fn row(self) -> &'static Row {
        // Codes and lines are declared together, so the discriminant is the index.
        &TABLE[self as usize]
    }

    /// The code that is written like this.
    pub fn of_name(name: &str) -> Option<Self> {
        TABLE.iter().find(|row| row.name == name).map(|row| row.code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_written_alike_and_differ() {
        for (index, row) in TABLE.iter().enumerate() {
            let fits = |part: &str| {
                !part.is_empty()
                    && part
                        .bytes()
                        .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
            };
            let (part, problem) = row.name.split_once('.').expect("a code has a dot");
            assert!(fits(part) && fits(problem), "{}", row.name);
            assert!(
                TABLE[..index].iter().all(|other| other.name != row.name),
                "{} twice",
                row.name
            );
            assert_eq!(row.code as usize, index);
            assert_eq!(Code::of_name(row.name), Some(row.code));
        }
    }

    #[test]
    fn sentences_end_in_a_full_stop() {
        for row in TABLE {
            assert!(row.meaning.ends_with('.'), "{}", row.name);
            assert!(row.remedy.is_empty() || row.remedy.ends_with('.'), "{}", row.name);
        }
    }
}
