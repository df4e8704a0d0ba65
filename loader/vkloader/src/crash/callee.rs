//! Finds the name of the function that an instruction of x86-64 calls, in the ELF file that contains the instruction.

use crate::regular;
use object::read::elf::{FileHeader, ProgramHeader, Rela, SectionHeader, SectionTable, Sym};
use object::{Endianness, SymbolIndex, elf};
use std::path::Path;

/// Upper bound on the size in bytes of a file that is read.
const LARGEST: u64 = 256 << 20;
/// Upper bound on the number of bytes before a call that are searched for the instruction that loads the called register.
const MOST_BEFORE: u64 = 64;

/// Upper bound on the number of bytes of a function that only jumps to a layer or driver.
const MOST_OF_STUB: usize = 40;
/// Number in the physical devices of loaders.
const OF_PHYSICAL_DEVICE: u64 = 0x10AD_ED02_0210_ADED;

type Header = elf::FileHeader64<Endianness>;

/// Returns the name of the called function, or of the variable that contains its address. `at` is an address within the call instruction.
/// Returns `None` if the file does not contain the name.
pub(crate) fn name(file: &Path, at: u64) -> Option<String> {
    with(file, |file| file.called(at.wrapping_add(1)))
}

/// Returns the name of the function of Vulkan that a library exports at the address `at`.
pub(crate) fn exported(file: &Path, at: u64) -> Option<String> {
    with(file, |file| {
        let name = file.exports().find(|(_, address)| *address == at)?.0;
        Some(name.into())
    })
}

/// Returns the name of the exported function that contains the address `at`.
pub(crate) fn containing(file: &Path, at: u64) -> Option<String> {
    with(file, |file| file.containing(at))
}

/// Returns the name of the function of Vulkan that a loader calls through the place `offset` of a device's table, in bytes.
pub(crate) fn through(loader: &Path, offset: u64) -> Option<String> {
    with(loader, |file| {
        let is_it = |(_, address): &(&str, u64)| file.place_in_table(*address) == Some(offset);
        Some(file.exports().find(is_it)?.0.into())
    })
}

/// Returns the place in a device's table, in bytes, through which the function at the address `at` of a loader jumps.
pub(crate) fn place_in_table(loader: &Path, at: u64) -> Option<u64> {
    with(loader, |file| file.place_in_table(at))
}

fn with<T>(file: &Path, read: impl FnOnce(&File<'_>) -> Option<T>) -> Option<T> {
    std::fs::metadata(file).ok().filter(|state| state.len() <= LARGEST)?;
    let data = regular::read(file).ok()?;
    read(&File::of(&data)?)
}

/// An ELF file for x86-64.
struct File<'a> {
    data: &'a [u8],
    endian: Endianness,
    header: &'a Header,
    sections: SectionTable<'a, Header>,
}

impl<'a> File<'a> {
    fn of(data: &'a [u8]) -> Option<Self> {
        let header = Header::parse(data).ok()?;
        let endian = header.endian().ok()?;
        let is_known = header.e_machine(endian) == elf::EM_X86_64;
        let sections = header.sections(endian, data).ok().filter(|_| is_known)?;
        Some(Self {
            data,
            endian,
            header,
            sections,
        })
    }

    /// Returns the name of the function that the instruction before the address `after` calls.
    fn called(&self, after: u64) -> Option<String> {
        let relative = |distance: u64| -> Option<u64> {
            let bytes = self.bytes(after.checked_sub(4)?, 4)?;
            let offset = i32::from_le_bytes(bytes.try_into().ok()?);
            let is_it = self.bytes(after.checked_sub(distance)?, distance as usize - 4)?;
            let wanted: &[u8] = if distance == 5 { &[0xE8] } else { &[0xFF, 0x15] };
            (is_it == wanted).then(|| after.wrapping_add_signed(offset.into()))
        };
        if let Some(slot) = relative(6).or_else(|| self.loaded(after)) {
            return self.in_slot(slot);
        }
        let target = relative(5)?;
        self.symbol(target)
            .or_else(|| self.in_slot(self.jumps_through(target)?))
    }

    /// Returns the address of the variable from which a register was loaded, if the instruction before `after` calls this register.
    fn loaded(&self, after: u64) -> Option<u64> {
        let before = (2..=MOST_BEFORE)
            .rev()
            .find_map(|length| self.bytes(after.checked_sub(length)?, length as usize))?;
        let (code, register) = match before {
            [code @ .., 0x41, 0xFF, operand] if operand & 0xF8 == 0xD0 => (code, operand & 7 | 8),
            [code @ .., 0xFF, operand] if operand & 0xF8 == 0xD0 => (code, operand & 7),
            _ => return None,
        };
        let start = after - before.len() as u64;
        code.windows(7).enumerate().rev().find_map(|(place, bytes)| {
            // mov register, [rip + offset]
            let is_load = bytes[0] & 0xFB == 0x48 && bytes[1] == 0x8B && bytes[2] & 0xC7 == 0x05;
            let target = bytes[2] >> 3 & 7 | (bytes[0] & 4) << 1;
            let offset = i32::from_le_bytes([bytes[3], bytes[4], bytes[5], bytes[6]]);
            let end = start + place as u64 + 7;
            (is_load && target == register).then(|| end.wrapping_add_signed(offset.into()))
        })
    }

