//! Checks that every `depends` text can be parsed and has only known names (GEN-31).

use super::types::TypeTable;
use crate::depends::{Depends, Term};
use crate::diagnostic::{Code, Reporter};
use crate::parse::Raw;
use crate::parse::types::TypeBody;
use std::collections::HashSet;

pub(super) fn check(raw: &Raw<'_>, table: &TypeTable<'_>, report: &mut Reporter<'_>) {
    let providers: HashSet<&str> = raw.providers.iter().map(|provider| provider.name).collect();
    for provider in &raw.providers {
        let own = provider.depends.map(|text| (provider.at, text));
        let blocks = provider
            .requires
            .iter()
            .filter_map(|require| Some((require.at, require.depends?)));
        for (at, text) in own.into_iter().chain(blocks) {
            match Depends::parse(text) {
                Err(error) => report.report(
                    at,
                    Code::BadDepends,
                    format!("in `depends` of `{}`: {error}", provider.name),
                ),
                Ok(tree) => tree.terms(&mut |term| {
                    if !is_known(term, &providers, table) {
                        let text = format!("`{}` depends on `{term}`, which does not exist", provider.name);
                        report.report(at, Code::UnknownDependency, text);
                    }
                }),
            }
        }
    }
}

fn is_known(term: &Term, providers: &HashSet<&str>, table: &TypeTable<'_>) -> bool {
    match term {
        Term::Provider(name) => providers.contains(name.as_str()),
        Term::Member { structure, member } => match table.end(structure).map(|raw| &raw.body) {
            Some(TypeBody::Struct { members, .. }) => members.iter().any(|raw| raw.member.name == *member),
            _ => false,
        },
    }
}
