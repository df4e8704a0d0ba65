//! The format of the file: a tree of values that the library reads in place, without a parser.
//!
//! A head is followed by *nodes* of eight bytes, and then by the texts to which nodes refer. All numbers are little-endian. The first node
//! is the whole value, and the nodes inside an array or object follow it directly. Equal texts are stored once. A value that claims to
//! reach beyond the value that contains it ends at the end of the outer value. Therefore, reading a faulty file takes no longer than
//! reading a valid file of the same size.
//!
//! | bytes of the head | content |
//! |---|---|
//! | 0 to 7 | `VKLCATLG` |
//! | 8 to 11 | [`SCHEMA`] |
//! | 12 to 15 | size of the file |
//! | 16 to 19 | number of nodes |
//! | 20 to 23 | zero |
//!
//! | node | bits 0 to 3 | bits 4 to 31 | bits 32 to 63 |
//! |---|---|---|---|
//! | null, false, true | 0, 1, 2 | | |
//! | number | 3 | the number, with sign, up to bit 63 | |
//! | text | 4 | length | offset after the nodes |
//! | array | 5 | number of elements | index of the first node after the array |
//! | object | 6 | number of members, each a text and its value | index of the first node after the object |

use crate::{Json, Problem, SCHEMA};

pub(crate) const MAGIC: &[u8; 8] = b"VKLCATLG";
pub(crate) const HEAD: usize = 24;
pub(crate) const NODE: usize = 8;

/// Number of bits that hold the kind of a node.
pub(crate) const KIND_BITS: u32 = 4;
pub(crate) const NUMBER: u64 = 3;
pub(crate) const TEXT: u64 = 4;
pub(crate) const ARRAY: u64 = 5;
pub(crate) const OBJECT: u64 = 6;

/// A value in the bytes of a catalogue. Every access is checked, so reading arbitrary bytes never panics.
#[derive(Clone, Copy, Debug)]
pub struct Packed<'a> {
    nodes: &'a [[u8; NODE]],
    texts: &'a [u8],
    place: usize,
    /// Index of the first node after the value that contains this value.
    limit: usize,
    word: u64,
}

/// Returns the four bytes at an offset as a number.
fn number(bytes: &[u8], offset: usize) -> Option<usize> {
    let bytes = *bytes.get(offset..)?.first_chunk()?;
    usize::try_from(u32::from_le_bytes(bytes)).ok()
}

impl<'a> Packed<'a> {
    /// Returns the outermost value of a file.
    ///
    /// # Errors
    /// The file is not a catalogue, is incomplete, or has a schema version other than [`SCHEMA`].
    pub fn read(file: &'a [u8]) -> Result<Self, Problem> {
        let invalid = Problem::NotACatalogue;
        if !file.starts_with(MAGIC) {
            return Err(invalid);
        }
        if number(file, 8).is_none_or(|schema| schema as u64 != SCHEMA) {
            return Err(Problem::OtherSchema);
        }
        if number(file, 12) != Some(file.len()) {
            return Err(invalid);
        }
        Self::of_valid(file).ok_or(invalid)
    }

    /// Returns the outermost value of a file that [`Self::read`] has accepted.
    pub fn of_valid(file: &'a [u8]) -> Option<Self> {
        let length = number(file, 16)?.checked_mul(NODE)?;
        let (nodes, texts) = file.get(HEAD..)?.split_at_checked(length)?;
        let (nodes, _) = nodes.as_chunks();
        let outermost = Self {
            nodes,
            texts,
            place: 0,
            limit: nodes.len(),
            word: 0,
        };
        outermost.at(0, nodes.len())
    }

    /// Returns the value at the node index `place`, which must be below `limit`.
    #[inline]
    fn at(self, place: usize, limit: usize) -> Option<Self> {
        let node = self.nodes.get(place).filter(|_| place < limit)?;
        Some(Self {
            place,
            limit,
            word: u64::from_le_bytes(*node),
            ..self
        })
    }

    #[inline]
    pub(crate) fn is(self, kind: u64) -> bool {
        self.word & ((1 << KIND_BITS) - 1) == kind
    }

    /// Returns bits 4 to 31 of the node.
    #[inline]
    fn small(self) -> usize {
        (self.word as u32 >> KIND_BITS) as usize
    }

    /// Returns bits 32 to 63 of the node.
    #[inline]
    fn large(self) -> usize {
        (self.word >> 32) as usize
    }

    /// Returns the index of the first node after this value. The result is larger than the index of this value, and at most `limit`.
    #[inline]
    fn end(self) -> usize {
        let next = self.place + 1;
        if self.is(ARRAY) || self.is(OBJECT) {
            self.large().max(next).min(self.limit)
        } else {
            next
        }
    }

    /// Returns the names and values of the members of an object; nothing for any other value.
    #[cfg(any(test, feature = "write"))]
    pub(crate) fn members(self) -> impl Iterator<Item = (Self, Self)> {
        let end = self.end();
        // For a value that is not an object, the index is outside the limit, so the iterator returns no members.
        let mut place = if self.is(OBJECT) { self.place + 1 } else { end };
        core::iter::from_fn(move || {
            let (key, value) = (self.at(place, end)?, self.at(place + 1, end)?);
            place = value.end();
            Some((key, value))
        })
    }
}

/// An iterator over the elements of an array.
#[derive(Clone)]
struct Elements<'a> {
    array: Packed<'a>,
    place: usize,
    /// Index of the first node after the array.
    end: usize,
    left: usize,
}

impl<'a> Iterator for Elements<'a> {
    type Item = Packed<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let element = self.array.at(self.place, self.end)?;
        self.place = element.end();
        Some(element)
    }
}

impl<'a> Json<'a> for Packed<'a> {
    fn member(self, name: &str) -> Option<Self> {
        // Kind and length of the text of the member's name.
        let wanted = TEXT as u32 | (name.len() as u32) << KIND_BITS;
        let (mut place, end) = (self.place + 1, self.end());
        while self.is(OBJECT) {
            let (key, value) = (self.at(place, end)?, self.at(place + 1, end)?);
            if key.word as u32 == wanted && key.text() == Some(name.as_bytes()) {
                return Some(value);
            }
            place = value.end();
        }
        None
    }

    fn text(self) -> Option<&'a [u8]> {
        let begin = self.large();
        self.texts
            .get(begin..begin.checked_add(self.small())?)
            .filter(|_| self.is(TEXT))
    }

    fn number(self) -> Option<f64> {
        self.is(NUMBER).then_some((self.word as i64 >> KIND_BITS) as f64)
    }

    fn elements(self) -> Option<(usize, impl Iterator<Item = Self> + Clone)> {
        let (place, left) = (self.place + 1, self.small());
        let elements = Elements {
            array: self,
            place,
            end: self.end(),
            left,
        };
        self.is(ARRAY).then_some((left, elements))
    }
}
