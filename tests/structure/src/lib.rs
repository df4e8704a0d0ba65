//! Finds modules that import each other, directly or through other modules. A person can read, test and change these modules only together.
//!
//! [`source`] reads a crate from its root and follows `mod` declarations, and [`scope`] resolves the names in a module. [`arrows`] finds
//! the uses of other modules, and [`graph`] finds the cycles of these uses. [`list`] compares the cycles with the allowed cycles, each of
//! which has a reason. The check ignores code that exists only in tests.
#![forbid(unsafe_code)]

pub mod arrows;
pub mod graph;
pub mod list;
pub mod scope;
pub mod source;
