//! Which structures lead to something, through members and through the structures that may extend them (GEN-71).

use std::collections::{BTreeMap, BTreeSet};
use vk_registry::model::{Member, Registry, Struct};

/// Structures that reach a wanted member.
pub(super) struct Reach<'a> {
    structs: BTreeSet<&'a str>,
}

impl<'a> Reach<'a> {
    /// Collects the structures with a member that `wanted` accepts, those that contain or point to one of them, and
    /// those that one of them may extend.
    pub(super) fn new(registry: &'a Registry, wanted: impl Fn(&Member) -> bool) -> Self {
        let mut leads_to: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for structure in registry.structs.values() {
            for member in &structure.members {
                leads_to
                    .entry(resolve(registry, &member.ty.base))
                    .or_default()
                    .push(&structure.name);
            }
            for extended in &structure.extends {
                leads_to
                    .entry(&structure.name)
                    .or_default()
                    .push(resolve(registry, extended));
            }
        }
        let has_wanted = |structure: &&Struct| structure.members.iter().any(&wanted);
        let mut pending: Vec<&str> = registry
            .structs
            .values()
            .filter(has_wanted)
            .map(|structure| structure.name.as_str())
            .collect();
        let mut structs = BTreeSet::new();
        while let Some(name) = pending.pop() {
            if structs.insert(name) {
                pending.extend(leads_to.get(name).into_iter().flatten());
            }
        }
        Self { structs }
    }

    /// Whether the named type is one of them.
    pub(super) fn contains(&self, registry: &'a Registry, name: &'a str) -> bool {
        self.structs.contains(resolve(registry, name))
    }
}

/// The final target of a type's name.
pub(super) fn resolve<'a>(registry: &'a Registry, name: &'a str) -> &'a str {
    registry.type_aliases.get(name).map_or(name, String::as_str)
}
