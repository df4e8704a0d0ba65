//! Resolves extensions.

use super::scope::Scope;
use crate::diagnostic::{Code, Reporter};
use crate::model::{Extension, ExtensionKind, Platform};
use crate::parse::Raw;
use crate::parse::attributes::{DISABLED, tokens};
use crate::parse::enums::RawValue;
use crate::parse::providers::{ProviderKind, RawExtension, RawProvider};
use std::collections::{BTreeMap, BTreeSet};

/// Returns names of extensions that exist but provide nothing. A later registry may enable these extensions (GEN-23).
pub(super) fn reserved(raw: &Raw<'_>) -> BTreeSet<String> {
    let disabled = |provider: &&RawProvider<'_>| {
        provider
            .apis
            .text()
            .is_some_and(|list| tokens(list).any(|token| token == DISABLED))
    };
    raw.providers
        .iter()
        .filter(disabled)
        .map(|provider| provider.name.to_owned())
        .collect()
}

pub(super) fn build(
    scope: &Scope<'_>,
    platforms: &BTreeMap<String, Platform>,
    report: &mut Reporter<'_>,
) -> BTreeMap<String, Extension> {
    let mut found = BTreeMap::new();
    let mut numbers: BTreeMap<u32, &RawProvider<'_>> = BTreeMap::new();
    for provider in scope.providers() {
        let ProviderKind::Extension(raw) = &provider.kind else {
            continue;
        };
        if let Some(first) = numbers.insert(raw.number, provider) {
            let place = report.other_place(provider.at, first.at);
            let text = format!("`{}` has the number of `{}` in {place}", provider.name, first.name);
            report.report(provider.at, Code::ExtensionNumber, text);
        }
        if let Some(word) = raw.platform.filter(|word| !platforms.contains_key(*word)) {
            let text = format!("`{}` needs the platform `{word}`, which is not listed", provider.name);
            report.report(provider.at, Code::UnknownPlatform, text);
        }
        if let Some(extension) = extension(provider, raw, report) {
            found.insert(extension.name.clone(), extension);
        }
    }
    found
}

fn extension(provider: &RawProvider<'_>, raw: &RawExtension<'_>, report: &mut Reporter<'_>) -> Option<Extension> {
    let kind = match raw.kind {
        Some("instance") => Some(ExtensionKind::Instance),
        Some("device") => Some(ExtensionKind::Device),
        other => {
            let text = format!("`{}` is of type `{}`", provider.name, other.unwrap_or_default());
            report.report(provider.at, Code::UnknownExtensionType, text);
            None
        }
    };
    let spec_version = constants(provider, report);
    let owned = |text: Option<&str>| text.map(str::to_owned);
    Some(Extension {
        name: provider.name.to_owned(),
        number: raw.number,
        kind: kind?,
        platform: owned(raw.platform),
        provisional: raw.provisional,
        promoted_to: owned(raw.promoted_to),
        deprecated_by: owned(raw.deprecated_by),
        obsoleted_by: owned(raw.obsoleted_by),
        depends: owned(provider.depends),
        spec_version: spec_version?,
    })
}

/// Reads the version of an extension, and checks that its name constant has the extension's name.
fn constants(provider: &RawProvider<'_>, report: &mut Reporter<'_>) -> Option<u32> {
    let mut versions = Vec::new();
    let mut names = Vec::new();
    let blocks = provider.requires.iter().filter(|require| require.apis.admits_loader());
    for entry in blocks
        .flat_map(|require| &require.enums)
        .filter(|entry| entry.apis.admits_loader())
    {
        match (entry.extends, entry.value) {
            (None, RawValue::Literal(value)) if entry.name.ends_with("_SPEC_VERSION") => versions.push(value),
            (None, RawValue::Literal(value)) if entry.name.ends_with("_EXTENSION_NAME") => names.push(value),
            (None, RawValue::Literal(_)) => {
                let text = format!("`{}` is neither version nor name of `{}`", entry.name, provider.name);
                report.report(entry.at, Code::ExtensionConstants, text);
            }
            _ => {}
        }
    }
    let version = match versions[..] {
        [version] => version.parse().ok(),
        _ => None,
    };
    let is_named = matches!(names[..], [name] if name.trim_matches('"') == provider.name);
    if version.is_none() || !is_named {
        let text = format!("`{}` needs one version constant and one with its name", provider.name);
        report.report(provider.at, Code::ExtensionConstants, text);
    }
    version
}
