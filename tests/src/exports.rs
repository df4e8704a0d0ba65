//! Hides exports of a copied library, so that one mock library can act as drivers with fewer exports.

use crate::{elf, pe};

/// Changes a library of any system so that look-ups do not find the exports in `names`.
pub fn hide(library: &mut [u8], names: &[impl AsRef<str>]) {
    let hide = if library.starts_with(b"MZ") {
        pe::hide
    } else {
        elf::hide
    };
    for name in names {
        hide(library, name.as_ref());
    }
}
