//! The search for a name: one hash over all of them (GEN-64).

use super::row::equal;
use super::{Function, ROWS, Row, hash};
use crate::generated::lookup::{FACTS, NAMES, ROW_COUNT, functions};
use core::num::NonZeroUsize;

/// What a look-up wants to know of a command first, in one word.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Place {
    /// Where its name starts in the text.
    pub(super) start: u16,
    /// How many bytes its name is longer than the shortest.
    pub(super) beyond: u8,
    /// [`Command::is_plain`].
    plain: bool,
    /// [`Command::answer`].
    answer: u16,
    /// The next place with the same position, or 0.
    next: u16,
}

/// Which of a device's answers is always NULL.
pub(crate) const NO_ANSWER: usize = crate::generated::dispatch::DeviceTable::SLOT_COUNT;

/// Everything that a look-up reads, in one place so that it has one address.
#[repr(C)]
pub(super) struct Index {
    /// The names, each with a zero byte behind it.
    pub(super) names: [u8; NAMES.len()],
    /// The first place of each position, or 0.
    heads: [u16; hash::POSITIONS],
    /// A place a command, in the order of the rows, behind one of a length that no name has.
    pub(super) places: [Place; ROW_COUNT + 1],
}

pub(super) static INDEX: Index = index();

/// The same for constants, which may not look into a static.
const KNOWN: &Index = &index();

const fn index() -> Index {
    let text = NAMES.as_bytes();
    assert!(text.len() <= u16::MAX as usize, "the names need a wider offset");
    let mut index = Index {
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
                panic!("a name is too short");
            };
            let beyond = name.len() - hash::SHORTEST;
            assert!(beyond < u8::MAX as usize, "a name needs a wider length");
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
    assert!(row == ROW_COUNT, "a row without a name");
    index
}

/// A command that was found by its name: the number of its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Command(NonZeroUsize);

impl Command {
    /// The command with a name; any bytes may be asked for. No byte but those of the name is read.
    #[inline(always)]
    pub(crate) fn find(name: &[u8]) -> Option<Self> {
        // Shorter names give a number above all others.
        let beyond = name.len().wrapping_sub(hash::SHORTEST);
        if beyond >= usize::from(u8::MAX) {
            return None;
        }
        let given = name.as_ptr();
        // Where the last word starts.
        let end = hash::FIRST + beyond;
        // SAFETY: a name that is not too short has both words.
        let (first, last) = unsafe { (word(given, hash::FIRST), word(given, end)) };
        let position = hash::position(name.len(), u64::from_le(first), u64::from_le(last));
        let mut number = usize::from(INDEX.heads[position]);
        loop {
            // SAFETY: heads and links are numbers of places.
            let place = unsafe { INDEX.places.get_unchecked(number) };
            // SAFETY: a name starts there. It is read only if it is as long as the given one.
            let known = unsafe { INDEX.names.as_ptr().add(usize::from(place.start)) };
            // SAFETY: both names have all words that start until `end`.
            if place.beyond == beyond as u8 && unsafe { word(known, end) == last && same(given, known, end) } {
                // SAFETY: no name is as long as what stands at place 0.
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
        // SAFETY: it is the number of a place.
        unsafe { INDEX.places.get_unchecked(self.0.get()) }
    }

    /// What is known of it.
    #[inline(always)]
    pub(crate) fn row(self) -> &'static Row {
        // SAFETY: a command's number is that of a row.
        unsafe { ROWS.get_unchecked(self.0.get() - 1) }
    }

    /// Whether every valid instance finds it.
    #[inline(always)]
    pub(crate) fn is_plain(self) -> bool {
        self.place().plain
    }

    /// Which of a device's answers is its own; [`NO_ANSWER`] for what is not of a device.
    #[inline(always)]
    pub(crate) fn answer(self) -> usize {
        usize::from(self.place().answer)
    }

    /// What the application calls.
    #[inline(always)]
    pub(crate) fn trampoline(self) -> Function {
        // SAFETY: every row has a trampoline.
        unsafe { functions::at(self.0.get() - 1) }
    }
}

/// Whether two texts agree in all words that start before `end`, one at least.
///
/// # Safety
/// Both have these words.
#[inline(always)]
unsafe fn same(one: *const u8, other: *const u8, end: usize) -> bool {
    let mut offset = 0;
    // SAFETY: the offset is below `end`, so a word follows in both.
    while unsafe { word(one, offset) == word(other, offset) } {
        offset += hash::WORD;
        if offset >= end {
            return true;
        }
    }
    false
}

/// The word at an offset.
///
/// # Safety
/// It is readable.
#[inline(always)]
unsafe fn word(text: *const u8, offset: usize) -> u64 {
    // SAFETY: by this function's contract.
    unsafe { text.add(offset).cast::<u64>().read_unaligned() }
}

/// The row of a command; any bytes may be asked for.
pub(crate) fn find(name: &[u8]) -> Option<&'static Row> {
    Command::find(name).map(Command::row)
}

/// The number of a command's row. For constants: a name that is no command does not compile.
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
