//! Contents of registers and of the stack of a function, and the origin of each.

use super::super::registers::Registers;
use super::super::unwind::Walk;
use super::instruction::{Index, Operand, RDI, RSP};
use super::track::{ARGUMENTS, KEPT};
use super::{Function, SMALLEST, is_invalid};
use std::collections::{BTreeMap, HashMap};

/// Numbers of the registers in unwind tables, by their numbers in instructions.
const IN_TABLES: [u16; 16] = [0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15];
/// Upper bound on the number of loads that lead to a value.
const DEEPEST: usize = 16;
/// Number of arguments that are followed. The arguments after the sixth are on the stack.
const FOLLOWED: usize = 12;
const COUNT: usize = 16;

/// Content of a register or of a word on the stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Value {
    #[default]
    Unknown,
    /// A number in the code, or an address of the code's file.
    Number(i64),
    /// An argument of the function, plus a number.
    Argument(usize, i64),
    /// The stack pointer at the beginning of the function, plus a number.
    Stack(i64),
    /// The result of the instruction at an address, plus a number.
    Made(u64, i64),
}

impl Value {
    pub(super) fn plus(self, more: i64) -> Self {
        match self {
            Self::Unknown => Self::Unknown,
            Self::Number(number) => Self::Number(number.wrapping_add(more)),
            Self::Argument(place, number) => Self::Argument(place, number.wrapping_add(more)),
            Self::Stack(number) => Self::Stack(number.wrapping_add(more)),
            Self::Made(at, number) => Self::Made(at, number.wrapping_add(more)),
        }
    }

    /// Returns the number to add to `other`, so that it is this value. Returns `None` for values of another origin.
    fn beyond(self, other: Self) -> Option<i64> {
        match (self, other) {
            (Self::Argument(one, own), Self::Argument(two, known)) if one == two => Some(own.wrapping_sub(known)),
            (Self::Made(one, own), Self::Made(two, known)) if one == two => Some(own.wrapping_sub(known)),
            _ => None,
        }
    }
}

/// Source of the result of an instruction.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source {
    /// The instruction read this number of bytes from memory.
    Load {
        address: Value,
        size: usize,
    },
    Sum(Value, Value),
}

/// Sources of results, by the addresses of the instructions.
pub(super) type Sources = HashMap<u64, Source>;

/// Origin of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Root {
    Unknown,
    /// The code itself, or a variable of its file.
    Own,
    /// An argument of the function.
    Argument(usize),
    /// Memory to which an argument of the function leads.
    Behind(usize),
}

/// Contents of registers and of the stack at an instruction.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    pub(super) registers: [Value; COUNT],
    /// Words on the stack, by their distance from the stack pointer at the beginning of the function.
    pub(super) stack: BTreeMap<i64, Value>,
}

impl State {
    /// Returns the contents at the beginning of a function.
    pub(super) fn beginning() -> Self {
        let mut state = Self::default();
        state.registers[RSP] = Value::Stack(0);
        for (place, register) in ARGUMENTS.into_iter().enumerate() {
            state.registers[register] = Value::Argument(place, 0);
        }
        for place in ARGUMENTS.len()..FOLLOWED {
            state.stack.insert(slot_of(place), Value::Argument(place, 0));
        }
        state
    }

    /// Returns the address of an operand in memory. `next` is the address of the next instruction.
    pub(super) fn address(&self, operand: Operand, next: u64) -> Value {
        match operand {
            Operand::Memory {
                base,
                index: Index::None,
                offset,
            } => base
                .map_or(Value::Number(next as i64), |base| self.registers[base])
                .plus(offset),
            _ => Value::Unknown,
        }
    }

    /// Returns the argument at `place` that this function passes to the function that it calls next.
    pub(super) fn passes(&self, place: usize) -> Value {
        match (ARGUMENTS.get(place), self.registers[RSP]) {
            (Some(&register), _) => self.registers[register],
            // The call has not yet pushed the return address.
            (None, Value::Stack(top)) => {
                let known = self.stack.get(&(top + slot_of(place) - 8)).copied();
                known.unwrap_or_default()
            }
            _ => Value::Unknown,
        }
    }
}

/// Returns the distance of an argument on the stack from the stack pointer at the beginning of the function.
fn slot_of(place: usize) -> i64 {
    8 + 8 * (place.saturating_sub(ARGUMENTS.len())) as i64
}

/// The contents before an instruction of a function on the stack, with the registers of this function.
pub(super) struct Point<'a> {
    pub(super) state: &'a State,
    pub(super) sources: &'a Sources,
    pub(super) walk: &'a Walk<'a>,
    pub(super) registers: &'a Registers,
    /// `true` if the registers are those before the instruction, and `false` if they are those after the call of a function.
    pub(super) is_innermost: bool,
    /// The functions that called this one, innermost first.
    pub(super) outer: &'a [Function],
}

/// Returns a register by its number in instructions.
pub(super) fn value_of(registers: &Registers, register: usize) -> Option<u64> {
    registers.get(IN_TABLES[register])
}

