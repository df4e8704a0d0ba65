//! `queries.rs`: the structures of query answers that can be recorded for other processes, and the names of all commands (GEN-61).

use super::file::File;
use crate::names::ident;
use crate::plan::Plan;
use proc_macro2::Literal;
use quote::quote;

pub(super) fn file(plan: &Plan<'_>) -> File {
    let structures = plan.query_members().into_iter().map(|member| {
        let (query, name) = (ident(member.query), ident(member.name));
        let (kind, size) = (
            Literal::i64_unsuffixed(member.kind),
            Literal::u32_unsuffixed(member.size),
        );
        let gaps = member.gaps.iter().map(|(start, length)| {
            let (start, length) = (Literal::u32_unsuffixed(*start), Literal::u32_unsuffixed(*length));
            quote!((#start, #length))
        });
        quote!(#query, #kind, #size, [#(#gaps),*], #name;)
    });
    let names = plan.commands.iter().map(|command| {
        let name = ident(&command.command.name);
        quote!(#name;)
    });
    File::rust("queries.rs")
        .doc(
            "Structures that extend the answers of physical devices and hold only numbers: query, number (zero for \
             the structure that the others extend),\nsize on a 64-bit target, first byte and length of each run of padding.\nThen the names of all commands, in the order of the rows of `lookup.rs`.",
        )
        .items(quote!(
            use crate::rows::{command_names, query_structures};
        ))
        .rows("query_structures", structures)
        .rows("command_names", names)
}
