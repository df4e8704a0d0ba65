//! Hides exports of a library for Windows.

/// Removes the name from the library's sorted table of names.
pub(crate) fn hide(library: &mut [u8], name: &str) {
    let table = Names::of(library).expect("the library has a table of exports");
    let found = (0..table.count).find(|&index| table.name(library, index) == Some(name.as_bytes()));
    let found = found.unwrap_or_else(|| panic!("the library does not export {name}"));
    // Moves the entries after the removed entry up, in two tables: the table of name offsets, with four bytes each, and the table of
    // ordinals, with two bytes each.
    for (start, size) in [(table.names, 4), (table.ordinals, 2)] {
        library.copy_within(
            start + (found + 1) * size..start + table.count * size,
            start + found * size,
        );
    }
    let count = u32::try_from(table.count - 1).expect("fewer than before").to_le_bytes();
    library[table.number..table.number + 4].copy_from_slice(&count);
}

/// Table of exported names, and data to find addresses in the file.
struct Names {
    /// Offset of the table's length.
    number: usize,
    count: usize,
    names: usize,
    ordinals: usize,
    /// Address, size and file offset of each section.
    sections: Vec<[usize; 3]>,
}

impl Names {
    fn of(library: &[u8]) -> Option<Self> {
        let header = number(library, 0x3c, 4)?;
        let (sections, optional) = (number(library, header + 6, 2)?, number(library, header + 20, 2)?);
        let first = header + 24 + optional;
        let section = |index| {
            let place = first + index * 40;
            Some([
                number(library, place + 12, 4)?,
                number(library, place + 16, 4)?,
                number(library, place + 20, 4)?,
            ])
        };
        let mut names = Self {
            number: 0,
            count: 0,
            names: 0,
            ordinals: 0,
            sections: (0..sections).map(section).collect::<Option<_>>()?,
        };
        // The data directories follow a header. The header's magic number determines the size of addresses.
        let directories = if number(library, header + 24, 2)? == 0x20b {
            112
        } else {
            96
        };
        let exports = names.place(number(library, header + 24 + directories, 4)?)?;
        names.number = exports + 24;
        names.count = number(library, exports + 24, 4)?;
        names.names = names.place(number(library, exports + 32, 4)?)?;
        names.ordinals = names.place(number(library, exports + 36, 4)?)?;
        Some(names)
    }

    /// Returns the file offset of an address in memory.
    fn place(&self, address: usize) -> Option<usize> {
        let [begin, _, place] = self
            .sections
            .iter()
            .find(|[begin, size, _]| (*begin..begin + size).contains(&address))?;
        Some(address - begin + place)
    }

    fn name<'l>(&self, library: &'l [u8], index: usize) -> Option<&'l [u8]> {
        let text = library.get(self.place(number(library, self.names + index * 4, 4)?)?..)?;
        text.split(|&byte| byte == 0).next()
    }
}

/// Returns a little-endian number of this many bytes.
fn number(library: &[u8], at: usize, bytes: usize) -> Option<usize> {
    let digits = library.get(at..at + bytes)?.iter().rev();
    Some(digits.fold(0, |number, byte| (number << 8) | usize::from(*byte)))
}
