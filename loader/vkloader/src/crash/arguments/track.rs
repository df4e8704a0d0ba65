//! Follows the arguments of a function of x86-64 through its code.
//!
//! The code is read from the beginning of the function to an instruction, and not executed: each instruction only changes which registers and
//! words of the stack hold an argument. A register that may hold something else counts as unknown.

use super::instruction::{Instruction, ONE, Operand, RAX, RBP, RBX, RCX, RDI, RDX, RSI, RSP, TWO};
use std::collections::{BTreeMap, HashMap};

/// Registers of the arguments of a function, in their order.
pub(super) const ARGUMENTS: [usize; 6] = [RDI, RSI, RDX, RCX, 8, 9];
/// Registers that a called function may change.
const OF_CALLEE: [usize; 9] = [RAX, RCX, RDX, RSI, RDI, 8, 9, 10, 11];
/// Registers that a called function restores.
pub(super) const KEPT: [usize; 6] = [RBX, RBP, 12, 13, 14, 15];
const COUNT: usize = 16;
/// Size of the largest vector in bytes.
const LARGEST_VECTOR: i64 = 64;

/// Content of a register or of a word on the stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Value {
    #[default]
    Unknown,
    /// An argument of the function, plus a number.
    Argument(usize, i64),
    /// The stack pointer at the beginning of the function, plus a number.
    Stack(i64),
}

impl Value {
    fn plus(self, more: i64) -> Self {
        match self {
            Self::Unknown => Self::Unknown,
            Self::Argument(place, number) => Self::Argument(place, number.wrapping_add(more)),
            Self::Stack(number) => Self::Stack(number.wrapping_add(more)),
        }
    }
}

/// Contents of registers and of the stack at an instruction.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    pub(super) registers: [Value; COUNT],
    /// Words on the stack, by their distance from the stack pointer at the beginning of the function.
    pub(super) stack: BTreeMap<i64, Value>,
}

/// Returns the contents before the instruction that contains the address `at`, and this instruction. `code` begins at the address `start`, at which
/// the function begins.
pub(super) fn before(code: &[u8], start: u64, at: u64) -> Option<(State, Instruction)> {
    let mut state = State::beginning();
    let mut saved: HashMap<u64, State> = HashMap::new();
    let (mut place, mut is_reached) = (0, true);
    loop {
        let address = start.wrapping_add(place as u64);
        match saved.remove(&address) {
            Some(other) if is_reached => state.merge(&other),
            other if !is_reached => state = other.unwrap_or_default(),
            _ => {}
        }
        let instruction = Instruction::decode(code.get(place..)?)?;
        place += instruction.length;
        let next = start.wrapping_add(place as u64);
        if at < next {
            return (at >= address).then_some((state, instruction));
        }
        if let Some(target) = instruction.jump().map(|distance| next.wrapping_add_signed(distance)) {
            saved.entry(target).or_insert_with(|| state.clone());
        }
        is_reached = !instruction.is_end();
        state.apply(&instruction);
    }
}

impl Instruction {
    /// Returns the distance of a jump from the next instruction.
    fn jump(&self) -> Option<i64> {
        let is_jump = match self.group {
            ONE => matches!(self.code, 0x70..=0x7F | 0xE0..=0xE3 | 0xE9 | 0xEB),
            group => group == TWO && (0x80..=0x8F).contains(&self.code),
        };
        is_jump.then_some(self.immediate)
    }

    /// Returns `true` if the next instruction does not follow this one.
    fn is_end(&self) -> bool {
        match (self.group, self.code) {
            (ONE, 0xC2 | 0xC3 | 0xCC | 0xE9 | 0xEB | 0xF4) | (TWO, 0x0B) => true,
            (ONE, 0xFF) => self.register & 7 == 4,
            _ => false,
        }
    }

    fn is_call(&self) -> bool {
        self.group == ONE && (self.code == 0xE8 || self.code == 0xFF && self.register & 7 == 2)
    }
}

impl State {
    fn beginning() -> Self {
        let mut state = Self::default();
        state.registers[RSP] = Value::Stack(0);
        for (place, register) in ARGUMENTS.into_iter().enumerate() {
            state.registers[register] = Value::Argument(place, 0);
        }
        state
    }

