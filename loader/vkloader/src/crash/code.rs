//! Recognises three kinds of instructions: a call, the return from a signal handler, and a trap.

use super::Instruction;
use super::memory::Memory;
use super::registers::{Machine, Registers};

/// Length of the longest call instruction in bytes.
const LONGEST_CALL: usize = 7;

/// Returns `true` if the instruction before an address is a call.
pub(super) fn follows_call(memory: &Memory, address: u64, machine: Machine) -> bool {
    match machine {
        Machine::X64 | Machine::X86 => {
            let mut bytes = [0; LONGEST_CALL];
            memory
                .read(address.wrapping_sub(LONGEST_CALL as u64), &mut bytes)
                .is_some()
                && ends_in_call(&bytes)
        }
        Machine::Arm64 => {
            let before = memory.word(address.wrapping_sub(4), 4).unwrap_or_default();
            address.is_multiple_of(4) && (before & 0xFC00_0000 == 0x9400_0000 || before & 0xFFFF_FC1F == 0xD63F_0000)
        }
    }
}

/// Returns `true` if x86 code ends with a direct call, or with a call through a register or memory.
fn ends_in_call(bytes: &[u8; LONGEST_CALL]) -> bool {
    if bytes[2] == 0xE8 {
        return true;
    }
    // `length` is the length of a possible instruction, and `at` is the index of its first byte.
    [2, 3, 4, 6, 7].into_iter().any(|length| {
        let at = LONGEST_CALL - length;
        let (operation, operand) = (bytes[at], bytes[at + 1]);
        let is_call = operation == 0xFF && operand >> 3 & 7 == 2;
        let has_index = operand & 7 == 4 && operand >> 6 != 3;
        let distance = match operand >> 6 {
            0 if operand & 7 == 5 => 4,
            1 => 1,
            2 => 4,
            _ => 0,
        };
        is_call && 2 + usize::from(has_index) + distance == length
    })
}

/// Returns `true` if the code at `address` returns from a signal handler.
pub(super) fn is_signal_return(memory: &Memory, address: u64, machine: Machine) -> bool {
    let wanted: &[u8] = match machine {
        Machine::X64 => &[0x48, 0xC7, 0xC0, 0x0F, 0, 0, 0, 0x0F, 0x05],
        Machine::X86 => &[0xB8, 0xAD, 0, 0, 0, 0xCD, 0x80],
        Machine::Arm64 => &[0x68, 0x11, 0x80, 0xD2, 0x01, 0, 0, 0xD4],
    };
    let mut found = [0; 9];
    let found = &mut found[..wanted.len()];
    memory.read(address, found).is_some() && found == wanted
}

/// Returns the kind of the instruction at which a thread stopped because of `signal`.
pub(super) fn instruction(memory: &Memory, registers: &Registers, signal: i32) -> Instruction {
    let at = registers.pc;
    let mut bytes = [0; 4];
    if memory.read(at, &mut bytes).is_none() && memory.read(at, &mut bytes[..2]).is_none() {
        return Instruction::Unknown;
    }
    let before = memory.word(at.wrapping_sub(1), 1).unwrap_or_default();
    if is_trap(signal, before as u8, bytes, registers.machine) {
        Instruction::Trap
    } else {
        Instruction::Other
    }
}

/// Returns `true` if the code `bytes` is a trap: ud2 or ud1 of x86, and udf or brk of Arm. The processor stops after int3 of x86, which is
/// the byte `before`, with SIGTRAP. With another signal, that byte is padding between functions.
fn is_trap(signal: i32, before: u8, bytes: [u8; 4], machine: Machine) -> bool {
    match machine {
        Machine::X64 | Machine::X86 => {
            matches!(bytes, [0x0F, 0x0B | 0xB9, ..]) || signal == libc::SIGTRAP && before == 0xCC
        }
        Machine::Arm64 => {
            let word = u32::from_le_bytes(bytes);
            // Memory without code has zeros, which are udf #0.
            word & 0xFFE0_001F == 0xD420_0000 || word >> 16 == 0 && word != 0
        }
    }
}

/// Returns `true` if a thread returned from a function of x86 to an invalid address, or is about to do so. `fault` is the fault of memory with its
/// address, if the thread received one.
pub(super) fn is_lost_return(memory: &Memory, registers: &Registers, fault: Option<Option<u64>>) -> bool {
    let (machine, sp) = (registers.machine, registers.sp());
    let (Some(address), Machine::X64 | Machine::X86) = (fault, machine) else {
        return false;
    };
    let mut code = [0; 2];
    // The processor reports the fault at the instruction that returns if no code can be at the address.
    if address.is_none() && memory.read(registers.pc, &mut code).is_some() {
        return matches!(code, [0xC3 | 0xC2, _] | [0xF3, 0xC3]);
    }
    let word = machine.word();
    let is_called = || {
        let back = memory.word(sp, word);
        back.is_some_and(|back| follows_call(memory, back, machine))
    };
    let popped = memory.word(sp.wrapping_sub(word as u64), word);
    address == Some(registers.pc) && popped == Some(registers.pc) && !is_called()
}

