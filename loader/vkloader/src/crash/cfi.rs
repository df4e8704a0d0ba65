//! Unwind tables of libraries (`.eh_frame`). This module reads the tables from the memory of the process, because the file of a library may
//! have been deleted or replaced, or may be in another container.

use super::memory::Memory;
use super::registers::Registers;
use elf::{HEADER_BYTES, Header, LOADED, Segment};
use gimli::{
    BaseAddresses, CfaRule, EhFrame, EhFrameHdr, EndianSlice, LittleEndian, ParsedEhFrameHdr, Pointer, Register,
    RegisterRule, UnwindContext, UnwindSection, UnwindTableRow,
};
use std::collections::HashMap;

/// Upper bound on the number of bytes that are read from a table. The tables of the largest libraries have about ten million bytes.
const MOST: usize = 64 << 20;
/// `PT_GNU_EH_FRAME`, the kind of segments that contain the index of an unwind table.
const INDEX: u32 = 0x6474_E550;
/// Upper bound on the number of segments of a library.
const MOST_SEGMENTS: usize = 64;

/// The tables that were read. The key is the start address of the library; `None` means that the library has no valid tables.
#[derive(Default)]
pub(super) struct Tables(HashMap<u64, Option<Table>>);

/// The unwind tables of a library.
struct Table {
    /// The sorted index of the table (`.eh_frame_hdr`).
    index: Vec<u8>,
    index_address: u64,
    frames: Vec<u8>,
    frames_address: u64,
    word: u8,
}

/// The caller of a function according to the unwind tables.
pub(super) enum Caller {
    /// The caller's registers.
    Found(Registers),
    /// The function has no caller, because its thread started with this function.
    None,
    /// The tables do not describe the function.
    Unknown,
}

impl Tables {
    /// Returns the registers of a function's caller. `base` is the start address of the library that contains the function. `at` is an
    /// address within the instruction that the function executes. In a function that called another function, this instruction is the call
    /// before the return address.
    pub(super) fn caller(&mut self, memory: &Memory, base: u64, at: u64, registers: &Registers) -> Caller {
        let word = registers.machine.word();
        let table = self.0.entry(base).or_insert_with(|| Table::read(memory, base, word));
        match table {
            Some(table) => table.caller(memory, at, registers).unwrap_or(Caller::Unknown),
            None => Caller::Unknown,
        }
    }

    /// Returns the code of the function of x86-64 that contains `at`.
    pub(super) fn extent(&mut self, memory: &Memory, base: u64, at: u64) -> Option<Extent> {
        let table = self
            .0
            .entry(base)
            .or_insert_with(|| Table::read(memory, base, size_of::<u64>()));
        table.as_ref()?.extent(at)
    }
}

/// Reads the segments of the library at the address `base`. The returned addresses are those in the library's file.
fn segments(memory: &Memory, base: u64) -> Option<Vec<Segment>> {
    let mut header = [0; HEADER_BYTES];
    memory.read(base, &mut header)?;
    let form = Header::read(&header).ok()?.form;
    let table = form.segments(&header)?;
    let rows = memory.bytes(base.wrapping_add(table.at), table.each * table.count.min(MOST_SEGMENTS));
    // `chunks_exact` panics for a length of 0.
    rows.chunks_exact(table.each.max(1))
        .map(|row| form.segment(row))
        .collect()
}

/// Returns the difference between a library's addresses in memory and in its file. Returns `None` if no library starts at `base`.
pub(super) fn bias(memory: &Memory, base: u64) -> Option<u64> {
    let segments = segments(memory, base)?;
    let first = segments.iter().find(|segment| segment.kind == LOADED)?;
    Some(base.wrapping_sub(first.address & !0xFFF))
}

/// The code of a function.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    pub(super) start: u64,
    pub(super) end: u64,
    /// `false` for a part of a function that lies apart from its beginning.
    pub(super) is_whole: bool,
}

