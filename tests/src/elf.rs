//! Hides exports of an ELF library.

/// Hides a symbol: changes the first letter of its name in the library's dynamic string table. The hash table still points to the symbol,
/// but the name is then different from the requested name.
pub(crate) fn hide(library: &mut [u8], name: &str) {
    let Some(table) = dynamic_strings(library) else {
        panic!("the library has no dynamic string table")
    };
    let wanted = [&[0], name.as_bytes(), &[0]].concat();
    let strings = &mut library[table];
    let place = strings.windows(wanted.len()).position(|window| window == wanted);
    let place = place.unwrap_or_else(|| panic!("the library does not export {name}"));
    strings[place + 1] = b'_';
}

/// Returns the byte range of `.dynstr` in a little-endian ELF file: the string table that is loaded into memory.
fn dynamic_strings(library: &[u8]) -> Option<std::ops::Range<usize>> {
    const STRING_TABLE: usize = 3;
    const ALLOCATED: usize = 2;
    // The offsets differ because addresses take 8 bytes in 64-bit files and 4 bytes in 32-bit files. The header of the file contains the
    // offset, size and number of the section headers. A section header contains the offset and the length of its section.
    let (address, [headers, size, count, offset, length]) = match library.get(4)? {
        2 => (8, [0x28, 0x3a, 0x3c, 0x18, 0x20]),
        _ => (4, [0x20, 0x2e, 0x30, 0x10, 0x14]),
    };
    let number = |at: usize, bytes: usize| -> Option<usize> {
        let digits = library.get(at..at + bytes)?.iter().rev();
        Some(digits.fold(0, |number, byte| (number << 8) | usize::from(*byte)))
    };
    let (headers, size, count) = (number(headers, address)?, number(size, 2)?, number(count, 2)?);
    (0..count).find_map(|index| {
        let header = headers + index * size;
        let (kind, flags) = (number(header + 4, 4)?, number(header + 8, address)?);
        let start = number(header + offset, address)?;
        let end = start + number(header + length, address)?;
        (kind == STRING_TABLE && flags & ALLOCATED != 0).then_some(start..end)
    })
}
