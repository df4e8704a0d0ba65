//! Widths that rustfmt uses.

/// Width of a line, as in `rustfmt.toml`.
pub const MAX_WIDTH: usize = 120;
/// Upper bound on the width of arguments on one line: 60 % of the line (`fn_call_width`).
pub(super) const CALL_WIDTH: usize = 72;
/// Upper bound on the width of arrays on one line (`array_width`).
pub(super) const ARRAY_WIDTH: usize = 72;
/// Width of an indentation level.
pub(super) const INDENT: usize = 4;

/// Appends the indentation of `depth` columns.
pub(super) fn pad(out: &mut String, depth: usize) {
    out.extend(std::iter::repeat_n(' ', depth));
}
