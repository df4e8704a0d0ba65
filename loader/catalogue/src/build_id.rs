//! Build IDs: bytes that the linker writes into a library to distinguish one build from another.

use crate::written::is_hexadecimal;
use core::fmt;
use elf::{Form, Header, NOTES};

/// Number of bytes at the start of a file that must contain its build ID. Linkers put the build ID after the headers; a build ID at another
/// position is ignored.
pub const HEAD_BYTES: usize = 4096;

/// Bounds on the length of a build ID in bytes. Shorter build IDs do not distinguish builds, and longer ones are not used.
const LENGTHS: core::ops::RangeInclusive<usize> = 8..=64;

/// `NT_GNU_BUILD_ID`, the type of a note with a build ID, if the owner of the note is GNU.
pub(crate) const BUILD_ID: u32 = 3;
pub(crate) const OWNER: &[u8] = b"GNU\0";

/// The build ID of a library of this architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuildId<'a>(&'a [u8]);

impl<'a> BuildId<'a> {
    /// Finds the build ID in the first [`HEAD_BYTES`] of a file, whose content may be arbitrary. Every number is checked against the length
    /// of the head, and each program header and note is examined once.
    pub fn in_head(head: &'a [u8]) -> Option<Self> {
        let head = head.get(..HEAD_BYTES).unwrap_or(head);
        Header::read(head).ok().filter(|header| header.form == Form::OWN)?;
        let table = Form::OWN.segments(head)?;
        let rows = head.get(usize::try_from(table.at).ok()?..)?;
        // `chunks_exact` panics for a length of 0.
        let rows = rows.chunks_exact(table.each.max(1)).take(table.count);
        rows.filter_map(|row| notes(head, row)).find_map(find)
    }

    /// Returns `true` if `text` is the written form of this build ID.
    pub fn is_written(self, text: &[u8]) -> bool {
        is_hexadecimal(text, self.0)
    }
}

/// Writes two hexadecimal digits for each byte.
impl fmt::Display for BuildId<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Returns the notes that a program header refers to, as far as they are within the head of the file.
fn notes<'a>(head: &'a [u8], row: &[u8]) -> Option<&'a [u8]> {
    let segment = Form::OWN.segment(row).filter(|segment| segment.kind == NOTES)?;
    let end = segment.offset.checked_add(segment.file_size)?.min(head.len() as u64);
    head.get(usize::try_from(segment.offset).ok()?..usize::try_from(end).ok()?)
}