/// The layout in which the kernel saves registers when a signal handler interrupts code.
struct Saved {
    /// Offset of the registers from the start of the context, in bytes.
    registers: u64,
    /// Offset of each register, in words, by DWARF number.
    places: &'static [u64],
    pc: u64,
}

const SAVED_X64: Saved = Saved {
    registers: 40,
    // The registers in `sigcontext`: rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8 to r15, rip.
    places: &[13, 12, 14, 11, 9, 8, 10, 15, 0, 1, 2, 3, 4, 5, 6, 7, 16],
    pc: 16,
};
const SAVED_ARM64: Saved = Saved {
    registers: 128 + 176 + 8,
    places: &[
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29,
        30, 31,
    ],
    pc: 32,
};
const SAVED_X86: Saved = Saved {
    registers: 20,
    // The registers in `sigcontext`: eax, ecx, edx, ebx, esp, ebp, esi, edi, eip.
    places: &[11, 10, 9, 8, 7, 6, 5, 4, 14],
    pc: 14,
};

/// Returns the registers that a signal handler interrupted. `registers` has the values at the return from the handler.
pub(super) fn interrupted(memory: &Memory, registers: &Registers) -> Option<Registers> {
    let (machine, sp) = (registers.machine, registers.sp());
    let word = machine.word();
    let (saved, context) = match machine {
        Machine::X64 => (&SAVED_X64, sp),
        Machine::Arm64 => (&SAVED_ARM64, sp),
        // The arguments of the handler are on the stack: the signal, a pointer to its description, and a pointer to the context.
        Machine::X86 => (&SAVED_X86, memory.word(sp.wrapping_add(8), word)?),
    };
    let start = context.wrapping_add(saved.registers);
    let read = |place: u64| memory.word(start.wrapping_add(place * word as u64), word);
    let values: Vec<u64> = saved.places.iter().map(|&place| read(place)).collect::<Option<_>>()?;
    Some(Registers::with(machine, read(saved.pc)?, values))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traps_are_recognised() {
        for (signal, before, bytes, machine, expected) in [
            (libc::SIGILL, 0x90, [0x0F, 0x0B, 0, 0], Machine::X64, true),
            (libc::SIGILL, 0x90, [0x0F, 0x0B, 0, 0], Machine::X86, true),
            (libc::SIGILL, 0x90, [0x0F, 0xB9, 0x40, 2], Machine::X64, true),
            (libc::SIGTRAP, 0xCC, [0x90, 0x90, 0, 0], Machine::X64, true),
            // A function that begins with a missing instruction follows padding of int3.
            (libc::SIGILL, 0xCC, [0x62, 0xF1, 0x7D, 0x48], Machine::X64, false),
            // The instruction is: vpaddd %zmm0,%zmm0,%zmm0, which processors without AVX-512 lack.
            (libc::SIGILL, 0x90, [0x62, 0xF1, 0x7D, 0x48], Machine::X64, false),
            // The instructions are: brk #1000, udf #7, udf #0, and add x0, x0, x0
            (libc::SIGILL, 0, 0xD420_7D00_u32.to_le_bytes(), Machine::Arm64, true),
            (libc::SIGILL, 0, 7_u32.to_le_bytes(), Machine::Arm64, true),
            (libc::SIGILL, 0, [0; 4], Machine::Arm64, false),
            (libc::SIGILL, 0xCC, 0x8B00_0000_u32.to_le_bytes(), Machine::Arm64, false),
        ] {
            assert_eq!(
                is_trap(signal, before, bytes, machine),
                expected,
                "{before:x} {bytes:x?}"
            );
        }
    }

    #[test]
    fn calls_of_x86_are_recognised() {
        for (bytes, expected) in [
            // The instruction is: call rel32
            ([0, 0, 0xE8, 1, 2, 3, 4], true),
            // These instructions end in a call: call *%rax, call *8(%rax), call *(%rax), call *x(%rip), call *8(%rsp), call *x(%rsp)
            ([0x90, 0x90, 0x90, 0x90, 0x90, 0xFF, 0xD0], true),
            ([0x90, 0x90, 0x90, 0x90, 0xFF, 0x50, 8], true),
            ([0x90, 0x90, 0x90, 0x90, 0x90, 0xFF, 0x10], true),
            ([0x90, 0xFF, 0x15, 1, 2, 3, 4], true),
            ([0x90, 0x90, 0x90, 0xFF, 0x54, 0x24, 8], true),
            ([0xFF, 0x94, 0x24, 1, 2, 3, 4], true),
            // These bytes do not end in a call: jmp *%rax, push, zeros
            ([0x90, 0x90, 0x90, 0x90, 0x90, 0xFF, 0xE0], false),
            ([0x90, 0x90, 0x90, 0x90, 0x90, 0xFF, 0x30], false),
            ([0; 7], false),
        ] {
            assert_eq!(ends_in_call(&bytes), expected, "{bytes:x?}");
        }
    }
}
