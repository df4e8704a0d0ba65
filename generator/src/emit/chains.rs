//! `chains.rs`: the sizes of structures in `pNext` chains that the runtime copies (APP-144).

use super::file::File;
use crate::names::ident;
use crate::plan::Plan;
use proc_macro2::Literal;
use quote::quote;

pub(super) fn file(plan: &Plan<'_>) -> File {
    let rows = plan.chain_members().into_iter().map(|member| {
        let name = ident(member.name);
        let kind = Literal::i64_unsuffixed(member.kind);
        let (words, pointers) = (
            Literal::u32_unsuffixed(member.words),
            Literal::u32_unsuffixed(member.pointers),
        );
        quote!(#kind, #words, #pointers, #name;)
    });
    File::rust("chains.rs")
        .doc("Structures that may be in a chain whose members the loader copies: number, words, pointers, name.")
        .items(quote!(
            use crate::ffi::chain_members;
        ))
        .rows("chain_members", rows)
}
