//! How this system writes paths.

/// Separates the parts of a path.
pub const SEPARATOR: u8 = if cfg!(windows) { b'\\' } else { b'/' };

/// Separates the paths of a list (APP-210).
pub const LIST_SEPARATOR: u8 = if cfg!(windows) { b';' } else { b':' };

/// Whether a byte separates the parts of a path. Windows takes both, and paths in variables and manifests have either.
#[inline(always)]
pub fn is_separator(byte: u8) -> bool {
    byte == SEPARATOR || byte == b'/'
}

/// Whether a path says by itself where it leads.
pub fn is_absolute(path: &[u8]) -> bool {
    if cfg!(windows) {
        path.first().is_some_and(|&first| is_separator(first)) || path.get(1) == Some(&b':')
    } else {
        path.starts_with(b"/")
    }
}
