//! The part of an ELF header with the processor and the word size of a library or program (LSV-50).

/// Number of bytes that [`Elf::read`] needs.
pub const HEADER_BYTES: usize = 20;

/// Word size: the width of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Word size of 32 bits.
    Bits32,
    /// Word size of 64 bits.
    Bits64,
}

/// Processor and word size of an ELF file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elf {
    /// Word size of the program or library.
    pub class: Class,
    /// Type of the file (`e_type`). The number 3 is a shared object.
    pub kind: u16,
    /// Number of the processor in the ELF specification.
    pub machine: u16,
}

impl Elf {
    /// `ET_DYN`, the type of shared objects.
    const SHARED: u16 = 3;

    /// Reads the header at the beginning of a file.
    ///
    /// # Errors
    /// Returns the fault of the header.
    pub fn read(bytes: &[u8]) -> Result<Self, &'static str> {
        let header = bytes
            .first_chunk::<HEADER_BYTES>()
            .ok_or("it is shorter than an ELF header")?;
        let [b'\x7f', b'E', b'L', b'F', class, order, version, ..] = *header else {
            return Err("it has no ELF header");
        };
        let class = match class {
            1 => Class::Bits32,
            2 => Class::Bits64,
            _ => return Err("its ELF header has an unknown class"),
        };
        if version != 1 {
            return Err("its ELF header has an unknown version");
        }
        let number: fn([u8; 2]) -> u16 = match order {
            1 => u16::from_le_bytes,
            2 => u16::from_be_bytes,
            _ => return Err("its ELF header has an unknown byte order"),
        };
        Ok(Self {
            class,
            kind: number([header[16], header[17]]),
            machine: number([header[18], header[19]]),
        })
    }

    /// Reads the header of a shared library.
    ///
    /// # Errors
    /// Returns the fault of the header.
    pub fn read_library(bytes: &[u8]) -> Result<Self, &'static str> {
        let elf = Self::read(bytes)?;
        if elf.kind == Self::SHARED {
            Ok(elf)
        } else {
            Err("its ELF header is not that of a shared object")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &[u8; HEADER_BYTES] = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3e\0";

    #[test]
    fn lsv_50_a_library_is_a_shared_object() {
        let elf = Elf::read_library(HEADER).unwrap();
        assert_eq!((elf.class, elf.machine), (Class::Bits64, 62));
        let read = |at: usize, byte: u8| {
            let mut header = *HEADER;
            header[at] = byte;
            Elf::read_library(&header)
        };
        assert_eq!(read(4, 1).unwrap().class, Class::Bits32);
        for (at, byte) in [
            (0, 0),
            (3, b'G'),
            (4, 0),
            (4, 3),
            (5, 0),
            (5, 2),
            (6, 0),
            (16, 2),
            (17, 3),
        ] {
            assert!(read(at, byte).is_err(), "{at}: {byte}");
        }
        assert!(Elf::read(&HEADER[..HEADER_BYTES - 1]).is_err());
    }

    #[test]
    fn lsv_50_the_other_byte_order_is_read_too() {
        let header = b"\x7fELF\x01\x02\x01\0\0\0\0\0\0\0\0\0\0\x03\0\x14";
        let elf = Elf::read_library(header).unwrap();
        assert_eq!((elf.class, elf.machine), (Class::Bits32, 20));
    }
}
