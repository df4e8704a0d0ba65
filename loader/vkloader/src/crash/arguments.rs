//! Finds the argument of a function that was the invalid address of a fault, on x86-64.
//!
//! The search begins at the register with the address in the innermost function, and goes on to the callers as long as the address is an
//! unchanged argument.

mod instruction;
mod track;

use super::Argument;
use super::registers::{Machine, Registers};
use super::unwind::Walk;
use instruction::{Operand, RDI, RSI, RSP};
use track::{ARGUMENTS, KEPT, State, Value};

/// Smallest address that a program can use. Systems leave the addresses below unused.
const SMALLEST: u64 = 0x10000;
/// Upper bound on the number of functions that are examined.
const MOST: usize = 8;
/// Upper bound on the bytes of a function.
const LARGEST: u64 = 1 << 14;
/// Number of arguments of the C library's functions that may be addresses.
const OF_C: usize = 2;
/// Numbers of the registers in unwind tables, by their numbers in instructions.
const IN_TABLES: [u16; 16] = [0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15];

/// Returns for each of the innermost functions the argument that led to the fault at `address`. The list ends at the first function that did not
/// get the address as an argument.
pub(super) fn of_fault(walk: &mut Walk<'_>, registers: &Registers, address: u64) -> Vec<Option<Argument>> {
    let mut found = Vec::new();
    // The argument is the beginning of a structure, so that the fault may be at a higher address.
    if registers.machine != Machine::X64 || address >= 2 * SMALLEST {
        return found;
    }
    let mut registers = registers.clone();
    let mut at = registers.pc;
    while found.len() < MOST {
        let function = before(walk, at);
        let argument = match (found.last(), &function) {
            (None, Some((state, operand))) => of_operand(state, *operand, &registers, address),
            (None, None) => None,
            (Some(None), Some((state, _))) => of_c_library(walk, state, &registers, address),
            (Some(Some(inner)), Some((state, _))) => state.passed(*inner),
            (Some(_), None) => None,
        };
        // The C library computes addresses in many ways, so that only its caller shows the argument.
        let is_of_c_library = found.is_empty() && argument.is_none() && is_of_c_library(walk, at);
        if argument.is_none_or(|argument| argument.value >= SMALLEST) && !is_of_c_library {
            return found;
        }
        found.push(argument);
        let Some(caller) = walk.caller(&registers, at, found.len() == 1) else {
            return found;
        };
        at = caller.pc.wrapping_sub(1);
        registers = caller;
    }
    found
}

/// Returns `true` for code of the C library.
fn is_of_c_library(walk: &Walk<'_>, at: u64) -> bool {
    let path = walk.maps.find(at).and_then(|mapping| mapping.path.as_deref());
    let name = path.and_then(|path| path.rsplit('/').next()).unwrap_or_default();
    ["libc.so", "libc-2", "libc.musl", "ld-musl"]
        .iter()
        .any(|start| name.starts_with(start))
}

/// Returns the contents of the registers before the instruction at `at`, and the operand of this instruction.
fn before(walk: &mut Walk<'_>, at: u64) -> Option<(State, Operand)> {
    let start = walk.start(at)?;
    let length = at.checked_sub(start).filter(|length| *length < LARGEST)?;
    let code = walk.memory.bytes(start, length as usize + 16);
    let (state, instruction) = track::before(&code, start, at)?;
    let is_string = instruction.group == instruction::ONE && matches!(instruction.code, 0xA4 | 0xA5 | 0xAA | 0xAB);
    let operand = if is_string { STRING } else { instruction.operand };
    Some((state, operand))
}

/// Destination of an instruction that copies or fills memory.
const STRING: Operand = Operand::Memory {
    base: Some(RDI),
    has_index: false,
    offset: 0,
};

fn value_of(registers: &Registers, register: usize) -> Option<u64> {
    registers.get(IN_TABLES[register])
}

/// Returns the argument that is the base of the address of the operand.
fn of_operand(state: &State, operand: Operand, registers: &Registers, address: u64) -> Option<Argument> {
    let Operand::Memory {
        base: Some(base),
        has_index: false,
        offset,
    } = operand
    else {
        return None;
    };
    let value = value_of(registers, base)?;
    let is_it = value.wrapping_add_signed(offset) == address;
    match state.registers[base] {
        Value::Argument(place, number) if is_it => Some(Argument {
            place,
            value: value.wrapping_sub(number as u64),
        }),
        _ => None,
    }
}

/// Returns the argument of the caller that is an address for the C library. `registers` has the values after the call.
fn of_c_library(walk: &Walk<'_>, state: &State, registers: &Registers, address: u64) -> Option<Argument> {
    let passed = [RDI, RSI].map(|register| state.registers[register]);
    let place = |value: &Value| match value {
        Value::Argument(place, _) => Some(*place),
        _ => None,
    };
    let leads = |argument: &Argument| argument.value <= address && address - argument.value < SMALLEST;
    let mut found = passed[..OF_C].iter().filter_map(place);
    found.find_map(|place| state.argument(walk, place, registers).filter(leads))
}

impl State {
    /// Returns the argument of this function that it passed on as the argument `inner`.
    fn passed(&self, inner: Argument) -> Option<Argument> {
        match self.registers[*ARGUMENTS.get(inner.place)?] {
            Value::Argument(place, number) => Some(Argument {
                place,
                value: inner.value.wrapping_sub(number as u64),
            }),
            _ => None,
        }
    }

    /// Returns an argument of this function, with its value in a register that calls keep, or on the stack. `registers` has the values after the
    /// call.
    fn argument(&self, walk: &Walk<'_>, place: usize, registers: &Registers) -> Option<Argument> {
        let number = |value: &Value| match value {
            Value::Argument(known, number) if *known == place => Some(*number),
            _ => None,
        };
        let in_register = KEPT.iter().find_map(|&register| {
            let number = number(&self.registers[register])?;
            Some(value_of(registers, register)?.wrapping_sub(number as u64))
        });
        let on_stack = || {
            let Value::Stack(top) = self.registers[RSP] else {
                return None;
            };
            let (slot, number) = self
                .stack
                .iter()
                .find_map(|(slot, value)| Some((*slot, number(value)?)))?;
            let address = registers.sp().wrapping_add_signed(slot.wrapping_sub(top));
            Some(walk.memory.word(address, 8)?.wrapping_sub(number as u64))
        };
        let value = in_register.or_else(on_stack)?;
        Some(Argument { place, value })
    }
}
