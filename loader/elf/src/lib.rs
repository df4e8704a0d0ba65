//! Headers of ELF files: the word size, the byte order, the processor, and the places of the tables of segments and sections.
//!
//! All functions accept any bytes. They check every offset, and never panic.
#![no_std]
#![forbid(unsafe_code)]

/// Number of bytes that [`Header::read`] needs.
pub const START_BYTES: usize = 20;
/// Number of bytes that contain the whole header of a file of any word size.
pub const HEADER_BYTES: usize = 64;

/// `ET_DYN`, the kind of shared objects.
pub const SHARED: u16 = 3;
/// `PT_LOAD`, the kind of segments that are loaded.
pub const LOADED: u32 = 1;
/// `PT_NOTE`, the kind of segments that contain notes.
pub const NOTES: u32 = 4;

/// Word size: the width of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Word size of 32 bits.
    Bits32,
    /// Word size of 64 bits.
    Bits64,
}

impl Class {
    /// Returns the number of bits.
    pub fn bits(self) -> u32 {
        match self {
            Self::Bits32 => 32,
            Self::Bits64 => 64,
        }
    }
}

/// Byte order of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The least significant byte comes first.
    Little,
    /// The most significant byte comes first.
    Big,
}

/// Form of the numbers in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    /// Word size of the file.
    pub class: Class,
    /// Byte order of the file.
    pub order: Order,
}

/// Fault of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The file is too short.
    Short,
    /// The file does not begin with the mark of ELF files.
    Mark,
    /// The class is unknown.
    Class,
    /// The byte order is unknown.
    Order,
}

/// Beginning of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Form of the numbers.
    pub form: Form,
    /// Version of the format; the only known one is 1.
    pub version: u8,
    /// Kind of the file, for example [`SHARED`].
    pub kind: u16,
    /// Number of the processor in the ELF specification.
    pub machine: u16,
}

/// Place of a table: the offset of its first row, the size of each row, and the number of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table {
    /// Offset of the first row.
    pub at: u64,
    /// Size of a row in bytes.
    pub each: usize,
    /// Number of rows.
    pub count: usize,
}

/// A row of the table of segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Kind of the segment, for example [`LOADED`].
    pub kind: u32,
    /// Offset in the file.
    pub offset: u64,
    /// Address in memory, as the file states it.
    pub address: u64,
    /// Size in the file.
    pub file_size: u64,
    /// Size in memory.
    pub memory_size: u64,
}

impl Fault {
    /// Returns a description of the file for messages.
    pub fn text(self) -> &'static str {
        match self {
            Self::Short => "it is shorter than an ELF header",
            Self::Mark => "it has no ELF header",
            Self::Class => "its ELF header has an unknown class",
            Self::Order => "its ELF header has an unknown byte order",
        }
    }
}

impl Header {
    /// Reads the first [`START_BYTES`] of a file.
    ///
    /// # Errors
    /// Returns the first fault in the order of the header.
    pub fn read(bytes: &[u8]) -> Result<Self, Fault> {
        let start = bytes.first_chunk::<START_BYTES>().ok_or(Fault::Short)?;
        let [b'\x7f', b'E', b'L', b'F', class, order, version, ..] = *start else {
            return Err(Fault::Mark);
        };
        let class = match class {
            1 => Class::Bits32,
            2 => Class::Bits64,
            _ => return Err(Fault::Class),
        };
        let order = match order {
            1 => Order::Little,
            2 => Order::Big,
            _ => return Err(Fault::Order),
        };
        let form = Form { class, order };
        Ok(Self {
            form,
            version,
            kind: form.half(start, 16).unwrap_or_default(),
            machine: form.half(start, 18).unwrap_or_default(),
        })
    }
}

impl Form {
    /// Form of the files that this program can load.
    pub const OWN: Self = Self {
        class: if usize::BITS == 64 {
            Class::Bits64
        } else {
            Class::Bits32
        },
        order: if cfg!(target_endian = "little") {
            Order::Little
        } else {
            Order::Big
        },
    };

    /// Reads a number of two bytes.
    #[inline]
    pub fn half(self, bytes: &[u8], at: usize) -> Option<u16> {
        let bytes = *bytes.get(at..)?.first_chunk()?;
        Some(match self.order {
            Order::Little => u16::from_le_bytes(bytes),
            Order::Big => u16::from_be_bytes(bytes),
        })
    }

    /// Reads a number of four bytes.
    #[inline]
    pub fn full(self, bytes: &[u8], at: usize) -> Option<u32> {
        let bytes = *bytes.get(at..)?.first_chunk()?;
        Some(match self.order {
            Order::Little => u32::from_le_bytes(bytes),
            Order::Big => u32::from_be_bytes(bytes),
        })
    }

