//! The list of drivers that a service sends (LSV-34, LSV-63).

use alloc::vec::Vec;
use wire::{DIGITS, Listed};

/// SHA-256 of a library, as hexadecimal digits that the service sent. The checksum only distinguishes libraries. Seals prevent changes to
/// the bytes.
pub(crate) type Sum = [u8; DIGITS];

/// A list of drivers from the service that has been checked.
#[derive(Debug)]
pub struct List {
    text: Vec<u8>,
    /// Number of drivers.
    pub drivers: usize,
}

impl List {
    /// Checks the text of a list. One malformed library makes the whole list invalid.
    pub fn read(text: Vec<u8>) -> Option<Self> {
        let mut rest = &text[..];
        let (mut drivers, mut is_complete) = (0, true);
        while let Some(library) = Listed::take(&mut rest) {
            is_complete = library.is_driver();
            drivers += usize::from(is_complete);
        }
        // The libraries that a driver needs come before the driver's library. A list that ends without that library is invalid.
        let is_valid = rest.is_empty() && is_complete;
        is_valid.then_some(Self { text, drivers })
    }

    /// Returns the libraries, in the order in which the service sent them.
    pub fn libraries(&self) -> Libraries<'_> {
        Libraries(&self.text)
    }
}

/// Iterator over the libraries of a list: the text from the next library to the last.
#[derive(Clone, Copy, Debug)]
pub struct Libraries<'a>(&'a [u8]);

impl<'a> Iterator for Libraries<'a> {
    type Item = Listed<'a>;

    // If the compiler inlined this function into its callers, the shared library would contain the code several times.
    #[inline(never)]
    fn next(&mut self) -> Option<Listed<'a>> {
        Listed::take(&mut self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(libraries: &[(&str, &str)]) -> Vec<u8> {
        let sum = "0f".repeat(DIGITS / 2);
        let library = |(key, manifest): &(&str, &str)| format!("{key}\0libx.so.1\x0088\x002.38\0{sum}\0{manifest}\0");
        libraries.iter().map(library).collect::<String>().into()
    }

    #[test]
    fn lsv_34_a_list_has_drivers() {
        let list = List::read(text(&[("0-n.so", ""), ("0-a.so", "{}"), ("1-b.so", "x\"y")])).unwrap();
        let keys: Vec<_> = list.libraries().map(|library| library.key).collect();
        assert_eq!(keys, [&b"0-n.so"[..], b"0-a.so", b"1-b.so"]);
        let drivers = list.libraries().filter(Listed::is_driver);
        let manifests: Vec<_> = drivers.map(|driver| driver.manifest).collect();
        assert_eq!((manifests, list.drivers), (vec![&b"{}"[..], b"x\"y"], 2));
        assert_eq!(List::read(Vec::new()).unwrap().libraries().count(), 0);
    }

    #[test]
    fn lsv_63_a_malformed_library_makes_the_list_invalid() {
        let good = text(&[("0-a.so", "{}"), ("1-b.so", "{}")]);
        assert!(List::read(good.clone()).is_some());
        for end in (1..good.len()).filter(|&end| end != good.len() / 2) {
            assert!(List::read(good[..end].into()).is_none(), "{end}");
        }
        assert!(List::read([&good[..], b"0"].concat()).is_none());
        assert!(List::read(text(&[("0-a.so", "{}"), ("0-n.so", "")])).is_none());
        let short = String::from_utf8(good).unwrap().replacen("0f", "0", 1);
        assert!(List::read(short.into()).is_none());
    }
}