impl Table {
    fn read(memory: &Memory, base: u64, word: usize) -> Option<Self> {
        let segments = segments(memory, base)?;
        let bias = bias(memory, base)?;
        let index = segments.iter().find(|segment| segment.kind == INDEX)?;
        let index_address = bias.wrapping_add(index.address);
        let index = memory.bytes(index_address, usize::try_from(index.memory_size).ok()?.min(MOST));
        let mut table = Self {
            index,
            index_address,
            frames: Vec::new(),
            frames_address: 0,
            word: word as u8,
        };
        let Pointer::Direct(frames) = table.parsed()?.eh_frame_ptr() else {
            return None;
        };
        // The length of the table is unknown, because an end mark ends the table. Therefore, this code reads up to the end of the segment.
        let end = segments
            .iter()
            .filter(|segment| segment.kind == LOADED)
            .map(|segment| (bias.wrapping_add(segment.address), segment.memory_size))
            .find(|&(start, size)| frames.wrapping_sub(start) < size)
            .map(|(start, size)| start.wrapping_add(size))?;
        table.frames = memory.bytes(frames, usize::try_from(end - frames).ok()?.min(MOST));
        table.frames_address = frames;
        Some(table)
    }

    fn bases(&self) -> BaseAddresses {
        BaseAddresses::default()
            .set_eh_frame_hdr(self.index_address)
            .set_eh_frame(self.frames_address)
    }

    fn parsed(&self) -> Option<ParsedEhFrameHdr<EndianSlice<'_, LittleEndian>>> {
        let index = EhFrameHdr::new(&self.index, LittleEndian);
        index.parse(&self.bases(), self.word).ok()
    }

    fn extent(&self, at: u64) -> Option<Extent> {
        /// Number of the stack pointer of x86-64, and its distance from the frame at the beginning of a function.
        const AT_START: (Register, i64) = (Register(7), 8);
        let mut frames = EhFrame::new(&self.frames, LittleEndian);
        frames.set_address_size(self.word);
        let parsed = self.parsed()?;
        let of_offset = EhFrame::cie_from_offset;
        let found = parsed
            .table()?
            .fde_for_address(&frames, &self.bases(), at, of_offset)
            .ok()?;
        let start = found.initial_address();
        let mut context = UnwindContext::new();
        let row = found
            .unwind_info_for_address(&frames, &self.bases(), &mut context, start)
            .ok()?;
        let is_whole =
            matches!(row.cfa(), CfaRule::RegisterAndOffset { register, offset } if (*register, *offset) == AT_START);
        Some(Extent {
            start,
            end: start.wrapping_add(found.len()),
            is_whole,
        })
    }

    fn caller(&self, memory: &Memory, at: u64, registers: &Registers) -> Option<Caller> {
        let mut frames = EhFrame::new(&self.frames, LittleEndian);
        frames.set_address_size(self.word);
        let parsed = self.parsed()?;
        let mut context = UnwindContext::new();
        let row = parsed
            .table()?
            .unwind_info_for_address(&frames, &self.bases(), &mut context, at, |section, bases, offset| {
                section.cie_from_offset(bases, offset)
            })
            .ok()?;
        apply(row, memory, registers)
    }
}

/// Computes the caller's registers from a row of the tables.
fn apply(row: &UnwindTableRow<usize>, memory: &Memory, registers: &Registers) -> Option<Caller> {
    let machine = registers.machine;
    let CfaRule::RegisterAndOffset { register, offset } = row.cfa() else {
        return None;
    };
    let frame = registers.get(register.0)?.wrapping_add_signed(*offset) & mask(machine.word());
    let back = Register(machine.back());
    // On processors with a link register, the tables define no rule for the return address of a function that calls no other function.
    if row.register(back) == RegisterRule::Undefined && registers.link().is_none() {
        return Some(Caller::None);
    }
    let mut caller = registers.clone();
    for column in 0..registers.count() {
        let value = match row.register(Register(column)) {
            RegisterRule::Offset(offset) => memory.word(frame.wrapping_add_signed(offset), machine.word()),
            RegisterRule::ValOffset(offset) => Some(frame.wrapping_add_signed(offset)),
            RegisterRule::Register(other) => registers.get(other.0),
            // If a register has no rule, its value is the same in the caller.
            _ => registers.get(column),
        };
        match value {
            Some(value) => caller.set(column, value),
            None if column == back.0 => return None,
            None => {}
        }
    }
    caller.pc = caller.get(back.0)?;
    caller.set_sp(frame);
    let stands_still = caller.pc == registers.pc && caller.sp() == registers.sp();
    Some(if stands_still {
        Caller::None
    } else {
        Caller::Found(caller)
    })
}

/// Returns a mask of the bits that an address uses.
fn mask(word: usize) -> u64 {
    if word == 4 { u64::from(u32::MAX) } else { u64::MAX }
}
