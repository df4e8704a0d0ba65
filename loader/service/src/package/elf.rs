//! The part of an ELF header that names the processor and word size of a library or program (LSV-50).

/// Number of bytes that [`Elf::read`] needs.
pub const HEADER_BYTES: usize = 20;

/// The width of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// 32 bits.
    Bits32,
    /// 64 bits.
    Bits64,
}

/// The processor and word size that a file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elf {
    /// The width of addresses.
    pub class: Class,
    /// The kind of file: 3 is a shared object.
    pub kind: u16,
    /// The processor, as a number of the ELF specification.
    pub machine: u16,
}

impl Elf {
    /// A shared object.
    const SHARED: u16 = 3;

    /// Reads the header at the beginning of a file.
    ///
    /// # Errors
    /// The fault of the header.
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
    /// The fault of the header.
    pub fn read_library(bytes: &[u8]) -> Result<Self, &'static str> {
        let elf = Self::read(bytes)?;
        if elf.kind == Self::SHARED {
            Ok(elf)
        } else {
            Err("its ELF header is not that of a shared object")
        }
    }
}

/// Reader for numbers at the beginning of an ELF file.
struct Numbers<'a> {
    bytes: &'a [u8],
    is_wide: bool,
    is_little: bool,
}

impl Numbers<'_> {
    /// Returns the number of `size` bytes at a place; `None` if it extends beyond the bytes.
    fn at(&self, place: u64, size: usize) -> Option<u64> {
        let place = usize::try_from(place).ok()?;
        let bytes = self.bytes.get(place..place.checked_add(size)?)?;
        let add = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
        Some(if self.is_little {
            bytes.iter().rev().fold(0, add)
        } else {
            bytes.iter().fold(0, add)
        })
    }

    /// Returns a member whose place differs between 64-bit and 32-bit files. It has 8 bytes in the former and 4 in the latter.
    fn word(&self, base: u64, wide: u64, narrow: u64) -> Option<u64> {
        if self.is_wide {
            self.at(base.checked_add(wide)?, 8)
        } else {
            self.at(base.checked_add(narrow)?, 4)
        }
    }
}

/// Returns `true` if a file of `size` bytes lacks a part that its program headers name. `bytes` is the beginning of the file. Headers after
/// `bytes` are not read, if they are inside the file.
pub fn is_cut_off(bytes: &[u8], size: u64) -> bool {
    /// Type of a segment that is loaded from the file.
    const LOAD: u64 = 1;
    let numbers = Numbers {
        bytes,
        is_wide: bytes.get(4) == Some(&2),
        is_little: bytes.get(5) == Some(&1),
    };
    let count_at = if numbers.is_wide { 54 } else { 42 };
    let header = (
        numbers.word(0, 32, 28),
        numbers.at(count_at, 2),
        numbers.at(count_at + 2, 2),
    );
    let (Some(table), Some(entry), Some(count)) = header else {
        return true;
    };
    (0..count).any(|index| {
        let place = table.saturating_add(index * entry);
        if place.saturating_add(entry) > size {
            return true;
        }
        let segment = || {
            let offset = numbers.word(place, 8, 4)?;
            let length = numbers.word(place, 32, 16)?;
            Some(numbers.at(place, 4)? == LOAD && offset.checked_add(length).is_none_or(|end| end > size))
        };
        segment().unwrap_or(false)
    })
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

    #[test]
    fn lsv_52_a_library_that_is_cut_off_is_noticed() {
        // Two headers of 56 bytes at 64: one for a segment that is not loaded, and one for a segment of 8 bytes at 200.
        let mut wide = [&HEADER[..], &[0; 200]].concat();
        (wide[32], wide[54], wide[56]) = (64, 56, 2);
        (wide[64], wide[64 + 32]) = (4, 255);
        (wide[120], wide[120 + 8], wide[120 + 32]) = (1, 200, 8);
        // One header of 32 bytes at 52, for a segment of 8 bytes at 100.
        let mut narrow = [&b"\x7fELF\x01\x02\x01"[..], &[0; 200]].concat();
        (narrow[31], narrow[43], narrow[45]) = (52, 32, 1);
        (narrow[55], narrow[59], narrow[71]) = (1, 100, 8);
        for (bytes, end) in [(&wide, 208), (&narrow, 108)] {
            assert!(!is_cut_off(bytes, end));
            assert!((0..end).all(|size| is_cut_off(&bytes[..(size as usize)], size)));
            // Headers inside the file that were not read count as valid.
            assert!(!is_cut_off(&bytes[..60], end));
        }
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let size = own.len() as u64;
        assert!(!is_cut_off(&own[..1 << 16], size) && is_cut_off(&own[..1 << 16], 1 << 16));
        for at in 0..64 {
            wide[at] = 0xff;
            let _ = is_cut_off(&wide, 208);
        }
    }
}
