//! Decodes instructions of x86-64: their lengths, and the registers and memory that they name.

/// Numbers of registers as instructions encode them.
pub(super) const RAX: usize = 0;
pub(super) const RCX: usize = 1;
pub(super) const RDX: usize = 2;
pub(super) const RBX: usize = 3;
pub(super) const RSP: usize = 4;
pub(super) const RBP: usize = 5;
pub(super) const RSI: usize = 6;
pub(super) const RDI: usize = 7;

/// Group of instructions without a prefix of their own, and the groups with the prefixes `0F`, `0F 38` and `0F 3A`.
pub(super) const ONE: u8 = 0;
pub(super) const TWO: u8 = 1;
const THREE: u8 = 2;
const THREE_WITH_IMMEDIATE: u8 = 3;

/// The operand of an instruction that may be in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operand {
    None,
    Register(usize),
    Memory {
        /// Register with the address; `None` if the address is relative to the next instruction.
        base: Option<usize>,
        index: Index,
        offset: i64,
    },
}

/// The part of an address that the code multiplies or that belongs to the thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Index {
    None,
    Register(usize),
    /// The address is absolute, or relative to the memory of the thread.
    Other,
}

/// An instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Instruction {
    pub(super) length: usize,
    pub(super) group: u8,
    pub(super) code: u8,
    /// The register operand, or the extension of the code.
    pub(super) register: usize,
    pub(super) operand: Operand,
    pub(super) immediate: i64,
    /// `true` if the operands have 64 bits.
    pub(super) is_wide: bool,
    /// `true` for an instruction with the prefix VEX.
    pub(super) is_vector: bool,
}

/// Reads bytes one after the other.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn next(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    /// Returns a number with a sign that has `size` bytes.
    fn number(&mut self, size: usize) -> Option<i64> {
        let bytes = self.bytes.get(self.at..self.at + size)?;
        self.at += size;
        let sign = if bytes.last().is_some_and(|last| last & 0x80 != 0) {
            0xFF
        } else {
            0
        };
        let mut word = [sign; 8];
        word[..size].copy_from_slice(bytes);
        Some(i64::from_le_bytes(word))
    }
}

/// Bits of prefixes that extend the numbers of registers: of the register operand, of the index, and of the base.
#[derive(Clone, Copy, Default)]
struct Extension {
    is_wide: bool,
    register: usize,
    index: usize,
    base: usize,
}

