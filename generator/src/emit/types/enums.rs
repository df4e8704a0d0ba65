//! Enumerations and flags: integers with a name, and the constants of enumerations that the policy lists.

use crate::emit::file::File;
use crate::emit::signature::doc;
use crate::names::ident;
use crate::plan::Plan;
use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;
use vk_registry::model::Enum;

pub(super) fn enums(plan: &Plan<'_>) -> File {
    let enums = plan
        .types
        .enums
        .iter()
        .map(|name| one(plan, &plan.registry.enums[*name]));
    File::rust("types/enums.rs")
        .doc("Enumerations; any value is valid.")
        .items(quote!(#(#enums)*))
}

pub(super) fn flags(plan: &Plan<'_>) -> File {
    let flags = plan.types.bitmasks.iter().map(|name| {
        let width = if plan.registry.bitmasks[*name].bits == 64 {
            quote!(u64)
        } else {
            quote!(u32)
        };
        integer(name, &width)
    });
    File::rust("types/flags.rs")
        .doc("Sets of flag bits.")
        .items(quote!(#(#flags)*))
}

/// Returns an integer type with its own name.
fn integer(name: &str, width: &TokenStream) -> TokenStream {
    let (doc, name) = (doc(name), ident(name));
    quote! {
        #doc
        #[repr(transparent)]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub struct #name(pub #width);
    }
}

fn one(plan: &Plan<'_>, found: &Enum) -> TokenStream {
    // Flag bits have the type of their flags. Other enumerations have the type `int` of C (GEN-40).
    let width = match (found.bits, found.bitmask) {
        (64, _) => quote!(u64),
        (_, true) => quote!(u32),
        (_, false) => quote!(i32),
    };
    let declaration = integer(&found.name, &width);
    let enumerants = plan.enumerants(found);
    if enumerants.is_empty() {
        return declaration;
    }
    let constants = enumerants.into_iter().map(|enumerant| {
        let name = ident(&enumerant.name);
        let value = Literal::i128_unsuffixed(enumerant.value);
        quote!(pub const #name: Self = Self(#value);)
    });
    let name: Ident = ident(&found.name);
    quote! {
        #declaration
        impl #name { #(#constants)* }
    }
}
