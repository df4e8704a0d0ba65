//! Finds the part of a process whose functions call each other without end.

use super::Owner;
use crate::crash::{Crash, Frame};

/// Smallest number of functions on the stack of a recursion without end.
const SMALLEST: usize = 64;
/// Smallest number of times that such a function is on the stack.
const REPEATED: usize = 8;

/// Returns the index of the innermost function that calls itself, directly or not, until the stack is used up. Returns `None` if the functions
/// of such a recursion belong to several drivers, layers or programs, because each of them may be at fault.
pub(super) fn of(crash: &Crash, owners: &[Owner]) -> Option<usize> {
    if !crash.is_stack_overflow || crash.frames.len() < SMALLEST {
        return None;
    }
    let count = |frame: &Frame| crash.frames.iter().filter(|other| *other == frame).count();
    let is_it = |place: &usize| {
        matches!(owners[*place], Owner::Part(_) | Owner::Program) && count(&crash.frames[*place]) >= REPEATED
    };
    let mut places = (0..owners.len()).filter(is_it);
    let first = places.next()?;
    places.all(|place| owners[place] == owners[first]).then_some(first)
}

/// Returns the files of the functions that call each other until the stack is used up, if they belong to several parts of the process.
pub(super) fn of_several(crash: &Crash, owners: &[Owner]) -> Vec<String> {
    if !crash.is_stack_overflow || crash.frames.len() < SMALLEST || of(crash, owners).is_some() {
        return Vec::new();
    }
    let mut files: Vec<String> = Vec::new();
    for (frame, owner) in crash.frames.iter().zip(owners) {
        let is_repeated = || crash.frames.iter().filter(|other| *other == frame).count() >= REPEATED;
        let Some(file) = frame.file.as_ref().filter(|file| !files.contains(*file)) else {
            continue;
        };
        if matches!(owner, Owner::Part(_) | Owner::Program | Owner::Loader) && is_repeated() {
            files.push(file.clone());
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_owner_of_the_repeated_functions_is_at_fault() {
        let (driver, layer, program) = (Owner::Part(0), Owner::Part(1), Owner::Program);
        // Each row has the innermost owners, and then the owners that the rest of the stack repeats.
        for (inner, repeated, expected) in [
            (&[&driver][..], &[&program][..], Some(1)),
            (&[&driver, &Owner::Loader], &[&layer, &Owner::Loader], Some(2)),
            (&[], &[&driver], Some(0)),
            (&[&driver], &[&program, &driver], None),
            (&[&driver], &[], None),
        ] {
            let rest = repeated.iter().cycle().take(if repeated.is_empty() { 0 } else { 100 });
            let owners: Vec<Owner> = inner.iter().chain(rest).map(|owner| (*owner).clone()).collect();
            let count = repeated.len().max(1);
            let frame = |place: usize| Frame {
                offset: if place < inner.len() {
                    1000 + place
                } else {
                    (place - inner.len()) % count
                } as u64,
                ..Frame::default()
            };
            let mut crash = Crash {
                is_stack_overflow: true,
                frames: (0..owners.len()).map(frame).collect(),
                ..Crash::default()
            };
            assert_eq!(of(&crash, &owners), expected, "{owners:?}");
            crash.is_stack_overflow = false;
            assert_eq!(of(&crash, &owners), None);
        }
    }
}
