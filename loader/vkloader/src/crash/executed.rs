//! Recognises programs that must run without a supervisor.

use super::memory::Memory;
use super::processes::folder;
use super::ptrace;
use super::registers::{Machine, Registers};
use crate::regular;
use object::read::elf::{FileHeader, Sym as _};
use object::{Endianness, elf};
use rustix::process::Pid;
use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Upper bound on the size in bytes of a program whose symbols are read. Debuggers are smaller.
const LARGEST: u64 = 64 << 20;
/// Upper bound on the number of programs whose result is stored.
const MOST_KNOWN: usize = 1_000;
/// `CAP_SYS_PTRACE`, which permits the supervision of other users' programs.
const MAY_SUPERVISE: u32 = 19;
/// Mode bit `S_ISUID`, and mode bits `S_ISGID` together with the group's permission to execute.
const RAISES_USER: u32 = 0o4000;
const RAISES_GROUP: u32 = 0o2010;
/// Upper bound on the number of words of arguments and environment on a stack.
const MOST_WORDS: u64 = 1 << 20;
/// Type of the entry in the auxiliary vector that points to the path of the executed program.
const AT_EXECFN: u64 = 31;

/// Kinds of programs that the supervisor treats differently.
pub(super) enum Executed {
    /// A program that can be supervised.
    Usual,
    /// A program that calls `ptrace`, which fails in a process that has a supervisor.
    Debugger,
    /// A program that gains privileges only without a supervisor. The supervisor changed the process so that the process executes the
    /// program again after the supervision has ended.
    Privileged,
}

/// Returns the kind of the program in a process that is stopped at its first instruction. Makes the process of a privileged program execute
/// the program a second time.
pub(super) fn look(thread: Pid, known: &mut Debuggers) -> Executed {
    let program = folder(thread).join("exe");
    let program = Path::new(&program);
    if !may_supervise_all() && gains_privileges(program) {
        // If the second execution fails, the program runs without the additional privileges.
        let _ = again(thread);
        return Executed::Privileged;
    }
    if known.has(program) {
        Executed::Debugger
    } else {
        Executed::Usual
    }
}

/// Programs by device and inode. The value is `true` if the program calls `ptrace`. The result is stored because scripts execute the same
/// few programs many times.
#[derive(Default)]
pub(super) struct Debuggers(HashMap<(u64, u64), bool>);

impl Debuggers {
    fn has(&mut self, program: &Path) -> bool {
        let Ok(state) = std::fs::metadata(program) else {
            return false;
        };
        let read = || state.len() <= LARGEST && calls_ptrace(program).unwrap_or(false);
        if self.0.len() >= MOST_KNOWN {
            self.0.clear();
        }
        *self.0.entry((state.dev(), state.ino())).or_insert_with(read)
    }
}

/// Returns `true` if this process has the capability that allows supervised programs to gain privileges.
fn may_supervise_all() -> bool {
    let status = regular::text("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> MAY_SUPERVISE & 1 == 1)
}

/// Returns `true` if executing a file grants privileges.
fn gains_privileges(program: &Path) -> bool {
    let Ok(state) = std::fs::metadata(program) else {
        return false;
    };
    let user = state.mode() & RAISES_USER != 0 && state.uid() != rustix::process::geteuid().as_raw();
    let group = state.mode() & RAISES_GROUP == RAISES_GROUP && state.gid() != rustix::process::getegid().as_raw();
    let mut value = [0; 64];
    user || group || rustix::fs::getxattr(program, "security.capability", &mut value[..]).is_ok()
}

/// Returns `Some(true)` if a program imports `ptrace`; `None` if the program's symbols cannot be read.
fn calls_ptrace(program: &Path) -> Option<bool> {
    let data = regular::read(program).ok()?;
    match data.get(4)? {
        &elf::ELFCLASS64 => imports::<elf::FileHeader64<Endianness>>(&data),
        _ => imports::<elf::FileHeader32<Endianness>>(&data),
    }
}

fn imports<H: FileHeader<Endian = Endianness>>(data: &[u8]) -> Option<bool> {
    let header = H::parse(data).ok()?;
    let endian = header.endian().ok()?;
    let sections = header.sections(endian, data).ok()?;
    let symbols = sections.symbols(endian, data, elf::SHT_DYNSYM).ok()?;
    let is_ptrace = |symbol: &H::Sym| {
        symbol.st_shndx(endian) == elf::SHN_UNDEF
            && symbol
                .name(endian, symbols.strings())
                .is_ok_and(|name| name == b"ptrace")
    };
    Some(symbols.iter().any(is_ptrace))
}

/// Makes a process execute its program again after the supervision has ended, because the program lost its privileges under supervision.
///
/// The kernel has stored the arguments, the environment and the path of the program on the stack.
fn again(thread: Pid) -> Option<()> {
    let memory = Memory::to_write(thread).ok()?;
    let mut bytes = ptrace::registers(thread).ok()?;
    let registers = Registers::of(&bytes)?;
    let word = registers.machine.word() as u64;
    let at = |place: u64| memory.word(registers.sp().wrapping_add(place * word), word as usize);
    let arguments = 1;
    let variables = arguments + at(0)? + 1;
    let after = (variables..MOST_WORDS).find(|&place| at(place) == Some(0))? + 1;
    let entry = (after..MOST_WORDS).step_by(2).take_while(|&place| at(place) != Some(0));
    let name = entry
        .into_iter()
        .find(|&place| at(place) == Some(AT_EXECFN))
        .and_then(|place| at(place + 1))?;
    let pointer = |place: u64| registers.sp().wrapping_add(place * word);
    let values = [name, pointer(arguments), pointer(variables)];
    memory.write(registers.pc, code(registers.machine))?;
    registers.machine.store(&mut bytes, values);
    ptrace::set_registers(thread, &mut bytes).ok()
}

/// Returns instructions that execute the program again, followed by an instruction that ends the process. [`Machine::store`] stores the
/// arguments in registers. When the process continues, the kernel overwrites the result register of the interrupted system call.
fn code(machine: Machine) -> &'static [u8] {
    match machine {
        // The instructions are: mov $59, %eax; syscall; ud2
        Machine::X64 => &[0xB8, 59, 0, 0, 0, 0x0F, 0x05, 0x0F, 0x0B],
        // The instructions are: mov $11, %eax; int $0x80; ud2
        Machine::X86 => &[0xB8, 11, 0, 0, 0, 0xCD, 0x80, 0x0F, 0x0B],
        // The instructions are: mov x0, x9; mov x8, #221; svc #0; udf #0
        Machine::Arm64 => &[
            0xE0, 0x03, 0x09, 0xAA, 0xA8, 0x1B, 0x80, 0xD2, 0x01, 0, 0, 0xD4, 0, 0, 0, 0,
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_that_call_ptrace_are_known_by_their_symbols() {
        let own = std::env::current_exe().expect("a test has a file");
        // This test calls `ptrace` by the number of its system call, so the file of the test does not import the function.
        assert_eq!(calls_ptrace(&own), Some(false));
        let strace = Path::new("/usr/bin/strace");
        if strace.exists() {
            assert_eq!(calls_ptrace(strace), Some(true));
        }
    }
}
