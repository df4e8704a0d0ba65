//! Parses a text into the nodes of its value.

use alloc::vec::Vec;
use core::cell::Cell;
use core::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::normalize::{Fault, decode, normalize, place_before};
use super::tree::{Kind, Node};
use crate::text::Place;
use os::memory::{Grow, OutOfMemory};

/// Upper bound on the number of levels of a value that are kept. The parser checks deeper levels and drops them, without recursion. The
/// bound suffices, because no file that the loader reads has a member below the ninth level. The bound limits recursion, because threads
/// with small stacks also call the loader.
const KEPT_LEVELS: usize = 12;
/// Estimated number of text bytes per node, for the initial allocation.
const USUAL_BYTES: usize = 12;

/// Reason why a text has no JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonError {
    /// The text is not valid JSON from this position on, or is nested more than 1000 levels deep.
    Invalid(Place),
    /// Memory ran out.
    OutOfMemory,
}

impl From<OutOfMemory> for JsonError {
    fn from(OutOfMemory: OutOfMemory) -> Self {
        Self::OutOfMemory
    }
}

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Parses the value at the start of a text, and returns its nodes. Decodes all strings in `text`.
pub(super) fn parse(text: &mut Vec<u8>) -> Result<Vec<Node>, JsonError> {
    let begin = if text.starts_with(BYTE_ORDER_MARK) {
        BYTE_ORDER_MARK.len()
    } else {
        0
    };
    // serde_json would decode escapes into memory that it allocates, and a failed allocation would end the process.
    if os::find_byte(text, b'\\').is_none() {
        match build(text, begin, Form::Plain) {
            Err(Fault::At(_)) => {}
            Err(Fault::OutOfMemory) => return Err(JsonError::OutOfMemory),
            Ok(nodes) => return Ok(nodes),
        }
    }
    let (normalized, mut nodes) = build_normalized(text, begin)?;
    *text = normalized;
    for node in nodes
        .iter_mut()
        .filter(|node| matches!(node.kind, Kind::Name | Kind::Text))
    {
        decode_in_place(text, node);
    }
    Ok(nodes)
}

/// Returns the normalised form of the text from `begin` on, and the nodes of its value.
fn build_normalized(text: &[u8], begin: usize) -> Result<(Vec<u8>, Vec<Node>), JsonError> {
    let source = &text[begin..];
    let invalid = |byte| JsonError::Invalid(Place::of(text, begin + byte));
    let normalized = match normalize(source) {
        Ok(normalized) => normalized,
        Err(Fault::At(byte)) => return Err(invalid(byte)),
        Err(Fault::OutOfMemory) => return Err(JsonError::OutOfMemory),
    };
    match build(&normalized, 0, Form::Normalized) {
        Ok(nodes) => Ok((normalized, nodes)),
        Err(Fault::At(byte)) => Err(invalid(place_before(source, byte))),
        Err(Fault::OutOfMemory) => Err(JsonError::OutOfMemory),
    }
}

/// Replaces an encoded string, which has one character per byte, by its bytes. The result is never longer.
fn decode_in_place(text: &mut [u8], node: &mut Node) {
    let (start, end) = (node.start as usize, node.end as usize);
    let mut length = 0;
    let mut nul = false;
    let mut at = start;
    while let Some(byte) = text.get(at).copied().filter(|_| at < end) {
        // An encoded byte consists of two bytes of UTF-8, which together contain the bits of the character.
        let decoded = if byte.is_ascii() {
            at += 1;
            byte
        } else {
            let pair = [byte, text.get(at + 1).copied().unwrap_or_default()];
            at += 2;
            let character = core::str::from_utf8(&pair).ok().and_then(|pair| pair.chars().next());
            decode(character.unwrap_or_default())
        };
        if decoded == 0 {
            nul = true;
            // The name of a member ends at its first null byte (LAY-74).
            if node.kind == Kind::Name {
                break;
            }
        }
        text[start + length] = decoded;
        length += 1;
    }
    node.end = (start + length) as u32;
    if nul && node.kind == Kind::Text {
        node.kind = Kind::TextWithNul;
    }
}

fn build(text: &[u8], begin: usize, form: Form) -> Result<Vec<Node>, Fault> {
    // Offsets and node indices have 32 bits. A text never has more nodes than bytes.
    if u32::try_from(text.len()).is_err() {
        return Err(Fault::At(0));
    }
    let mut nodes = Vec::new();
    nodes.try_exact_room(text.len() / USUAL_BYTES + 1)?;
    let failure = Cell::new(None);
    let builder = Builder {
        form,
        text: text.as_ptr().addr(),
        left: KEPT_LEVELS,
        failure: &failure,
        nodes: &mut nodes,
    };
    // One check of the whole text is cheaper than a check of each string.
    let value = core::str::from_utf8(&text[begin..]).map_err(|error| Fault::At(error.valid_up_to()))?;
    let mut parser = serde_json::Deserializer::from_str(value);
    // The parser does not check for the end of the input, so any text may follow the first value.
    let parsed = builder.deserialize(&mut parser);
    match (failure.get(), parsed) {
        (Some(Failure::OutOfMemory), _) => Err(Fault::OutOfMemory),
        (_, Err(error)) => Err(Fault::At(byte_of(&error, &text[begin..]))),
        (Some(Failure::NotNormalized), Ok(())) => Err(Fault::At(0)),
        (None, Ok(())) => Ok(nodes),
    }
}

/// Returns the byte at which the parser stopped.
#[cold]
fn byte_of(error: &serde_json::Error, text: &[u8]) -> usize {
    let place = Place {
        line: error.line() as u32,
        column: error.column() as u32,
    };
    place.byte_in(text)
}

