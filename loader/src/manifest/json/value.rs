//! The tree of a JSON text.

use core::cell::Cell;
use core::fmt;
use rust_alloc::borrow::Cow;
use rust_alloc::vec::Vec;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::JsonError;
use super::normalize::decode;
use crate::os;

/// Levels of the tree that are kept. Deeper values are checked and then dropped, without recursion: no file the loader
/// knows has a member below the ninth level, and threads with small stacks call into the loader too.
const KEPT_LEVELS: usize = 12;

/// Room made at once for the members of an object: as many as a layer has.
const USUAL_MEMBERS: usize = 12;
/// Room made at once for the elements of an array.
const USUAL_ELEMENTS: usize = 4;

/// A JSON value. Strings without anything special point into the text.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'t> {
    /// `null`, or a value nested too deep to be anything the loader reads.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// Any number. Integers beyond 53 bits lose precision; no file has a use for them.
    Number(f64),
    /// A string with all bytes, NUL included; see [`Value::as_text`].
    String(Cow<'t, [u8]>),
    /// An array.
    Array(Vec<Value<'t>>),
    /// An object.
    Object(Object<'t>),
}

impl<'t> Value<'t> {
    /// The content of a string up to its first NUL (LAY-74); `None` when the value is no string.
    pub fn as_text(&self) -> Option<&[u8]> {
        match self {
            // Only an escape can stand for a NUL, and then the string was decoded.
            Self::String(Cow::Borrowed(text)) => Some(text),
            Self::String(Cow::Owned(text)) => Some(until_nul(text)),
            _ => None,
        }
    }

    /// The whole content of a string, which may contain NUL.
    pub fn as_raw_text(&self) -> Option<&[u8]> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The object this value is.
    pub fn as_object(&self) -> Option<&Object<'t>> {
        match self {
            Self::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The elements of the array this value is.
    pub fn as_array(&self) -> Option<&[Value<'t>]> {
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
    pub fn children(&self) -> impl Iterator<Item = &Value<'t>> {
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
pub struct Object<'t> {
    /// Names are cut at their first NUL (LAY-74).
    members: Vec<Member<'t>>,
}

type Member<'t> = (Cow<'t, [u8]>, Value<'t>);

#[inline]
fn is_named((known, _): &Member<'_>, name: &str) -> bool {
    let (known, name) = (known.as_ref(), name.as_bytes());
    // Most differ in length or at once.
    known.len() == name.len()
        && name.first().is_none_or(|first| known[0] | 0x20 == first | 0x20)
        && is_same(known, name)
}

/// Whether two texts of one length are the same but for ASCII case.
#[inline(never)]
fn is_same(one: &[u8], other: &[u8]) -> bool {
    one == other || one.eq_ignore_ascii_case(other)
}

impl<'t> Object<'t> {
    /// The first member whose name matches, ignoring ASCII case (LAY-73).
    pub fn get(&self, name: &str) -> Option<&Value<'t>> {
        self.members
            .iter()
            .find(|member| is_named(member, name))
            .map(|(_, value)| value)
    }

    /// All members whose name matches, ignoring ASCII case.
    pub fn all(&self, name: &str) -> impl Iterator<Item = &Value<'t>> {
        let named = move |member: &&Member<'t>| is_named(member, name);
        self.members.iter().filter(named).map(|(_, value)| value)
    }

    /// The content of the string member of that name, see [`Value::as_text`].
    pub fn text(&self, name: &str) -> Option<&[u8]> {
        self.get(name)?.as_text()
    }

    /// The object member of that name.
    pub fn object(&self, name: &str) -> Option<&Object<'t>> {
        self.get(name)?.as_object()
    }

    /// The array member of that name.
    pub fn array(&self, name: &str) -> Option<&[Value<'t>]> {
        self.get(name)?.as_array()
    }

    /// Name and value of the first member in the file.
    pub fn first(&self) -> Option<(&[u8], &Value<'t>)> {
        let (name, value) = self.members.first()?;
        Some((name, value))
    }
}

/// The value of a text that is plain: strict, without escapes, and with nothing that the normalised text would say in
/// another way. Any other text is called invalid here.
pub(super) fn build_plain(text: &[u8]) -> Result<Value<'_>, JsonError> {
    // The parser would decode escapes in memory of its own, which must not run out.
    if os::find_byte(text, b'\\').is_some() {
        return Err(JsonError::Invalid);
    }
    build(text, Form::Plain)
}

/// The value of a normalised text.
pub(super) fn build_normalized(text: &[u8]) -> Result<Value<'_>, JsonError> {
    build(text, Form::Normalized)
}

