//! Version texts. Every text is valid: a missing or unreadable part is treated as 0 (DRV-48, LAY-95, BI-12).

use core::fmt;

use crate::env::numbers::decimal;
use crate::version::ApiVersion;

/// Reads the `api_version` of a manifest. Each part is reduced modulo 65536 and then packed, so a large part changes its neighbour (DRV-48,
/// LAY-95).
pub(super) fn api_version(text: &[u8]) -> ApiVersion {
    let [variant, major, minor, patch] = parts(text).map(|part| part % 0x1_0000);
    ApiVersion(variant << 29 | major << 22 | minor << 12 | patch)
}

/// Splits a text into variant, major, minor and patch. The first of four parts is the variant; empty parts and parts after the
/// fourth are ignored.
fn parts(text: &[u8]) -> [u32; 4] {
    let mut parts = text
        .split(|byte| matches!(byte, b'.' | b'"' | b'\n' | b'\r'))
        .filter(|part| !part.is_empty())
        .map(number)
        .take(4);
    let [first, second, third] = core::array::from_fn(|_| parts.next().unwrap_or(0));
    match parts.next() {
        Some(fourth) => [first, second, third, fourth],
        None => [0, first, second, third],
    }
}

/// Returns the decimal number at the start of a text, after blanks and a sign, modulo 2^32.
pub(super) fn number(text: &[u8]) -> u32 {
    decimal(text) as u32
}

/// The `file_format_version` of a manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FormatVersion {
    /// First part of the version.
    pub major: u32,
    /// Second part of the version.
    pub minor: u32,
    /// Third part of the version.
    pub patch: u32,
}

impl FormatVersion {
    /// Returns the version with the given parts.
    pub const fn new(major: u32, minor: u32, patch: u32) -> Self {
        Self { major, minor, patch }
    }

    /// Reads up to three parts of a version.
    pub fn parse(text: &[u8]) -> Self {
        let mut parts = text.split(|&byte| byte == b'.').map(number);
        let [major, minor, patch] = core::array::from_fn(|_| parts.next().unwrap_or(0));
        Self { major, minor, patch }
    }
}

impl fmt::Display for FormatVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(version: ApiVersion) -> [u32; 4] {
        [version.variant(), version.major(), version.minor(), version.patch()]
    }

    #[test]
    fn drv_48_lay_95_api_versions() {
        let cases: &[(&str, [u32; 4])] = &[
            ("1.3.280", [0, 1, 3, 280]),
            ("1.1", [0, 1, 1, 0]),
            ("1", [0, 1, 0, 0]),
            ("", [0, 0, 0, 0]),
            ("abc", [0, 0, 0, 0]),
            ("1.0.01.1.0.0", [1, 0, 1, 1]),
            ("0.1.2.3", [0, 1, 2, 3]),
            ("01.002.3x9", [0, 1, 2, 3]),
            ("1.2\"3", [0, 1, 2, 3]),
            ("1.2.3\r\n", [0, 1, 2, 3]),
            ("+1. 2.3", [0, 1, 2, 3]),
            ("1..5", [0, 1, 5, 0]),
            ("-0.1.1", [0, 0, 1, 1]),
            ("-1", [7, 0x7F, 0, 0]),
            ("-2.1", [7, 0x7E, 1, 0]),
            ("1.-1.0", [0, 0x3F, 0x3FF, 0]),
            ("1.1.-1", [0, 1, 0xF, 0xFFF]),
            ("65537.0.0", [0, 1, 0, 0]),
            ("1.65537.0", [0, 1, 1, 0]),
            ("1.1.4097", [0, 1, 1, 1]),
            ("4294967297.1.1", [0, 1, 1, 1]),
            ("99999999999.1.1", [7, 0x7F, 1, 1]),
            ("18446744073709551617.1.1", [7, 0x7F, 1, 1]),
            ("128.0.0", [1, 0, 0, 0]),
            ("5.9223372036854775807.2", [0, 0x3F | 5, 0x3FF, 2]),
        ];
        for (text, expected) in cases {
            assert_eq!(fields(api_version(text.as_bytes())), *expected, "{text:?}");
        }
    }

    #[test]
    fn bi_21_implementation_versions() {
        let cases = [
            ("7", 7),
            ("12abc", 12),
            ("", 0),
            ("abc", 0),
            (" +7", 7),
            ("-1", u32::MAX),
            ("-2147483649", 0x7FFF_FFFF),
            ("4294967295", u32::MAX),
            ("4294967303", 7),
            ("99999999999999999999", u32::MAX),
        ];
        for (text, expected) in cases {
            assert_eq!(number(text.as_bytes()), expected, "{text:?}");
        }
    }

    #[test]
    fn bi_12_format_versions() {
        let cases = [
            ("1.0.1", (1, 0, 1)),
            ("", (0, 0, 0)),
            ("1", (1, 0, 0)),
            ("1.1", (1, 1, 0)),
            ("9.9.9.9", (9, 9, 9)),
            ("a.b.c", (0, 0, 0)),
        ];
        for (text, (major, minor, patch)) in cases {
            assert_eq!(
                FormatVersion::parse(text.as_bytes()),
                FormatVersion::new(major, minor, patch),
                "{text}"
            );
        }
        assert_eq!(FormatVersion::new(1, 2, 3).to_string(), "1.2.3");
    }
}
