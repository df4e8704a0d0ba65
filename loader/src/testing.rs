//! Test helpers of the crate `discovery`, shared with the tests of this crate.

#![allow(dead_code, unreachable_pub, reason = "the tests of that crate use the rest")]

use discovery::env::VariableSource;
use discovery::journal::{LogBits, Sink};

#[path = "../discovery/src/env/testing.rs"]
mod environment;
#[path = "../discovery/src/journal/testing.rs"]
mod lines;

pub(crate) use environment::Fixed;
pub(crate) use lines::Lines;
