//! Tests that the hash chains of the committed command names are short (GEN-64).

use super::{ROWS, hash};
use rust_alloc::collections::BTreeMap;
use rust_alloc::vec;
use rust_alloc::vec::Vec;

/// Upper bound on the number of names in one hash chain.
const LONGEST_CHAIN: usize = 4;

fn chains() -> BTreeMap<usize, Vec<&'static [u8]>> {
    let mut chains: BTreeMap<usize, Vec<&'static [u8]>> = BTreeMap::new();
    for row in &ROWS {
        let name = row.name().to_bytes();
        let position = hash::position_of(name).expect("a name that is long enough");
        assert!(position < hash::POSITIONS);
        chains.entry(position).or_default().push(name);
    }
    chains
}

#[test]
fn gen_64_few_names_share_a_position() {
    let chains = chains();
    let names: usize = chains.values().map(Vec::len).sum();
    assert_eq!(names, ROWS.len());
    let longest = chains.values().max_by_key(|chain| chain.len()).expect("a name");
    assert!(longest.len() <= LONGEST_CHAIN, "{longest:?}");
    // Number of names that are compared if each name is looked up once.
    let passed: usize = chains.values().map(|chain| chain.len() * (chain.len() + 1) / 2).sum();
    assert!(passed * 4 <= names * 5, "{passed} places for {names} names");
}

#[test]
fn gen_64_any_bytes_have_a_position_or_none() {
    assert_eq!(hash::position_of(b""), None);
    assert_eq!(hash::position_of(&[b'v'; hash::SHORTEST - 1]), None);
    for byte in 0..=u8::MAX {
        for length in [hash::SHORTEST, 100, 100_000] {
            let position = hash::position_of(&vec![byte; length]).expect("long enough");
            assert!(position < hash::POSITIONS);
        }
    }
}
