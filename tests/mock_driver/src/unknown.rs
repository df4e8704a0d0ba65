//! Functions that no loader knows. Each name has one of 512 slots. The function of a slot records its name, the kind of its first argument,
//! and nine more arguments, which are in registers and on the stack. The function returns 1000 plus the number of the slot, so that a test
//! can check the return value.

use std::ffi::c_void;

use crate::entry::Call;
use crate::{object, state};

type Slot = unsafe extern "system" fn(u64, u64, u64, u64, u64, u64, u64, u64, u64, u64) -> u64;

#[allow(clippy::too_many_arguments, reason = "more arguments than registers hold")]
unsafe extern "system" fn slot<const N: usize>(
    handle: u64,
    a: u64,
    b: u64,
    c: u64,
    d: u64,
    e: u64,
    f: u64,
    g: u64,
    h: u64,
    i: u64,
) -> u64 {
    called(N, handle, &[a, b, c, d, e, f, g, h, i]);
    1000 + N as u64
}

fn called(slot: usize, handle: u64, arguments: &[u64]) {
    let name = state::with(|state| state.slots.get(slot).cloned()).unwrap_or_default();
    let call = Call::quiet("unknown");
    call.note(format_args!("{name} {} {arguments:?}", object::show(handle)));
}

macro_rules! sixteen {
    ($base:expr) => {
        [
            slot::<{ $base }>,
            slot::<{ $base + 1 }>,
            slot::<{ $base + 2 }>,
            slot::<{ $base + 3 }>,
            slot::<{ $base + 4 }>,
            slot::<{ $base + 5 }>,
            slot::<{ $base + 6 }>,
            slot::<{ $base + 7 }>,
            slot::<{ $base + 8 }>,
            slot::<{ $base + 9 }>,
            slot::<{ $base + 10 }>,
            slot::<{ $base + 11 }>,
            slot::<{ $base + 12 }>,
            slot::<{ $base + 13 }>,
            slot::<{ $base + 14 }>,
            slot::<{ $base + 15 }>,
        ]
    };
}

macro_rules! table {
    ($($block:literal)*) => { [$(sixteen!($block * 16)),*] };
}

static SLOTS: [[Slot; 16]; 32] =
    table!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31);

/// Returns the function for `name`. The function is the same each time.
pub(crate) fn function(name: &str) -> *const c_void {
    let index = state::with(|state| {
        state.slots.iter().position(|known| known == name).unwrap_or_else(|| {
            state.slots.push(name.into());
            state.slots.len() - 1
        })
    });
    SLOTS[index / 16][index % 16] as *const c_void
}
