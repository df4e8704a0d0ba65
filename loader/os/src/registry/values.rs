//! Data of a registry's values (DRV-38, LAY-50).

use crate::memory::{Grow, shortage};
use alloc::vec::Vec;

/// Type of a value that contains one text.
pub(crate) const REG_SZ: u32 = 1;
/// Type of a value that contains a list of texts, each with a terminator, and an empty text at the end.
pub(crate) const REG_MULTI_SZ: u32 = 7;

/// Passes the texts in the data of a value to `take`. Never reads beyond the data, because terminators may be missing. Returns `false` for
/// a type that contains no texts.
pub(crate) fn each_text(kind: u32, data: &[u8], take: &mut dyn FnMut(&[u8])) -> bool {
    let is_list = match kind {
        REG_SZ => false,
        REG_MULTI_SZ => true,
        _ => return false,
    };
    let mut units = data.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
    loop {
        let text = utf8(units.by_ref().take_while(|&unit| unit != 0));
        if !text.is_empty() {
            take(&text);
        }
        if text.is_empty() || !is_list {
            return true;
        }
    }
}

/// Converts a UTF-16 text of the system to UTF-8. Invalid Unicode becomes the replacement character. If memory runs out, the text is empty,
/// and the Vulkan call returns `VK_ERROR_OUT_OF_HOST_MEMORY`.
pub(crate) fn utf8(units: impl Iterator<Item = u16>) -> Vec<u8> {
    let mut text = Vec::new();
    for character in char::decode_utf16(units) {
        let mut room = [0; 4];
        let bytes = character
            .unwrap_or(char::REPLACEMENT_CHARACTER)
            .encode_utf8(&mut room)
            .as_bytes();
        if text.try_room(bytes.len()).is_err() {
            shortage::note();
            return Vec::new();
        }
        text.extend_from_slice(bytes);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(units: &str) -> Vec<u8> {
        units.encode_utf16().flat_map(u16::to_le_bytes).collect()
    }

    fn texts(kind: u32, data: &[u8]) -> Option<Vec<String>> {
        let mut texts = Vec::new();
        let taken = each_text(kind, data, &mut |text| {
            texts.push(String::from_utf8(text.to_vec()).unwrap());
        });
        taken.then_some(texts)
    }

    #[test]
    fn drv_38_lay_50_texts_end_where_their_data_end() {
        let cases: &[(u32, &str, &[&str])] = &[
            (REG_SZ, "C:\\a.json\0", &["C:\\a.json"]),
            (REG_SZ, "C:\\a.json", &["C:\\a.json"]),
            (REG_SZ, "C:\\a.json\0C:\\b.json\0\0", &["C:\\a.json"]),
            (REG_SZ, "", &[]),
            (REG_SZ, "\0", &[]),
            (REG_MULTI_SZ, "a\0b\0\0", &["a", "b"]),
            (REG_MULTI_SZ, "a\0b\0", &["a", "b"]),
            (REG_MULTI_SZ, "a\0b", &["a", "b"]),
            (REG_MULTI_SZ, "a\0\0behind the end\0", &["a"]),
            (REG_MULTI_SZ, "\0\0", &[]),
            (REG_MULTI_SZ, "", &[]),
            (
                REG_MULTI_SZ,
                "C:\\Gerät\\日本\\😀.json\0\0",
                &["C:\\Gerät\\日本\\😀.json"],
            ),
        ];
        for (kind, held, expected) in cases {
            assert_eq!(texts(*kind, &data(held)).unwrap(), *expected, "{kind} {held:?}");
        }
    }

    #[test]
    fn drv_38_half_a_unit_is_not_read() {
        let mut odd = data("ab");
        odd.push(b'c');
        assert_eq!(texts(REG_SZ, &odd).unwrap(), ["ab"]);
        assert_eq!(texts(REG_MULTI_SZ, b"x").unwrap(), Vec::<String>::new());
    }

    #[test]
    fn lay_53_half_a_character_is_shown_as_such() {
        let lone = [0xD83D_u16, u16::from(b'x')].map(u16::to_le_bytes).concat();
        assert_eq!(texts(REG_SZ, &lone).unwrap(), ["\u{FFFD}x"]);
    }

    #[test]
    fn drv_38_lay_50_other_types_hold_no_paths() {
        // Types without paths: none, expandable text, bytes, 32-bit number, 64-bit number.
        for kind in [0, 2, 3, 4, 11] {
            assert_eq!(texts(kind, &data("C:\\a.json\0")), None, "{kind}");
        }
    }
}
