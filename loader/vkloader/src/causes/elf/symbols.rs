//! Finds the library in which a missing symbol belongs, by the names of the other symbols of that library.

use super::closure::{Closure, Identity};
use std::fs;
use std::path::{Path, PathBuf};

/// Upper bound on the size in bytes of a library that is searched for names.
const LARGEST: u64 = 8 << 20;
/// Lower bound on the number of names in a library that begin like the missing symbol.
const FEWEST: usize = 3;
/// Lower bound on the length of the beginning, without the underscore at its end.
const SHORTEST: usize = 3;

/// Returns the library that `library` needs and whose symbols begin like `symbol`, with that beginning. The beginning of `amdgpu_va_alloc`
/// is `amdgpu_`.
pub(super) fn likely(symbol: &str, library: &Path, own: Identity) -> Option<(PathBuf, String)> {
    let (first, _) = symbol.split_once('_')?;
    if first.len() < SHORTEST {
        return None;
    }
    let beginning = format!("{first}_");
    let name = format!("\0{beginning}");
    let counted = Closure::of(library, own)
        .found
        .into_iter()
        .map(|path| (count(&path, name.as_bytes()), path));
    let most = counted.max_by_key(|(count, _)| *count);
    most.filter(|(count, _)| *count >= FEWEST)
        .map(|(_, path)| (path, beginning))
}

/// Returns the number of places in a file at which a text begins.
fn count(path: &Path, text: &[u8]) -> usize {
    let is_small = fs::metadata(path).is_ok_and(|status| status.len() <= LARGEST);
    let bytes = is_small.then(|| fs::read(path).ok()).flatten().unwrap_or_default();
    bytes.windows(text.len()).filter(|part| *part == text).count()
}
