//! Prints tokens in the style of rustfmt, for the few constructs that the emitters build.
//!
//! The emitters use a small part of the language: constants, type aliases, structures, tables, and functions whose body is a call or a
//! `match` around a call. This module contains the rules of rustfmt for exactly this part. A test runs rustfmt on all emitted text.
//! docs/architecture/generated.md says, with figures, why the generator does not use rustfmt or another formatter.

mod expression;
mod flat;
mod items;
mod list;
mod page;
mod tokens;

pub use page::MAX_WIDTH;

use proc_macro2::TokenStream;

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

#[cfg(test)]
mod tests {
    use super::*;
    use quote::quote;

    /// Formats the tokens, and compares the result with `expected` without its first line feed.
    #[track_caller]
    fn assert_items(tokens: TokenStream, expected: &str) {
        assert_eq!(items(tokens), expected.trim_start_matches('\n'));
    }

    #[test]
    fn spacing_follows_the_neighbours() {
        for (tokens, expected) in [
            (
                quote!(
                    pub fn f(a: &'static [u8], b: *const *mut c_void) -> !;
                ),
                "pub fn f(a: &'static [u8], b: *const *mut c_void) -> !;",
            ),
            (
                quote!(
                    pub struct Vk(pub *mut c_void);
                ),
                "pub struct Vk(pub *mut c_void);",
            ),
            (
                quote!(
                    type A<L> = Option<<L as Level>::B>;
                ),
                "type A<L> = Option<<L as Level>::B>;",
            ),
            (quote!(x[0].y(r#type, -1, !0)), "x[0].y(r#type, -1, !0)"),
            (
                quote!(if !ready {
                    return;
                }),
                "if !ready { return; }",
            ),
            (
                quote!(
                    use a::{self, B};
                ),
                "use a::{self, B};",
            ),
        ] {
            assert_eq!(line(tokens), expected);
        }
    }

    #[test]
    fn long_attributes_are_broken() {
        let tokens = quote! {
            #[cfg_attr(any(target_os = "linux", target_os = "freebsd", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly"), unsafe(no_mangle))]
            pub const A: u32 = 1;
        };
        assert_items(
            tokens,
            r#"
#[cfg_attr(
    any(
        target_os = "linux",
        target_os = "freebsd",
        target_os = "netbsd",
        target_os = "openbsd",
        target_os = "dragonfly"
    ),
    unsafe(no_mangle)
)]
pub const A: u32 = 1;
"#,
        );
    }

    #[test]
    fn docs_and_attributes_stand_before_their_item() {
        let tokens = quote! {
            #[doc = " Says \"yes\"."]
            #[repr(C)]
            pub struct S { #[doc = " A member."] pub a: u32, pub b: [u32; 4] }
            pub const A: u32 = 1;
            pub const B: u32 = 2;
        };
        assert_items(
            tokens,
            r#"
/// Says "yes".
#[repr(C)]
pub struct S {
    /// A member.
    pub a: u32,
    pub b: [u32; 4],
}

pub const A: u32 = 1;
pub const B: u32 = 2;
"#,
        );
    }

    #[test]
    fn long_signatures_and_calls_break_into_lines() {
        let tokens = quote! {
            pub unsafe extern "system" fn command(first_argument: u32, second_argument: u32, third_argument: *const c_void) -> VkResult {
                unsafe { crate::entry::command(first_argument_of_many, second_argument_of_many, third_argument_of_many_more) }
            }
        };
        assert_items(
            tokens,
            r#"
pub unsafe extern "system" fn command(
    first_argument: u32,
    second_argument: u32,
    third_argument: *const c_void,
) -> VkResult {
    unsafe {
        crate::entry::command(
            first_argument_of_many,
            second_argument_of_many,
            third_argument_of_many_more,
        )
    }
}
"#,
        );
    }
}