impl Instruction {
    /// Decodes the instruction at the beginning of `bytes`. Returns `None` for an unknown instruction.
    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader { bytes, at: 0 };
        let (mut is_short, mut is_of_thread) = (false, false);
        let mut byte = reader.next()?;
        while matches!(byte, 0x66 | 0xF2 | 0xF3 | 0x2E | 0x36 | 0x3E | 0x26 | 0x64 | 0x65) {
            is_short |= byte == 0x66;
            is_of_thread |= matches!(byte, 0x64 | 0x65);
            byte = reader.next()?;
        }
        let mut extension = Extension::default();
        if byte & 0xF0 == 0x40 {
            extension = Extension {
                is_wide: byte & 8 != 0,
                register: usize::from(byte & 4) << 1,
                index: usize::from(byte & 2) << 2,
                base: usize::from(byte & 1) << 3,
            };
            byte = reader.next()?;
        }
        let is_vector = matches!(byte, 0xC4 | 0xC5);
        let (group, code) = match byte {
            0xC4 | 0xC5 => vector(&mut reader, byte, &mut extension)?,
            0x0F => match reader.next()? {
                0x38 => (THREE, reader.next()?),
                0x3A => (THREE_WITH_IMMEDIATE, reader.next()?),
                code => (TWO, code),
            },
            code => (ONE, code),
        };
        let mut found = Self {
            length: 0,
            group,
            code,
            register: usize::from(code & 7) | extension.base,
            operand: Operand::None,
            immediate: 0,
            is_wide: extension.is_wide,
            is_vector,
        };
        if has_operands(group, code)? {
            found.read_operands(&mut reader, extension)?;
        }
        if is_of_thread && matches!(found.operand, Operand::Memory { .. }) {
            found.operand = Operand::Memory {
                base: None,
                index: Index::Other,
                offset: 0,
            };
        }
        found.immediate = reader.number(found.size_of_immediate(is_short))?;
        found.length = reader.at;
        Some(found)
    }

    fn read_operands(&mut self, reader: &mut Reader<'_>, extension: Extension) -> Option<()> {
        let byte = reader.next()?;
        let (mode, low) = (byte >> 6, usize::from(byte & 7));
        self.register = usize::from(byte >> 3 & 7) | extension.register;
        if mode == 3 {
            self.operand = Operand::Register(low | extension.base);
            return Some(());
        }
        let (mut base, mut place) = (Some(low | extension.base), Index::None);
        let mut size = [0, 1, 4][usize::from(mode)];
        if low == RSP {
            let scaled = reader.next()?;
            let (index, low) = (usize::from(scaled >> 3 & 7) | extension.index, usize::from(scaled & 7));
            base = Some(low | extension.base);
            if low == RBP && mode == 0 {
                (base, size) = (None, 4);
            }
            place = match (index, base) {
                (RSP, None) => Index::Other,
                (RSP, _) => Index::None,
                (index, _) => Index::Register(index),
            };
        } else if low == RBP && mode == 0 {
            // The address is relative to the instruction.
            (base, size) = (None, 4);
        }
        self.operand = Operand::Memory {
            base,
            index: place,
            offset: reader.number(size)?,
        };
        Some(())
    }

    /// Returns the number of bytes of the immediate value.
    fn size_of_immediate(&self, is_short: bool) -> usize {
        let whole = if is_short { 2 } else { 4 };
        let is_test = self.register & 7 < 2;
        match (self.group, self.code) {
            (ONE, code @ 0..=0x3F) if code & 7 == 4 => 1,
            (ONE, code @ 0..=0x3F) if code & 7 == 5 => whole,
            (ONE, 0x68 | 0x69 | 0x81 | 0xA9 | 0xC7) => whole,
            (ONE, 0xE8 | 0xE9) | (TWO, 0x80..=0x8F) if !self.is_vector => 4,
            (ONE, 0x6A | 0x6B | 0x70..=0x80 | 0x83 | 0xA8 | 0xB0..=0xB7 | 0xC0 | 0xC1 | 0xC6 | 0xE0..=0xE3 | 0xEB) => 1,
            (ONE, 0xB8..=0xBF) if self.is_wide => 8,
            (ONE, 0xB8..=0xBF) => whole,
            (ONE, 0xC2) => 2,
            (ONE, 0xF6) if is_test => 1,
            (ONE, 0xF7) if is_test => whole,
            (TWO, 0x70..=0x73 | 0xA4 | 0xAC | 0xBA | 0xC2 | 0xC4..=0xC6) | (THREE_WITH_IMMEDIATE, _) => 1,
            _ => 0,
        }
    }

    /// Returns `true` for an instruction whose operands are vector registers, so that it changes no other register.
    pub(super) fn is_of_vectors(&self) -> bool {
        match self.group {
            TWO => {
                matches!(
                    self.code,
                    0x10..=0x17 | 0x28 | 0x29 | 0x2B | 0x2E | 0x2F | 0x51..=0x6F | 0x70..=0x76 | 0x7F | 0xC2 | 0xC6 | 0xD0..=0xD6 | 0xD8..=0xFE
                )
            }
            THREE => self.code < 0xF0,
            THREE_WITH_IMMEDIATE => !(0x14..=0x17).contains(&self.code) && self.code < 0xF0,
            _ => false,
        }
    }
}

