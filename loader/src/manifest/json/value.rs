//! The tree of a JSON text.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::JsonError;
use super::normalize::decode;
use crate::manifest::Text;

/// Levels of the tree that are kept. Deeper values are checked and then dropped, without recursion: no file the loader
/// knows has a member below the ninth level, and threads with small stacks call into the loader too.
const KEPT_LEVELS: usize = 12;

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `null`, or a value nested too deep to be anything the loader reads.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// Any number. Integers beyond 53 bits lose precision; no file has a use for them.
    Number(f64),
    /// A string with all bytes, NUL included; see [`Value::as_text`].
    String(Text),
    /// An array.
    Array(Vec<Value>),
    /// An object.
    Object(Object),
}

impl Value {
    /// The content of a string up to its first NUL (LAY-74); `None` when the value is no string.
    pub fn as_text(&self) -> Option<&[u8]> {
        self.as_raw_text().map(until_nul)
    }

    /// The whole content of a string, which may contain NUL.
    pub fn as_raw_text(&self) -> Option<&[u8]> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The object this value is.
    pub fn as_object(&self) -> Option<&Object> {
        match self {
            Self::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The elements of the array this value is.
    pub fn as_array(&self) -> Option<&[Value]> {
        match self {
            Self::Array(elements) => Some(elements),
            _ => None,
        }
    }

    /// The number this value is.
    pub fn as_number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// The elements of an array, or the values of an object; nothing for other values (BI-13).
    pub fn children(&self) -> impl Iterator<Item = &Value> {
        let (elements, members) = match self {
            Self::Array(elements) => (elements.as_slice(), [].as_slice()),
            Self::Object(object) => ([].as_slice(), object.members.as_slice()),
            _ => ([].as_slice(), [].as_slice()),
        };
        elements.iter().chain(members.iter().map(|(_, value)| value))
    }

    /// Whether this is the literal `true`.
    pub fn is_true(&self) -> bool {
        *self == Self::Bool(true)
    }
}

/// What precedes the first NUL (LAY-74).
fn until_nul(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().position(|&byte| byte == 0);
    &bytes[..end.unwrap_or(bytes.len())]
}

/// A JSON object: its members in the order of the file, repeated names included.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Object {
    members: Vec<(Text, Value)>,
}

impl Object {
    /// The first member whose name matches, ignoring ASCII case (LAY-73).
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.all(name).next()
    }

    /// All members whose name matches, ignoring ASCII case.
    pub fn all(&self, name: &str) -> impl Iterator<Item = &Value> {
        let matches = move |(known, _): &&(Text, Value)| until_nul(known).eq_ignore_ascii_case(name.as_bytes());
        self.members.iter().filter(matches).map(|(_, value)| value)
    }

    /// The content of the string member of that name, see [`Value::as_text`].
    pub fn text(&self, name: &str) -> Option<&[u8]> {
        self.get(name)?.as_text()
    }

    /// The object member of that name.
    pub fn object(&self, name: &str) -> Option<&Object> {
        self.get(name)?.as_object()
    }

    /// The array member of that name.
    pub fn array(&self, name: &str) -> Option<&[Value]> {
        self.get(name)?.as_array()
    }

    /// Name and value of the first member in the file.
    pub fn first(&self) -> Option<(&[u8], &Value)> {
        let (name, value) = self.members.first()?;
        Some((until_nul(name), value))
    }
}

/// The value of a normalised text.
pub(super) fn build(normalized: &[u8]) -> Result<Value, JsonError> {
    let out_of_memory = Cell::new(false);
    let seed = Level {
        left: KEPT_LEVELS,
        out_of_memory: &out_of_memory,
    };
    let mut parser = serde_json::Deserializer::from_slice(normalized);
    // Not checking for the end of the input is what lets text follow the first value.
    seed.deserialize(&mut parser).map_err(|_| match out_of_memory.get() {
        true => JsonError::OutOfMemory,
        false => JsonError::Invalid,
    })
}

/// Builds one value, and knows how many levels may still be kept.
#[derive(Clone, Copy)]
struct Level<'a> {
    left: usize,
    /// Set when memory runs out, since a parser error carries no more than a text.
    out_of_memory: &'a Cell<bool>,
}

impl Level<'_> {
    fn below(self) -> Self {
        Self {
            left: self.left - 1,
            ..self
        }
    }

    fn reserve<T, E: Error>(self, elements: &mut Vec<T>) -> Result<(), E> {
        elements.try_reserve(1).map_err(|_| self.exhausted())
    }

    fn exhausted<E: Error>(self) -> E {
        self.out_of_memory.set(true);
        E::custom("out of memory")
    }

    fn text<E: Error>(self, coded: &str) -> Result<Text, E> {
        let mut bytes = Vec::new();
        // Decoding never makes a string longer.
        bytes.try_reserve_exact(coded.len()).map_err(|_| self.exhausted())?;
        bytes.extend(coded.chars().map(decode));
        Ok(Text::from(bytes))
    }
}

impl<'de> DeserializeSeed<'de> for Level<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        if self.left == 0 {
            return deserializer.deserialize_ignored_any(IgnoredAny).map(|_| Value::Null);
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Level<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value as f64))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value as f64))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Number(value))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        self.text(value).map(Value::String)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut elements = Vec::new();
        while let Some(element) = access.next_element_seed(self.below())? {
            self.reserve(&mut elements)?;
            elements.push(element);
        }
        Ok(Value::Array(elements))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut members = Vec::new();
        while let Some(name) = access.next_key_seed(Name(self))? {
            let value = access.next_value_seed(self.below())?;
            self.reserve(&mut members)?;
            members.push((name, value));
        }
        Ok(Value::Object(Object { members }))
    }
}

/// Builds the name of a member.
struct Name<'a>(Level<'a>);

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = Text;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Text, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Name<'_> {
    type Value = Text;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the name of a member")
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Text, E> {
        self.0.text(value)
    }
}
