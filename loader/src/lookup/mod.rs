//! From a command's name to what the loader knows of it (GEN-64).
//!
//! The registry's part is emitted, a row a command (`generated/lookup.rs`). [`commands!`](commands) takes the rows; [`row`] says
//! what is known of a command, [`index`] finds it by its name. All of it is made while the library is compiled.

mod declare;
mod function_table;
pub(crate) mod hash;
#[cfg(test)]
mod hash_tests;
mod index;
mod row;
#[cfg(test)]
mod tests;

pub(crate) use declare::commands;
pub(crate) use declare::{Facts, is_listed, slot_or_none};
pub(crate) use function_table::functions;
pub(crate) use index::{Command, NO_ANSWER, find, number};
pub(crate) use row::{ALL_RANKS, DeviceGate, Function, Gate, Level, NO_SLOT, Parameter, ROWS, Row, rank};
