//! The formatter's measures.

/// Width of a line, as in `rustfmt.toml`.
pub const MAX_WIDTH: usize = 120;
/// A call whose arguments are wider is broken: 60 % of the line (`fn_call_width`).
pub(super) const CALL_WIDTH: usize = 72;
/// The same for arrays (`array_width`).
pub(super) const ARRAY_WIDTH: usize = 72;
/// The same for structure literals: 18 % of the line (`struct_lit_width`).
pub(super) const LITERAL_WIDTH: usize = 21;
/// Array elements no wider than this are packed into lines instead of standing on one each.
pub(super) const SHORT_ELEMENT: usize = 10;
/// One level of indentation.
pub(super) const INDENT: usize = 4;

/// Appends the indentation of `depth` columns.
pub(super) fn pad(out: &mut String, depth: usize) {
    out.extend(std::iter::repeat_n(' ', depth));
}