/// Reads the rest of the prefix VEX. Returns the group and the code of the instruction.
fn vector(reader: &mut Reader<'_>, prefix: u8, extension: &mut Extension) -> Option<(u8, u8)> {
    let first = reader.next()?;
    extension.register = usize::from(!first >> 7) << 3;
    if prefix == 0xC5 {
        return Some((TWO, reader.next()?));
    }
    extension.index = usize::from(!first >> 6 & 1) << 3;
    extension.base = usize::from(!first >> 5 & 1) << 3;
    extension.is_wide = reader.next()? & 0x80 != 0;
    let group = first & 0x1F;
    (TWO..=THREE_WITH_IMMEDIATE).contains(&group).then_some(())?;
    Some((group, reader.next()?))
}

/// Returns `true` if operands follow the code of an instruction. Returns `None` for an unknown code.
fn has_operands(group: u8, code: u8) -> Option<bool> {
    if group == TWO {
        return Some(!matches!(
            code,
            0x05 | 0x0B | 0x31 | 0x77 | 0x80..=0x8F | 0xA0 | 0xA1 | 0xA2 | 0xA8 | 0xA9 | 0xC8..=0xCF
        ));
    }
    if group != ONE {
        return Some(true);
    }
    match code {
        0..=0x3F if code & 7 < 4 => Some(true),
        0..=0x3F if code & 7 < 6 => Some(false),
        0x63
        | 0x69
        | 0x6B
        | 0x80..=0x8F
        | 0xC0
        | 0xC1
        | 0xC6
        | 0xC7
        | 0xD0..=0xD3
        | 0xD8..=0xDF
        | 0xF6
        | 0xF7
        | 0xFE
        | 0xFF => Some(true),
        0x50..=0x5F
        | 0x68
        | 0x6A
        | 0x70..=0x7F
        | 0x90..=0x99
        | 0x9C
        | 0x9D
        | 0xA4..=0xBF
        | 0xC2
        | 0xC3
        | 0xC9
        | 0xCC
        | 0xE0..=0xE3
        | 0xE8
        | 0xE9
        | 0xEB
        | 0xF4 => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_and_operands_of_instructions_are_decoded() {
        let memory = |base, offset| Operand::Memory {
            base,
            index: Index::None,
            offset,
        };
        for (bytes, register, operand) in [
            // mov %rsi,-0x10(%rbp); mov 0x18(%rsp),%r12; lea 0x340(%r13),%rax; movl $1,(%rsi)
            (&[0x48, 0x89, 0x75, 0xF0][..], RSI, memory(Some(RBP), -16)),
            (&[0x4C, 0x8B, 0x64, 0x24, 0x18], 12, memory(Some(RSP), 24)),
            (&[0x49, 0x8D, 0x85, 0x40, 3, 0, 0], RAX, memory(Some(13), 0x340)),
            (&[0xC7, 0x06, 1, 0, 0, 0], 0, memory(Some(RSI), 0)),
            // mov %rdi,%rbx; movabs $1,%rax; cmp 0x10(%rip),%eax; vmovdqu %ymm0,0x20(%rdi); nopw 0(%rax,%rax,1)
            (&[0x48, 0x89, 0xFB], RDI, Operand::Register(RBX)),
            (&[0x48, 0xB8, 1, 0, 0, 0, 0, 0, 0, 0], RAX, Operand::None),
            (&[0x3B, 0x05, 0x10, 0, 0, 0], RAX, memory(None, 16)),
            (&[0xC5, 0xFE, 0x7F, 0x47, 0x20], 0, memory(Some(RDI), 32)),
            (
                &[0x66, 0x0F, 0x1F, 0x44, 0, 0],
                0,
                Operand::Memory {
                    base: Some(RAX),
                    index: Index::Register(RAX),
                    offset: 0,
                },
            ),
        ] {
            let found = Instruction::decode(&[bytes, &[0x90; 8]].concat()).expect("it is known");
            assert_eq!(
                (found.length, found.register, found.operand),
                (bytes.len(), register, operand),
                "{bytes:x?}"
            );
        }
        for bytes in [&[0x62, 0xF1, 0x7D, 0x48][..], &[0x06], &[0x48, 0x89]] {
            assert!(Instruction::decode(bytes).is_none(), "{bytes:x?}");
        }
    }
}
