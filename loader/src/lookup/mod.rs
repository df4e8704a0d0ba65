//! Look-up of the loader's facts about a command by its name (GEN-64).
//!
//! The generator emits a row per command (`generated/lookup.rs`), and [`commands!`](commands) declares tables from the rows. [`row`] has
//! the facts about a command, and [`index`] finds a command by its name. The compiler computes all these tables.

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
