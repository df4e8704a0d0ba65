//! Structures and unions.

use crate::emit::file::File;
use crate::emit::signature::doc;
use crate::names::ident;
use crate::plan::{Place, Plan, bit_words, runs};
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};
use vk_registry::model::{Struct, StructKind};

pub(super) fn file(plan: &Plan<'_>) -> File {
    let structs = plan
        .types
        .structs
        .iter()
        .map(|name| one(plan, &plan.registry.structs[*name]));
    super::start::file("structs", "Structures and unions with all their members.").items(quote!(#(#structs)*))
}

fn one(plan: &Plan<'_>, found: &Struct) -> TokenStream {
    let (doc, name) = (doc(&found.name), ident(&found.name));
    let keyword = match found.kind {
        StructKind::Struct => quote!(struct),
        StructKind::Union => quote!(union),
    };
    let generic = plan.types.is_generic(&found.name);
    let declared = generic.then(|| quote!(<L: Level>));
    let used = generic.then(|| quote!(<L>));
    let members = runs(&found.members).map(|(run, is_bits)| {
        if is_bits {
            return bit_field(run);
        }
        let (name, ty) = (ident(&run[0].name), plan.types.member(&run[0].ty, Place::Any));
        quote!(pub #name: #ty)
    });
    let structure_type = found
        .members
        .iter()
        .find_map(|member| member.values.as_deref())
        .map(|value| {
            let value = ident(value);
            quote! {
                impl #declared #name #used {
                    #[doc = " Value that `sType` must have in this structure."]
                    pub const STRUCTURE_TYPE: VkStructureType = VkStructureType::#value;
                }
            }
        });
    quote! {
        #doc
        #[repr(C)]
        #[derive(Clone, Copy)]
        pub #keyword #name #declared { #(#members),* }
        #structure_type
    }
}

/// Emits one member for bit fields that share 32-bit words. The member's name consists of the names of these fields.
fn bit_field(members: &[vk_registry::model::Member]) -> TokenStream {
    let names: Vec<&str> = members.iter().map(|member| member.name.as_str()).collect();
    let name = format_ident!("{}", names.join("_"));
    let words = Literal::u32_unsuffixed(bit_words(members));
    quote!(pub #name: [u32; #words])
}
