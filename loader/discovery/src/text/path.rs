//! Paths as byte strings, which are assembled but never canonicalised (DRV-6a, APP-218).

use super::Text;
use alloc::vec::Vec;
use os::memory::{Grow, OutOfMemory};
use os::{SEPARATOR, is_separator};

/// Returns the last part of a path.
pub fn file_name(path: &[u8]) -> &[u8] {
    match path.iter().rposition(|&byte| is_separator(byte)) {
        Some(at) => &path[at + 1..],
        None => path,
    }
}

/// Returns the path before the last separator; `None` for a file name without a folder.
pub fn folder_of(path: &Text) -> Option<&[u8]> {
    let at = path.iter().rposition(|&byte| is_separator(byte))?;
    // For `/x.json`, the folder is the root.
    Some(&path[..at.max(1)])
}

/// Returns the path of `rest` below `folder`, with one separator between the two.
///
/// # Errors
/// Memory ran out.
pub fn join(folder: &[u8], rest: &[u8]) -> Result<Text, OutOfMemory> {
    let mut path = Vec::new();
    path.try_exact_room(folder.len() + 1 + rest.len())?;
    append_joined(&mut path, folder, rest)?;
    Ok(path.into())
}

/// Appends the path of `rest` below `folder` to `text`.
///
/// # Errors
/// There is not enough memory; nothing was written.
pub fn append_joined(text: &mut Vec<u8>, folder: &[u8], rest: &[u8]) -> Result<(), OutOfMemory> {
    text.try_room(folder.len() + 1 + rest.len())?;
    text.extend_from_slice(folder);
    if !folder.last().is_some_and(|&last| is_separator(last)) {
        text.push(SEPARATOR);
    }
    text.extend_from_slice(rest);
    Ok(())
}

/// Returns `true` for the name of a JSON file: its last five bytes are `.json` (DRV-13, LAY-17).
pub fn has_json_name(path: &[u8]) -> bool {
    path.ends_with(b".json")
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn app_213_one_separator() {
        for folder in ["/a", "/a/"] {
            assert_eq!(join(folder.as_bytes(), b"b").unwrap(), "/a/b");
        }
        assert_eq!(join(b"/", b"b").unwrap(), "/b");
    }

    #[test]
    fn lay_17_json_names() {
        for (name, expected) in [
            (".json", true),
            ("a.json", true),
            ("a.JSON", false),
            ("json", false),
            ("", false),
        ] {
            assert_eq!(has_json_name(name.as_bytes()), expected, "{name}");
        }
    }

    #[test]
    fn parts_of_a_path() {
        let cases = [
            ("/a/b.json", "b.json", Some("/a")),
            ("b.json", "b.json", None),
            ("/b.json", "b.json", Some("/")),
        ];
        for (path, name, folder) in cases {
            let path = Text::from(path);
            assert_eq!(file_name(&path), name.as_bytes());
            assert_eq!(folder_of(&path), folder.map(str::as_bytes));
        }
    }
}
