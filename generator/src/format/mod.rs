//! Prints tokens as the Rust formatter would, for the few shapes that the emitters build.
//!
//! Running the real formatter on megabytes of output costs more than generating it, and parsing the output again to
//! pretty-print it does too (GEN-95, GEN-97). The emitters use a small part of the language: constants, type aliases,
//! structures, tables, and functions whose body is a call or a `match` around one. This module knows the formatter's
//! rules for exactly that part; a test runs the formatter over everything that is emitted.

mod expression;
mod flat;
mod items;
mod tokens;

use proc_macro2::TokenStream;

/// Width of a line, as in `rustfmt.toml`.
pub const MAX_WIDTH: usize = 120;
/// A call whose arguments are wider is broken: 60 % of the line (`fn_call_width`).
const CALL_WIDTH: usize = 72;
/// The same for arrays (`array_width`).
const ARRAY_WIDTH: usize = 72;
/// The same for structure literals: 18 % of the line (`struct_lit_width`).
const LITERAL_WIDTH: usize = 21;
/// Array elements no wider than this are packed into lines instead of standing on one each.
const SHORT_ELEMENT: usize = 10;
/// One level of indentation.
const INDENT: usize = 4;

/// Formats a sequence of items, ending with a line feed.
pub fn items(stream: TokenStream) -> String {
    let mut out = String::new();
    items::print(&tokens::lower(stream), 0, &mut out);
    out
}

/// Formats tokens on one line.
pub fn line(stream: TokenStream) -> String {
    flat::print(&tokens::lower(stream))
}

/// Appends the indentation of `depth` columns.
fn pad(out: &mut String, depth: usize) {
    out.extend(std::iter::repeat_n(' ', depth));
}
