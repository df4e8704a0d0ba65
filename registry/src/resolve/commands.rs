//! Resolves commands: their prototypes, levels and providers.

use super::aliases::{Step, follow};
use super::handles::level;
use super::scope::{Scope, unique};
use super::types::TypeTable;
use crate::diagnostic::{Code, Reporter};
use crate::model::{CType, Command, Deprecation, Handle, Level, Param, Provider, Version};
use crate::parse::Raw;
use crate::parse::commands::{CommandBody, RawCommand, RawParam};
use crate::parse::providers::ProviderKind;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Providers of a command.
#[derive(Default)]
struct Sources<'a> {
    at: usize,
    core: Option<Version>,
    /// Name, condition and platform of each extension.
    extensions: Vec<(&'a str, Option<&'a str>, Option<&'a str>)>,
}

/// Prototype of a command after the API filter.
struct Prototype<'a> {
    export: bool,
    return_type: &'a CType,
    params: Vec<&'a RawParam<'a>>,
}

pub(super) fn build(
    raw: &Raw<'_>,
    scope: &Scope<'_>,
    table: &TypeTable<'_>,
    handles: &BTreeMap<String, Handle>,
    report: &mut Reporter<'_>,
) -> BTreeMap<String, Command> {
    let definitions = definitions(raw, report);
    let step = |name| {
        definitions.get(name).map(|raw| match raw.body {
            CommandBody::Alias(target) => Step::Alias(target),
            CommandBody::Prototype { .. } => Step::End,
        })
    };
    let mut found = BTreeMap::new();
    let deprecations = deprecations(scope);
    for (name, sources) in sources(scope) {
        let Some(raw) = definitions.get(name) else {
            let text = format!("the command `{name}` is required here but not defined");
            report.report(sources.at, Code::RequiredUndefined, text);
            continue;
        };
        let end = match follow(name, definitions.len(), step) {
            Ok(end) => end,
            Err(dead) => {
                report.report(raw.at, dead.code(), dead.text(name));
                continue;
            }
        };
        let Some(target) = definitions.get(end) else { continue };
        let Some(prototype) = prototype(target, report) else {
            continue;
        };
        let Some((level, first_handle)) = dispatch(raw, &prototype, table, handles, report) else {
            continue;
        };
        let command = Command {
            name: name.to_owned(),
            level,
            first_handle,
            core: sources.core,
            platform: platform(raw, &sources, report),
            providers: providers(&sources),
            alias: (end != name).then(|| end.to_owned()),
            params: prototype.params.iter().map(|raw| raw.param.clone()).collect(),
            return_type: prototype.return_type.to_string(),
            // `prototype` is the definition at the end of the alias chain. An alias is never exported, because an alias element has no
            // `export` attribute.
            export: prototype.export && end == name,
            deprecations: deprecations.get(name).into_iter().flatten().cloned().collect(),
        };
        found.insert(name.to_owned(), command);
    }
    found
}

/// Returns the definitions that pass the API filter, including aliases, with one definition per name.
pub(super) fn definitions<'a>(raw: &'a Raw<'a>, report: &mut Reporter<'_>) -> BTreeMap<&'a str, &'a RawCommand<'a>> {
    let admitted = raw.commands.iter().filter(|raw| match &raw.body {
        CommandBody::Alias(_) => true,
        CommandBody::Prototype { apis, .. } => apis.admits_loader(),
    });
    unique(admitted.map(|raw| (raw.name, raw.at, raw)), report)
}

/// Returns the core version and the extensions of each command that a provider in scope requires (GEN-26, GEN-30).
fn sources<'a>(scope: &Scope<'a>) -> BTreeMap<&'a str, Sources<'a>> {
    let mut found: BTreeMap<&str, Sources<'_>> = BTreeMap::new();
    for (provider, require) in scope.requires() {
        for named in require
            .commands
            .iter()
            .filter(|named| scope.commands.is_required(named.name))
        {
            let sources = found.entry(named.name).or_default();
            sources.at = named.at;
            match &provider.kind {
                ProviderKind::Feature(number) => {
                    sources.core = Some(sources.core.map_or(*number, |other| other.min(*number)));
                }
                ProviderKind::Extension(extension) => {
                    sources
                        .extensions
                        .push((provider.name, require.depends, extension.platform));
                }
            }
        }
    }
    found
}

