//! Checks of the JSON parser with any text.

use discovery::manifest::json::{Document, Value};

/// Maximum depth to which two trees are compared, so that the recursion does not exhaust the stack.
const LEVELS: usize = 8;

/// Parses a text alone, and as an element of an array after a string with an escape. Compares the two results, which must have the same
/// values.
///
/// # Panics
/// Panics if the results differ.
pub fn check_json(text: &[u8]) {
    let alone = Document::parse(text.to_vec());
    let wrapped = Document::parse([b"[\"\\/\",", text, b"]"].concat());
    let Ok(wrapped) = wrapped else { return };
    let elements: Vec<Value<'_>> = wrapped.root().children().collect();
    if let [_, element] = elements[..] {
        let alone = alone.expect("a text that is an element is a value by itself");
        assert!(same(alone.root(), element, LEVELS), "{}", text.escape_ascii());
    }
}

/// Returns `true` if two values and their descendants down to `levels` levels are equal.
fn same(one: Value<'_>, other: Value<'_>, levels: usize) -> bool {
    let scalar = |value: Value<'_>| {
        let number = value.as_number().map(f64::to_bits);
        let containers = (value.as_object().is_some(), value.as_array().map(|array| array.len()));
        (
            value.as_raw_text().map(<[u8]>::to_vec),
            number,
            value.is_true(),
            containers,
        )
    };
    let names = |value: Value<'_>| value.as_object().and_then(|object| Some(object.first()?.0.to_vec()));
    scalar(one) == scalar(other)
        && names(one) == names(other)
        && one.children().count() == other.children().count()
        && (levels == 0
            || one
                .children()
                .zip(other.children())
                .all(|(one, other)| same(one, other, levels - 1)))
}
