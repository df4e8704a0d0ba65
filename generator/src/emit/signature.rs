//! Prints signatures of commands for trampolines, terminators and function-pointer types.

use crate::names::{ident, reference_page};
use crate::plan::{CommandPlan, Place, Plan};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use vk_registry::model::Param;

/// Returns `name: Type` for each parameter.
pub(super) fn params(plan: &Plan<'_>, command: &CommandPlan<'_>, place: Place) -> Vec<TokenStream> {
    let one = |param: &Param| {
        let name = ident(&param.name);
        let ty = plan.types.param(&param.ty, place);
        quote!(#name: #ty)
    };
    command.command.params.iter().map(one).collect()
}

/// Returns `-> Type`, or no tokens for `void`.
pub(super) fn returned(plan: &Plan<'_>, command: &CommandPlan<'_>, place: Place) -> TokenStream {
    plan.types.returned(&command.returned, place)
}

/// Returns the parameters as arguments of a call at the same level.
pub(super) fn arguments(command: &CommandPlan<'_>) -> Vec<TokenStream> {
    let one = |param: &Param| {
        let name = ident(&param.name);
        quote!(#name)
    };
    command.command.params.iter().map(one).collect()
}

/// Returns the parameters as arguments of a call at the next level toward the driver. Casts pointers to types that
/// depend on the level.
pub(super) fn lowered_arguments(plan: &Plan<'_>, command: &CommandPlan<'_>) -> Vec<TokenStream> {
    let one = |param: &Param| {
        let name = ident(&param.name);
        let is_pointer = !param.ty.pointers.is_empty() || !param.ty.array.is_empty();
        if is_pointer && plan.types.is_generic(&param.ty.base) {
            quote!(#name.cast())
        } else {
            quote!(#name)
        }
    };
    command.command.params.iter().map(one).collect()
}

/// Returns the name of a command's function-pointer type.
pub(super) fn pfn_name(command: &str) -> Ident {
    format_ident!("PFN_{command}")
}

/// Returns the function-pointer type of a command at a level.
pub(super) fn pfn(command: &CommandPlan<'_>, place: Place) -> TokenStream {
    let name = pfn_name(&command.command.name);
    let level = match place {
        _ if !command.generic => return quote!(#name),
        Place::Any => quote!(L),
        Place::App => quote!(App),
        Place::Chain => quote!(Chain),
        Place::Driver => quote!(Driver),
    };
    quote!(#name<#level>)
}

/// Returns a doc comment with a link to the reference page of `name`.
pub(super) fn doc(name: &str) -> TokenStream {
    let text = format!(" [`{name}`]({})", reference_page(name));
    quote!(#[doc = #text])
}
