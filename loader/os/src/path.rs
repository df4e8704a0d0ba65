//! How this system writes paths.

/// Separates the parts of a path.
pub const SEPARATOR: u8 = if cfg!(windows) { b'\\' } else { b'/' };

/// Separates the paths of a list (APP-210).
pub const LIST_SEPARATOR: u8 = if cfg!(windows) { b';' } else { b':' };

/// Whether a path says by itself where it leads.
pub fn is_absolute(path: &[u8]) -> bool {
    if cfg!(windows) {
        path.starts_with(b"\\") || path.get(1) == Some(&b':')
    } else {
        path.starts_with(b"/")
    }
}
