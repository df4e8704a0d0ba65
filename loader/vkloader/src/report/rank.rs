//! Ranks of findings. A finding with a smaller rank is more likely to explain a missing device.

use reasons::Code;
pub(crate) use reasons::rank::{ASIDE, BROKEN};

/// Rank of a program that a signal or time limit ended, and of other findings that do not come from a decision of the loader.
pub(crate) const FIRST: u8 = 0;
/// Rank of a request for a layer or extension that does not exist.
pub(crate) const REFUSED: u8 = 5;
/// Rank of a program that reported a failure without a reason.
pub(crate) const STATUS: u8 = 40;
/// Rank of findings about something that the user asked for and does not get, although a device is usable. Drivers without hardware rank
/// after them.
pub(crate) const ASKED_FOR: u8 = ASIDE - 6;
/// Rank of a finding that follows from other findings.
pub(crate) const CONSEQUENCE: u8 = 58;
/// Rank of settings or variables that override others without a message.
pub(crate) const SILENT: u8 = 10;
/// Rank of a missing driver or device.
pub(crate) const NOTHING: u8 = 20;
/// Rank of a finding that the driver has no access to its hardware.
pub(crate) const HARDWARE: u8 = 18;

/// Returns the rank of a decision with the code `code`.
pub(crate) fn of(code: Option<Code>) -> u8 {
    code.map_or(reasons::rank::OTHER, Code::rank)
}