/// Preparation of a text before parsing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// The text is unchanged.
    Plain,
    /// The nesting of the text was checked, and each character of its strings represents one byte.
    Normalized,
}

/// Reason why a builder did not add a value.
///
/// The builder keeps the reason, because its methods do not return errors. serde_json creates errors from texts only, which needs memory
/// and about 5 KB of code. After a failure, the parser continues to the end of the text.
#[derive(Clone, Copy, Debug)]
enum Failure {
    OutOfMemory,
    /// Only normalisation checks this value: a value that is nested too deeply, or a number that may have an exponent.
    NotNormalized,
}

/// Adds the nodes of one value. `left` is the number of levels of nesting that the builder may still add.
struct Builder<'a> {
    form: Form,
    /// Address of the text in memory, which converts addresses of strings to offsets.
    text: usize,
    left: usize,
    /// The first failure.
    failure: &'a Cell<Option<Failure>>,
    nodes: &'a mut Vec<Node>,
}

impl Builder<'_> {
    fn again(&mut self, left: usize) -> Builder<'_> {
        Builder {
            left,
            nodes: self.nodes,
            ..*self
        }
    }

    /// Adds a node and returns its index. If memory runs out, returns an index that no node has.
    #[inline]
    fn add(&mut self, kind: Kind, start: u32, end: u32) -> usize {
        let at = self.nodes.len();
        if self.nodes.try_push(Node { kind, start, end }).is_ok() {
            return at;
        }
        self.fail(Failure::OutOfMemory);
        usize::MAX
    }

    #[cold]
    fn fail(&self, failure: Failure) {
        self.failure.set(self.failure.get().or(Some(failure)));
    }

    /// Adds a node that has only a kind: a literal, or the start of an array or object, whose `start` and `end` [`Self::close`] sets later.
    fn add_bare(&mut self, kind: Kind) -> usize {
        self.add(kind, 0, 0)
    }

    /// Adds a string, which is part of the text.
    fn add_text(&mut self, kind: Kind, text: &str) {
        let start = text.as_ptr().addr() - self.text;
        // Both offsets are within the text, which is shorter than 4 GiB.
        self.add(kind, start as u32, (start + text.len()) as u32);
    }

    fn add_number(&mut self, number: f64) {
        let (start, end) = Node::halves(number);
        self.add(Kind::Number, start, end);
    }

    /// Rejects a string outside of the text. The parser never passes a string of this kind, because the texts have no escapes. The trait's
    /// default methods would add about 20 KB of tables for their error text.
    #[cold]
    fn not_borrowed(&self) {
        self.fail(Failure::NotNormalized);
    }

    /// Completes the node of an array or object after the parser has added all values in it. Sets `start` to the number of elements, and
    /// `end` to the index of the next node.
    fn close(&mut self, at: usize, count: u32) {
        let behind = self.nodes.len() as u32;
        if let Some(container) = self.nodes.get_mut(at) {
            (container.start, container.end) = (count, behind);
        }
    }
}

impl<'de> DeserializeSeed<'de> for Builder<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(mut self, deserializer: D) -> Result<(), D::Error> {
        if self.left == 0 {
            if self.form == Form::Plain {
                // The parser now finds a value instead of the separator that it expects, and returns an error.
                self.fail(Failure::NotNormalized);
                return Ok(());
            }
            deserializer.deserialize_ignored_any(IgnoredAny)?;
            self.add_bare(Kind::Null);
            return Ok(());
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Builder<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any JSON value")
    }

    fn visit_unit<E: Error>(mut self) -> Result<(), E> {
        self.add_bare(Kind::Null);
        Ok(())
    }

    fn visit_bool<E: Error>(mut self, value: bool) -> Result<(), E> {
        let kind = if value { Kind::True } else { Kind::False };
        self.add_bare(kind);
        Ok(())
    }

    fn visit_i64<E: Error>(mut self, value: i64) -> Result<(), E> {
        self.add_number(value as f64);
        Ok(())
    }

    fn visit_u64<E: Error>(mut self, value: u64) -> Result<(), E> {
        self.add_number(value as f64);
        Ok(())
    }

    fn visit_f64<E: Error>(mut self, value: f64) -> Result<(), E> {
        // The normalising step limits exponents, so a number that may have an exponent is accepted only in a normalised text. No known
        // manifest or settings file has an exponent.
        if self.form == Form::Plain {
            self.fail(Failure::NotNormalized);
        }
        self.add_number(value);
        Ok(())
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        self.not_borrowed();
        Ok(())
    }

    fn visit_borrowed_str<E: Error>(mut self, value: &'de str) -> Result<(), E> {
        self.add_text(Kind::Text, value);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut access: A) -> Result<(), A::Error> {
        let at = self.add_bare(Kind::Array);
        let (mut count, left) = (0, self.left - 1);
        while access.next_element_seed(self.again(left))?.is_some() {
            count += 1;
        }
        self.close(at, count);
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut access: A) -> Result<(), A::Error> {
        let at = self.add_bare(Kind::Object);
        let left = self.left - 1;
        while access.next_key_seed(Name(self.again(left)))?.is_some() {
            access.next_value_seed(self.again(left))?;
        }
        // The number of members is never read, so it can be zero.
        self.close(at, 0);
        Ok(())
    }
}

/// Visitor that adds the name of a member.
struct Name<'a>(Builder<'a>);

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Name<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the name of a member")
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        self.0.not_borrowed();
        Ok(())
    }

    fn visit_borrowed_str<E: Error>(mut self, value: &'de str) -> Result<(), E> {
        self.0.add_text(Kind::Name, value);
        Ok(())
    }
}
