//! Converts raw records to the model, with one pass for each file.
//!
//! Each pass uses the records and the results of earlier passes. A pass reports mistakes and continues, so that a run shows all mistakes
//! (GEN-3).

mod aliases;
mod commands;
mod conservation;
mod constants;
mod dependencies;
mod enums;
mod extensions;
mod handles;
mod header;
mod platforms;
mod scope;
mod structs;
mod successors;
mod type_use;
mod types;

use crate::diagnostic::Reporter;
use crate::model::{Registry, Version};
use crate::parse::Raw;
use crate::parse::providers::ProviderKind;
use scope::Scope;
use std::collections::BTreeSet;
use types::TypeTable;

/// Resolves the records of one registry. Returns `None` only after it has reported an error.
pub(crate) fn resolve(raw: &Raw<'_>, report: &mut Reporter<'_>) -> Option<Registry> {
    let scope = Scope::new(raw, report);
    let table = TypeTable::new(raw, &scope, report);
    dependencies::check(raw, &table, report);
    successors::check(raw, report);
    let header = header::read(&table, &scope, report);
    let platforms = platforms::build(raw, report);
    let constants = constants::build(raw, &scope, report);
    let bitmasks = types::bitmasks(&table, report);
    let enums = enums::build(raw, &scope, &table, &bitmasks, report);
    let handles = handles::build(&table, &enums, report);
    let commands = commands::build(raw, &scope, &table, &handles, report);
    conservation::exports(raw, &commands, report);
    let registry = Registry {
        header: header?,
        unlisted_commands: conservation::unlisted(raw, &scope, &commands, report),
        extensions: extensions::build(&scope, &platforms, report),
        reserved_extensions: extensions::reserved(raw),
        core_versions: core_versions(&scope),
        structs: structs::build(&table, report),
        base_types: types::base_types(&table),
        function_pointers: types::function_pointers(&table),
        platform_types: types::platform_types(&table, report),
        type_aliases: types::aliases(&table),
        commands,
        handles,
        platforms,
        enums,
        bitmasks,
        constants,
    };
    type_use::check(&registry, &table, raw, report);
    (!report.is_broken()).then_some(registry)
}

/// Returns the core versions, from the attribute `number`. The names of features have no meaning, because internal features have other
/// names (GEN-26).
fn core_versions(scope: &Scope<'_>) -> BTreeSet<Version> {
    scope
        .requires()
        .filter(|(_, require)| !require.commands.is_empty())
        .filter_map(|(provider, _)| match provider.kind {
            ProviderKind::Feature(number) => Some(number),
            ProviderKind::Extension(_) => None,
        })
        .collect()
}
