//! Formats numbers with the singular or plural of a noun.

/// Returns a number with its noun, for example `1 row` or `2 rows`. `one` is the singular, and `many` is the plural.
pub fn counted(number: usize, one: &str, many: &str) -> String {
    let word = if number == 1 { one } else { many };
    format!("{number} {word}")
}
