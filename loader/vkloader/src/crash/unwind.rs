//! Walks the stack of a thread, from the innermost function to its callers.

use super::cfi::{Caller, Extent, Tables};
use super::code;
use super::maps::Maps;
use super::memory::Memory;
use super::registers::Registers;

/// Upper bound on the number of functions of a stack that are listed. If a stack overflow makes the list longer, only the innermost
/// functions are kept.
const MOST: usize = 128;
/// Upper bound on the number of words of a stack that are searched for a return address.
const MOST_WORDS: u64 = 4096;
/// Bits that belong to an address. A processor may store a signature in the other bits.
const ADDRESS: u64 = 0x0000_FFFF_FFFF_FFFF;

/// A function on the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Address within the instruction that the function executes.
    pub(super) at: u64,
    /// Instruction pointer and stack pointer of the code that a signal handler interrupted; `None` unless this function is the return from
    /// a handler.
    pub(super) interrupts: Option<(u64, u64)>,
}

/// Data for finding the callers of functions in a stopped process.
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

    /// Returns the functions on the stack of a thread with the registers `registers`, innermost first.
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

    /// Returns the registers of a function's caller. Tries the unwind tables first, then the frame pointer, then a search for a return
    /// address.
    pub(super) fn caller(&mut self, registers: &Registers, at: u64, is_innermost: bool) -> Option<Registers> {
        let base = self.maps.base(at);
        let found = match base {
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
        // A jump to an invalid address, or to code that a process generated, may have been a call. In that case, the stack or the link
        // register contains the return address.
        let is_lost = is_innermost && (base.is_none() || !self.maps.is_code(registers.pc));
        is_lost
            .then(|| self.after_call(registers))
            .flatten()
            .or_else(|| self.by_frame_pointer(registers))
            .or_else(|| self.by_search(registers))
    }

    /// Returns the code of the function that contains an address; `None` if the unwind tables do not tell it.
    pub(super) fn extent(&mut self, at: u64) -> Option<Extent> {
        let base = self.maps.base(at)?;
        self.tables.extent(self.memory, base, at)
    }

    /// Returns `true` if an address can be a return address: a call precedes the address, or the code at the address returns from a signal
    /// handler.
    fn is_return(&self, address: u64, registers: &Registers) -> bool {
        let machine = registers.machine;
        self.maps.is_code(address)
            && (code::follows_call(self.memory, address, machine)
                || code::is_signal_return(self.memory, address, machine))
    }

    /// Returns the registers of the caller of a function that has executed no instruction yet.
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

    /// Returns the registers of the caller if the frame pointer points to a valid frame.
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

    /// Searches the stack for the first likely return address, and returns the registers of that caller.
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