    /// Returns the address of the variable through which a stub of the procedure linkage table jumps.
    fn jumps_through(&self, stub: u64) -> Option<u64> {
        const MARK: [u8; 4] = [0xF3, 0x0F, 0x1E, 0xFA];
        let mark = u64::from(self.bytes(stub, 4)? == MARK) * 4;
        let prefix = u64::from(self.bytes(stub + mark, 1)? == [0xF2]);
        let at = stub + mark + prefix;
        let bytes: [u8; 6] = self.bytes(at, 6)?.try_into().ok()?;
        let offset = i32::from_le_bytes([bytes[2], bytes[3], bytes[4], bytes[5]]);
        (bytes[..2] == [0xFF, 0x25]).then(|| at.wrapping_add(6).wrapping_add_signed(offset.into()))
    }

    /// Returns the name of the function whose address the dynamic linker writes to a variable. For other variables, returns the name of the
    /// variable.
    fn in_slot(&self, slot: u64) -> Option<String> {
        self.relocated(slot).or_else(|| self.symbol(slot))
    }

    fn relocated(&self, slot: u64) -> Option<String> {
        let (endian, data) = (self.endian, self.data);
        self.sections.iter().find_map(|section| {
            let (rows, table) = section.rela(endian, data).ok()??;
            let row = rows.iter().find(|row| row.r_offset(endian) == slot)?;
            let symbols = self.sections.symbol_table_by_index(endian, data, table).ok()?;
            let symbol = symbols.symbol(SymbolIndex(row.r_sym(endian, false) as usize)).ok()?;
            text(symbols.symbol_name(endian, symbol).ok()?)
        })
    }

    /// Returns the name of the symbol with the address `address`.
    fn symbol(&self, address: u64) -> Option<String> {
        [elf::SHT_SYMTAB, elf::SHT_DYNSYM].into_iter().find_map(|kind| {
            let symbols = self.sections.symbols(self.endian, self.data, kind).ok()?;
            let is_it = |symbol: &&elf::Sym64<Endianness>| {
                symbol.st_value(self.endian) == address
                    && matches!(symbol.st_type(), elf::STT_FUNC | elf::STT_OBJECT)
                    && !symbol.is_undefined(self.endian)
            };
            let symbol = symbols.iter().find(is_it)?;
            text(symbols.symbol_name(self.endian, symbol).ok()?)
        })
    }

    /// Returns the name of the exported function that contains an address.
    fn containing(&self, address: u64) -> Option<String> {
        let symbols = self.sections.symbols(self.endian, self.data, elf::SHT_DYNSYM).ok()?;
        let is_it = |symbol: &&elf::Sym64<Endianness>| {
            let start = symbol.st_value(self.endian);
            let has = (start..start.saturating_add(symbol.st_size(self.endian))).contains(&address);
            has && symbol.st_type() == elf::STT_FUNC && !symbol.is_undefined(self.endian)
        };
        let symbol = symbols.iter().find(is_it)?;
        text(symbols.symbol_name(self.endian, symbol).ok()?)
    }

    /// Returns the names and addresses of the functions of Vulkan that the file exports.
    fn exports(&self) -> impl Iterator<Item = (&'a str, u64)> {
        let symbols = self.sections.symbols(self.endian, self.data, elf::SHT_DYNSYM).ok();
        let (endian, all) = (self.endian, symbols.unwrap_or_default());
        (0..all.len()).filter_map(move |index| {
            let symbol = all.symbol(SymbolIndex(index)).ok()?;
            let name = std::str::from_utf8(all.symbol_name(endian, symbol).ok()?).ok()?;
            let is_own = name.starts_with("vk") && !symbol.is_undefined(endian);
            is_own.then(|| (name, symbol.st_value(endian)))
        })
    }

    /// Returns the place in the table of a device through which an exported function of a loader jumps to a layer or driver.
    fn place_in_table(&self, function: u64) -> Option<u64> {
        let code = self.bytes(function, MOST_OF_STUB)?;
        // Functions of physical devices compare the handle with this number, and have other tables.
        let is_of_other = code.windows(8).any(|bytes| bytes == OF_PHYSICAL_DEVICE.to_le_bytes());
        let place = code.windows(6).find_map(|bytes| match bytes {
            [0xFF, 0x60..=0x67, place, ..] => Some(u64::from(*place)),
            [0xFF, 0xA0..=0xA7, place @ ..] => Some(u64::from(u32::from_le_bytes(place.try_into().ok()?))),
            _ => None,
        });
        place.filter(|_| !is_of_other)
    }

    /// Returns the bytes that the file has for an address.
    fn bytes(&self, address: u64, count: usize) -> Option<&'a [u8]> {
        let segments = self.header.program_headers(self.endian, self.data).ok()?;
        segments.iter().find_map(|segment| {
            let place = address.checked_sub(segment.p_vaddr(self.endian))?;
            let is_loaded = segment.p_type(self.endian) == elf::PT_LOAD;
            let bytes = segment.data(self.endian, self.data).ok().filter(|_| is_loaded)?;
            let place = usize::try_from(place).ok()?;
            bytes.get(place..place.checked_add(count)?)
        })
    }
}

fn text(name: &[u8]) -> Option<String> {
    std::str::from_utf8(name)
        .ok()
        .filter(|name| !name.is_empty())
        .map(String::from)
}
