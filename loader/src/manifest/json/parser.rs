//! The grammar.

use super::number::number;
use super::string::string;
use super::value::Object;
use super::{JsonError, Value};
use crate::alloc::OutOfMemory;
use rust_alloc::borrow::Cow;
use rust_alloc::vec::Vec;

/// Arrays and objects inside each other that are accepted.
const MAX_DEPTH: usize = 1000;

/// Levels of the tree that are kept. Deeper values are checked and then dropped, without recursion: no file the loader
/// knows has a member below the ninth level, and threads with small stacks call into the loader too.
const KEPT_LEVELS: usize = 12;

/// Room made at once for the members of an object or the elements of an array: as many as most of them have.
const USUAL_LENGTH: usize = 8;

/// The value a text starts with.
pub(super) fn parse(text: &[u8]) -> Result<Value<'_>, JsonError> {
    Parser { text, at: 0 }.value(KEPT_LEVELS)
}

struct Parser<'t> {
    text: &'t [u8],
    at: usize,
}

impl<'t> Parser<'t> {
    /// The byte that comes next after blanks: any byte up to the blank itself is one (LAY-71).
    fn peek(&mut self) -> Option<u8> {
        while let Some(&byte) = self.text.get(self.at) {
            if byte > b' ' {
                return Some(byte);
            }
            self.at += 1;
        }
        None
    }

    /// Passes over a byte if it comes next after blanks.
    fn take(&mut self, byte: u8) -> bool {
        let comes = self.peek() == Some(byte);
        self.at += usize::from(comes);
        comes
    }

    fn expect(&mut self, byte: u8) -> Result<(), JsonError> {
        match self.take(byte) {
            true => Ok(()),
            false => Err(JsonError::Invalid),
        }
    }

    /// The value that comes next, of which `left` levels may still be kept.
    fn value(&mut self, left: usize) -> Result<Value<'t>, JsonError> {
        if left == 0 {
            return self.pass_over().map(|()| Value::Null);
        }
        match self.peek() {
            Some(b'{') => self.object(left),
            Some(b'[') => self.array(left),
            _ => self.scalar(),
        }
    }

    fn object(&mut self, left: usize) -> Result<Value<'t>, JsonError> {
        self.at += 1;
        let mut members = Vec::new();
        if !self.take(b'}') {
            loop {
                let name = self.name()?;
                let value = self.value(left - 1)?;
                push(&mut members, (name, value))?;
                if self.take(b'}') {
                    break;
                }
                self.expect(b',')?;
            }
        }
        Ok(Value::Object(Object::new(members)))
    }

    fn array(&mut self, left: usize) -> Result<Value<'t>, JsonError> {
        self.at += 1;
        let mut elements = Vec::new();
        if !self.take(b']') {
            loop {
                let element = self.value(left - 1)?;
                push(&mut elements, element)?;
                if self.take(b']') {
                    break;
                }
                self.expect(b',')?;
            }
        }
        Ok(Value::Array(elements))
    }

    /// A value that contains no other.
    fn scalar(&mut self) -> Result<Value<'t>, JsonError> {
        match self.peek() {
            Some(b'"') => self.string().map(Value::String),
            Some(b'-' | b'0'..=b'9') => {
                let (number, length) = number(&self.text[self.at..])?;
                self.at += length;
                Ok(Value::Number(number))
            }
            _ => {
                let words: [(&[u8], Value<'t>); 3] = [
                    (b"true", Value::Bool(true)),
                    (b"false", Value::Bool(false)),
                    (b"null", Value::Null),
                ];
                let rest = self.text.get(self.at..).unwrap_or_default();
                let mut words = words.into_iter();
                let (word, value) = words
                    .find(|(word, _)| rest.starts_with(word))
                    .ok_or(JsonError::Invalid)?;
                self.at += word.len();
                Ok(value)
            }
        }
    }

    /// The string that begins at the next byte, which is a quote.
    fn string(&mut self) -> Result<Cow<'t, [u8]>, JsonError> {
        let (string, length) = string(&self.text[self.at + 1..])?;
        self.at += 1 + length;
        Ok(string)
    }

    /// The name of a member, and the colon behind it.
    fn name(&mut self) -> Result<Cow<'t, [u8]>, JsonError> {
        if self.peek() != Some(b'"') {
            return Err(JsonError::Invalid);
        }
        let name = self.string()?;
        self.expect(b':')?;
        Ok(name)
    }

    /// Checks the value that comes next.
    fn pass_over(&mut self) -> Result<(), JsonError> {
        let mut open = Open::default();
        loop {
            match self.peek() {
                Some(b'{') => {
                    self.at += 1;
                    open.push(Kind::Object)?;
                    if !self.take(b'}') {
                        self.name()?;
                        continue;
                    }
                    open.pop();
                }
                Some(b'[') => {
                    self.at += 1;
                    open.push(Kind::Array)?;
                    if !self.take(b']') {
                        continue;
                    }
                    open.pop();
                }
                _ => drop(self.scalar()?),
            }
            if !self.another(&mut open)? {
                return Ok(());
            }
        }
    }

    /// Closes what ends behind a value that was passed over. Returns whether another value comes.
    fn another(&mut self, open: &mut Open) -> Result<bool, JsonError> {
        while let Some(kind) = open.last() {
            if self.take(b',') {
                if kind == Kind::Object {
                    self.name()?;
                }
                return Ok(true);
            }
            self.expect(match kind {
                Kind::Object => b'}',
                Kind::Array => b']',
            })?;
            open.pop();
        }
        Ok(false)
    }
}

/// Adds an element.
fn push<T>(elements: &mut Vec<T>, element: T) -> Result<(), OutOfMemory> {
    if elements.len() == elements.capacity() {
        elements.try_reserve_exact(elements.len().max(USUAL_LENGTH))?;
    }
    elements.push(element);
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Array,
    Object,
}

/// The arrays and objects that are being passed over, a bit each.
#[derive(Default)]
struct Open {
    objects: [u64; MAX_DEPTH.div_ceil(64)],
    depth: usize,
}

impl Open {
    fn push(&mut self, kind: Kind) -> Result<(), JsonError> {
        // The kept levels lie around these.
        if KEPT_LEVELS + self.depth == MAX_DEPTH {
            return Err(JsonError::Invalid);
        }
        let bit = 1 << (self.depth % 64);
        let word = &mut self.objects[self.depth / 64];
        match kind {
            Kind::Object => *word |= bit,
            Kind::Array => *word &= !bit,
        }
        self.depth += 1;
        Ok(())
    }

    fn pop(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// The innermost one.
    fn last(&self) -> Option<Kind> {
        let at = self.depth.checked_sub(1)?;
        match self.objects[at / 64] >> (at % 64) & 1 {
            0 => Some(Kind::Array),
            _ => Some(Kind::Object),
        }
    }
}
