//! Words that go with numbers.

/// A number with what it counts: `1 row`, `2 rows`. `one` and `many` are the words for one thing and for any other number.
pub fn counted(number: usize, one: &str, many: &str) -> String {
    let word = if number == 1 { one } else { many };
    format!("{number} {word}")
}
