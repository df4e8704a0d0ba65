//! Builds the table of types after the API filter, and resolves the simpler kinds of types.

use super::aliases::{Step, follow};
use super::scope::{Scope, unique};
use crate::diagnostic::{Code, Reporter};
use crate::model::{BaseType, Bitmask, FunctionPointer, PlatformType};
use crate::parse::Raw;
use crate::parse::types::{RawType, TypeBody};
use std::collections::{BTreeMap, BTreeSet};

/// Name of the pseudo-header for types that C itself defines.
const C_TYPES: &str = "vk_platform";

/// Types by name. Each name has one definition.
pub(super) struct TypeTable<'a> {
    /// Types that pass the API filter.
    all: BTreeMap<&'a str, &'a RawType<'a>>,
    /// Names of available types, including aliases.
    kept: BTreeSet<&'a str>,
}

impl<'a> TypeTable<'a> {
    pub(super) fn new(raw: &'a Raw<'a>, scope: &Scope<'a>, report: &mut Reporter<'_>) -> Self {
        let admitted = raw.types.iter().filter(|raw| raw.apis.admits_loader());
        let all = unique(admitted.map(|raw| (raw.name, raw.at, raw)), report);
        let kept = all.keys().copied().filter(|name| scope.types.keeps(name)).collect();
        let table = Self { all, kept };
        table.check_required(scope, report);
        table.check_aliases(report);
        table
    }

    fn check_required(&self, scope: &Scope<'a>, report: &mut Reporter<'_>) {
        for (provider, require) in scope.requires() {
            for named in &require.types {
                if !self.all.contains_key(named.name) {
                    let text = format!(
                        "`{}` requires the type `{}`, which is not defined",
                        provider.name, named.name
                    );
                    report.report(named.at, Code::RequiredUndefined, text);
                }
            }
        }
        for raw in self.kept() {
            let must_be_required = matches!(raw.body, TypeBody::Handle { .. } | TypeBody::Struct { .. });
            if must_be_required && !scope.types.is_required(raw.name) {
                report.report(
                    raw.at,
                    Code::NeverRequired,
                    format!("no provider requires `{}`", raw.name),
                );
            }
        }
    }

    fn check_aliases(&self, report: &mut Reporter<'_>) {
        for raw in self.kept().filter(|raw| matches!(raw.body, TypeBody::Alias(_))) {
            match follow(raw.name, self.all.len(), |name| self.step(name)) {
                Ok(end) if self.all.get(end).is_some_and(|target| target.category == raw.category) => {}
                Ok(end) => {
                    let text = format!("`{}` is an alias of `{end}`, which is of another category", raw.name);
                    report.report(raw.at, Code::AliasTarget, text);
                }
                Err(dead) => report.report(raw.at, dead.code(), dead.text(raw.name)),
            }
        }
    }

    fn step(&self, name: &str) -> Option<Step<'a>> {
        self.all.get(name).map(|raw| match raw.body {
            TypeBody::Alias(target) => Step::Alias(target),
            _ => Step::End,
        })
    }

    /// Iterates over the available types, sorted by name.
    pub(super) fn kept(&self) -> impl Iterator<Item = &'a RawType<'a>> + '_ {
        self.kept.iter().filter_map(|name| self.all.get(name).copied())
    }

    /// Returns an available type by name.
    pub(super) fn get(&self, name: &str) -> Option<&'a RawType<'a>> {
        self.all.get(name).copied().filter(|_| self.kept.contains(name))
    }

    /// Follows the aliases of a name. Returns the last type, even if this type is not available.
    pub(super) fn end(&self, name: &str) -> Option<&'a RawType<'a>> {
        let start = self.all.get(name)?.name;
        let end = follow(start, self.all.len(), |name| self.step(name)).ok()?;
        self.all.get(end).copied()
    }

    /// Returns `true` if C itself defines the type.
    pub(super) fn is_c_type(&self, name: &str) -> bool {
        matches!(
            self.all.get(name).map(|raw| &raw.body),
            Some(TypeBody::External(C_TYPES))
        )
    }
}

