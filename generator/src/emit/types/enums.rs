//! Enumerations and flags: integers with a name, and constants where the policy wants them.

use crate::emit::file::File;
use crate::emit::signature::doc;
use crate::names::ident;
use crate::plan::Plan;
use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;
use std::collections::BTreeSet;
use vk_registry::model::{Enum, Enumerant};

/// The enumeration of structure types, whose constants follow from the emitted structures.
const STRUCTURE_TYPE: &str = "VkStructureType";

pub(super) fn enums(plan: &Plan<'_>) -> File {
    let enums = plan
        .types
        .enums
        .iter()
        .map(|name| one(plan, &plan.registry.enums[*name]));
    File::rust(plan, "types/enums.rs")
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
    File::rust(plan, "types/flags.rs")
        .doc("Sets of flag bits.")
        .items(quote!(#(#flags)*))
}

/// A number with a type of its own.
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
    // Flag bits have the type of their flags; other enumerations are a C int (GEN-40).
    let width = match (found.bits, found.bitmask) {
        (64, _) => quote!(u64),
        (_, true) => quote!(u32),
        (_, false) => quote!(i32),
    };
    let declaration = integer(&found.name, &width);
    let wanted = wanted(plan, found);
    let mut enumerants = found.enumerants.iter().filter(|enumerant| wanted(enumerant)).peekable();
    if enumerants.peek().is_none() {
        return declaration;
    }
    let constants = enumerants.map(|enumerant| {
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

/// Which enumerants are emitted.
fn wanted<'p>(plan: &'p Plan<'_>, found: &Enum) -> Box<dyn Fn(&Enumerant) -> bool + 'p> {
    if found.name == STRUCTURE_TYPE {
        let mut names: BTreeSet<&str> = plan.policy.types.structure_types.iter().map(String::as_str).collect();
        let structs = plan.types.structs.iter().map(|name| &plan.registry.structs[*name]);
        names.extend(
            structs
                .flat_map(|found| &found.members)
                .filter_map(|member| member.values.as_deref()),
        );
        return Box::new(move |enumerant| names.contains(enumerant.name.as_str()));
    }
    let listed = plan.policy.types.enumerants.contains(&found.name);
    Box::new(move |_| listed)
}
