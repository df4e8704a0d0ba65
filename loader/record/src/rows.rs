//! Facts of the registry: the structures that may be recorded, and the names of commands. The generator emits the rows.

#[path = "../../../generated/queries.rs"]
mod generated;

pub use generated::{COMMANDS, STRUCTURES};

use crate::Query;

/// A structure that extends the answer to a query, and holds only numbers.
#[derive(Clone, Copy, Debug)]
pub struct Structure {
    /// The query.
    pub query: Query,
    /// The value of its `sType`; zero for the structure that the others extend.
    pub kind: u32,
    /// Size in bytes on a 64-bit target.
    pub size: u16,
    /// First byte and length of each run of padding.
    pub gaps: &'static [(u16, u16)],
    /// Name of the structure.
    pub name: &'static str,
}

/// Declares the structures.
macro_rules! query_structures {
    ($($query:ident, $kind:literal, $size:literal, $gaps:expr, $name:ident;)*) => {
        /// Structures that may be recorded.
        pub static STRUCTURES: &[crate::rows::Structure] = &[$(crate::rows::Structure {
            query: crate::Query::$query,
            kind: $kind,
            size: $size,
            gaps: &$gaps,
            name: stringify!($name),
        }),*];
    };
}

/// Declares the names of commands.
macro_rules! command_names {
    ($($name:ident;)*) => {
        /// Names of all commands, each with the number of its row as index.
        pub static COMMANDS: &[&str] = &[$(stringify!($name)),*];
    };
}

use {command_names, query_structures};
