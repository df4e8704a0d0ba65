//! Reader of the dynamic linker's cache, `/etc/ld.so.cache`.

use std::path::PathBuf;
use std::sync::LazyLock;

const MAGIC: &[u8] = b"glibc-ld.so.cache1.1";
const HEADER: usize = 48;
const ENTRY: usize = 24;
/// Upper bound on the entry count; a cache with more entries is treated as invalid.
const MOST: usize = 100_000;

/// Returns the paths that the cache contains for a name, in the order of the cache. Returns nothing if there is no valid cache.
pub(crate) fn paths(name: &str) -> Vec<PathBuf> {
    static CACHE: LazyLock<Vec<u8>> = LazyLock::new(|| std::fs::read("/etc/ld.so.cache").unwrap_or_default());
    find(&CACHE, name)
}

fn find(cache: &[u8], name: &str) -> Vec<PathBuf> {
    // A cache in an older format may precede the cache in the current format.
    let Some(start) = cache.windows(MAGIC.len()).position(|part| part == MAGIC) else {
        return Vec::new();
    };
    let cache = &cache[start..];
    let number = |at: usize| {
        let bytes = cache.get(at..at + 4)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?) as usize)
    };
    let text = |at: usize| {
        let rest = cache.get(at..)?;
        let end = rest.iter().position(|&byte| byte == 0)?;
        std::str::from_utf8(&rest[..end]).ok()
    };
    let count = number(MAGIC.len()).unwrap_or(0).min(MOST);
    (0..count)
        .filter_map(|index| {
            let entry = HEADER + index * ENTRY;
            (text(number(entry + 4)?)? == name).then_some(())?;
            text(number(entry + 8)?).map(PathBuf::from)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_to_paths_and_rubbish_to_none() {
        let mut cache = MAGIC.to_vec();
        cache.extend(1_u32.to_le_bytes());
        cache.resize(HEADER, 0);
        let strings = HEADER + ENTRY;
        cache.extend(0_u32.to_le_bytes());
        cache.extend((strings as u32).to_le_bytes());
        cache.extend((strings as u32 + 6).to_le_bytes());
        cache.resize(strings, 0);
        cache.extend(b"liba.s\0/lib/a\0");
        assert!(find(&cache, "liba.").is_empty());
        cache.truncate(strings);
        cache.extend(b"liba.\0/lib/a\0");
        assert_eq!(find(&cache, "liba."), [PathBuf::from("/lib/a")]);
        for length in 0..cache.len() {
            find(&cache[..length], "liba.");
        }
    }
}
