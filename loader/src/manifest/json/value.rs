//! The tree of a JSON text.

use rust_alloc::borrow::Cow;
use rust_alloc::vec::Vec;

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
            // A string with a NUL in it was written out.
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
    members: Vec<(Cow<'t, [u8]>, Value<'t>)>,
}

impl<'t> Object<'t> {
    /// An object of these members, their names as written.
    pub(super) fn new(mut members: Vec<(Cow<'t, [u8]>, Value<'t>)>) -> Self {
        for (name, _) in &mut members {
            if let Cow::Owned(bytes) = name {
                bytes.truncate(until_nul(bytes).len());
            }
        }
        Self { members }
    }

    /// The first member whose name matches, ignoring ASCII case (LAY-73).
    pub fn get(&self, name: &str) -> Option<&Value<'t>> {
        self.all(name).next()
    }

    /// All members whose name matches, ignoring ASCII case.
    pub fn all(&self, name: &str) -> impl Iterator<Item = &Value<'t>> {
        let matches = move |(known, _): &&(Cow<'t, [u8]>, Value<'t>)| {
            known.len() == name.len() && known.eq_ignore_ascii_case(name.as_bytes())
        };
        self.members.iter().filter(matches).map(|(_, value)| value)
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
