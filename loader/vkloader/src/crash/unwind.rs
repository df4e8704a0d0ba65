//! The callers of a function, from the place where a thread is outwards.

use super::cfi::{Caller, Tables};
use super::code;
use super::maps::Maps;
use super::memory::Memory;
use super::registers::Registers;

/// Callers that are looked for. A stack that overflowed has more, and the innermost count.
const MOST: usize = 128;
/// Words of a stack in which an address to return to is looked for.
const MOST_WORDS: u64 = 4096;
/// Bits of an address; a processor may sign it with those above.
const ADDRESS: u64 = 0x0000_FFFF_FFFF_FFFF;

/// A function on the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// An address in the instruction that is executed.
    pub(super) at: u64,
    /// Instruction and stack pointer of the next place, where a signal handler returns from this place to that one.
    pub(super) interrupts: Option<(u64, u64)>,
}

/// Ways to find callers in a stopped process.
pub(super) struct Walk<'a> {
    pub(super) memory: &'a Memory,
    pub(super) maps: &'a Maps,
    tables: Tables,
}

impl<'a> Walk<'a> {
    pub(super) fn new(memory: &'a Memory, maps: &'a Maps) -> Self {
        Self {
            memory,
            maps,
            tables: Tables::default(),
        }
    }

    /// The functions on the stack of a thread with these registers, innermost first.
    pub(super) fn places(&mut self, mut registers: Registers) -> Vec<Place> {
        let mut places = Vec::new();
        let mut is_exact = true;
        while places.len() < MOST {
            let interrupted = code::is_signal_return(self.memory, registers.pc, registers.machine)
                .then(|| code::interrupted(self.memory, &registers))
                .flatten();
            let before = u64::from(!is_exact && interrupted.is_none());
            let at = registers.pc.wrapping_sub(before);
            let interrupts = interrupted.as_ref().map(|caller| (caller.pc, caller.sp()));
            places.push(Place { at, interrupts });
            (registers, is_exact) = match interrupted {
                Some(caller) => (caller, true),
                None => match self.caller(&registers, at, is_exact) {
                    Some(caller) => (caller, false),
                    None => break,
                },
            };
            if registers.pc == 0 && !is_exact {
                break;
            }
        }
        places
    }

    /// The caller of a function: by the unwind tables, by the frame pointer, or by what looks like an address to return to.
    fn caller(&mut self, registers: &Registers, at: u64, is_innermost: bool) -> Option<Registers> {
        let found = match self.maps.base(at) {
            Some(base) => self.tables.caller(self.memory, base, at, registers),
            None => Caller::Unknown,
        };
        match found {
            Caller::None => return None,
            Caller::Found(mut caller) => {
                caller.pc &= ADDRESS;
                if self.maps.is_code(caller.pc) {
                    return Some(caller);
                }
            }
            Caller::Unknown => {}
        }
        // A jump to nowhere left the address to return to where a call leaves it.
        let is_lost = is_innermost && !self.maps.is_code(registers.pc);
        is_lost
            .then(|| self.after_call(registers))
            .flatten()
            .or_else(|| self.by_frame_pointer(registers))
            .or_else(|| self.by_search(registers))
    }

    /// Returns `true` if a function may return to an address.
    fn is_return(&self, address: u64, registers: &Registers) -> bool {
        let machine = registers.machine;
        self.maps.is_code(address)
            && (code::follows_call(self.memory, address, machine)
                || code::is_signal_return(self.memory, address, machine))
    }

    /// The caller of a function that did nothing yet.
    fn after_call(&self, registers: &Registers) -> Option<Registers> {
        let mut caller = registers.clone();
        match registers.link() {
            Some(link) => caller.pc = link & ADDRESS,
            None => {
                let word = registers.machine.word();
                caller.pc = self.memory.word(registers.sp(), word)?;
                caller.set_sp(registers.sp().wrapping_add(word as u64));
            }
        }
        self.is_return(caller.pc, registers).then_some(caller)
    }

    /// The caller of a function whose frame pointer leads to its frame.
    fn by_frame_pointer(&self, registers: &Registers) -> Option<Registers> {
        let (word, frame) = (registers.machine.word(), registers.fp());
        if frame < registers.sp() || !frame.is_multiple_of(word as u64) {
            return None;
        }
        let mut caller = registers.clone();
        caller.set_fp(self.memory.word(frame, word)?);
        caller.pc = self.memory.word(frame.wrapping_add(word as u64), word)? & ADDRESS;
        caller.set_sp(frame.wrapping_add(2 * word as u64));
        self.is_return(caller.pc, registers).then_some(caller)
    }

    /// The caller to which the next word on the stack leads that looks like an address to return to.
    fn by_search(&self, registers: &Registers) -> Option<Registers> {
        let word = registers.machine.word() as u64;
        let start = registers.sp().next_multiple_of(word);
        let mut caller = registers.clone();
        for place in 0..MOST_WORDS {
            let at = start.wrapping_add(place * word);
            let address = self.memory.word(at, word as usize)? & ADDRESS;
            if self.is_return(address, registers) {
                caller.pc = address;
                caller.set_sp(at.wrapping_add(word));
                return Some(caller);
            }
        }
        None
    }
}
