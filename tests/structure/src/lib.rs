//! Modules that import each other, directly or around a longer way: a group that can only be read, tested and changed
//! as one.
//!
//! [`source`] reads a crate from its root along `mod` declarations, [`scope`] knows what the names in a module stand for,
//! [`arrows`] finds what each module takes from others, [`graph`] the circles in that, and [`list`] compares them with
//! those that are known, each with its reason. Code that only tests have is left out.
#![forbid(unsafe_code)]

pub mod arrows;
pub mod graph;
pub mod list;
pub mod scope;
pub mod source;
