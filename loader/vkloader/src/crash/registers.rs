//! Registers of threads, with the DWARF numbers that unwind tables use.

/// A kind of processor whose stacks this program can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Machine {
    X64,
    X86,
    Arm64,
}

/// Indices of a processor's registers in the kernel's order.
struct Layout {
    /// Size of a word in bytes.
    word: usize,
    /// Index of each register, by DWARF number.
    places: &'static [usize],
    /// Index of the instruction pointer.
    pc: usize,
    /// DWARF numbers of the stack pointer, of the frame pointer, and of the column with the return address.
    sp: usize,
    fp: usize,
    back: usize,
}

/// Indices in `user_regs_struct` of rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8 to r15, and rip, in DWARF order.
const X64: Layout = Layout {
    word: 8,
    places: &[10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0, 16],
    pc: 16,
    sp: 7,
    fp: 6,
    back: 16,
};

/// Indices of eax, ecx, edx, ebx, esp, ebp, esi, edi and eip in the kernel's registers for 32-bit programs, in DWARF order.
const X86: Layout = Layout {
    word: 4,
    places: &[6, 1, 2, 0, 15, 5, 3, 4, 12],
    pc: 12,
    sp: 4,
    fp: 5,
    back: 8,
};

/// Indices of x0 to x30 and of the stack pointer, in DWARF order.
const ARM64: Layout = Layout {
    word: 8,
    places: &[
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29,
        30, 31,
    ],
    pc: 32,
    sp: 31,
    fp: 29,
    back: 30,
};

impl Machine {
    /// Returns the kind of processor whose registers have `bytes` bytes, among the kinds whose programs can run on this machine.
    fn of_length(bytes: usize) -> Option<Self> {
        let x86 = cfg!(any(target_arch = "x86_64", target_arch = "x86"));
        match bytes {
            216 if x86 => Some(Self::X64),
            68 if x86 => Some(Self::X86),
            272 if cfg!(target_arch = "aarch64") => Some(Self::Arm64),
            _ => None,
        }
    }

    fn layout(self) -> &'static Layout {
        match self {
            Self::X64 => &X64,
            Self::X86 => &X86,
            Self::Arm64 => &ARM64,
        }
    }

    /// Returns the size of a word in bytes.
    pub(super) fn word(self) -> usize {
        self.layout().word
    }

    /// Stores the three arguments of a system call in registers. On arm64, stores the first argument in a different register, because the
    /// kernel overwrites the argument's own register with the result.
    pub(super) fn store(self, bytes: &mut [u8], values: [u64; 3]) {
        let places = match self {
            // The registers are rdi, rsi, rdx for x64, and ebx, ecx, edx for x86. For arm64, the registers are x9 (for x0), x1, x2.
            Self::X64 => [14, 13, 12],
            Self::X86 => [0, 1, 2],
            Self::Arm64 => [9, 1, 2],
        };
        let word = self.word();
        for (place, value) in places.into_iter().zip(values) {
            bytes[place * word..][..word].copy_from_slice(&value.to_le_bytes()[..word]);
        }
    }

    /// Returns `true` if a thread with the registers `bytes`, in the kernel's order, is ending its process (`exit_group`).
    fn is_exiting(self, bytes: &[u8]) -> bool {
        let exit = match self {
            Self::X64 => 231,
            Self::X86 => 252,
            Self::Arm64 => 94,
        };
        self.system_call(bytes) == Some(exit)
    }

    /// Returns the number of the system call in the registers `bytes`, in the kernel's order.
    fn system_call(self, bytes: &[u8]) -> Option<u64> {
        let place = match self {
            Self::X64 => 15,
            Self::X86 => 11,
            Self::Arm64 => 8,
        };
        let word = self.word();
        bytes.get(place * word..(place + 1) * word).map(number)
    }

    /// Returns the use of signals by a thread with the registers `bytes`, in the kernel's order.
    fn signalling(self, bytes: &[u8]) -> Signalling {
        // The numbers of kill, tkill, tgkill, rt_sigqueueinfo and rt_tgsigqueueinfo, and the number of rt_sigprocmask.
        let (sends, masks): ([u64; 5], u64) = match self {
            Self::X64 => ([62, 200, 234, 129, 297], 14),
            Self::X86 => ([37, 238, 270, 178, 335], 175),
            Self::Arm64 => ([129, 130, 131, 138, 240], 135),
        };
        match self.system_call(bytes) {
            Some(call) if sends.contains(&call) => Signalling::Sends,
            Some(call) if call == masks => Signalling::Unblocks,
            _ => Signalling::Neither,
        }
    }

    /// Returns the column of unwind tables that contains the return address.
    pub(super) fn back(self) -> u16 {
        self.layout().back as u16
    }
}

