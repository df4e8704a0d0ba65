//! The perfect hash over command names (GEN-64), simulated from the emitted displacements.

mod common;

use common::{committed_policy, committed_registry, generate, policy};
use std::collections::{BTreeMap, BTreeSet};
use vkgen::hash;

/// What the loader has: displacements, and the names by position.
struct Lookup {
    displacements: Vec<u8>,
    by_position: BTreeMap<usize, String>,
}

impl Lookup {
    fn emitted() -> Self {
        let registry = committed_registry();
        let files = generate(&registry, &policy(&committed_policy()));
        let text = &files
            .iter()
            .find(|file| file.path == "lookup.rs")
            .expect("the file")
            .text;
        let list = text
            .split("DISPLACEMENTS: [u8; hash::BUCKETS] = [")
            .nth(1)
            .and_then(|rest| rest.split(']').next());
        let numbers = list
            .expect("the list")
            .split(',')
            .map(str::trim)
            .filter(|number| !number.is_empty());
        let displacements: Vec<u8> = numbers.map(|number| number.parse().expect("a small number")).collect();
        let mut by_position = BTreeMap::new();
        for name in registry.commands.keys() {
            let position = place(&displacements, name.as_bytes());
            assert_eq!(
                by_position.insert(position, name.clone()),
                None,
                "{name} shares its position"
            );
        }
        Self {
            displacements,
            by_position,
        }
    }

    fn find(&self, name: &[u8]) -> Option<&str> {
        let found = self.by_position.get(&place(&self.displacements, name))?;
        (found.as_bytes() == name).then_some(found)
    }
}

fn place(displacements: &[u8], name: &[u8]) -> usize {
    let hash = hash::hash(name);
    hash::position(hash, displacements[hash::bucket(hash)])
}

#[test]
fn gen_64_all_names_are_found_and_no_other() {
    let lookup = Lookup::emitted();
    assert_eq!(lookup.displacements.len(), hash::BUCKETS);
    let names: BTreeSet<&str> = lookup.by_position.values().map(String::as_str).collect();
    assert_eq!(names.len(), common::pinned("commands"));
    for name in &names {
        assert_eq!(lookup.find(name.as_bytes()), Some(*name));
        let shorter = &name[..name.len() - 1];
        assert_eq!(
            lookup.find(shorter.as_bytes()),
            names.get(shorter).copied(),
            "{shorter}"
        );
        for longer in [
            format!("{name}X"),
            format!("{name}\0"),
            format!(" {name}"),
            name.to_uppercase(),
        ] {
            assert_eq!(
                lookup.find(longer.as_bytes()),
                names.get(longer.as_str()).copied(),
                "{longer}"
            );
        }
    }
}

#[test]
fn gen_64_any_bytes_may_be_asked_for() {
    let lookup = Lookup::emitted();
    let long = vec![b'v'; 100_000];
    for name in [&b""[..], b"v", b"vk", b"\xFF\xFE", b"vkCmdDraw\xFF", b"\0", &long] {
        assert_eq!(lookup.find(name), None);
    }
    // A cheap generator of byte strings: every length up to three words, many contents.
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    for length in 0..24 {
        for _ in 0..2_000 {
            let bytes: Vec<u8> = std::iter::repeat_with(|| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                state as u8
            })
            .take(length)
            .collect();
            assert_eq!(lookup.find(&bytes), None);
        }
    }
}

#[test]
fn hash_positions_stay_in_range() {
    for number in 0..10_000_u32 {
        let hash = hash::hash(&number.to_le_bytes());
        assert!(hash::bucket(hash) < hash::BUCKETS);
        assert!(hash::position(hash, number as u8) < hash::POSITIONS);
    }
}