    /// Keeps only what is the same in another state, from which a jump leads here.
    fn merge(&mut self, other: &Self) {
        for (own, other) in self.registers.iter_mut().zip(&other.registers) {
            *own = if own == other { *own } else { Value::Unknown };
        }
        self.stack.retain(|slot, value| other.stack.get(slot) == Some(value));
    }

    /// Returns the distance of an operand from the stack pointer at the beginning of the function.
    fn slot(&self, operand: Operand) -> Option<i64> {
        match operand {
            Operand::Memory {
                base: Some(base),
                has_index: false,
                offset,
            } => match self.registers[base] {
                Value::Stack(number) => Some(number.wrapping_add(offset)),
                _ => None,
            },
            _ => None,
        }
    }

    fn get(&self, operand: Operand) -> Value {
        match operand {
            Operand::Register(register) => self.registers[register],
            _ => {
                let slot = self.slot(operand).and_then(|slot| self.stack.get(&slot));
                slot.copied().unwrap_or_default()
            }
        }
    }

    fn set(&mut self, operand: Operand, value: Value) {
        match operand {
            Operand::Register(register) => self.registers[register] = value,
            _ => {
                if let Some(slot) = self.slot(operand) {
                    self.overwrite(slot, 8);
                    self.stack.insert(slot, value);
                }
            }
        }
    }

    /// Forgets the words of the stack of which an instruction may write a part.
    fn overwrite(&mut self, slot: i64, size: i64) {
        self.stack
            .retain(|&known, _| known.saturating_add(8) <= slot || slot.saturating_add(size) <= known);
    }

    fn push(&mut self, value: Value) {
        self.registers[RSP] = self.registers[RSP].plus(-8);
        self.set(TOP, value);
    }

    fn pop(&mut self) -> Value {
        let value = self.get(TOP);
        self.registers[RSP] = self.registers[RSP].plus(8);
        value
    }

    fn forget(&mut self, registers: &[usize]) {
        for &register in registers {
            self.registers[register] = Value::Unknown;
        }
    }

    /// Changes the contents as an instruction does.
    fn apply(&mut self, one: &Instruction) {
        if one.is_call() {
            self.forget(&OF_CALLEE);
        } else if one.group == ONE {
            self.apply_usual(one);
        } else if one.group == TWO && !one.is_vector {
            self.apply_second(one);
        } else {
            self.apply_vector(one);
        }
    }

    fn apply_vector(&mut self, one: &Instruction) {
        if !one.is_of_vectors() {
            self.change_both(one);
        } else if let Some(slot) = self.slot(one.operand) {
            self.overwrite(slot, LARGEST_VECTOR);
        }
    }

    /// Makes both operands of an instruction unknown.
    fn change_both(&mut self, one: &Instruction) {
        self.registers[one.register & 15] = Value::Unknown;
        self.set(one.operand, Value::Unknown);
    }

    fn apply_usual(&mut self, one: &Instruction) {
        let (register, operand, own) = (one.register, one.operand, Operand::Register(one.register & 15));
        let only_wide = |value: Value| if one.is_wide { value } else { Value::Unknown };
        match one.code {
            0x50..=0x57 => self.push(self.registers[register]),
            0x58..=0x5F => self.registers[register] = self.pop(),
            0x68 | 0x6A => self.push(Value::Unknown),
            0x89 => self.set(operand, only_wide(self.registers[register])),
            0x8B => self.set(own, only_wide(self.get(operand))),
            0x8D => self.set(own, only_wide(self.address(operand))),
            // Comparisons, tests and jumps change nothing.
            0x38..=0x3D | 0x84 | 0x85 | 0xA8 | 0xA9 | 0x70..=0x7F | 0xE9 | 0xEB | 0xC2 | 0xC3 | 0xCC | 0xF4 => {}
            0x80 | 0x81 | 0x83 => match (register & 7, one.is_wide) {
                (7, _) => {}
                (0, true) => self.set(operand, self.get(operand).plus(one.immediate)),
                (5, true) => self.set(operand, self.get(operand).plus(one.immediate.wrapping_neg())),
                _ => self.set(operand, Value::Unknown),
            },
            0x00..=0x37 if one.code & 7 < 2 => self.set(operand, Value::Unknown),
            0x00..=0x37 if one.code & 7 < 4 => self.set(own, Value::Unknown),
            0x63 | 0x69 | 0x6B | 0x8A => self.set(own, Value::Unknown),
            0x88 | 0xC0 | 0xC1 | 0xC6 | 0xC7 | 0xD0..=0xD3 | 0xFE => self.set(operand, Value::Unknown),
            0xB0..=0xBF => self.registers[register] = Value::Unknown,
            0xC9 => {
                self.registers[RSP] = self.registers[RBP];
                self.registers[RBP] = self.pop();
            }
            0xA4..=0xA7 | 0xAA..=0xAF => self.forget(&[RAX, RCX, RSI, RDI]),
            0xD8..=0xDF => self.forget(&[RAX]),
            0xF6 | 0xF7 if register & 7 < 2 => {}
            0xF6 | 0xF7 => {
                self.set(operand, Value::Unknown);
                self.forget(&[RAX, RDX]);
            }
            0xFF if register & 7 == 6 => self.push(self.get(operand)),
            0xFF => self.set(operand, Value::Unknown),
            _ => {
                self.forget(&[RAX, RCX, RDX, register & 15]);
                self.set(operand, Value::Unknown);
            }
        }
    }