/// The use of signals by a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signalling {
    /// The thread sends a signal.
    Sends,
    /// The thread unblocks signals. The signal may come from the thread itself or from another thread.
    Unblocks,
    /// The thread does something else.
    Neither,
}

/// The registers of a thread, or of a function's caller.
#[derive(Clone, Debug)]
pub(super) struct Registers {
    pub(super) machine: Machine,
    /// The instruction pointer.
    pub(super) pc: u64,
    /// Number of the system call that the thread makes, or made last; `None` for the caller of a function.
    pub(super) system_call: Option<u64>,
    /// The use of signals in the current or last system call.
    pub(super) signalling: Signalling,
    /// The values of the registers, by DWARF number.
    values: Vec<u64>,
}

impl Registers {
    /// Decodes registers in the kernel's order. Returns `None` for an unknown processor.
    pub(super) fn of(bytes: &[u8]) -> Option<Self> {
        let machine = Machine::of_length(bytes.len())?;
        let layout = machine.layout();
        let words: Vec<u64> = bytes.chunks_exact(layout.word).map(number).collect();
        Some(Self {
            machine,
            pc: *words.get(layout.pc)?,
            // The names of system calls are those of this program's own processor.
            system_call: machine.system_call(bytes).filter(|_| layout.word == size_of::<usize>()),
            signalling: machine.signalling(bytes),
            values: layout.places.iter().map(|&place| words[place]).collect(),
        })
    }

    /// Decodes the registers of a thread that is ending its process. Returns `None` for other threads, which end at the same time.
    pub(super) fn of_exiting(bytes: &[u8]) -> Option<Self> {
        Self::of(bytes).filter(|registers| registers.machine.is_exiting(bytes))
    }

    /// Creates registers from a list with one word for each DWARF number.
    pub(super) fn with(machine: Machine, pc: u64, values: Vec<u64>) -> Self {
        Self {
            machine,
            pc,
            system_call: None,
            signalling: Signalling::Neither,
            values,
        }
    }

    /// Returns the number of registers.
    pub(super) fn count(&self) -> u16 {
        self.values.len() as u16
    }

    /// Returns a register by its DWARF number; `None` for registers that this type does not store, for example vector registers.
    pub(super) fn get(&self, number: u16) -> Option<u64> {
        self.values.get(usize::from(number)).copied()
    }

    pub(super) fn set(&mut self, number: u16, value: u64) {
        if let Some(known) = self.values.get_mut(usize::from(number)) {
            *known = value;
        }
    }

    pub(super) fn sp(&self) -> u64 {
        self.values[self.machine.layout().sp]
    }

    pub(super) fn set_sp(&mut self, value: u64) {
        self.values[self.machine.layout().sp] = value;
    }

    pub(super) fn fp(&self) -> u64 {
        self.values[self.machine.layout().fp]
    }

    pub(super) fn set_fp(&mut self, value: u64) {
        self.values[self.machine.layout().fp] = value;
    }

    /// Returns the return address of a function that has not saved it on the stack yet, if the processor has a register for this address.
    pub(super) fn link(&self) -> Option<u64> {
        (self.machine == Machine::Arm64).then(|| self.values[30])
    }
}

/// Decodes a word of 4 or 8 bytes.
pub(super) fn number(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len().min(8)].copy_from_slice(&bytes[..bytes.len().min(8)]);
    u64::from_le_bytes(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_found_in_the_order_of_the_kernel() {
        if !cfg!(target_arch = "x86_64") {
            return;
        }
        let bytes: Vec<u8> = (0_u64..27).flat_map(u64::to_le_bytes).collect();
        let found = Registers::of(&bytes).expect("64 bit");
        assert_eq!((found.pc, found.sp(), found.fp(), found.get(16)), (16, 19, 4, Some(16)));
        let bytes: Vec<u8> = (0_u32..17).flat_map(u32::to_le_bytes).collect();
        let found = Registers::of(&bytes).expect("32 bit");
        assert_eq!((found.pc, found.sp(), found.fp(), found.get(40)), (12, 15, 5, None));
        assert!(Registers::of(&[0; 12]).is_none());
        let sending = |call: u64| {
            let words = (0..27).map(|place| if place == 15 { call } else { 0 });
            let bytes: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
            Registers::of(&bytes).expect("64 bit").signalling
        };
        assert_eq!([234, 14].map(sending), [Signalling::Sends, Signalling::Unblocks]);
        assert_eq!([u64::MAX, 202].map(sending), [Signalling::Neither; 2]);
    }
}
