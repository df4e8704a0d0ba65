//! Resolves API constants, and checks references to constants and enumerants.

use super::aliases::{Step, follow};
use super::scope::{Scope, unique};
use crate::diagnostic::{Code, Reporter};
use crate::model::Constant;
use crate::parse::Raw;
use crate::parse::enums::{EnumsKind, RawEnumerant, RawValue};
use std::collections::{BTreeMap, HashSet};

/// Builds the constants. An alias becomes a constant with the type and value of its target.
pub(super) fn build(raw: &Raw<'_>, scope: &Scope<'_>, report: &mut Reporter<'_>) -> BTreeMap<String, Constant> {
    let own = raw
        .enums
        .iter()
        .filter(|block| block.kind == EnumsKind::Constants)
        .flat_map(|block| &block.entries);
    let added = scope.requires().flat_map(|(_, require)| &require.enums);
    let added = added.filter(|entry| entry.extends.is_none() && !matches!(entry.value, RawValue::Reference));
    let admitted = own.chain(added).filter(|entry| entry.apis.admits_loader());
    let table = unique(admitted.map(|entry| (entry.name, entry.at, entry)), report);
    let step = |name| {
        table.get(name).map(|entry| match entry.value {
            RawValue::Alias(target) => Step::Alias(target),
            _ => Step::End,
        })
    };
    let mut found = BTreeMap::new();
    for (name, entry) in &table {
        match follow(name, table.len(), step) {
            Ok(end) => {
                if let Some(constant) = table.get(end).and_then(|target| constant(name, target, report)) {
                    found.insert((*name).to_owned(), constant);
                }
            }
            Err(dead) => report.report(entry.at, dead.code(), dead.text(name)),
        }
    }
    check_references(raw, scope, &table, report);
    found
}

/// Returns a constant, or `None` for an enumerant without a C type. The version and the name of an extension are enumerants without a C
/// type.
fn constant(name: &str, target: &RawEnumerant<'_>, report: &mut Reporter<'_>) -> Option<Constant> {
    match (target.ty, target.value) {
        (Some(ty), RawValue::Literal(value)) => Some(Constant {
            name: name.to_owned(),
            ty: ty.to_owned(),
            value: value.to_owned(),
        }),
        (None, RawValue::Literal(_)) => None,
        _ => {
            let text = format!("the constant `{}` needs a type and a literal value", target.name);
            report.report(target.at, Code::EnumerantConflict, text);
            None
        }
    }
}

/// Checks references: an `<enum>` with only a name requires a constant or enumerant that must exist.
fn check_references(
    raw: &Raw<'_>,
    scope: &Scope<'_>,
    constants: &BTreeMap<&str, &RawEnumerant<'_>>,
    report: &mut Reporter<'_>,
) {
    let blocks = raw.enums.iter().flat_map(|block| &block.entries);
    let added = scope.requires().flat_map(|(_, require)| &require.enums);
    let defined: HashSet<&str> = blocks
        .chain(added.filter(|entry| !matches!(entry.value, RawValue::Reference)))
        .filter(|entry| entry.apis.admits_loader())
        .map(|entry| entry.name)
        .collect();
    for (provider, require) in scope.requires() {
        for entry in require
            .enums
            .iter()
            .filter(|entry| matches!(entry.value, RawValue::Reference))
        {
            if !defined.contains(entry.name) && !constants.contains_key(entry.name) {
                let text = format!("`{}` requires `{}`, which is not defined", provider.name, entry.name);
                report.report(entry.at, Code::RequiredUndefined, text);
            }
        }
    }
}
