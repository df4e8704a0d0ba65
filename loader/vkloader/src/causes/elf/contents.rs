//! Searches files for texts.

use crate::regular;
use std::fs;
use std::path::Path;

/// Upper bound on the size in bytes of a file that is searched for texts.
const LARGEST: u64 = 256 << 20;

/// Returns the texts in `words` that a file contains, without empty texts. Reads no file that is larger than [`LARGEST`].
pub(crate) fn contained<'a>(file: &Path, words: &[&'a str]) -> Vec<&'a str> {
    let is_small = fs::metadata(file).is_ok_and(|status| status.is_file() && status.len() <= LARGEST);
    let bytes = is_small.then(|| regular::read(file).ok()).flatten().unwrap_or_default();
    let is_in = |word: &&&str| {
        let mut parts = bytes.windows(word.len().max(1));
        !word.is_empty() && parts.any(|part| part == word.as_bytes())
    };
    words.iter().filter(is_in).copied().collect()
}

/// Returns `true` if a file contains the text `word`.
pub(super) fn contains(file: &Path, word: &str) -> bool {
    !contained(file, &[word]).is_empty()
}
