//! Resolves structures and unions.

use super::types::TypeTable;
use crate::diagnostic::{Code, Reporter};
use crate::model::Struct;
use crate::parse::attributes::tokens;
use crate::parse::types::{RawMember, RawType, TypeBody};
use std::collections::{BTreeMap, HashSet};

pub(super) fn build(table: &TypeTable<'_>, report: &mut Reporter<'_>) -> BTreeMap<String, Struct> {
    let mut found = BTreeMap::new();
    for raw in table.kept() {
        let TypeBody::Struct { kind, members, extends } = &raw.body else {
            continue;
        };
        let members: Vec<_> = members.iter().filter(|member| member.apis.admits_loader()).collect();
        check_names(raw, &members, report);
        let item = Struct {
            name: raw.name.to_owned(),
            kind: *kind,
            members: members.iter().map(|raw| raw.member.clone()).collect(),
            extends: extended(table, raw, extends.unwrap_or_default(), report),
        };
        found.insert(raw.name.to_owned(), item);
    }
    found
}

/// Reports two members with the same name that remain after the filter, because the second member would change the offsets of all later
/// members (GEN-22).
fn check_names(raw: &RawType<'_>, members: &[&RawMember<'_>], report: &mut Reporter<'_>) {
    let mut names = HashSet::new();
    for member in members {
        if !names.insert(&member.member.name) {
            let text = format!("`{}` has two members `{}`", raw.name, member.member.name);
            report.report(member.at, Code::DuplicateDefinition, text);
        }
    }
}

/// Returns the structures in `structextends`, with aliases resolved. Structures of other APIs are not included.
fn extended(table: &TypeTable<'_>, raw: &RawType<'_>, list: &str, report: &mut Reporter<'_>) -> Vec<String> {
    let mut found = Vec::new();
    for name in tokens(list) {
        match table.end(name) {
            Some(target) if matches!(target.body, TypeBody::Struct { .. }) => {
                let is_new = !found.iter().any(|other| other == target.name);
                if is_new && table.get(target.name).is_some() {
                    found.push(target.name.to_owned());
                }
            }
            _ => {
                let text = format!("`{}` extends `{name}`, which is no structure", raw.name);
                report.report(raw.at, Code::UnresolvedType, text);
            }
        }
    }
    found
}
