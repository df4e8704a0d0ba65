//! Resolves enumerations, and computes the values of their enumerants (GEN-69).

use super::aliases::{Step, follow};
use super::scope::Scope;
use super::types::TypeTable;
use crate::diagnostic::{Code, Reporter};
use crate::model::{Bitmask, Enum, Enumerant};
use crate::parse::Raw;
use crate::parse::enums::{EnumsKind, RawEnumerant, RawEnums, RawValue};
use crate::parse::providers::ProviderKind;
use crate::parse::types::TypeBody;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Declaration of an enumerant, with the extension number to which its offset is added.
#[derive(Clone, Copy)]
struct Declaration<'a> {
    entry: &'a RawEnumerant<'a>,
    number: Option<u32>,
}

/// Declarations of an enumeration, by enumerant. Several providers can declare the same enumerant.
type Declarations<'a> = BTreeMap<&'a str, Vec<Declaration<'a>>>;

pub(super) fn build(
    raw: &Raw<'_>,
    scope: &Scope<'_>,
    table: &TypeTable<'_>,
    bitmasks: &BTreeMap<String, Bitmask>,
    report: &mut Reporter<'_>,
) -> BTreeMap<String, Enum> {
    let blocks = blocks(raw, table, report);
    let mut declarations = collect(scope, table, &blocks, report);
    let flag_bits: HashSet<&str> = bitmasks.values().filter_map(|mask| mask.bits_enum.as_deref()).collect();
    let mut found = BTreeMap::new();
    for ty in table.kept().filter(|ty| matches!(ty.body, TypeBody::Enum)) {
        let block = blocks.get(ty.name);
        let entries = declarations.remove(ty.name).unwrap_or_default();
        let item = Enum {
            name: ty.name.to_owned(),
            bits: block.map_or(32, |block| block.bits),
            // An enumeration without an `<enums>` block has flag bits if a flags type refers to it.
            bitmask: block.map_or(flag_bits.contains(ty.name), |block| block.kind == EnumsKind::Bits),
            enumerants: enumerants(&entries, report),
        };
        found.insert(ty.name.to_owned(), item);
    }
    found
}

fn blocks<'a>(
    raw: &'a Raw<'a>,
    table: &TypeTable<'_>,
    report: &mut Reporter<'_>,
) -> BTreeMap<&'a str, &'a RawEnums<'a>> {
    let blocks = raw.enums.iter().filter(|block| block.kind != EnumsKind::Constants);
    let blocks = super::scope::unique(blocks.map(|block| (block.name, block.at, block)), report);
    for (name, block) in &blocks {
        if !table.end(name).is_some_and(|ty| matches!(ty.body, TypeBody::Enum)) {
            report.report(
                block.at,
                Code::UnresolvedType,
                format!("values of `{name}`, which is no enumeration"),
            );
        }
    }
    blocks
}

/// Sorts all declarations that pass the API filter by enumeration.
fn collect<'a>(
    scope: &Scope<'a>,
    table: &TypeTable<'a>,
    blocks: &BTreeMap<&'a str, &'a RawEnums<'a>>,
    report: &mut Reporter<'_>,
) -> HashMap<&'a str, Declarations<'a>> {
    let mut found: HashMap<&str, Declarations<'_>> = HashMap::new();
    let mut add = |name, entry: &'a RawEnumerant<'a>, number| {
        if entry.apis.admits_loader() && !scope.removed_enumerants.contains(entry.name) {
            let declarations = found.entry(name).or_default();
            declarations
                .entry(entry.name)
                .or_default()
                .push(Declaration { entry, number });
        }
    };
    for (name, block) in blocks {
        once_each(block.entries.iter(), report);
        block.entries.iter().for_each(|entry| add(*name, entry, None));
    }
    for (provider, require) in scope.requires() {
        let number = match &provider.kind {
            ProviderKind::Feature(_) => None,
            ProviderKind::Extension(extension) => Some(extension.number),
        };
        once_each(require.enums.iter().filter(|entry| entry.extends.is_some()), report);
        for entry in &require.enums {
            let Some(extended) = entry.extends else { continue };
            match table
                .end(extended)
                .filter(|ty| table.get(ty.name).is_some() && matches!(ty.body, TypeBody::Enum))
            {
                Some(ty) => add(ty.name, entry, number),
                None => {
                    let text = format!("`{}` extends `{extended}`, which is no enumeration", entry.name);
                    report.report(entry.at, Code::UnresolvedType, text);
                }
            }
        }
    }
    in_one_enumeration(&found, report);
    found
}

