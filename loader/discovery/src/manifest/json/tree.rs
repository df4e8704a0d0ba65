//! The values of a JSON text.

use super::parser::{JsonError, parse};
use alloc::vec::Vec;

/// Type of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Null,
    False,
    True,
    Number,
    /// The name of a member.
    Name,
    /// A string.
    Text,
    /// A string that contains a null byte.
    TextWithNul,
    Array,
    Object,
}

/// A value, or the name of a member. The nodes inside an array or object follow its node; a member has a node for the name and a node for
/// the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) kind: Kind,
    /// For an array, the number of elements; for a text, the offset of its start; for a number, its upper 32 bits.
    pub(super) start: u32,
    /// For an array or object, the index of the node after its last inner node; for a text, the offset of its end; for a number, its lower
    /// 32 bits.
    pub(super) end: u32,
}

impl Node {
    /// Returns the upper and lower 32 bits of a number.
    pub(super) fn halves(number: f64) -> (u32, u32) {
        let bits = number.to_bits();
        ((bits >> 32) as u32, bits as u32)
    }

    fn number(self) -> f64 {
        f64::from_bits(u64::from(self.start) << 32 | u64::from(self.end))
    }
}

/// A parsed text and the nodes of its value.
#[derive(Debug)]
pub struct Document {
    /// The text, with decoded strings.
    text: Vec<u8>,
    nodes: Vec<Node>,
}

impl Document {
    /// Reads the value at the start of a text. Ignores the text after the value (LAY-72).
    ///
    /// # Errors
    /// The text does not begin with a value, or memory ran out.
    pub fn parse(mut text: Vec<u8>) -> Result<Self, JsonError> {
        let nodes = parse(&mut text)?;
        Ok(Self { text, nodes })
    }

    /// Returns the outermost value.
    pub fn root(&self) -> Value<'_> {
        Value { document: self, at: 0 }
    }

    /// Returns the number of bytes that the document occupies.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        self.text.capacity() + self.nodes.capacity() * size_of::<Node>()
    }

    /// Returns the values from one node up to another node.
    fn values(&self, from: usize, to: usize) -> Values<'_> {
        Values {
            document: Some(self),
            next: from,
            end: to,
        }
    }
}

/// A JSON value.
#[derive(Clone, Copy)]
pub struct Value<'a> {
    document: &'a Document,
    at: usize,
}

impl<'a> Value<'a> {
    fn node(self) -> Node {
        self.document.nodes[self.at]
    }

    /// Returns the index of the node after this value and its inner nodes.
    fn behind(self) -> usize {
        match self.node() {
            Node {
                kind: Kind::Array | Kind::Object,
                end,
                ..
            } => end as usize,
            _ => self.at + 1,
        }
    }

    /// Returns the bytes of this string.
    fn written(self) -> &'a [u8] {
        let node = self.node();
        &self.document.text[node.start as usize..node.end as usize]
    }

    /// Returns the content of a string up to its first null byte (LAY-74); `None` if the value is not a string.
    pub fn as_text(self) -> Option<&'a [u8]> {
        match self.node().kind {
            Kind::Text => Some(self.written()),
            Kind::TextWithNul => self.written().split(|&byte| byte == 0).next(),
            _ => None,
        }
    }

    /// Returns the complete content of a string, which may contain null bytes; `None` if the value is not a string.
    pub fn as_raw_text(self) -> Option<&'a [u8]> {
        matches!(self.node().kind, Kind::Text | Kind::TextWithNul).then(|| self.written())
    }

    /// Returns the value as an object; `None` if the value is not an object.
    pub fn as_object(self) -> Option<Object<'a>> {
        (self.node().kind == Kind::Object).then_some(Object(self))
    }

    /// Returns the elements of the value; `None` if the value is not an array.
    pub fn as_array(self) -> Option<Elements<'a>> {
        (self.node().kind == Kind::Array).then_some(Elements(Some(self)))
    }

    /// Returns the value as a number; `None` if the value is not a number. Integers with more than 53 bits lose precision, but no file
    /// needs larger integers.
    pub fn as_number(self) -> Option<f64> {
        match self.node().kind {
            Kind::Number => Some(self.node().number()),
            _ => None,
        }
    }

    /// Returns the elements of an array, or the values of an object; nothing for other values (BI-13).
    pub fn children(self) -> impl Iterator<Item = Value<'a>> {
        let members = self.as_object().into_iter().flat_map(Object::members);
        let elements = self.as_array().unwrap_or_default();
        elements.iter().chain(members.map(|(_, value)| value))
    }

    /// Returns `true` for the literal `true`.
    pub fn is_true(self) -> bool {
        self.node().kind == Kind::True
    }

    /// Returns the text of a literal; `None` if the value is not a literal.
    #[cfg(test)]
    pub(super) fn as_literal(self) -> Option<&'static str> {
        match self.node().kind {
            Kind::Null => Some("null"),
            Kind::False => Some("false"),
            Kind::True => Some("true"),
            _ => None,
        }
    }
}

