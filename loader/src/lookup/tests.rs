//! Tests of the look-up of names in the emitted rows.

use super::{Gate, ROWS, find, hash};
use crate::generated::lookup::{NAMES, ROW_COUNT, row};
use crate::library::is_own_entry_point;
use rust_alloc::collections::BTreeSet;

fn names() -> BTreeSet<&'static [u8]> {
    ROWS.iter().map(|row| row.name().to_bytes()).collect()
}

/// Returns `true` if a row is found; checks that the row has the given name.
fn finds(name: &[u8]) -> bool {
    find(name).is_some_and(|row| {
        assert_eq!(row.name().to_bytes(), name);
        true
    })
}

#[test]
fn gen_64_all_names_are_found_and_no_other() {
    let names = names();
    assert_eq!(names.len(), ROW_COUNT);
    for &name in &names {
        assert!(finds(name));
        let shorter = &name[..name.len() - 1];
        assert_eq!(finds(shorter), names.contains(shorter));
        for longer in [&b"X"[..], b"\0", b"_"] {
            let longer = [name, longer].concat();
            assert_eq!(finds(&longer), names.contains(&longer[..]));
        }
        for index in 0..name.len() {
            let mut other = name.to_vec();
            other[index] ^= 1;
            assert_eq!(finds(&other), names.contains(&other[..]));
        }
    }
}

#[test]
fn gen_64_any_bytes_may_be_asked_for() {
    let long = vec![b'v'; 100_000];
    for name in [&b""[..], b"v", b"vk", b"\xFF\xFE", b"vkCmdDraw\xFF", b"\0", &long] {
        assert!(!finds(name));
    }
    // Generates byte strings of many lengths and contents; each ends where its allocation ends.
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    for length in 0..300 {
        for _ in 0..100 {
            let bytes: Box<[u8]> = core::iter::repeat_with(|| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                state as u8
            })
            .take(length)
            .collect();
            assert!(!finds(&bytes));
        }
    }
}

#[test]
fn lay_215_rows_know_their_functions() {
    let mut functions = BTreeSet::new();
    for row in &ROWS {
        let trampoline = row.trampoline() as *const ();
        assert!(is_own_entry_point(row, trampoline));
        functions.insert(trampoline);
        if let Some(terminator) = row.terminator() {
            assert!(is_own_entry_point(row, terminator as *const ()));
            assert_ne!(terminator as *const (), trampoline);
        }
        assert!(!is_own_entry_point(row, core::ptr::from_ref(row).cast()));
    }
    // Aliases share the function of a command, so there are fewer functions than rows.
    assert!(functions.len() > ROW_COUNT * 9 / 10, "{} functions", functions.len());
}

#[test]
fn the_rows_of_known_commands_are_those() {
    let draw = find(b"vkCmdDraw").expect("a row");
    assert!(draw.number == row::vkCmdDraw && draw.number != row::vkCmdDrawIndexed);
    assert_eq!(
        draw.trampoline() as *const (),
        crate::generated::trampoline::vkCmdDraw as *const ()
    );
    assert_eq!((draw.gate(), draw.terminator()), (Gate::Always, None));
    let last = find(b"vkWriteSamplerDescriptorsEXT").expect("a row");
    assert_eq!(
        last.trampoline() as *const (),
        crate::generated::trampoline::vkWriteSamplerDescriptorsEXT as *const ()
    );
    let query = find(b"vkGetPhysicalDeviceProperties").expect("a row");
    assert_eq!(
        query.terminator().map(|function| function as *const ()),
        Some(crate::generated::terminator::vkGetPhysicalDeviceProperties as *const ())
    );
}

/// GEN-64: the dummy place at the end of each hash chain has a length that no name has.
#[test]
fn gen_64_a_name_as_long_as_the_mark_is_not_found() {
    let mark = hash::SHORTEST + usize::from(u8::MAX);
    assert!(!finds(&NAMES.as_bytes()[..mark]));
}
