//! Syntax of paths on this system.

#[cfg(any(windows, test))]
use alloc::{borrow::ToOwned, format, string::String};

/// Separator between the parts of a path.
pub const SEPARATOR: u8 = if cfg!(windows) { b'\\' } else { b'/' };

/// Separator between the paths of a list (APP-210).
pub const LIST_SEPARATOR: u8 = if cfg!(windows) { b';' } else { b':' };

/// Returns `true` if a byte separates the parts of a path. Windows accepts both separators, and paths in variables and manifests use
/// either.
#[inline(always)]
pub fn is_separator(byte: u8) -> bool {
    byte == SEPARATOR || byte == b'/'
}

/// Returns `true` for an absolute path.
pub fn is_absolute(path: &[u8]) -> bool {
    if cfg!(windows) {
        path.first().is_some_and(|&first| is_separator(first)) || path.get(1) == Some(&b':')
    } else {
        path.starts_with(b"/")
    }
}

/// Returns an absolute path in the form that Windows accepts at any length (LAY-53).
#[cfg(any(windows, test))]
pub(crate) fn verbatim(whole: &str) -> String {
    match whole.strip_prefix(r"\\") {
        Some(named) if named.starts_with(['?', '.']) => whole.to_owned(),
        Some(share) => format!(r"\\?\UNC\{share}"),
        None => format!(r"\\?\{whole}"),
    }
}

/// Returns a path without the prefix of [`verbatim`], if the path is on a drive. Other paths are invalid without the prefix.
#[cfg(any(windows, test))]
pub(crate) fn without_verbatim(path: &[u8]) -> Option<&[u8]> {
    let plain = path.strip_prefix(br"\\?\")?;
    (plain.get(1) == Some(&b':')).then_some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lay_53_paths_of_any_length() {
        let cases = [
            (r"C:\folder\x.dll", r"\\?\C:\folder\x.dll"),
            (r"\\server\share\x.dll", r"\\?\UNC\server\share\x.dll"),
            (r"\\?\C:\folder\x.dll", r"\\?\C:\folder\x.dll"),
            (r"\\.\device", r"\\.\device"),
        ];
        for (whole, expected) in cases {
            assert_eq!(verbatim(whole), expected);
        }
    }

    #[test]
    fn lay_53_paths_from_the_system() {
        let plain = |path: &'static str| without_verbatim(path.as_bytes());
        assert_eq!(plain(r"\\?\C:\folder\x.dll"), Some(&br"C:\folder\x.dll"[..]));
        assert_eq!(plain(r"\\?\UNC\server\share\x.dll"), None);
        assert_eq!(plain(r"\\?\"), None);
        assert_eq!(plain(r"C:\folder\x.dll"), None);
    }
}
