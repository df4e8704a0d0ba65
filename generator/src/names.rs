//! Converts names of the registry to Rust identifiers.
//!
//! Emitted names keep the C spelling (GEN-49). Only hand-written bodies have Rust names, which follow from the command's name without its
//! prefix.

use heck::ToSnakeCase;
use proc_macro2::{Ident, Span};

/// Keywords and reserved words of every edition up to 2024, sorted.
const KEYWORDS: [&str; 52] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn", "else",
    "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod",
    "move", "mut", "override", "priv", "pub", "ref", "return", "self", "static", "struct", "super", "trait", "true",
    "try", "type", "typeof", "union", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];
/// Keywords that cannot be raw identifiers. The generator appends an underscore to these keywords.
const NEVER_RAW: [&str; 3] = ["crate", "self", "super"];

/// Returns an identifier with the given C name, as a raw identifier if the name is a keyword.
pub fn ident(name: &str) -> Ident {
    if NEVER_RAW.contains(&name) {
        Ident::new(&format!("{name}_"), Span::call_site())
    } else if KEYWORDS.binary_search(&name).is_ok() {
        Ident::new_raw(name, Span::call_site())
    } else {
        Ident::new(name, Span::call_site())
    }
}

/// Returns the name of the hand-written body of a command: `vkGetDeviceProcAddr` becomes `get_device_proc_addr`.
pub fn body(command: &str) -> Ident {
    ident(&short(command).to_snake_case())
}

/// Returns a command's name without `vk`, for messages about missing driver functions.
pub fn short(command: &str) -> &str {
    command.strip_prefix("vk").unwrap_or(command)
}

/// Returns the address of a command's reference page.
pub fn reference_page(command: &str) -> String {
    format!("https://registry.khronos.org/vulkan/specs/latest/man/html/{command}.html")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gen_49_keywords_become_raw_identifiers() {
        assert!(KEYWORDS.is_sorted());
        assert_eq!(ident("type").to_string(), "r#type");
        assert_eq!(ident("gen").to_string(), "r#gen");
        assert_eq!(ident("self").to_string(), "self_");
        assert_eq!(ident("pNext").to_string(), "pNext");
    }

    #[test]
    fn bodies_have_rust_names() {
        for (command, expected) in [
            ("vkCreateInstance", "create_instance"),
            ("vkCreateSwapchainKHR", "create_swapchain_khr"),
            (
                "vkGetPhysicalDeviceSurfaceCapabilities2KHR",
                "get_physical_device_surface_capabilities2_khr",
            ),
            ("vkGetRandROutputDisplayEXT", "get_rand_r_output_display_ext"),
        ] {
            assert_eq!(body(command).to_string(), expected);
        }
    }
}
