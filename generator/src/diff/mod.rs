//! What differs between two registries, as far as the loader is concerned (GEN-90 to GEN-92).
//!
//! Each chapter compares one kind of fact and gives sections that are present even when empty; the renderers print
//! the finished [`Report`] and know nothing of registries.

mod commands;
mod counts;
mod enums;
mod exports;
mod extensions;
mod files;
mod handles;
mod html;
mod input;
mod json;
mod markdown;
mod notes;
mod report;
mod special;
mod text;
mod types;

pub use html::html;
pub use input::side;
pub use json::json;
pub use markdown::markdown;
pub use report::{Change, Count, Entry, Report, Section, Severity};
pub use text::text;

use crate::plan::{Plan, Problem};
use crate::policy::Policy;
use std::collections::BTreeMap;
use vk_registry::Diagnostic;
use vk_registry::model::Registry;

/// One of the two registries.
pub struct Side {
    /// Its facts.
    pub registry: Registry,
    /// Constructs in it that no rule judges yet (GEN-80).
    pub unknown: Vec<Diagnostic>,
}

/// A registry with what follows from it under today's policy.
struct View<'a> {
    registry: &'a Registry,
    policy: &'a Policy,
    plan: Plan<'a>,
    problems: Vec<Problem>,
    unknown: &'a [Diagnostic],
}

impl<'a> View<'a> {
    fn new(side: &'a Side, policy: &'a Policy) -> Self {
        let (plan, problems) = Plan::draft(&side.registry, policy);
        Self {
            registry: &side.registry,
            policy,
            plan,
            problems,
            unknown: &side.unknown,
        }
    }
}

/// Compares two registries under one policy.
pub fn compare(old: &Side, new: &Side, policy: &Policy) -> Report {
    let (old_view, new_view) = (View::new(old, policy), View::new(new, policy));
    let chapters = [
        commands::sections,
        extensions::sections,
        handles::sections,
        types::sections,
        enums::sections,
        special::sections,
        exports::sections,
        files::sections,
    ];
    let sections = chapters.iter().flat_map(|chapter| chapter(&old_view, &new_view));
    Report {
        old: old.registry.header.to_string(),
        new: new.registry.header.to_string(),
        sections: sections.collect(),
        counts: counts::counts(&old_view, &new_view),
    }
}

/// Two maps side by side: what only the new one has, what only the old one has, and what both have.
struct Sides<'a, T> {
    added: Vec<(&'a str, &'a T)>,
    removed: Vec<(&'a str, &'a T)>,
    both: Vec<(&'a str, &'a T, &'a T)>,
}

impl<'a, T> Sides<'a, T> {
    fn new(old: &'a BTreeMap<String, T>, new: &'a BTreeMap<String, T>) -> Self {
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

/// `none`, or the value.
fn or_none<T: ToString>(value: Option<&T>) -> String {
    value.map_or_else(|| "none".to_owned(), ToString::to_string)
}