/// Returns the providers that deprecate each command (GEN-25). The number of a feature identifies it, because the names of internal
/// features have no meaning (GEN-26).
fn deprecations<'a>(scope: &Scope<'a>) -> BTreeMap<&'a str, BTreeSet<Deprecation>> {
    let mut found: BTreeMap<&str, BTreeSet<Deprecation>> = BTreeMap::new();
    for provider in scope.providers() {
        let by = match &provider.kind {
            ProviderKind::Feature(number) => number.to_string(),
            ProviderKind::Extension(_) => provider.name.to_owned(),
        };
        for (name, superseded_by) in &provider.deprecated {
            found.entry(name).or_default().insert(Deprecation {
                by: by.clone(),
                superseded_by: superseded_by.map(str::to_owned),
            });
        }
    }
    found
}

fn providers(sources: &Sources<'_>) -> Vec<Provider> {
    let mut providers: Vec<_> = sources
        .extensions
        .iter()
        .map(|(name, depends, _)| Provider {
            extension: (*name).to_owned(),
            depends: depends.map(str::to_owned),
        })
        .collect();
    providers.sort();
    providers.dedup();
    providers
}

/// Returns the platform that all providers need. Returns `None` for core commands, or if a provider needs no platform (GEN-54).
fn platform(raw: &RawCommand<'_>, sources: &Sources<'_>, report: &mut Reporter<'_>) -> Option<String> {
    let words: HashSet<_> = sources.extensions.iter().map(|(_, _, platform)| *platform).collect();
    if sources.core.is_some() || words.contains(&None) {
        return None;
    }
    if words.len() > 1 {
        let text = format!("the providers of `{}` need different platforms", raw.name);
        report.report(raw.at, Code::PlatformConflict, text);
    }
    words.into_iter().flatten().min().map(str::to_owned)
}

fn prototype<'a>(raw: &'a RawCommand<'a>, report: &mut Reporter<'_>) -> Option<Prototype<'a>> {
    let CommandBody::Prototype {
        export,
        return_type,
        params,
        ..
    } = &raw.body
    else {
        return None;
    };
    let params: Vec<_> = params.iter().filter(|param| param.apis.admits_loader()).collect();
    let mut names: HashMap<&str, &Param> = HashMap::new();
    for param in &params {
        if names.insert(&param.param.name, &param.param).is_some() {
            let text = format!("`{}` has two parameters `{}`", raw.name, param.param.name);
            report.report(param.at, Code::DuplicateDefinition, text);
        }
    }
    Some(Prototype {
        export: *export,
        return_type,
        params,
    })
}

/// Returns the level of a command, and the handle type of its first parameter. The first parameter determines the level if it is a
/// dispatchable handle by value (GEN-50).
fn dispatch(
    raw: &RawCommand<'_>,
    prototype: &Prototype<'_>,
    table: &TypeTable<'_>,
    handles: &BTreeMap<String, Handle>,
    report: &mut Reporter<'_>,
) -> Option<(Level, Option<String>)> {
    let by_value = prototype
        .params
        .first()
        .map(|raw| &raw.param.ty)
        .filter(|ty| is_value(ty));
    let handle = by_value
        .and_then(|ty| table.end(&ty.base))
        .and_then(|ty| handles.get(ty.name));
    let Some(handle) = handle.filter(|handle| handle.dispatchable) else {
        return Some((Level::Global, None));
    };
    match level(handle, handles) {
        Some(level) => Some((level, Some(handle.name.clone()))),
        None => {
            let text = format!(
                "`{}` is dispatched on `{}`, which reaches no device",
                raw.name, handle.name
            );
            report.report(raw.at, Code::NoLevel, text);
            None
        }
    }
}

fn is_value(ty: &CType) -> bool {
    ty.pointers.is_empty() && ty.array.is_empty()
}
