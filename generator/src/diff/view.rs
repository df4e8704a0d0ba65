//! Contains the two compared registries, and the facts that result from them.

use crate::emit;
use crate::plan::{Plan, Problem};
use crate::policy::Policy;
use std::collections::BTreeMap;
use std::sync::OnceLock;
use vk_registry::Diagnostic;
use vk_registry::model::Registry;

/// Registry on one side of the comparison, old or new.
pub struct Side {
    /// Facts of the registry.
    pub registry: Registry,
    /// Constructs in the registry that no rule covers yet (GEN-80).
    pub unknown: Vec<Diagnostic>,
}

/// Registry, and the facts that result from it under the present policy.
pub struct View<'a> {
    pub(super) registry: &'a Registry,
    pub(super) policy: &'a Policy,
    pub(super) plan: Plan<'a>,
    pub(super) problems: Vec<Problem>,
    pub(super) unknown: &'a [Diagnostic],
    emitted: OnceLock<BTreeMap<String, String>>,
}

impl<'a> View<'a> {
    /// Derives the facts of a side.
    pub fn new(side: &'a Side, policy: &'a Policy) -> Self {
        let (plan, problems) = Plan::draft(&side.registry, policy);
        Self {
            registry: &side.registry,
            policy,
            plan,
            problems,
            unknown: &side.unknown,
            emitted: OnceLock::new(),
        }
    }

    /// Returns the emitted files by path. The manifest is not included, because its checksums follow from the other
    /// files.
    pub fn emitted(&self) -> &BTreeMap<String, String> {
        self.emitted.get_or_init(|| {
            let files = emit::all(&self.plan).into_iter();
            files.map(|file| (file.path, file.text)).collect()
        })
    }
}

/// Comparison of two maps: elements that only the new map contains, elements that only the old map contains, and
/// elements of both maps.
pub(super) struct Sides<'a, T> {
    pub(super) added: Vec<(&'a str, &'a T)>,
    pub(super) removed: Vec<(&'a str, &'a T)>,
    pub(super) both: Vec<(&'a str, &'a T, &'a T)>,
}

impl<'a, T> Sides<'a, T> {
    pub(super) fn new(old: &'a BTreeMap<String, T>, new: &'a BTreeMap<String, T>) -> Self {
        let missing_in = |other: &'a BTreeMap<String, T>| {
            move |(name, item): (&'a String, &'a T)| (!other.contains_key(name)).then_some((name.as_str(), item))
        };
        Self {
            added: new.iter().filter_map(missing_in(old)).collect(),
            removed: old.iter().filter_map(missing_in(new)).collect(),
            both: old
                .iter()
                .filter_map(|(name, item)| Some((name.as_str(), item, new.get(name)?)))
                .collect(),
        }
    }
}

/// Returns the value as text, or `none`.
pub(super) fn or_none<T: ToString>(value: Option<&T>) -> String {
    value.map_or_else(|| "none".to_owned(), ToString::to_string)
}
