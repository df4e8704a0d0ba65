//! The list of drivers, in the file that comes with the answer to [`Operation::Manifests`](crate::Operation::Manifests) (LSV-34).
//!
//! The list consists of libraries, and each library of six texts. A null byte ends each text. A client therefore reads the list without a
//! parser for JSON.

use crate::libraries::take_number;

/// Number of the hexadecimal digits of a checksum.
pub const DIGITS: usize = 64;
/// Number of texts by which a list describes each library.
const TEXTS: usize = 6;

/// A library in the list. The libraries that a driver needs come before the driver's library, each after those that it needs itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listed<'a> {
    /// The key by which clients request the library: a number that the service chose, a hyphen, and the name under which other libraries
    /// list the library as needed (`DT_NEEDED`).
    pub key: &'a [u8],
    /// Name of the library's file, which contains the version.
    pub file: &'a [u8],
    /// Number of symbols that the library exports, in decimal digits.
    pub symbols: &'a [u8],
    /// Oldest version of the C library with which the library works; empty for any version.
    pub c_library: &'a [u8],
    /// SHA-256 of the library, in hexadecimal digits. A client does not request a library that it has open.
    pub sum: &'a [u8; DIGITS],
    /// Text of the driver's manifest; empty for a library that a driver needs.
    pub manifest: &'a [u8],
}

impl<'a> Listed<'a> {
    /// Removes the first library from the rest of a list. Returns `None` at the end of the list, and if the rest is malformed. In both
    /// cases, the rest stays the same.
    pub fn take(list: &mut &'a [u8]) -> Option<Self> {
        let mut rest = *list;
        let mut texts = [&b""[..]; TEXTS];
        for text in &mut texts {
            let end = rest.iter().position(|&byte| byte == 0)?;
            (*text, rest) = (&rest[..end], &rest[end + 1..]);
        }
        let [key, file, symbols, c_library, sum, manifest] = texts;
        let library = Self {
            key,
            file,
            symbols,
            c_library,
            sum: sum.try_into().ok()?,
            manifest,
        };
        *list = rest;
        Some(library)
    }

    /// Returns the texts in the order in which the list has them.
    pub fn texts(&self) -> [&'a [u8]; TEXTS] {
        [
            self.key,
            self.file,
            self.symbols,
            self.c_library,
            self.sum,
            self.manifest,
        ]
    }

    /// Returns `true` for the library of a driver, and `false` for a library that a driver needs.
    pub fn is_driver(&self) -> bool {
        !self.manifest.is_empty()
    }

    /// Returns the name under which other libraries list this library as needed (`DT_NEEDED`).
    pub fn name(&self) -> &'a [u8] {
        let number = self.key.iter().position(|&byte| byte == b'-');
        &self.key[number.map_or(0, |place| place + 1)..]
    }

    /// Returns the number of symbols that the library exports.
    pub fn symbols(&self) -> u64 {
        take_number(&mut { self.symbols }).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use std::vec::Vec;

    #[test]
    fn lsv_34_a_list_is_read_as_it_was_written() {
        let sum = [b'7'; DIGITS];
        let driver = Listed {
            key: b"12-libvulkan_a-b.so",
            file: b"libvulkan.so.1.2",
            symbols: b"88",
            c_library: b"2.38",
            sum: &sum,
            manifest: b"{}",
        };
        let need = Listed {
            key: b"12-libz.so.1",
            symbols: b"",
            manifest: b"",
            ..driver
        };
        let mut text = Vec::new();
        let mut ends = Vec::from([0]);
        for library in [need, driver] {
            for part in library.texts() {
                text.extend_from_slice(part);
                text.push(0);
            }
            ends.push(text.len());
        }
        let mut rest = &text[..];
        assert_eq!(
            [Listed::take(&mut rest), Listed::take(&mut rest)],
            [Some(need), Some(driver)]
        );
        assert_eq!((Listed::take(&mut rest), rest), (None, &b""[..]));
        assert_eq!((driver.is_driver(), need.is_driver()), (true, false));
        assert_eq!(
            (driver.name(), need.name()),
            (&b"libvulkan_a-b.so"[..], &b"libz.so.1"[..])
        );
        assert_eq!((driver.symbols(), need.symbols()), (88, 0));
        // A list that ends within a library, or has a checksum of another length, is malformed from there on.
        for end in 0..text.len() {
            let mut part = &text[..end];
            while Listed::take(&mut part).is_some() {}
            assert_eq!(part.is_empty(), ends.contains(&end));
        }
        text.retain(|&byte| byte != b'7');
        let mut rest = &text[..];
        assert_eq!((Listed::take(&mut rest), rest), (None, &text[..]));
    }
}
