//! What holds for any text that may be JSON.

use vulkan::manifest::json::{Value, parse};

/// Levels of a tree that are compared. The loader keeps twelve, and one of them is the array around the second copy.
const LEVELS: usize = 8;

/// Parses a text alone and as an element. Neither may lose or invent anything.
///
/// # Panics
/// When they differ.
pub fn check_json(text: &[u8]) {
    let alone = parse(text);
    assert_eq!(alone, parse(text), "the same text has one value");
    let wrapped = [b"[\"\\/\",", text, b"]"].concat();
    if let Some([_, element]) = parse(&wrapped).as_ref().ok().and_then(Value::as_array) {
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
