//! JSON as the service accepts it (LSV-51): valid UTF-8, nothing behind the value, at most 32 values inside each other, and no key twice
//! in an object, since two readers could take different ones.
//!
//! Objects keep their order, so that a manifest that is passed on looks like the one that was read. Only numbers that are not whole,
//! or have more than 64 bits, are rounded.

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Number;
use std::collections::BTreeSet;
use std::fmt;

/// How many arrays and objects may be inside each other.
pub const DEPTH: usize = 32;

/// Any value.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string.
    Text(String),
    /// An array.
    List(Vec<Json>),
    /// An object in the order of its text.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// The value of a whole text.
    ///
    /// # Errors
    /// What is wrong with the text, with line and column.
    pub fn read(text: &[u8]) -> Result<Self, serde_json::Error> {
        let mut reader = serde_json::Deserializer::from_slice(text);
        let value = Value { depth: DEPTH }.deserialize(&mut reader)?;
        reader.end()?;
        Ok(value)
    }

    /// The member of an object.
    pub fn member(&self, key: &str) -> Option<&Self> {
        let Self::Object(members) = self else { return None };
        members.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// The same, to change it.
    pub fn member_mut(&mut self, key: &str) -> Option<&mut Self> {
        let Self::Object(members) = self else { return None };
        members.iter_mut().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// A string.
    pub fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// A whole number from 0.
    pub fn natural(&self) -> Option<u64> {
        if let Self::Number(number) = self {
            number.as_u64()
        } else {
            None
        }
    }
}

impl fmt::Display for Json {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // There are no keys that are not strings, so that nothing here can be no JSON.
        let text = serde_json::to_string(self).map_err(|_| fmt::Error)?;
        formatter.write_str(&text)
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(number) => number.serialize(serializer),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(values) => serializer.collect_seq(values),
            Self::Object(members) => {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                for (key, value) in members {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }
    }
}

/// A value with so many more inside each other.
#[derive(Clone, Copy)]
struct Value {
    depth: usize,
}

impl Value {
    fn inside<E: Error>(self) -> Result<Self, E> {
        let depth = self.depth.checked_sub(1);
        let depth = depth.ok_or_else(|| E::custom(format_args!("more than {DEPTH} values inside each other")))?;
        Ok(Self { depth })
    }
}

impl<'de> DeserializeSeed<'de> for Value {
    type Value = Json;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Value {
    type Value = Json;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Json, E> {
        Number::from_f64(value)
            .map(Json::Number)
            .ok_or_else(|| E::custom("a number that is not finite"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Json, E> {
        Ok(Json::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<Json, A::Error> {
        let inner = self.inside()?;
        let mut list = Vec::new();
        while let Some(value) = values.next_element_seed(inner)? {
            list.push(value);
        }
        Ok(Json::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
        let inner = self.inside()?;
        let mut seen = BTreeSet::new();
        let mut members = Vec::new();
        while let Some(key) = map.next_key::<String>()? {
            if !seen.insert(key.clone()) {
                return Err(A::Error::custom(format_args!("the key {key:?} is there twice")));
            }
            members.push((key, map.next_value_seed(inner)?));
        }
        Ok(Json::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &[u8]) -> String {
        Json::read(text).unwrap_err().to_string()
    }

    #[test]
    fn lsv_51_what_is_read_is_written_again_in_its_order() {
        for text in [
            r#"{"b":1,"a":[true,null,-2,1.5,"\u0000 \" ä"]}"#,
            "[]",
            r#""x""#,
            "18446744073709551615",
        ] {
            let once = Json::read(text.as_bytes()).unwrap();
            assert_eq!(Json::read(once.to_string().as_bytes()).unwrap(), once, "{text}");
        }
        assert_eq!(
            Json::read(br#" { "b" : 1, "a" : {} } "#).unwrap().to_string(),
            r#"{"b":1,"a":{}}"#
        );
    }

    #[test]
    fn lsv_51_no_key_is_there_twice() {
        assert!(error(br#"{"a":1,"b":2,"a":1}"#).contains("the key \"a\" is there twice"));
        // Written in two ways, it is the same key.
        assert!(error(br#"{"a":1,"\u0061":1}"#).contains("twice"));
        assert!(error(br#"[{"x":{"a":1,"a":1}}]"#).contains("twice"));
        assert!(Json::read(br#"{"a":{"a":1},"A":2}"#).is_ok());
    }

    #[test]
    fn lsv_51_values_are_inside_each_other_up_to_a_limit() {
        let nested = |depth| [b"[".repeat(depth), b"]".repeat(depth)].concat();
        assert!(Json::read(&nested(DEPTH)).is_ok());
        assert!(error(&nested(DEPTH + 1)).contains("32"));
        assert!(Json::read(&nested(100_000)).is_err());
        let objects = [br#"{"a":"#.repeat(DEPTH + 1), b"1".to_vec(), b"}".repeat(DEPTH + 1)].concat();
        assert!(Json::read(&objects).is_err());
    }

    #[test]
    fn lsv_51_what_is_no_json_is_refused() {
        for text in [
            &b""[..],
            b"{",
            b"{} {}",
            b"{'a':1}",
            b"[1,]",
            b"\xef\xbb\xbf{}",
            b"\"\xff\"",
            b"01",
            b"NaN",
            b"1e999",
            b"// x\n{}",
        ] {
            assert!(Json::read(text).is_err(), "{text:?}");
        }
    }
}
