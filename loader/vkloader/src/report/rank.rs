//! Ranks of findings. The smaller the rank, the more likely the finding explains a missing device.

use reasons::Code;
pub(crate) use reasons::rank::{ASIDE, BROKEN};

/// The program did not end by itself. Also other findings that do not come from a decision of the loader.
pub(crate) const FIRST: u8 = 0;
/// The program requested a layer or extension that does not exist.
pub(crate) const REFUSED: u8 = 5;
/// The program reported a failure without a reason.
pub(crate) const STATUS: u8 = 40;
/// A finding that follows from other findings.
pub(crate) const CONSEQUENCE: u8 = 58;
/// Settings or variables override others, and no message reports this.
pub(crate) const SILENT: u8 = 10;
/// No driver or device exists.
pub(crate) const NOTHING: u8 = 20;
/// The machine denies the driver access to its hardware.
pub(crate) const HARDWARE: u8 = 18;

/// Returns the rank of a decision with this code.
pub(crate) fn of(code: Option<Code>) -> u8 {
    code.map_or(reasons::rank::OTHER, Code::rank)
}
