//! The vocabulary of the C boundary: chains, two-call arrays, strings.

mod array;
mod chain;
pub mod layer_interface;
mod text;

pub use array::{TwoCall, write_all};
pub use chain::{chain, chain_mut, find};
pub use text::{Uncounted, c_array, c_name, c_text, fixed_text, is_valid_name, requested_name, set_fixed_text};