    fn apply_second(&mut self, one: &Instruction) {
        match one.code {
            // Marks, instructions without effect, and jumps.
            0x0B | 0x0D | 0x18..=0x1F | 0x77 | 0x80..=0x8F | 0xA3 => {}
            0x40..=0x4F | 0xAF | 0xB6 | 0xB7 | 0xB8 | 0xBC..=0xBF => self.registers[one.register & 15] = Value::Unknown,
            0x90..=0x9F => self.set(one.operand, Value::Unknown),
            0xC8..=0xCF => self.registers[one.register & 15] = Value::Unknown,
            0x05 | 0x31 | 0xA2 => self.forget(&[RAX, RBX, RCX, RDX, 11]),
            _ => self.apply_vector(one),
        }
    }

    /// Returns the address of an operand in memory.
    fn address(&self, operand: Operand) -> Value {
        match operand {
            Operand::Memory {
                base: Some(base),
                has_index: false,
                offset,
            } => self.registers[base].plus(offset),
            _ => Value::Unknown,
        }
    }
}

/// The word at the stack pointer.
const TOP: Operand = Operand::Memory {
    base: Some(RSP),
    has_index: false,
    offset: 0,
};

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the content of a register at the end of the code.
    fn at_end(code: &[u8], register: usize) -> Value {
        let whole = [code, &[0x90]].concat();
        let (state, _) = before(&whole, 100, 100 + code.len() as u64).expect("it is decoded");
        state.registers[register]
    }

    #[test]
    fn arguments_are_followed_through_registers_and_the_stack() {
        // push %rbp; mov %rsp,%rbp; sub $0x20,%rsp; mov %rsi,-8(%rbp); call; mov -8(%rbp),%rax
        let saved = [
            0x55, 0x48, 0x89, 0xE5, 0x48, 0x83, 0xEC, 0x20, 0x48, 0x89, 0x75, 0xF8, 0xE8, 0, 0, 0, 0, 0x48, 0x8B, 0x45,
            0xF8,
        ];
        assert_eq!(at_end(&saved, RAX), Value::Argument(1, 0));
        assert_eq!(at_end(&saved, RSI), Value::Unknown, "the called function may change it");
        assert_eq!(at_end(&saved, RSP), Value::Stack(-0x28));
        // push %rbx; mov %rsi,%rbx; test %rdi,%rdi; jne over; pop %rbx; ret; over: lea 0x10(%rbx),%rdi
        let over = [
            0x53, 0x48, 0x89, 0xF3, 0x48, 0x85, 0xFF, 0x75, 2, 0x5B, 0xC3, 0x48, 0x8D, 0x7B, 0x10,
        ];
        assert_eq!(at_end(&over, RDI), Value::Argument(1, 16));
        // mov (%rdi),%rsi; mov %esi,%edx; xor %ecx,%ecx; movups %xmm0,(%r8)
        let changed = [0x48, 0x8B, 0x37, 0x89, 0xF2, 0x31, 0xC9, 0x41, 0x0F, 0x11, 0x00];
        for register in [RSI, RDX, RCX] {
            assert_eq!(at_end(&changed, register), Value::Unknown, "{register}");
        }
        assert_eq!(at_end(&changed, RDI), Value::Argument(0, 0));
        assert_eq!(at_end(&changed, 8), Value::Argument(4, 0));
    }
}
