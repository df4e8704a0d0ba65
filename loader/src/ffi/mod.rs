//! Types and functions for the boundary to C: chains, two-call arrays, strings.

mod array;
mod chain;
mod chain_copy;
pub(crate) mod layer_interface;
mod text;

pub(crate) use array::{TwoCall, TwoCalls, is_whole, write_all};
pub(crate) use chain::{chain, chain_mut, find};
pub(crate) use chain_copy::chain_members;
pub(crate) use chain_copy::{ChainMember, Replaced, words_of_type};
pub(crate) use text::{
    Uncounted, c_array, c_name, c_text, fixed_text, is_fixed_text, is_valid_name, requested_name, set_fixed_text,
};
