//! The segments of an ELF file of any word size and byte order.

use super::Needs;
use object::read::elf::{Dyn, FileHeader, ProgramHeader};
use object::{Endianness, elf};

/// The segments of a file, and the bytes of the file or of its beginning.
pub(crate) struct Segments<'d, H: FileHeader> {
    endian: Endianness,
    all: &'d [H::ProgramHeader],
    data: &'d [u8],
}

/// Calls a method of [`Segments`] with the word size of a file. Returns `None` if the bytes are not an ELF file with all its program
/// headers.
macro_rules! in_segments {
    ($data:expr, $method:ident) => {{
        use crate::segments::Segments;
        let data: &[u8] = $data;
        match data.get(4) {
            Some(&object::elf::ELFCLASS64) => {
                Segments::<object::elf::FileHeader64<object::Endianness>>::of(data).and_then(|found| found.$method())
            }
            _ => Segments::<object::elf::FileHeader32<object::Endianness>>::of(data).and_then(|found| found.$method()),
        }
    }};
}
pub(crate) use in_segments;

impl<'d, H: FileHeader<Endian = Endianness>> Segments<'d, H> {
    /// Finds the segments of a file.
    pub(crate) fn of(data: &'d [u8]) -> Option<Self> {
        let header = H::parse(data).ok()?;
        let endian = header.endian().ok()?;
        let all = header.program_headers(endian, data).ok()?;
        Some(Self { endian, all, data })
    }

    /// Returns the size of a file that contains all segments that are loaded.
    pub(crate) fn size(&self) -> Option<u64> {
        let loaded = self.all.iter();
        let loaded = loaded.filter(|segment| segment.p_type(self.endian) == elf::PT_LOAD);
        let end = |segment: &H::ProgramHeader| {
            let (offset, size) = (segment.p_offset(self.endian), segment.p_filesz(self.endian));
            Into::<u64>::into(offset).saturating_add(size.into())
        };
        Some(loaded.map(end).max().unwrap_or_default())
    }

    /// Returns the name of the dynamic linker that a program requests.
    pub(crate) fn interpreter(&self) -> Option<&'d [u8]> {
        let mut all = self.all.iter();
        all.find_map(|segment| segment.interpreter(self.endian, self.data).ok().flatten())
    }

    /// Returns the entries of the dynamic section about the file itself and the libraries that the file needs.
    pub(crate) fn needs(&self) -> Option<Needs> {
        let (endian, data) = (self.endian, self.data);
        let entries = self
            .all
            .iter()
            .find_map(|segment| segment.dynamic(endian, data).ok().flatten())?;
        let value = |tag: u32| {
            entries
                .iter()
                .find(|entry| entry.tag32(endian) == Some(tag))
                .map(|entry| Into::<u64>::into(entry.d_val(endian)))
        };
        let (address, size) = (value(elf::DT_STRTAB)?, value(elf::DT_STRSZ)?);
        let strings = self
            .all
            .iter()
            .find_map(|segment| segment.data_range(endian, data, address, size).ok().flatten())?;
        let text = |at: u64| {
            let rest = strings.get(usize::try_from(at).ok()?..)?;
            let end = rest.iter().position(|&byte| byte == 0)?;
            Some(String::from_utf8_lossy(&rest[..end]).into_owned())
        };
        let all = |tag: u32| {
            entries
                .iter()
                .filter(move |entry| entry.tag32(endian) == Some(tag))
                .filter_map(|entry| text(Into::<u64>::into(entry.d_val(endian))))
        };
        let folders = |tag: u32| {
            all(tag)
                .filter(|list| !list.is_empty())
                .flat_map(|list| list.split(':').map(folder_of).collect::<Vec<_>>())
                .collect()
        };
        let versions = strings.split(|&byte| byte == 0).filter_map(|text| {
            let version = std::str::from_utf8(text.strip_prefix(b"GLIBC_")?).ok()?;
            let numbers: Option<Vec<u32>> = version.split('.').map(|number| number.parse().ok()).collect();
            Some((numbers?, version))
        });
        Some(Needs {
            own: all(elf::DT_SONAME).next(),
            c_library: versions.max().map(|(_, version)| version.into()),
            names: all(elf::DT_NEEDED).collect(),
            rpath: folders(elf::DT_RPATH),
            runpath: folders(elf::DT_RUNPATH),
        })
    }
}

/// Returns the folder that an element of a search path stands for. An empty element stands for the current folder.
fn folder_of(element: &str) -> String {
    if element.is_empty() { "." } else { element }.into()
}