impl Point<'_> {
    /// Returns the origin of a value.
    pub(super) fn root(&self, value: Value) -> Root {
        self.known_root(value).unwrap_or(Root::Unknown)
    }

    /// Returns the part of a sum that makes it an invalid address: an address that no program can use, or an index if the other part is a valid
    /// address.
    fn part(&self, one: Value, other: Value) -> Option<Value> {
        let is_large = |value: &&Value| self.number(**value).is_some_and(|number| number >= SMALLEST);
        let is_bad = |value: &&Value| self.number(**value).is_some_and(|number| is_invalid(self.walk, number));
        let is_of_argument = |value: &&Value| matches!(self.root(**value), Root::Argument(_) | Root::Behind(_));
        let both = [one, other];
        let large: Vec<&Value> = both.iter().filter(is_large).collect();
        match large[..] {
            [only] if is_bad(&only) => Some(*only),
            [only] => both.iter().find(|value| *value != only).copied(),
            _ => both.iter().find(is_of_argument).copied(),
        }
    }

    fn known_root(&self, value: Value) -> Option<Root> {
        let (mut value, mut is_behind) = (value, false);
        for _ in 0..DEEPEST {
            match value {
                Value::Number(_) => return Some(Root::Own),
                Value::Argument(place, _) if is_behind => return Some(Root::Behind(place)),
                Value::Argument(place, _) => return Some(Root::Argument(place)),
                Value::Made(at, _) => match self.sources.get(&at) {
                    Some(Source::Load { address, .. }) => (value, is_behind) = (*address, true),
                    Some(Source::Sum(one, other)) => value = self.part(*one, *other)?,
                    None => return None,
                },
                Value::Unknown | Value::Stack(_) => return None,
            }
        }
        None
    }

    /// Returns the number that a value is now. Memory is read as it is now.
    pub(super) fn number(&self, value: Value) -> Option<u64> {
        self.number_at(value, DEEPEST)
    }

    fn number_at(&self, value: Value, depth: usize) -> Option<u64> {
        let direct = match value {
            Value::Unknown => None,
            Value::Number(number) => Some(number as u64),
            Value::Stack(slot) => self.of_slot(slot),
            Value::Argument(..) | Value::Made(..) => self.kept(value),
        };
        let depth = depth.checked_sub(1)?;
        direct.or_else(|| match value {
            Value::Argument(place, number) => {
                let on_stack = || self.word(self.of_slot(slot_of(place))?, 8);
                let own = (place >= ARGUMENTS.len()).then(on_stack).flatten();
                let passed = own.or_else(|| self.passed_by_caller(place, depth));
                Some(passed?.wrapping_add_signed(number))
            }
            Value::Made(at, number) => {
                let found = match *self.sources.get(&at)? {
                    Source::Load { address, size } => self.word(self.number_at(address, depth)?, size)?,
                    Source::Sum(one, other) => self.number_at(one, depth)?.wrapping_add(self.number_at(other, depth)?),
                };
                Some(found.wrapping_add_signed(number))
            }
            _ => None,
        })
    }

    /// Returns the argument at `place` of this function as the code of the caller shows it.
    fn passed_by_caller(&self, place: usize, depth: usize) -> Option<u64> {
        let (caller, outer) = self.outer.split_first()?;
        let point = caller.point(self.walk, outer).filter(|_| caller.last_step.is_none())?;
        point.number_at(point.state.passes(place), depth)
    }

    /// Returns a number that a register still has, or the stack.
    fn kept(&self, value: Value) -> Option<u64> {
        let all: Vec<usize> = if self.is_innermost {
            (0..COUNT).collect()
        } else {
            KEPT.into()
        };
        let in_register = all.into_iter().find_map(|register| {
            let more = value.beyond(self.state.registers[register])?;
            Some(value_of(self.registers, register)?.wrapping_add_signed(more))
        });
        in_register.or_else(|| {
            let mut slots = self.state.stack.iter();
            let (slot, more) = slots.find_map(|(slot, known)| Some((*slot, value.beyond(*known)?)))?;
            Some(self.word(self.of_slot(slot)?, 8)?.wrapping_add_signed(more))
        })
    }

    /// Returns the address of a word on the stack.
    fn of_slot(&self, slot: i64) -> Option<u64> {
        let Value::Stack(top) = self.state.registers[RSP] else {
            return None;
        };
        Some(self.registers.sp().wrapping_add_signed(slot.wrapping_sub(top)))
    }

    fn word(&self, address: u64, size: usize) -> Option<u64> {
        self.walk.memory.word(address, size)
    }

    /// Returns the number that an operand of a call is: the address of the called function.
    pub(super) fn target(&self, operand: Operand, next: u64) -> Option<u64> {
        match operand {
            Operand::Register(register) => {
                let own = KEPT.contains(&register).then(|| value_of(self.registers, register));
                own.flatten().or_else(|| self.number(self.state.registers[register]))
            }
            Operand::Memory {
                base: Some(base),
                index: Index::None,
                offset,
            } if KEPT.contains(&base) => self.word(value_of(self.registers, base)?.wrapping_add_signed(offset), 8),
            _ => self.word(self.number(self.state.address(operand, next))?, 8),
        }
    }

    /// Returns the value of the register that is the first argument.
    pub(super) fn first(&self) -> Value {
        self.state.registers[RDI]
    }
}
