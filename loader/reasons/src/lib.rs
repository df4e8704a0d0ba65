//! Reasons why the loader drops an object. Each reason has a permanent code, a meaning and a remedy.
//!
//! The library writes the codes to its trace. `vkloader explain` adds the meaning and the remedy, and `docs/codes.md` lists all codes in a
//! table. New versions may add codes. The name and the meaning of a published code never change.

#![no_std]
#![forbid(unsafe_code)]

pub mod rank;
mod table;

pub use table::{Code, TABLE};

/// One row of [`TABLE`].
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The code that this row describes.
    pub code: Code,
    /// Name of the code: the affected part, a dot, and the problem, in lower-case letters and hyphens.
    pub name: &'static str,
    /// Meaning of the code, as one sentence.
    pub meaning: &'static str,
    /// Remedy for the user, as one sentence; empty if the reason is harmless.
    pub remedy: &'static str,
}

impl Code {
    /// Returns the row of [`TABLE`] for this code.
    pub fn row(self) -> &'static Row {
        // Codes and rows are declared together, so the discriminant of a code is the index of its row.
        &TABLE[self as usize]
    }

    /// Returns the code with this name.
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
