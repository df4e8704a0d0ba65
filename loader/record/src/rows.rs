//! Facts of the registry: the structures that may be recorded, and the names of commands. The generator emits the rows.

#[path = "../../../generated/queries.rs"]
mod generated;

pub use generated::{COMMANDS, STRUCTURES};

use crate::{Key, Query};

/// A structure that extends the answer to a query, and contains only numbers.
#[derive(Clone, Copy, Debug)]
pub struct Structure {
    /// Query whose answer the structure extends.
    pub query: Query,
    /// Value of the structure's `sType`; zero for the structure that other structures extend.
    pub kind: u32,
    /// Size in bytes on a 64-bit target.
    pub size: u16,
    /// First byte and length of each run of padding.
    pub gaps: &'static [(u16, u16)],
    /// Name of the structure.
    pub name: &'static str,
}

/// Query, type and size of each structure, packed into one number; the numbers are sorted.
const SIZES: &[u64; STRUCTURES.len()] = &{
    let mut all = [0; STRUCTURES.len()];
    let mut at = 0;
    while at < all.len() {
        let one = &STRUCTURES[at];
        all[at] = packed(one.query as u16, one.kind, one.size);
        assert!(at == 0 || all[at - 1] < all[at], "the generator sorts the structures");
        at += 1;
    }
    all
};

const fn packed(query: u16, kind: u32, size: u16) -> u64 {
    (query as u64) << 48 | (kind as u64) << 16 | size as u64
}

/// Returns the size of the structure that a row describes; `None` if no structure of this type may be recorded.
pub fn size_of(key: Key) -> Option<u16> {
    let first = packed(key.query, key.kind, 0);
    let found = SIZES.get(SIZES.partition_point(|one| *one < first))?;
    (found >> 16 == first >> 16).then_some(*found as u16)
}

/// Declares the table of structures that may be recorded.
macro_rules! query_structures {
    ($($query:ident, $kind:literal, $size:literal, $gaps:expr, $name:ident;)*) => {
        /// Structures that may be recorded.
        pub const STRUCTURES: &[crate::rows::Structure] = &[$(crate::rows::Structure {
            query: crate::Query::$query,
            kind: $kind,
            size: $size,
            gaps: &$gaps,
            name: stringify!($name),
        }),*];
    };
}

/// Declares the table of command names.
macro_rules! command_names {
    ($($name:ident;)*) => {
        /// Names of all commands, each with the number of its row as index.
        pub static COMMANDS: &[&str] = &[$(stringify!($name)),*];
    };
}

use {command_names, query_structures};
