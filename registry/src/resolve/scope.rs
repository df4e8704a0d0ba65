//! Implements the API filter. The filter selects the providers of the loader's API, and the names that they make available (GEN-20 to
//! GEN-24).

use crate::diagnostic::{Code, Reporter};
use crate::parse::Raw;
use crate::parse::providers::{Named, ProviderKind, RawProvider, RawRequire};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Names that providers require. All names have the same kind.
#[derive(Default)]
pub(super) struct Wanted<'a> {
    here: HashSet<&'a str>,
    /// Names that only disabled extensions or providers of another API require. The value is the provider whose name comes first in
    /// alphabetical order.
    elsewhere: HashMap<&'a str, &'a str>,
}

impl<'a> Wanted<'a> {
    fn add(&mut self, names: &[Named<'a>], provider: &RawProvider<'a>, counts: bool) {
        for named in names {
            if counts {
                self.here.insert(named.name);
            } else {
                self.not_here(named.name, provider.name);
            }
        }
    }

    fn remove(&mut self, name: &'a str, provider: &'a str) -> bool {
        self.not_here(name, provider);
        self.here.remove(name)
    }

    /// Records the provider of a name that is not available. If there are several providers, the function stores the provider whose
    /// name comes first in alphabetical order, so the order in the file does not matter.
    fn not_here(&mut self, name: &'a str, provider: &'a str) {
        let first = self.elsewhere.entry(name).or_insert(provider);
        *first = (*first).min(provider);
    }

    /// Returns `true` if a provider in scope requires the name.
    pub(super) fn is_required(&self, name: &str) -> bool {
        self.here.contains(name)
    }

    /// Returns `true` if a provider in scope requires the name, or if providers never list it, for example `uint32_t`.
    pub(super) fn keeps(&self, name: &str) -> bool {
        self.here.contains(name) || !self.elsewhere.contains_key(name)
    }

    /// Returns the recorded provider of a name that is not available.
    pub(super) fn elsewhere(&self, name: &str) -> Option<&'a str> {
        self.elsewhere.get(name).copied()
    }
}

/// Providers that pass the API filter, and the names that they require.
pub(super) struct Scope<'a> {
    providers: Vec<&'a RawProvider<'a>>,
    pub(super) commands: Wanted<'a>,
    pub(super) types: Wanted<'a>,
    /// Enumerants that a provider in scope removes.
    pub(super) removed_enumerants: HashSet<&'a str>,
}

impl<'a> Scope<'a> {
    pub(super) fn new(raw: &'a Raw<'a>, report: &mut Reporter<'_>) -> Self {
        let mut scope = Self {
            providers: raw
                .providers
                .iter()
                .filter(|provider| provider.apis.admits_loader())
                .collect(),
            commands: Wanted::default(),
            types: Wanted::default(),
            removed_enumerants: HashSet::new(),
        };
        duplicates(raw, report);
        for provider in &raw.providers {
            for require in &provider.requires {
                let counts = provider.apis.admits_loader() && require.apis.admits_loader();
                scope.commands.add(&require.commands, provider, counts);
                scope.types.add(&require.types, provider, counts);
            }
        }
        scope.apply_removes(report);
        scope
    }

    /// Applies the `<remove>` elements of providers that pass the filter (GEN-24).
    fn apply_removes(&mut self, report: &mut Reporter<'_>) {
        for provider in &self.providers {
            for removed in &provider.removed_commands {
                if !self.commands.remove(removed.name, provider.name) {
                    let text = format!("`{}` removes `{}`, which nothing required", provider.name, removed.name);
                    report.report(removed.at, Code::RemoveUnrequired, text);
                }
            }
            for removed in &provider.removes {
                if self.types.is_required(removed.name) {
                    self.types.remove(removed.name, provider.name);
                }
                self.removed_enumerants.insert(removed.name);
            }
        }
    }

    pub(super) fn providers(&self) -> impl Iterator<Item = &'a RawProvider<'a>> + '_ {
        self.providers.iter().copied()
    }

    /// Iterates over the `<require>` elements that pass the filter, each with its provider.
    pub(super) fn requires(&self) -> impl Iterator<Item = (&'a RawProvider<'a>, &'a RawRequire<'a>)> + '_ {
        self.providers().flat_map(|provider| {
            let blocks = provider.requires.iter().filter(|require| require.apis.admits_loader());
            blocks.map(move |require| (provider, require))
        })
    }

    /// Returns the highest version of the features in scope.
    pub(super) fn highest_version(&self) -> Option<crate::model::Version> {
        self.providers()
            .filter_map(|provider| match provider.kind {
                ProviderKind::Feature(number) => Some(number),
                ProviderKind::Extension(_) => None,
            })
            .max()
    }
}

fn duplicates(raw: &Raw<'_>, report: &mut Reporter<'_>) {
    unique(
        raw.providers.iter().map(|provider| (provider.name, provider.at, ())),
        report,
    );
}

/// Collects definitions by name. Reports a second definition of a name, with the lines of both (GEN-22).
pub(super) fn unique<'a, T>(
    definitions: impl Iterator<Item = (&'a str, usize, T)>,
    report: &mut Reporter<'_>,
) -> BTreeMap<&'a str, T> {
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut found = BTreeMap::new();
    for (name, at, definition) in definitions {
        if let Some(first) = places.insert(name, at) {
            let text = format!("`{name}` is defined here and in {}", report.other_place(at, first));
            report.report(at, Code::DuplicateDefinition, text);
        }
        found.insert(name, definition);
    }
    found
}
