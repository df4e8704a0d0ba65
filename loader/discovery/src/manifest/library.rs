//! Library paths in manifests.

use crate::text::{Text, folder_of, join};
use os::memory::OutOfMemory;
use os::{is_absolute, is_separator};

/// Returns the file to open for a `library_path` (DRV-52, LAY-97). An absolute path is unchanged. A relative path is relative to the
/// manifest's folder. A name without a folder is unchanged, because the system searches for it.
///
/// # Errors
/// There is not enough memory.
pub(super) fn resolve(manifest: &Text, library_path: &[u8]) -> Result<Text, OutOfMemory> {
    match folder_of(manifest) {
        Some(folder) if !is_absolute(library_path) && library_path.iter().any(|&byte| is_separator(byte)) => {
            join(folder, library_path)
        }
        _ => Text::try_new(library_path),
    }
}

/// The pointer size that `library_arch` requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Architecture {
    /// The value `32`.
    Bits32,
    /// The value `64`.
    Bits64,
}

impl Architecture {
    /// Returns `true` if libraries of this pointer size can be loaded into this process.
    pub(super) fn is_ours(self) -> bool {
        self == if cfg!(target_pointer_width = "64") {
            Self::Bits64
        } else {
            Self::Bits32
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn drv_52_lay_97_library_paths() {
        let cases = [
            ("/m/x.json", "/l/libx.so", "/l/libx.so"),
            ("/m/x.json", "libx.so", "libx.so"),
            ("/m/x.json", "./libx.so", "/m/./libx.so"),
            ("/m/x.json", "../l/libx.so", "/m/../l/libx.so"),
            ("/x.json", "l/libx.so", "/l/libx.so"),
            ("m/x.json", "l/libx.so", "m/l/libx.so"),
            ("x.json", "l/libx.so", "l/libx.so"),
            ("/m/x.json", "", ""),
        ];
        for (manifest, library, expected) in cases {
            assert_eq!(
                resolve(&manifest.into(), library.as_bytes()).unwrap(),
                expected,
                "{manifest} {library}"
            );
        }
    }
}
