//! Hides exports of a copied library, so that one built mock stands for drivers that export less.

/// Changes the first letter of these names in the library's dynamic string table, which makes the symbols unfindable.
/// The hash table still leads to the symbol, but the name then differs from the one asked for.
pub(crate) fn hide(library: &mut [u8], names: &[String]) {
    let Some(table) = dynamic_strings(library) else {
        panic!("the library has no dynamic string table")
    };
    for name in names {
        let wanted = [&[0], name.as_bytes(), &[0]].concat();
        let strings = &mut library[table.clone()];
        let place = strings.windows(wanted.len()).position(|window| window == wanted);
        let place = place.unwrap_or_else(|| panic!("the library does not export {name}"));
        strings[place + 1] = b'_';
    }
}

/// The place of `.dynstr` in a 64-bit little-endian ELF file: the string table that is loaded into memory.
fn dynamic_strings(library: &[u8]) -> Option<std::ops::Range<usize>> {
    const STRING_TABLE: u32 = 3;
    const ALLOCATED: u64 = 2;
    let word = |at: usize| Some(u64::from_le_bytes(library.get(at..at + 8)?.try_into().ok()?));
    let half = |at: usize| Some(u16::from_le_bytes(library.get(at..at + 2)?.try_into().ok()?));
    let (headers, size, count) = (word(0x28)? as usize, half(0x3a)? as usize, half(0x3c)? as usize);
    (0..count).find_map(|index| {
        let header = headers + index * size;
        let kind = u32::from_le_bytes(library.get(header + 4..header + 8)?.try_into().ok()?);
        let flags = word(header + 8)?;
        let (offset, length) = (word(header + 0x18)? as usize, word(header + 0x20)? as usize);
        (kind == STRING_TABLE && flags & ALLOCATED != 0).then_some(offset..offset + length)
    })
}
