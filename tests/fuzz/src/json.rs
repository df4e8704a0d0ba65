//! What holds for any text that may be JSON.

use vulkan::manifest::json::{Value, parse};

/// Levels of a tree that are compared. The loader keeps twelve, and one of them is the array around the second copy.
const LEVELS: usize = 8;

/// Parses a text in both ways there are, plain and normalised, and compares. Neither may lose or invent anything.
///
/// # Panics
/// When they differ.
pub fn check_json(text: &[u8]) {
    let mut rooms = [Vec::new(), Vec::new(), Vec::new()];
    let [first, second, third] = &mut rooms;
    let alone = parse(text, first);
    assert_eq!(alone, parse(text, second), "the same text has one value");
    // The escape in front of it keeps the second text from being read as plain.
    let wrapped = [b"[\"\\/\",", text, b"]"].concat();
    let wrapped = parse(&wrapped, third);
    if let Some([_, element]) = wrapped.as_ref().ok().and_then(Value::as_array) {
        let alone = alone.expect("a text that is an element is a value by itself");
        assert!(same(&alone, element, LEVELS), "{alone:?} became {element:?}");
    }
}

/// Whether two values are equal down to a level.
fn same(one: &Value<'_>, other: &Value<'_>, levels: usize) -> bool {
    match (one, other) {
        _ if levels == 0 => true,
        (Value::Array(_), Value::Array(_)) | (Value::Object(_), Value::Object(_)) => {
            one.children().count() == other.children().count()
                && one
                    .children()
                    .zip(other.children())
                    .all(|(one, other)| same(one, other, levels - 1))
        }
        _ => one == other,
    }
}
