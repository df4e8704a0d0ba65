//! JSON with the restrictions of the service (LSV-51): valid UTF-8, no text after the value, and at most 128 nested levels. A member that
//! the service reads must not occur twice, because two readers could use different values.
//!
//! Objects keep the order of their members, so that a manifest for clients looks like the original. The parser rounds only numbers that
//! have a fraction or more than 64 bits.

use serde::de::{DeserializeOwned, Error};

/// Parses a JSON object.
///
/// # Errors
/// Returns the fault of the text, with line and column.
pub fn object<T: DeserializeOwned>(text: &[u8]) -> Result<T, serde_json::Error> {
    // The parser would also accept an array that has the values of the members in the order of their declaration.
    if text.trim_ascii_start().first().is_some_and(|first| *first != b'{') {
        return Err(Error::custom("it is no object"));
    }
    serde_json::from_slice(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Map, Value};

    #[derive(serde::Deserialize)]
    struct One {
        a: u64,
    }

    #[test]
    fn lsv_51_a_member_that_counts_is_there_once() {
        assert_eq!(object::<One>(br#" {"b":{"c":1,"c":2},"a":1}"#).unwrap().a, 1);
        // The second text contains the same key twice, once with an escape sequence.
        for text in [r#"{"a":1,"a":1}"#, r#"{"a":1,"\u0061":1}"#] {
            let error = object::<One>(text.as_bytes()).err().unwrap().to_string();
            assert!(error.contains("duplicate field"), "{error}");
        }
    }

    #[test]
    fn lsv_51_what_is_no_object_is_refused() {
        let nested = [br#"{"a":"#.repeat(100_000), b"1".to_vec(), b"}".repeat(100_000)].concat();
        for text in [
            &b""[..],
            b"{",
            b"[1]",
            b"{} {}",
            b"{'a':1}",
            b"{\"a\":[1,]}",
            b"\xef\xbb\xbf{}",
            b"{\"\xff\":1}",
            b"{\"a\":01}",
            b"{\"a\":NaN}",
            b"// x\n{}",
            &nested,
        ] {
            assert!(
                object::<Map<String, Value>>(text).is_err(),
                "{:?}",
                &text[..text.len().min(20)]
            );
        }
    }
}
