//! The process environment: the variables that the project reads, and the parsers for their values.
//!
//! [`variable`] lists every variable with its trust class. [`Environment`] is the only access to values, so an elevated process ignores
//! some variables everywhere (APP-211, DRV-29, LAY-60). [`glob`], [`numbers`] and [`split`] turn values into filters and lists.

pub mod device_select;
pub mod dri_prime;
mod environment;
pub mod glob;
pub mod layer_filters;
pub mod numbers;

pub use environment::{Environment, Process, VariableSource, split};
pub use promises::variable::{self, Variable};

#[cfg(test)]
pub mod testing;
#[cfg(test)]
pub use testing::Fixed;