fn build(text: &[u8], form: Form) -> Result<Value<'_>, JsonError> {
    let out_of_memory = Cell::new(false);
    let seed = Level {
        form,
        left: KEPT_LEVELS,
        out_of_memory: &out_of_memory,
    };
    // Looking at all of it once is less than looking at each string.
    let text = core::str::from_utf8(text).map_err(|_| JsonError::Invalid)?;
    let mut parser = serde_json::Deserializer::from_str(text);
    // Not checking for the end of the input is what lets text follow the first value.
    seed.deserialize(&mut parser).map_err(|_| match out_of_memory.get() {
        true => JsonError::OutOfMemory,
        false => JsonError::Invalid,
    })
}

/// What a text went through before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Nothing: it is as somebody wrote it.
    Plain,
    /// Its nesting was checked, and its strings are in the code of one character a byte.
    Normalized,
}

/// Builds one value, and knows how many levels may still be kept.
#[derive(Clone, Copy)]
struct Level<'a> {
    form: Form,
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

    /// Adds an element; the first one makes room for as many as are usual.
    #[inline]
    fn push<T, E: Error>(self, elements: &mut Vec<T>, element: T, usual: usize) -> Result<(), E> {
        if elements.len() == elements.capacity() {
            let more = elements.len().max(usual);
            elements.try_reserve_exact(more).map_err(|_| self.exhausted())?;
        }
        elements.push(element);
        Ok(())
    }

    fn exhausted<E: Error>(self) -> E {
        self.out_of_memory.set(true);
        E::custom("out of memory")
    }

    /// A text that only the normalising step treats as it must be treated.
    fn only_normalized<E: Error>(self) -> Result<(), E> {
        match self.form {
            Form::Plain => Err(E::custom("not plain")),
            Form::Normalized => Ok(()),
        }
    }

    #[inline]
    fn text<'t, E: Error>(self, written: &'t str) -> Result<Cow<'t, [u8]>, E> {
        match self.form {
            Form::Plain => Ok(Cow::Borrowed(written.as_bytes())),
            Form::Normalized => self.decoded(written),
        }
    }

    #[inline(never)]
    fn decoded<'t, E: Error>(self, written: &'t str) -> Result<Cow<'t, [u8]>, E> {
        if written.is_ascii() {
            return Ok(Cow::Borrowed(written.as_bytes()));
        }
        let mut bytes = Vec::new();
        // Decoding never makes a string longer.
        bytes.try_reserve_exact(written.len()).map_err(|_| self.exhausted())?;
        bytes.extend(written.chars().map(decode));
        Ok(Cow::Owned(bytes))
    }
}

impl<'de> DeserializeSeed<'de> for Level<'_> {
    type Value = Value<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value<'de>, D::Error> {
        if self.left == 0 {
            self.only_normalized()?;
            return deserializer.deserialize_ignored_any(IgnoredAny).map(|_| Value::Null);
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Level<'_> {
    type Value = Value<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value<'de>, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value<'de>, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value<'de>, E> {
        Ok(Value::Number(value as f64))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value<'de>, E> {
        Ok(Value::Number(value as f64))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value<'de>, E> {
        // Normalising bounds exponents, and no file the loader knows has one.
        self.only_normalized()?;
        Ok(Value::Number(value))
    }

    fn visit_borrowed_str<E: Error>(self, value: &'de str) -> Result<Value<'de>, E> {
        self.text(value).map(Value::String)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value<'de>, A::Error> {
        let mut elements = Vec::new();
        while let Some(element) = access.next_element_seed(self.below())? {
            self.push(&mut elements, element, USUAL_ELEMENTS)?;
        }
        Ok(Value::Array(elements))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value<'de>, A::Error> {
        let mut members = Vec::new();
        while let Some(name) = access.next_key_seed(Name(self))? {
            let value = access.next_value_seed(self.below())?;
            self.push(&mut members, (name, value), USUAL_MEMBERS)?;
        }
        Ok(Value::Object(Object { members }))
    }
}

/// Builds the name of a member.
struct Name<'a>(Level<'a>);

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = Cow<'de, [u8]>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Name<'_> {
    type Value = Cow<'de, [u8]>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the name of a member")
    }

    fn visit_borrowed_str<E: Error>(self, value: &'de str) -> Result<Self::Value, E> {
        let mut name = self.0.text(value)?;
        if let Cow::Owned(bytes) = &mut name {
            bytes.truncate(until_nul(bytes).len());
        }
        Ok(name)
    }
}
