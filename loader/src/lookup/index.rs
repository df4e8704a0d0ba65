//! The search for a name, with one hash table for all names (GEN-64).

use super::row::equal;
use super::{Function, ROWS, Row, hash};
use crate::generated::lookup::{FACTS, NAMES, ROW_COUNT, functions};
use core::num::NonZeroUsize;

/// Facts that a look-up needs first, in eight bytes.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Place {
    /// Offset of the name in the text of all names.
    pub(super) start: u16,
    /// Length of the name minus the length of the shortest name, in bytes.
    pub(super) beyond: u8,
    /// Value of [`Command::is_plain`].
    plain: bool,
    /// Value of [`Command::answer`].
    answer: u16,
    /// Index of the next [`Place`] in the same bucket, or 0.
    next: u16,
}

/// Index of the entry among a device's answers that is always NULL.
pub(crate) const NO_ANSWER: usize = crate::generated::dispatch::DeviceTable::SLOT_COUNT;

/// Data that a look-up reads. All data is in one structure, so that one address suffices.
#[repr(C)]
pub(super) struct CommandIndex {
    /// The names. A NUL ends each name.
    pub(super) names: [u8; NAMES.len()],
    /// Index of the first [`Place`] in each bucket, or 0.
    heads: [u16; hash::POSITIONS],
    /// One [`Place`] per command, in the order of the rows. The first one is a dummy whose length no name has.
    pub(super) places: [Place; ROW_COUNT + 1],
}

pub(super) static INDEX: CommandIndex = index();

/// A copy of the index for constants, which cannot read a static.
const KNOWN: &CommandIndex = &index();

const fn index() -> CommandIndex {
    let text = NAMES.as_bytes();
    assert!(
        text.len() <= u16::MAX as usize,
        "offsets in the text of all names do not fit into 16 bits"
    );
    let mut index = CommandIndex {
        heads: [0; hash::POSITIONS],
        places: [Place {
            start: 0,
            beyond: u8::MAX,
            plain: false,
            answer: 0,
            next: 0,
        }; ROW_COUNT + 1],
        names: [0; NAMES.len()],
    };
    let (mut row, mut start, mut at) = (0, 0, 0);
    while at < text.len() {
        index.names[at] = text[at];
        if text[at] == 0 {
            let (_, name) = text.split_at(start);
            let (name, _) = name.split_at(at - start);
            let Some(position) = hash::position_of(name) else {
                panic!("a name is shorter than `hash::SHORTEST`");
            };
            let beyond = name.len() - hash::SHORTEST;
            assert!(
                beyond < u8::MAX as usize,
                "the length of a name does not fit into 8 bits"
            );
            index.places[row + 1] = Place {
                start: start as u16,
                beyond: beyond as u8,
                plain: FACTS[row].is_ungated(),
                answer: FACTS[row].answer(),
                next: index.heads[position],
            };
            row += 1;
            index.heads[position] = row as u16;
            start = at + 1;
        }
        at += 1;
    }
    assert!(row == ROW_COUNT, "a row has no name");
    index
}

/// A command that was found by its name, as an index into [`CommandIndex::places`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Command(NonZeroUsize);

impl Command {
    /// Returns the command with a name, which may be any bytes. Reads only the bytes of the name.
    #[inline(always)]
    pub(crate) fn find(name: &[u8]) -> Option<Self> {
        // For shorter names, the result wraps to a very large number.
        let beyond = name.len().wrapping_sub(hash::SHORTEST);
        if beyond >= usize::from(u8::MAX) {
            return None;
        }
        let given = name.as_ptr();
        // Offset of the last word.
        let end = hash::FIRST + beyond;
        // SAFETY: the name is at least `SHORTEST` bytes long, so it has both words.
        let (first, last) = unsafe { (word(given, hash::FIRST), word(given, end)) };
        let position = hash::position(name.len(), u64::from_le(first), u64::from_le(last));
        let mut number = usize::from(INDEX.heads[position]);
        loop {
            // SAFETY: `number` comes from `heads` or from a `next`, and `index` puts only indices of `places` there.
            let place = unsafe { INDEX.places.get_unchecked(number) };
            // SAFETY: `start` is the offset of a name. The name is read only if it is as long as the given one.
            let known = unsafe { INDEX.names.as_ptr().add(usize::from(place.start)) };
            // SAFETY: both names have the same length, so both have all words that start at or before `end`.
            if place.beyond == beyond as u8 && unsafe { word(known, end) == last && same(given, known, end) } {
                // SAFETY: `number` is not 0, because the length of place 0 differs from that of every name.
                return Some(Self(unsafe { NonZeroUsize::new_unchecked(number) }));
            }
            number = usize::from(place.next);
            if number == 0 {
                return None;
            }
        }
    }

    #[inline(always)]
    fn place(self) -> &'static Place {
        // SAFETY: `find` returns only indices of `places`.
        unsafe { INDEX.places.get_unchecked(self.0.get()) }
    }

    /// Returns the facts about the command.
    #[inline(always)]
    pub(crate) fn row(self) -> &'static Row {
        // SAFETY: the index is not 0, and each entry of `places` after the first one has its row in `ROWS`.
        unsafe { ROWS.get_unchecked(self.0.get() - 1) }
    }

    /// Returns `true` if every valid instance finds the command.
    #[inline(always)]
    pub(crate) fn is_plain(self) -> bool {
        self.place().plain
    }

    /// Returns the index of the command among a device's answers; [`NO_ANSWER`] for a command that is not a device command.
    #[inline(always)]
    pub(crate) fn answer(self) -> usize {
        usize::from(self.place().answer)
    }

    /// Returns the function that the application calls.
    #[inline(always)]
    pub(crate) fn trampoline(self) -> Function {
        // SAFETY: the table of functions has the trampoline of each row at the index of the row.
        unsafe { functions::at(self.0.get() - 1) }
    }
}

/// Returns `true` if two texts agree in their first word, and in all words that start before `end`.
///
/// # Safety
/// All these words are readable in both texts.
#[inline(always)]
unsafe fn same(one: *const u8, other: *const u8, end: usize) -> bool {
    let mut offset = 0;
    // SAFETY: `offset` is 0 or below `end`, so the caller promises that both words are readable.
    while unsafe { word(one, offset) == word(other, offset) } {
        offset += hash::WORD;
        if offset >= end {
            return true;
        }
    }
    false
}

/// Reads the word at an offset.
///
/// # Safety
/// The word is readable.
#[inline(always)]
unsafe fn word(text: *const u8, offset: usize) -> u64 {
    // SAFETY: the caller promises that the word is readable.
    unsafe { text.add(offset).cast::<u64>().read_unaligned() }
}

/// Returns the row of a command; `name` may be any bytes.
pub(crate) fn find(name: &[u8]) -> Option<&'static Row> {
    Command::find(name).map(Command::row)
}

/// Returns the number of a command's row. In a constant, a name that is not a command fails to compile.
pub(crate) const fn number(name: &str) -> u16 {
    let name = name.as_bytes();
    let Some(position) = hash::position_of(name) else {
        panic!("no such command");
    };
    let mut number = KNOWN.heads[position];
    while number != 0 {
        let place = &KNOWN.places[number as usize];
        let (_, text) = KNOWN.names.split_at(place.start as usize);
        let (text, _) = text.split_at(hash::SHORTEST + place.beyond as usize);
        if equal(text, name) {
            return number - 1;
        }
        number = place.next;
    }
    panic!("no such command")
}
