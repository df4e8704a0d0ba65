//! `pfn.rs`: a function-pointer type for each command, and for the functions that only drivers and layers export.

use super::file::File;
use super::signature::{params, pfn_name, returned};
use crate::names::ident;
use crate::plan::{Place, Plan};
use crate::policy::Extra;
use proc_macro2::TokenStream;
use quote::quote;

pub(super) fn file(plan: &Plan<'_>) -> File {
    let commands = plan.commands.iter().map(|command| {
        let name = pfn_name(&command.command.name);
        let params = params(plan, command, Place::Any);
        let returned = returned(plan, command, Place::Any);
        let level = command.generic.then(|| quote!(<L>));
        quote!(pub type #name #level = unsafe extern "system" fn(#(#params),*) #returned;)
    });
    let extras = plan.policy.extras.iter().map(|extra| interface_function(plan, extra));
    File::rust("pfn.rs")
        .doc("Function-pointer types of all commands, then those of the driver and layer interface.")
        .items(quote!(
            use super::types::*;
        ))
        .items(quote!(#(#commands)*))
        .items(quote!(#(#extras)*))
}

fn interface_function(plan: &Plan<'_>, extra: &Extra) -> TokenStream {
    let types = extra.params.iter().map(|(_, ty)| ty).chain([&extra.returns]);
    let generic = types.into_iter().any(|ty| plan.types.is_generic(&ty.0.base));
    let params = extra.params.iter().map(|(name, ty)| {
        let (name, ty) = (ident(name), plan.types.param(&ty.0, Place::Any));
        quote!(#name: #ty)
    });
    let name = pfn_name(&extra.name);
    let level = generic.then(|| quote!(<L>));
    let returned = plan.types.returned(&extra.returns.0, Place::Any);
    let doc = format!(" {}", extra.reason);
    quote! {
        #[doc = #doc]
        pub type #name #level = unsafe extern "system" fn(#(#params),*) #returned;
    }
}