/// Reports enumerants that an `<enums>` block declares twice. Outside of such blocks, several providers may declare the same enumerant in
/// the same way.
fn once_each<'r, 'a: 'r>(entries: impl Iterator<Item = &'r RawEnumerant<'a>>, report: &mut Reporter<'_>) {
    let declared = entries.filter(|entry| entry.apis.admits_loader());
    super::scope::unique(declared.map(|entry| (entry.name, entry.at, ())), report);
}

/// Reports enumerants that two enumerations share, because C identifies an enumerant by its name alone.
fn in_one_enumeration<'a>(found: &HashMap<&'a str, Declarations<'a>>, report: &mut Reporter<'_>) {
    let first = |declarations: &[Declaration<'a>]| declarations.first().map(|it| it.entry.at);
    let mut all: Vec<(usize, &str)> = found
        .values()
        .flatten()
        .filter_map(|(name, declarations)| Some((first(declarations)?, *name)))
        .collect();
    all.sort_unstable();
    super::scope::unique(all.into_iter().map(|(at, name)| (name, at, ())), report);
}

/// Computes all values of an enumeration, sorted by name.
fn enumerants(entries: &Declarations<'_>, report: &mut Reporter<'_>) -> Vec<Enumerant> {
    let mut found = Vec::new();
    for (name, declarations) in entries {
        let resolved: Vec<_> = declarations
            .iter()
            .filter_map(|declaration| resolve(name, declaration, entries, report))
            .collect();
        let Some(first) = resolved
            .iter()
            .min_by(|a, b| (&a.alias, a.value).cmp(&(&b.alias, b.value)))
        else {
            continue;
        };
        for (other, declaration) in resolved.iter().zip(declarations) {
            if other.value != first.value {
                let text = format!("`{name}` is {} here and {} elsewhere", other.value, first.value);
                report.report(declaration.entry.at, Code::EnumerantConflict, text);
            }
        }
        found.push(first.clone());
    }
    found
}

fn resolve(
    name: &str,
    declaration: &Declaration<'_>,
    entries: &Declarations<'_>,
    report: &mut Reporter<'_>,
) -> Option<Enumerant> {
    let at = declaration.entry.at;
    let name = name.to_owned();
    let RawValue::Alias(target) = declaration.entry.value else {
        return match direct_value(declaration) {
            Some(value) => Some(Enumerant {
                name,
                value,
                alias: None,
            }),
            None => {
                report.report(
                    at,
                    Code::EnumerantConflict,
                    format!("the value of `{name}` cannot be computed"),
                );
                None
            }
        };
    };
    let step = |name| {
        let declaration = entries.get(name)?.first()?;
        Some(match declaration.entry.value {
            RawValue::Alias(target) => Step::Alias(target),
            _ => Step::End,
        })
    };
    match follow(target, entries.len(), step) {
        Ok(end) => {
            let value = direct_value(entries.get(end)?.first()?)?;
            Some(Enumerant {
                name,
                value,
                alias: Some(end.to_owned()),
            })
        }
        Err(dead) => {
            report.report(at, dead.code(), dead.text(&name));
            None
        }
    }
}

fn direct_value(declaration: &Declaration<'_>) -> Option<i128> {
    match declaration.entry.value {
        RawValue::Literal(text) => literal(text),
        RawValue::BitPosition(position) => Some(1_i128 << position),
        RawValue::Offset {
            offset,
            number,
            negative,
        } => {
            let number = i128::from(number.or(declaration.number)?);
            let value = 1_000_000_000 + (number - 1) * 1000 + i128::from(offset);
            Some(if negative { -value } else { value })
        }
        RawValue::Alias(_) | RawValue::Reference => None,
    }
}

fn literal(text: &str) -> Option<i128> {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
    let value = match digits.strip_prefix("0x") {
        Some(digits) => i128::from(u64::from_str_radix(digits, 16).ok()?),
        None => i128::from(digits.parse::<u64>().ok()?),
    };
    Some(if negative { -value } else { value })
}