    /// Reads a number of the width of addresses.
    #[inline]
    pub fn word(self, bytes: &[u8], at: usize) -> Option<u64> {
        if self.class == Class::Bits32 {
            return self.full(bytes, at).map(u64::from);
        }
        let bytes = *bytes.get(at..)?.first_chunk()?;
        Some(match self.order {
            Order::Little => u64::from_le_bytes(bytes),
            Order::Big => u64::from_be_bytes(bytes),
        })
    }

    /// Returns the first value for 64-bit files, and the second one for 32-bit files.
    #[inline]
    pub fn pick(self, wide: usize, narrow: usize) -> usize {
        match self.class {
            Class::Bits64 => wide,
            Class::Bits32 => narrow,
        }
    }

    /// Returns the place of the segments of a file that begins with these bytes.
    #[inline]
    pub fn segments(self, header: &[u8]) -> Option<Table> {
        self.table(header, (32, 28), (54, 42), (56, 44))
    }

    /// Returns the place of the sections of a file that begins with these bytes.
    #[inline]
    pub fn sections(self, header: &[u8]) -> Option<Table> {
        self.table(header, (40, 32), (58, 46), (60, 48))
    }

    /// Returns a table whose place is at these offsets of the header, for 64-bit and for 32-bit files.
    #[inline]
    fn table(self, header: &[u8], at: (usize, usize), each: (usize, usize), count: (usize, usize)) -> Option<Table> {
        let half = |(wide, narrow)| self.half(header, self.pick(wide, narrow)).map(usize::from);
        Some(Table {
            at: self.word(header, self.pick(at.0, at.1))?,
            each: half(each)?,
            count: half(count)?,
        })
    }

    /// Reads a row of the table of segments.
    #[inline]
    pub fn segment(self, row: &[u8]) -> Option<Segment> {
        Some(Segment {
            kind: self.full(row, 0)?,
            offset: self.word(row, self.pick(8, 4))?,
            address: self.word(row, self.pick(16, 8))?,
            file_size: self.word(row, self.pick(32, 16))?,
            memory_size: self.word(row, self.pick(40, 20))?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: &[u8; START_BYTES] = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3e\0";

    #[test]
    fn lsv_50_each_fault_is_found() {
        let header = Header::read(START).unwrap();
        assert_eq!(
            (header.form.class, header.kind, header.machine),
            (Class::Bits64, SHARED, 62)
        );
        for (at, byte, fault) in [
            (0, 0, Fault::Mark),
            (3, b'G', Fault::Mark),
            (4, 0, Fault::Class),
            (4, 3, Fault::Class),
            (5, 0, Fault::Order),
        ] {
            let mut header = *START;
            header[at] = byte;
            assert_eq!(Header::read(&header), Err(fault), "{at}: {byte}");
        }
        assert_eq!(Header::read(&START[..START_BYTES - 1]), Err(Fault::Short));
    }

    #[test]
    fn lsv_50_the_other_byte_order_is_read_too() {
        let header = Header::read(b"\x7fELF\x01\x02\x01\0\0\0\0\0\0\0\0\0\0\x03\0\x14").unwrap();
        let form = Form {
            class: Class::Bits32,
            order: Order::Big,
        };
        assert_eq!((header.form, header.kind, header.machine), (form, SHARED, 20));
    }

    #[test]
    fn tables_and_segments_are_read_for_both_word_sizes() {
        let (wide, narrow) = (Class::Bits64, Class::Bits32);
        for (class, places) in [(wide, [32, 54, 56]), (narrow, [28, 42, 44])] {
            let form = Form {
                class,
                order: Order::Little,
            };
            let mut header = [0; HEADER_BYTES];
            for (place, value) in places.into_iter().zip([7, 5, 3]) {
                header[place] = value;
            }
            let table = Table {
                at: 7,
                each: 5,
                count: 3,
            };
            assert_eq!(form.segments(&header), Some(table));
            assert_eq!(form.segments(&header[..places[2]]), None);
        }
        let form = Form {
            class: narrow,
            order: Order::Big,
        };
        let row: [u8; 32] = core::array::from_fn(|at| if at % 4 == 3 { at as u8 } else { 0 });
        let segment = Segment {
            kind: 3,
            offset: 7,
            address: 11,
            file_size: 19,
            memory_size: 23,
        };
        assert_eq!(form.segment(&row), Some(segment));
        assert_eq!(form.segment(&row[..23]), None);
        assert_eq!(form.half(&row, usize::MAX), None);
    }
}
