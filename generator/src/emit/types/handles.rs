//! Handles. For handles that the loader wraps, this module emits only the C names, because their types are
//! hand-written.

use crate::emit::file::File;
use crate::emit::signature::doc;
use crate::names::ident;
use crate::plan::Plan;
use quote::quote;

pub(super) fn file(plan: &Plan<'_>) -> File {
    let handles = plan.registry.handles.values().map(|handle| {
        let (doc, name) = (doc(&handle.name), ident(&handle.name));
        if plan.types.is_wrapped(&handle.name) {
            return quote! {
                #doc
                pub type #name<L> = <L as Level>::#name;
            };
        }
        let (value, dispatchable) = if handle.dispatchable {
            let dispatchable = quote! {
                impl Dispatchable for #name {
                    fn word(self) -> *mut c_void { self.0 }
                }
            };
            (quote!(*mut c_void), Some(dispatchable))
        } else {
            (quote!(u64), None)
        };
        quote! {
            #doc
            #[repr(transparent)]
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            pub struct #name(pub #value);
            #dispatchable
        }
    });
    super::start::file(
        "handles",
        "Handles: a pointer if dispatchable, otherwise a number of 64 bits.",
    )
    .items(quote!(#(#handles)*))
}