pub(super) fn base_types(table: &TypeTable<'_>) -> BTreeMap<String, BaseType> {
    let mut found = BTreeMap::new();
    for raw in table.kept() {
        if let TypeBody::Base(ty) = &raw.body {
            let target = ty.as_ref().map(ToString::to_string);
            found.insert(
                raw.name.to_owned(),
                BaseType {
                    name: raw.name.to_owned(),
                    target,
                },
            );
        }
    }
    found
}

pub(super) fn function_pointers(table: &TypeTable<'_>) -> BTreeMap<String, FunctionPointer> {
    let mut found = BTreeMap::new();
    for raw in table.kept() {
        if let TypeBody::FunctionPointer { params, return_type } = &raw.body {
            let (name, params, return_type) = (raw.name.to_owned(), params.clone(), return_type.clone());
            found.insert(
                raw.name.to_owned(),
                FunctionPointer {
                    name,
                    params,
                    return_type,
                },
            );
        }
    }
    found
}

/// Returns the types of platform headers. The registry must list the header of each type.
pub(super) fn platform_types(table: &TypeTable<'_>, report: &mut Reporter<'_>) -> BTreeMap<String, PlatformType> {
    let mut found = BTreeMap::new();
    for raw in table.kept() {
        let TypeBody::External(header) = raw.body else { continue };
        if !matches!(table.get(header).map(|home| &home.body), Some(TypeBody::Include)) {
            let text = format!("`{}` comes from `{header}`, which is no listed header", raw.name);
            report.report(raw.at, Code::UnresolvedType, text);
        }
        if header != C_TYPES {
            let ty = PlatformType {
                name: raw.name.to_owned(),
                header: header.to_owned(),
            };
            found.insert(raw.name.to_owned(), ty);
        }
    }
    found
}

/// Returns the final target of each valid alias.
pub(super) fn aliases(table: &TypeTable<'_>) -> BTreeMap<String, String> {
    let aliases = table.kept().filter(|raw| matches!(raw.body, TypeBody::Alias(_)));
    aliases
        .filter_map(|raw| Some((raw.name.to_owned(), table.end(raw.name)?.name.to_owned())))
        .collect()
}

/// Returns the flags types. The width of a flags type is the width of the type in its typedef. The name of the flags type does not matter
/// (GEN-41).
pub(super) fn bitmasks(table: &TypeTable<'_>, report: &mut Reporter<'_>) -> BTreeMap<String, Bitmask> {
    let mut found = BTreeMap::new();
    for raw in table.kept() {
        let TypeBody::Bitmask { flags, bits_enum } = &raw.body else {
            continue;
        };
        let Some(bits) = flags_width(table, &flags.base).filter(|_| flags.pointers.is_empty()) else {
            let text = format!("`{}` is made of `{flags}`, whose width is unknown", raw.name);
            report.report(raw.at, Code::UnresolvedType, text);
            continue;
        };
        if let Some(bits_enum) = bits_enum.filter(|name| table.get(name).is_none()) {
            let text = format!(
                "the flag bits of `{}` are `{bits_enum}`, which is not available",
                raw.name
            );
            report.report(raw.at, Code::UnresolvedType, text);
        }
        let bits_enum = bits_enum
            .and_then(|name| table.end(name))
            .map(|raw| raw.name.to_owned());
        found.insert(
            raw.name.to_owned(),
            Bitmask {
                name: raw.name.to_owned(),
                bits,
                bits_enum,
            },
        );
    }
    found
}

fn flags_width(table: &TypeTable<'_>, name: &str) -> Option<u32> {
    let TypeBody::Base(Some(ty)) = &table.get(name)?.body else {
        return None;
    };
    match (ty.base.as_str(), ty.pointers.len()) {
        ("uint32_t", 0) => Some(32),
        ("uint64_t", 0) => Some(64),
        _ => None,
    }
}
