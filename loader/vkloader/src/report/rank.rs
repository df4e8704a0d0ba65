//! What a user most likely looks for.

use reasons::Code;
pub(crate) use reasons::rank::{ASIDE, BROKEN};

/// The rank of what is no decision of the loader: a process that did not end by itself, and the like.
pub(crate) const FIRST: u8 = 0;
/// The program asked for something that is not there.
pub(crate) const REFUSED: u8 = 5;
/// The program says that it failed, without a reason.
pub(crate) const STATUS: u8 = 40;
/// What follows from other findings.
pub(crate) const CONSEQUENCE: u8 = 58;
/// Settings and variables that win without a word.
pub(crate) const SILENT: u8 = 10;
/// There is nothing at all.
pub(crate) const NOTHING: u8 = 20;
/// The machine does not let the driver reach its hardware.
pub(crate) const HARDWARE: u8 = 18;

/// Returns the rank of what the loader dropped for a reason of this code.
pub(crate) fn of(code: Option<Code>) -> u8 {
    code.map_or(reasons::rank::OTHER, Code::rank)
}
