//! Severity and categories of a log line, as a set of bits.

use core::fmt;
use core::ops::BitOr;

/// A set of levels and categories. A message has at most one level and any number of categories (APP-231).
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct LogBits(u32);

impl LogBits {
    /// The empty set.
    pub const NONE: Self = Self(0);
    /// Level of messages about a failure.
    pub const ERROR: Self = Self(1);
    /// Level of messages about suspicious input, or about an object that was skipped.
    pub const WARN: Self = Self(1 << 1);
    /// Level of messages that report a decision.
    pub const INFO: Self = Self(1 << 2);
    /// Level of messages with the details of a decision.
    pub const DEBUG: Self = Self(1 << 3);
    /// Category of messages about performance.
    pub const PERF: Self = Self(1 << 4);
    /// Category of messages about drivers.
    pub const DRIVER: Self = Self(1 << 5);
    /// Category of messages about layers.
    pub const LAYER: Self = Self(1 << 6);
    /// Category of messages about wrong use of the API. Never appears in the header of a line (APP-233).
    pub const VALIDATION: Self = Self(1 << 7);

    /// Returns the bits as an integer, for storage that can only hold integers.
    pub const fn word(self) -> u32 {
        self.0
    }

    /// Returns the set for an integer that [`LogBits::word`] returned.
    pub const fn from_word(word: u32) -> Self {
        Self(word)
    }

    /// Returns the union of both sets; usable in constants.
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns `true` if the sets share a bit.
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns `true` if this set contains every bit of `other`.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns `true` if the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl BitOr for LogBits {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        self.with(other)
    }
}

/// All bits with their names, in the order of the header of a log line (APP-232).
pub const NAMES: &[(LogBits, &str)] = &[
    (LogBits::ERROR, "ERROR"),
    (LogBits::WARN, "WARNING"),
    (LogBits::INFO, "INFO"),
    (LogBits::DEBUG, "DEBUG"),
    (LogBits::PERF, "PERF"),
    (LogBits::DRIVER, "DRIVER"),
    (LogBits::LAYER, "LAYER"),
    (LogBits::VALIDATION, "VALIDATION"),
];

impl fmt::Debug for LogBits {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let set = NAMES
            .iter()
            .filter(|(bit, _)| self.contains(*bit))
            .map(|(_, name)| name);
        formatter.debug_set().entries(set).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_bits() {
        let both = LogBits::WARN | LogBits::LAYER;
        assert!(both.contains(LogBits::WARN) && both.intersects(LogBits::LAYER));
        assert!(!both.contains(LogBits::ERROR) && !both.intersects(LogBits::ERROR));
        assert!(LogBits::NONE.is_empty() && !both.is_empty());
        assert_eq!(format!("{both:?}"), r#"{"WARNING", "LAYER"}"#);
    }
}
