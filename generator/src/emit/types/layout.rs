//! Emits assertions that the Rust compiler gives structures the same layout as C.

use crate::emit::file::File;
use crate::names::ident;
use crate::plan::Plan;
use proc_macro2::Literal;
use quote::quote;

pub(super) fn file(plan: &Plan<'_>) -> File {
    let rows = plan.types.structs.iter().filter_map(|name| {
        let layout = plan.layout(name)?;
        let level = plan.types.is_generic(name).then(|| quote!(<Driver>));
        let name = ident(name);
        let (size, align) = (
            Literal::u32_unsuffixed(layout.size),
            Literal::u32_unsuffixed(layout.align),
        );
        let offsets = layout.offsets.iter().map(|(member, offset)| {
            let (member, offset) = (ident(member), Literal::u32_unsuffixed(*offset));
            quote!(#member #offset)
        });
        Some(quote!(#name #level: #size, #align, #(#offsets),*;))
    });
    File::rust("types/layout.rs")
        .doc("Sizes, alignments and offsets in bytes, as C defines them on 64-bit targets.")
        .items(quote! {
            use super::*;
            use crate::handle::Driver;
            use crate::layout::layouts;
        })
        .rows("layouts", rows)
}
