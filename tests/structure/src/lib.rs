//! Modules that import each other, directly or through others: such a group can only be read, tested and changed as one.
//!
//! [`source`] reads a crate from its root along `mod` declarations, and [`scope`] resolves the names in a module. [`arrows`] finds the uses of other
//! modules, [`graph`] the circles among them, and [`list`] compares the circles with the known ones, each with its reason. Code that only tests have
//! is left out.
#![forbid(unsafe_code)]

pub mod arrows;
pub mod graph;
pub mod list;
pub mod scope;
pub mod source;
