//! Finds modules that import each other, directly or through others. Such a group can only be read, tested and changed as a whole.
//!
//! [`source`] reads a crate from its root along `mod` declarations, and [`scope`] resolves the names in a module. [`arrows`] finds the uses
//! of other modules, and [`graph`] the circles among these uses. [`list`] compares the circles with the known ones, each of which has a
//! reason. Code that exists only in tests is left out.
#![forbid(unsafe_code)]

pub mod arrows;
pub mod graph;
pub mod list;
pub mod scope;
pub mod source;
