//! Follows the arguments of a function of x86-64 through its code.
//!
//! The code is read from the beginning of the function to an instruction, and not executed. Each instruction only changes which registers and
//! words of the stack hold an argument, a number, or the result of an instruction.

use super::instruction::{Index, Instruction, ONE, Operand, RAX, RBP, RBX, RCX, RDI, RDX, RSI, RSP, TWO};
use super::value::{Source, Sources, State, Value};
use crate::crash::cfi::Extent;
use std::collections::HashMap;

/// Registers of the arguments of a function, in their order.
pub(super) const ARGUMENTS: [usize; 6] = [RDI, RSI, RDX, RCX, 8, 9];
/// Registers that a called function may change.
const OF_CALLEE: [usize; 8] = [RCX, RDX, RSI, RDI, 8, 9, 10, 11];
/// Registers that a called function restores.
pub(super) const KEPT: [usize; 6] = [RBX, RBP, 12, 13, 14, 15];
/// Size of the largest vector in bytes.
const LARGEST_VECTOR: i64 = 64;
/// Bit of the numbers of values that differ between the ways to an instruction.
const JOINED: u64 = 1 << 63;
/// Bit of the numbers of values that an instruction reads from memory and adds to another.
const ADDED: u64 = 1 << 62;
/// Number of times that the code is read, so that jumps backwards lead to code that only they reach.
const PASSES: usize = 4;

/// An instruction, and the contents of registers and of the stack before it.
#[derive(Debug)]
pub(super) struct Flow {
    pub(super) state: State,
    pub(super) sources: Sources,
    pub(super) instruction: Instruction,
    /// Address of the next instruction.
    pub(super) next: u64,
}

impl Flow {
    /// Returns the address to which the instruction jumps, if the instruction has this address and all arguments are those of the function.
    pub(super) fn jumps_directly(&self) -> Option<u64> {
        let distance = self.instruction.jump()?;
        let is_same = |(place, register): (usize, usize)| self.state.registers[register] == Value::Argument(place, 0);
        let mut all = ARGUMENTS.into_iter().enumerate();
        all.all(is_same).then(|| self.next.wrapping_add_signed(distance))
    }

    /// Returns the address of the function that the instruction calls, if the instruction has this address.
    pub(super) fn called_directly(&self) -> Option<u64> {
        let one = &self.instruction;
        let is_direct = one.group == ONE && one.code == 0xE8;
        is_direct.then(|| self.next.wrapping_add_signed(one.immediate))
    }
}

/// Returns the instruction at the address `at`, or the instruction that contains this address. `code` is the code of the function.
pub(super) fn before(code: &[u8], extent: Extent, at: u64) -> Option<Flow> {
    let is_it = |address: u64, next: u64, _: &Instruction| (address..next).contains(&at);
    find(code, extent, is_it)
}

/// Returns the first jump of a function to another one, with which it calls this function in its last step.
pub(super) fn tail_call(code: &[u8], extent: Extent) -> Option<Flow> {
    find(code, extent, |_, next, one| {
        let is_indirect = one.group == ONE && one.code == 0xFF && one.register & 7 == 4;
        let target = one.jump().map(|distance| next.wrapping_add_signed(distance));
        is_indirect || one.is_end() && target.is_some_and(|target| !(extent.start..extent.end).contains(&target))
    })
}

fn find(code: &[u8], extent: Extent, is_it: impl Fn(u64, u64, &Instruction) -> bool) -> Option<Flow> {
    let mut backwards = HashMap::new();
    let mut found = None;
    for _ in 0..PASSES {
        found = pass(code, extent, &is_it, &mut backwards);
    }
    found
}