/// Finds the build ID among notes. A note consists of two lengths, a type, an owner and a content. Owner and content are padded to
/// multiples of four bytes.
fn find(mut notes: &[u8]) -> Option<BuildId<'_>> {
    const HEADER: usize = 12;
    loop {
        let number = |at| Form::OWN.full(notes, at);
        let lengths = (number(0)? as usize, number(4)? as usize);
        let kind = number(8)?;
        let content = HEADER.checked_add(lengths.0.checked_next_multiple_of(4)?)?;
        let end = content.checked_add(lengths.1)?;
        if kind == BUILD_ID && notes.get(HEADER..content)? == OWNER {
            return notes
                .get(content..end)
                .filter(|id| LENGTHS.contains(&id.len()))
                .map(BuildId);
        }
        notes = notes.get(end.checked_next_multiple_of(4)?..)?;
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Word size and byte order of this program, as a header encodes them.
    const CLASS: u8 = if usize::BITS == 64 { 2 } else { 1 };
    const BYTE_ORDER: u8 = if cfg!(target_endian = "little") { 1 } else { 2 };

    /// Offsets of the place, the row size and the row count of the program headers, and of the offset and size of a segment.
    struct Places {
        table: usize,
        row_bytes: usize,
        rows: usize,
        offset: usize,
        bytes: usize,
    }

    const PLACES: Places = match CLASS {
        1 => Places {
            table: 28,
            row_bytes: 42,
            rows: 44,
            offset: 4,
            bytes: 16,
        },
        _ => Places {
            table: 32,
            row_bytes: 54,
            rows: 56,
            offset: 8,
            bytes: 32,
        },
    };

    pub(crate) const ID: [u8; 20] = [0xAB; 20];
    /// Offset of the program headers, and the size of one program header.
    const TABLE: usize = 64;
    const ROW: usize = 56;
    /// Offset of the notes.
    const NOTES_AT: usize = TABLE + 2 * ROW;

    fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
        bytes[at..at + value.len()].copy_from_slice(value);
    }

    pub(crate) fn note(owner: &[u8], kind: u32, content: &[u8]) -> Vec<u8> {
        let mut note = Vec::new();
        for number in [owner.len() as u32, content.len() as u32, kind] {
            note.extend(number.to_ne_bytes());
        }
        for part in [owner, content] {
            note.extend(part);
            note.resize(note.len().next_multiple_of(4), 0);
        }
        note
    }

    /// Returns the start of a library that contains `notes` after an unrelated program header.
    pub(crate) fn head(notes: &[u8]) -> Vec<u8> {
        let mut head = vec![0; NOTES_AT];
        put(&mut head, 0, &[0x7F, b'E', b'L', b'F', CLASS, BYTE_ORDER]);
        put(&mut head, PLACES.table, &TABLE.to_ne_bytes());
        put(&mut head, PLACES.row_bytes, &(ROW as u16).to_ne_bytes());
        put(&mut head, PLACES.rows, &2_u16.to_ne_bytes());
        put(&mut head, TABLE, &1_u32.to_ne_bytes());
        put(&mut head, TABLE + ROW, &NOTES.to_ne_bytes());
        put(&mut head, TABLE + ROW + PLACES.offset, &NOTES_AT.to_ne_bytes());
        put(&mut head, TABLE + ROW + PLACES.bytes, &notes.len().to_ne_bytes());
        head.extend(notes);
        head
    }

    fn written(head: &[u8]) -> Option<String> {
        BuildId::in_head(head).map(|id| id.to_string())
    }

    #[test]
    fn it_is_found_among_notes() {
        let id = note(OWNER, BUILD_ID, &ID);
        let expected = Some("ab".repeat(20));
        assert_eq!(written(&head(&id)), expected);
        let before = [
            note(OWNER, 5, &[1; 16]),
            note(b"Go\0", BUILD_ID, &[2; 9]),
            note(b"", 1, b""),
        ]
        .concat();
        assert_eq!(written(&head(&[before, id.clone()].concat())), expected);
        let id = head(&id);
        let found = BuildId::in_head(&id).unwrap();
        assert!(found.is_written("ab".repeat(20).as_bytes()));
        for other in ["", "ab", &"ab".repeat(21), &"AB".repeat(20)] {
            assert!(!found.is_written(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn the_library_of_another_architecture_has_none() {
        let good = head(&note(OWNER, BUILD_ID, &ID));
        for (at, byte) in [(0, b'M'), (4, 3 - CLASS), (5, 3 - BYTE_ORDER)] {
            let mut other = good.clone();
            other[at] = byte;
            assert_eq!(written(&other), None, "{at}");
        }
    }

    #[test]
    fn a_truncated_file_has_none() {
        let good = head(&note(OWNER, BUILD_ID, &ID));
        for length in 0..good.len() {
            assert_eq!(written(&good[..length]), None, "{length}");
        }
    }

    #[test]
    fn numbers_that_lie_cost_nothing_but_the_id() {
        let id = note(OWNER, BUILD_ID, &ID);
        let good = head(&id);
        let huge = [usize::MAX, usize::MAX - 11, HEAD_BYTES, 1 << 31];
        for at in [PLACES.table, TABLE + ROW + PLACES.offset] {
            for value in huge {
                let mut lies = good.clone();
                put(&mut lies, at, &value.to_ne_bytes());
                assert_eq!(written(&lies), None, "{at} {value}");
            }
        }
        for (at, value) in [(PLACES.row_bytes, 0), (PLACES.row_bytes, u16::MAX), (PLACES.rows, 0)] {
            let mut lies = good.clone();
            put(&mut lies, at, &u16::to_ne_bytes(value));
            assert_eq!(written(&lies), None, "{at} {value}");
        }
        for at in [0, 4] {
            for value in [u32::MAX, u32::MAX - 3, 1 << 31, 4096] {
                let mut lies = good.clone();
                put(&mut lies, NOTES_AT + at, &value.to_ne_bytes());
                assert_eq!(written(&lies), None, "{at} {value}");
            }
        }
        // The notes continue after the bytes that were read. The search then covers only these bytes.
        let mut long = good.clone();
        put(
            &mut long,
            TABLE + ROW + PLACES.bytes,
            &(usize::MAX - NOTES_AT).to_ne_bytes(),
        );
        assert!(written(&long).is_some());
    }

    #[test]
    fn an_id_that_tells_nothing_apart_is_none() {
        for (length, counts) in [(0, false), (7, false), (8, true), (64, true), (65, false)] {
            let found = written(&head(&note(OWNER, BUILD_ID, &vec![1; length])));
            assert_eq!(found.is_some(), counts, "{length}");
        }
    }

    #[test]
    fn what_lies_behind_the_head_is_not_looked_at() {
        let mut far = note(OWNER, 1, &[0; HEAD_BYTES]);
        far.extend(note(OWNER, BUILD_ID, &ID));
        assert_eq!(written(&head(&far)), None);
    }

    #[test]
    fn no_bytes_make_it_panic() {
        let good = head(&note(OWNER, BUILD_ID, &ID));
        for at in 0..good.len() {
            for byte in [0, 1, 3, 4, 0x7F, 0x80, 0xFF] {
                let mut other = good.clone();
                other[at] = byte;
                let _ = written(&other);
            }
        }
    }
}
