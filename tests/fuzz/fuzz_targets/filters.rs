//! Fuzzes filters, which are patterns of names and ranges of numbers. Compares the results with the results of slow and simple
//! implementations of the same rules. The input consists of the value of a filter variable, a null byte, and the name or number to test.
#![no_main]

use discovery::env::Environment;
use discovery::env::device_select::{DeviceWords, MOST};
use discovery::env::dri_prime::DriPrime;
use discovery::env::glob::{DisableGlobs, Globs, Item};
use discovery::env::layer_filters::LayerFilters;
use discovery::env::numbers::{IdRanges, MAX_ID_ITEMS, decimal};
use libfuzzer_sys::fuzz_target;
use loader_fuzz::{Variables, twice};

const EVERYTHING: [&[u8]; 3] = [b"*", b"**", b"~all~"];

/// Returns `true` if one pattern of at most 255 bytes matches a name, both in lower case (APP-220, APP-222).
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    if EVERYTHING.contains(&pattern) {
        return true;
    }
    if pattern.starts_with(b"~") {
        return false;
    }
    let open_start = pattern.starts_with(b"*");
    let open_end = pattern.len() > usize::from(open_start) && pattern.ends_with(b"*");
    let text = &pattern[usize::from(open_start)..pattern.len() - usize::from(open_end)];
    (0..=name.len()).any(|start| {
        name[start..].starts_with(text) && (open_start || start == 0) && (open_end || start + text.len() == name.len())
    })
}

/// Returns the items of a list that the loader reads, in lower case.
fn items(value: &[u8]) -> Vec<Vec<u8>> {
    let items = value.split(|&byte| byte == b',').filter(|item| !item.is_empty());
    items.map(<[u8]>::to_ascii_lowercase).collect()
}

fn check_globs(value: &[u8], name: &[u8]) {
    let items = items(value);
    // The loader cuts a long item, but the simple implementation does not, so these inputs are skipped.
    if items.iter().any(|item| item.len() > 255) {
        return;
    }
    let name = name.to_ascii_lowercase();
    let globs = twice(|| Globs::parse(value));
    let expected = items.iter().take(16).any(|item| matches(item, &name));
    assert_eq!(globs.matches(&name), expected);
    assert_eq!(
        globs.matches(&name.to_ascii_uppercase()),
        expected,
        "case does not count"
    );
    assert_eq!(globs.is_empty(), items.is_empty());
    assert_eq!(globs.truncated, items.len() > 16);

    let disable = twice(|| DisableGlobs::parse(value));
    let words: [&'static [u8]; 2] = [b"~implicit~", b"~explicit~"];
    let (special, names): (Vec<_>, Vec<_>) = items
        .into_iter()
        .partition(|item| EVERYTHING.contains(&item.as_slice()) || words.contains(&item.as_slice()));
    let has = |word: &[u8]| special.iter().any(|item| item == word);
    let everything = EVERYTHING.iter().any(|word| has(word));
    let named = names.iter().take(16).any(|item| matches(item, &name));
    assert_eq!(disable.names.matches(&name), named);
    for (implicit, word) in [(true, words[0]), (false, words[1])] {
        let found = disable.matching(&name, implicit);
        let expected = match (everything, has(word)) {
            (true, _) => Some(Item::Word(b"*")),
            (false, true) => Some(Item::Word(word)),
            (false, false) => disable.names.matching(&name).map(Item::Pattern),
        };
        assert_eq!(found, expected);
    }
    assert_eq!(disable.names.truncated, names.len() > 16);
}

fn check_layer_filters(value: &[u8], name: &[u8]) {
    let everything = Variables::none()
        .with("VK_LOADER_LAYERS_ENABLE", value)
        .with("VK_LOADER_LAYERS_DISABLE", value)
        .with("VK_LOADER_LAYERS_ALLOW", value);
    let filters = LayerFilters::read(&Environment::new(&everything));
    let globs = Globs::parse(value);
    assert_eq!(filters.enables(name), globs.matches(name));
    for implicit in [true, false] {
        // The allow filter with the same value exempts each name that the disable filter matches.
        assert!(!(filters.disables(name, implicit) && globs.matches(name)));
    }
}

fn check_numbers(value: &[u8], name: &[u8]) {
    let ranges = twice(|| IdRanges::parse(value));
    let items: Vec<&[u8]> = value
        .split(|&byte| byte == b',')
        .filter(|item| !item.is_empty())
        .collect();
    assert_eq!(ranges.is_empty(), items.is_empty());
    assert_eq!(ranges.truncated, items.len() > MAX_ID_ITEMS);
    let ids = name.chunks(4).map(|chunk| {
        let mut bytes = [0; 4];
        bytes[..chunk.len()].copy_from_slice(chunk);
        u32::from_le_bytes(bytes)
    });
    for id in ids.chain([0, 1, u32::MAX]) {
        // An identifier must pass exactly if the list is empty, or if the identifier passes one of the first `MAX_ID_ITEMS` items.
        let alone = items
            .iter()
            .take(MAX_ID_ITEMS)
            .any(|item| IdRanges::parse(item).accepts(id));
        assert_eq!(ranges.accepts(id), items.is_empty() || alone);
        let plain = format!("{id},0x{id:x},0{id:o}");
        assert!(IdRanges::parse(plain.as_bytes()).accepts(id));
    }
    twice(|| {
        (
            DeviceWords::select(value),
            DeviceWords::visible(value),
            DriPrime::parse(value),
            decimal(value),
        )
    });
    // The list that the loader stores has a word for each of the first `MOST` items of the value.
    let select = DeviceWords::select(value);
    let items = value
        .split(|&byte| byte == b',')
        .filter(|item| !item.trim_ascii_start().is_empty())
        .count();
    assert_eq!(select.words.len(), items.min(MOST));
    assert_eq!(select.truncated, items > MOST);
}

fuzz_target!(|input: &[u8]| {
    let mut parts = input.splitn(2, |&byte| byte == 0);
    let (value, name) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    check_globs(value, name);
    check_layer_filters(value, name);
    check_numbers(value, name);
});
