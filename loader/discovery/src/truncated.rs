//! The warning about lists with too many patterns.

use crate::env::Variable;
use crate::journal::{Journal, LogBits};
use promises::limits::MAX_PATTERNS;

/// Warns about patterns that the loader dropped (APP-221).
pub(super) fn note_truncated(variable: Variable, journal: &Journal<'_>) {
    journal.note(
        LogBits::WARN,
        format_args!(
            "{} has more than {MAX_PATTERNS} entries; those behind the first {MAX_PATTERNS} are ignored",
            variable.name()
        ),
    );
}