/// Consecutive values; empty by default.
#[derive(Clone, Default)]
struct Values<'a> {
    document: Option<&'a Document>,
    next: usize,
    end: usize,
}

impl<'a> Iterator for Values<'a> {
    type Item = Value<'a>;

    #[inline]
    fn next(&mut self) -> Option<Value<'a>> {
        let document = self.document.filter(|_| self.next < self.end)?;
        let value = Value {
            document,
            at: self.next,
        };
        self.next = value.behind();
        Some(value)
    }
}

/// The elements of an array; empty by default.
#[derive(Clone, Copy, Default)]
pub struct Elements<'a>(Option<Value<'a>>);

impl<'a> Elements<'a> {
    /// Returns the number of elements.
    pub fn len(self) -> usize {
        self.0.map_or(0, |array| array.node().start as usize)
    }

    /// Returns `true` if there are no elements.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Returns the elements in their order.
    pub fn iter(self) -> impl Iterator<Item = Value<'a>> + Clone {
        let values = |array: Value<'a>| array.document.values(array.at + 1, array.behind());
        self.0.map(values).unwrap_or_default()
    }
}

/// A JSON object: its members in the order of the file, including repeated names.
#[derive(Clone, Copy)]
pub struct Object<'a>(Value<'a>);

impl<'a> Object<'a> {
    /// Returns all members. A name ends at its first null byte (LAY-74).
    pub(super) fn members(self) -> impl Iterator<Item = (&'a [u8], Value<'a>)> {
        let Self(object) = self;
        let mut values = object.document.values(object.at + 1, object.behind());
        core::iter::from_fn(move || Some((values.next()?.written(), values.next()?)))
    }

    /// Returns the first member whose name matches, ignoring ASCII case (LAY-73).
    pub fn get(self, name: &str) -> Option<Value<'a>> {
        self.all(name).next()
    }

    /// Returns all members whose name matches, ignoring ASCII case.
    pub fn all(self, name: &str) -> impl Iterator<Item = Value<'a>> {
        let named = self.members().filter(move |(known, _)| is_named(known, name));
        named.map(|(_, value)| value)
    }

    /// Returns the content of the member called `name` if it is a string, see [`Value::as_text`].
    pub fn text(self, name: &str) -> Option<&'a [u8]> {
        self.get(name)?.as_text()
    }

    /// Returns the member called `name` if it is an object.
    pub fn object(self, name: &str) -> Option<Object<'a>> {
        self.get(name)?.as_object()
    }

    /// Returns the member called `name` if it is an array.
    pub fn array(self, name: &str) -> Option<Elements<'a>> {
        self.get(name)?.as_array()
    }

    /// Returns the name and value of the first member in the file.
    pub fn first(self) -> Option<(&'a [u8], Value<'a>)> {
        self.members().next()
    }
}

#[inline]
fn is_named(known: &[u8], name: &str) -> bool {
    let name = name.as_bytes();
    // Most names differ in the length or the first letter, so the comparison begins with these.
    known.len() == name.len()
        && name.first().is_none_or(|first| known[0] | 0x20 == first | 0x20)
        && is_same(known, name)
}

/// Returns `true` if two texts of equal length are the same, ignoring ASCII case.
#[inline(never)]
fn is_same(one: &[u8], other: &[u8]) -> bool {
    one == other || one.eq_ignore_ascii_case(other)
}