/// Reads the code once. `backwards` has the states at jumps to earlier code.
fn pass(
    code: &[u8],
    extent: Extent,
    is_it: &impl Fn(u64, u64, &Instruction) -> bool,
    backwards: &mut HashMap<u64, State>,
) -> Option<Flow> {
    let mut saved: HashMap<u64, State> = HashMap::new();
    let (mut sources, mut found) = (Sources::new(), None);
    let (mut place, mut is_reached, mut is_lost) = (0, extent.is_whole, false);
    let mut state = State::beginning();
    loop {
        let address = extent.start.wrapping_add(place as u64);
        let is_known = is_reached && !is_lost;
        let from_behind = || backwards.get(&address).cloned().filter(|_| !is_known);
        match saved.remove(&address).or_else(from_behind) {
            Some(other) if is_known => state.merge(&other, address),
            Some(other) => (state, is_lost) = (other, false),
            None if is_reached => {}
            // Padding, or code to which only unknown jumps lead.
            None => (state, is_lost) = (State::unknown(address), true),
        }
        let Some(one) = code.get(place..).and_then(Instruction::decode) else {
            return found;
        };
        place += one.length;
        let next = extent.start.wrapping_add(place as u64);
        if found.is_none() && is_it(address, next, &one) {
            found = Some(Flow {
                state: state.clone(),
                sources: sources.clone(),
                instruction: one,
                next,
            });
        }
        let target = one.jump().map(|distance| next.wrapping_add_signed(distance));
        if let Some(target) = target.filter(|_| !is_lost) {
            let known = if target > address { &mut saved } else { &mut *backwards };
            match known.get_mut(&target) {
                Some(other) if target > address => other.merge(&state, target),
                _ => drop(known.insert(target, state.clone())),
            }
        }
        is_reached = !one.is_end();
        state.apply(&one, (address, next), &mut sources);
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

    /// Returns `true` for an instruction that copies or fills memory.
    pub(super) fn is_string(&self) -> bool {
        self.group == ONE && matches!(self.code, 0xA4 | 0xA5 | 0xAA | 0xAB)
    }

    fn is_call(&self) -> bool {
        self.group == ONE && (self.code == 0xE8 || self.code == 0xFF && self.register & 7 == 2)
    }
}

impl State {
    /// Returns the contents at code to which no known jump leads.
    fn unknown(address: u64) -> Self {
        let mut state = Self::default();
        for (register, value) in state.registers.iter_mut().enumerate() {
            *value = joined(address, register);
        }
        state
    }

    /// Keeps only what is the same in another state, from which a jump leads to `address`.
    fn merge(&mut self, other: &Self, address: u64) {
        for (register, (own, other)) in self.registers.iter_mut().zip(&other.registers).enumerate() {
            *own = if own == other { *own } else { joined(address, register) };
        }
        self.stack.retain(|slot, value| other.stack.get(slot) == Some(value));
    }

    /// Returns the distance of an operand from the stack pointer at the beginning of the function.
    fn slot(&self, operand: Operand) -> Option<i64> {
        match (operand, self.address(operand, 0)) {
            (Operand::Memory { base: Some(_), .. }, Value::Stack(slot)) => Some(slot),
            _ => None,
        }
    }

    fn set(&mut self, operand: Operand, value: Value, size: i64) {
        match operand {
            Operand::Register(register) => self.registers[register & 15] = value,
            _ => {
                if let Some(slot) = self.slot(operand) {
                    self.overwrite(slot, size);
                    if size == WORD {
                        self.stack.insert(slot, value);
                    }
                }
            }
        }
    }

    /// Forgets the words of the stack of which an instruction may write a part.
    fn overwrite(&mut self, slot: i64, size: i64) {
        self.stack
            .retain(|&known, _| known.saturating_add(WORD) <= slot || slot.saturating_add(size) <= known);
    }

    fn push(&mut self, value: Value) {
        self.registers[RSP] = self.registers[RSP].plus(-WORD);
        self.set(TOP, value, WORD);
    }

    fn pop(&mut self, at: u64) -> Value {
        let slot = self.slot(TOP).and_then(|slot| self.stack.get(&slot));
        let value = slot.copied().unwrap_or(Value::Made(at, 0));
        self.registers[RSP] = self.registers[RSP].plus(WORD);
        value
    }

    fn forget(&mut self, registers: &[usize]) {
        for &register in registers {
            self.registers[register & 15] = Value::Unknown;
        }
    }

    /// Forgets the words of the stack whose addresses are arguments of a call, because the called function may write its results there.
    fn forget_results(&mut self) {
        for register in ARGUMENTS {
            if let Value::Stack(slot) = self.registers[register] {
                self.overwrite(slot, WORD);
            }
        }
    }

    /// Changes the contents as an instruction does. `at` is the address of the instruction, and `next` that of the next one.
    fn apply(&mut self, one: &Instruction, (at, next): (u64, u64), sources: &mut Sources) {
        let made = Value::Made(at, 0);
        if one.is_call() {
            self.forget_results();
            self.forget(&OF_CALLEE);
            self.registers[RAX] = made;
        } else if one.group == ONE {
            self.apply_usual(one, made, next, sources);
        } else if one.group == TWO && !one.is_vector {
            self.apply_second(one, made);
        } else {
            self.apply_vector(one, made);
        }
    }

    fn apply_vector(&mut self, one: &Instruction, made: Value) {
        if !one.is_of_vectors() {
            self.registers[one.register & 15] = made;
            self.set(one.operand, Value::Unknown, WORD);
        } else if let Some(slot) = self.slot(one.operand) {
            self.overwrite(slot, LARGEST_VECTOR);
        }
    }

    /// Returns the value of an operand that an instruction with the result `made` reads.
    fn read(&self, one: &Instruction, made: Value, next: u64, sources: &mut Sources) -> Value {
        let (operand, size) = (one.operand, size_of(one));
        match operand {
            Operand::Register(register) => self.registers[register].narrowed(size, made),
            Operand::Memory { index: Index::None, .. } => {
                let known = self.slot(operand).and_then(|slot| self.stack.get(&slot));
                if let Some(known) = known.filter(|known| size == WORD || matches!(known, Value::Number(_))) {
                    return known.narrowed(size, made);
                }
                if let Value::Made(at, _) = made {
                    let (address, size) = (self.address(operand, next), size as usize);
                    sources.insert(at, Source::Load { address, size });
                }
                made
            }
            _ => made,
        }
    }

    fn apply_usual(&mut self, one: &Instruction, made: Value, next: u64, sources: &mut Sources) {
        let (register, operand, size) = (one.register & 15, one.operand, size_of(one));
        let immediate = Value::Number(one.immediate);
        let is_same = operand == Operand::Register(register);
        match one.code {
            0x50..=0x57 => self.push(self.registers[register]),
            0x58..=0x5F => self.registers[register] = self.pop(next - 1),
            0x68 | 0x6A => self.push(immediate),
            0x89 => self.set(operand, self.registers[register].narrowed(size, made), size),
            0x8B => self.registers[register] = self.read(one, made, next, sources),
            0x8D => self.registers[register] = self.lea(operand, next, made).narrowed(size, made),
            // Comparisons, tests and jumps change nothing.
            0x38..=0x3D | 0x84 | 0x85 | 0xA8 | 0xA9 | 0x70..=0x7F | 0xE9 | 0xEB | 0xC2 | 0xC3 | 0xCC | 0xF4 => {}
            0x01 | 0x03 if one.is_wide => self.add(one, made, next, sources),
            0x31 | 0x33 | 0x29 | 0x2B if is_same => self.registers[register] = Value::Number(0),
            0x80 | 0x81 | 0x83 => self.compute(one, made),
            0x00..=0x37 if one.code & 7 < 2 => self.set(operand, made, size),
            0x00..=0x37 if one.code & 7 < 4 => self.registers[register] = made,
            0x63 | 0x69 | 0x6B | 0x8A => self.registers[register] = made,
            0xC7 => self.set(operand, immediate.narrowed(size, made), size),
            0x88 | 0xC0 | 0xC1 | 0xC6 | 0xD0..=0xD3 | 0xFE => self.set(operand, made, size),
            0xB8..=0xBF => self.registers[register] = immediate.narrowed(size, made),
            0xB0..=0xB7 => self.registers[register] = made,
            0xC9 => {
                self.registers[RSP] = self.registers[RBP];
                self.registers[RBP] = self.pop(next - 1);
            }
            0xA4..=0xA7 | 0xAA..=0xAF => self.forget(&[RAX, RCX, RSI, RDI]),
            0xD8..=0xDF => self.forget(&[RAX]),
            0xF6 | 0xF7 if register & 7 < 2 => {}
            0xF6 | 0xF7 => {
                self.set(operand, made, size);
                self.forget(&[RAX, RDX]);
            }
            0xFF if register & 7 == 6 => {
                let value = self.read(one, made, next, sources);
                self.push(value);
            }
            0xFF => self.set(operand, made, size),
            _ => {
                self.forget(&[RAX, RCX, RDX, register]);
                self.set(operand, Value::Unknown, WORD);
            }
        }
    }

    /// Adds two operands.
    fn add(&mut self, one: &Instruction, made: Value, next: u64, sources: &mut Sources) {
        let Value::Made(at, _) = made else { return };
        let own = Operand::Register(one.register & 15);
        let read = self.read(one, Value::Made(at | ADDED, 0), next, sources);
        sources.insert(at, Source::Sum(self.registers[one.register & 15], read));
        self.set(if one.code == 0x01 { one.operand } else { own }, made, WORD);
    }

    /// Adds or combines an immediate value.
    fn compute(&mut self, one: &Instruction, made: Value) {
        let size = size_of(one);
        let own = match one.operand {
            Operand::Register(register) => self.registers[register],
            operand => {
                let slot = self.slot(operand).and_then(|slot| self.stack.get(&slot));
                slot.copied().unwrap_or(made)
            }
        };
        let value = match (one.register & 7, one.is_wide) {
            (7, _) => return,
            (0, true) => own.plus(one.immediate),
            (5, true) => own.plus(one.immediate.wrapping_neg()),
            (1, _) if one.immediate == -1 => Value::Number(-1).narrowed(size, made),
            (4, _) if one.immediate == 0 => Value::Number(0),
            _ => made,
        };
        self.set(one.operand, value, size);
    }

    fn apply_second(&mut self, one: &Instruction, made: Value) {
        match one.code {
            // Marks, instructions without effect, and jumps.
            0x0B | 0x0D | 0x18..=0x1F | 0x77 | 0x80..=0x8F | 0xA3 => {}
            0x40..=0x4F | 0xAF | 0xB6 | 0xB7 | 0xB8 | 0xBC..=0xBF | 0xC8..=0xCF => {
                self.registers[one.register & 15] = made;
            }
            0x90..=0x9F => self.set(one.operand, made, WORD),
            0x05 | 0x31 | 0xA2 => self.forget(&[RAX, RBX, RCX, RDX, 11]),
            _ => self.apply_vector(one, made),
        }
    }

    /// Returns the address that an instruction stores in a register.
    fn lea(&self, operand: Operand, next: u64, made: Value) -> Value {
        match self.address(operand, next) {
            Value::Unknown => made,
            known => known,
        }
    }
}

impl Value {
    /// Returns this value after an instruction copied `size` bytes of it.
    fn narrowed(self, size: i64, made: Self) -> Self {
        match self {
            Self::Number(number) if size < WORD => Self::Number(i64::from(number as u32)),
            Self::Unknown => made,
            known if size == WORD => known,
            _ => made,
        }
    }
}

/// Returns the number of bytes that an instruction reads or writes; 4 for smaller operands.
fn size_of(one: &Instruction) -> i64 {
    if one.is_wide { WORD } else { WORD / 2 }
}

/// Returns the value of a register that differs between the ways to an instruction.
fn joined(address: u64, register: usize) -> Value {
    Value::Made(JOINED | address << 4 | register as u64, 0)
}

/// Size of a register in bytes.
const WORD: i64 = 8;

/// The word at the stack pointer.
const TOP: Operand = Operand::Memory {
    base: Some(RSP),
    index: Index::None,
    offset: 0,
};

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the content of a register at the end of the code.
    fn at_end(code: &[u8], register: usize) -> Value {
        let whole = [code, &[0x90]].concat();
        let extent = Extent {
            start: 100,
            end: 100 + whole.len() as u64,
            is_whole: true,
        };
        let found = before(&whole, extent, 100 + code.len() as u64).expect("it is decoded");
        found.state.registers[register]
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
        // push %rbp; mov %rsp,%rbp; movq $7,-8(%rbp); lea -8(%rbp),%rdi; call; mov -8(%rbp),%rdx
        let result = [
            0x55, 0x48, 0x89, 0xE5, 0x48, 0xC7, 0x45, 0xF8, 7, 0, 0, 0, 0x48, 0x8D, 0x7D, 0xF8, 0xE8, 0, 0, 0, 0, 0x48,
            0x8B, 0x55, 0xF8,
        ];
        assert_eq!(
            at_end(&result, RDX),
            Value::Made(121, 0),
            "the called function may change the variable"
        );
        // push %rbx; mov %rsi,%rbx; test %rdi,%rdi; jne over; pop %rbx; ret; over: lea 0x10(%rbx),%rdi
        let over = [
            0x53, 0x48, 0x89, 0xF3, 0x48, 0x85, 0xFF, 0x75, 2, 0x5B, 0xC3, 0x48, 0x8D, 0x7B, 0x10,
        ];
        assert_eq!(at_end(&over, RDI), Value::Argument(1, 16));
        // mov (%rdi),%rsi; mov %esi,%edx; xor %ecx,%ecx; movups %xmm0,(%r8)
        let changed = [0x48, 0x8B, 0x37, 0x89, 0xF2, 0x31, 0xC9, 0x41, 0x0F, 0x11, 0x00];
        for (register, made) in [(RSI, 100), (RDX, 103)] {
            assert_eq!(at_end(&changed, register), Value::Made(made, 0), "{register}");
        }
        assert_eq!(at_end(&changed, RCX), Value::Number(0));
        assert_eq!(at_end(&changed, RDI), Value::Argument(0, 0));
        assert_eq!(at_end(&changed, 8), Value::Argument(4, 0));
    }
}
