//! Types from which a handle can be reached through members, chains and callbacks, and the steps to the handle (GEN-71).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use vk_registry::model::{CType, Member, Registry, Struct};

/// Maximum length of a chain of typedefs. A longer chain is a cycle.
const TYPEDEF_LIMIT: usize = 16;
/// Name of the member that points to the next structure of a chain.
const CHAIN: &str = "pNext";
/// Member name of a [`Step`] that leads from a function to the type of its return value.
const RETURNED: &str = "return";
/// Enumerations whose values state the object type of a raw handle in a sibling parameter or member.
const OBJECT_KINDS: [&str; 2] = ["VkObjectType", "VkDebugReportObjectTypeEXT"];

/// Step from a command or type to a type that it contains, points to, or may have in its chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Step<'a> {
    /// Name of the structure or function type, empty for a command.
    owner: &'a str,
    /// Name of the member or parameter.
    member: &'a str,
    /// Type that the step leads to, with aliases and typedefs resolved.
    pub(super) target: &'a str,
    /// `true` if the registry marks the value as a raw handle, or if a sibling states the object type.
    pub(super) is_raw: bool,
    /// `true` if the callee may write through the pointer. `None` for a value without a pointer, which is writable if its owner is
    /// writable.
    written: Option<bool>,
}

impl Step<'_> {
    /// Returns `true` if the callee may write to the target.
    pub(super) fn is_output(&self) -> bool {
        self.written == Some(true)
    }
}

impl fmt::Display for Step<'_> {
    /// Writes the step in the form of `reviewed` in the policy: `VkDeviceCreateInfo.pNext -> VkDeviceGroupDeviceCreateInfo`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.owner.is_empty() {
            write!(f, "{}.", self.owner)?;
        }
        write!(f, "{} -> {}", self.member, self.target)
    }
}

/// Returns a step of the policy with the present names of types in place of old names.
pub(super) fn renamed(registry: &Registry, step: &str) -> String {
    let Some((from, target)) = step.split_once(" -> ") else {
        return step.to_owned();
    };
    let target = resolve(registry, target);
    match from.split_once('.') {
        Some((owner, member)) => format!("{}.{member} -> {target}", resolve(registry, owner)),
        None => format!("{from} -> {target}"),
    }
}

/// Graph of all steps between types.
pub(super) struct Graph<'a> {
    registry: &'a Registry,
    typedefs: BTreeMap<&'a str, &'a str>,
    steps: BTreeMap<&'a str, Vec<Step<'a>>>,
}

impl<'a> Graph<'a> {
    pub(super) fn new(registry: &'a Registry) -> Self {
        let mut graph = Self {
            registry,
            typedefs: typedefs(registry),
            steps: BTreeMap::new(),
        };
        for structure in registry.structs.values() {
            let raw = RawHandles::new(structure.members.iter().map(|it| (&it.ty, it.object_type.is_some())));
            for member in &structure.members {
                let is_raw = raw.holds(&member.ty, member.object_type.is_some());
                graph.add(&structure.name, &member.name, &member.ty, is_raw);
            }
            graph.add_chain(structure);
        }
        for pointer in registry.function_pointers.values() {
            for (name, ty) in &pointer.params {
                graph.add(&pointer.name, name, ty, false);
            }
            graph.add(&pointer.name, RETURNED, &pointer.return_type, false);
        }
        graph
    }

    fn add(&mut self, owner: &'a str, member: &'a str, ty: &'a CType, is_raw: bool) {
        let step = self.step(owner, member, ty, is_raw);
        self.steps.entry(owner).or_default().push(step);
    }

    /// Adds the steps to `structure` from each structure that it extends.
    fn add_chain(&mut self, structure: &'a Struct) {
        for extended in &structure.extends {
            let owner = resolve(self.registry, extended);
            let is_chain = |member: &&Member| member.name == CHAIN;
            let members = self.registry.structs.get(owner).map_or(&[][..], |found| &found.members);
            let chain = members.iter().find(is_chain);
            let step = Step {
                owner,
                member: CHAIN,
                target: &structure.name,
                is_raw: false,
                written: Some(chain.is_some_and(|member| is_written(&member.ty))),
            };
            self.steps.entry(owner).or_default().push(step);
        }
    }

    /// Returns the step from a member or parameter to its type.
    pub(super) fn step(&self, owner: &'a str, member: &'a str, ty: &'a CType, is_raw: bool) -> Step<'a> {
        Step {
            owner,
            member,
            target: self.meaning(&ty.base),
            is_raw,
            written: (!ty.pointers.is_empty()).then(|| is_written(ty)),
        }
    }

    /// Returns the step from a command to its return type.
    pub(super) fn returned(&self, name: &str) -> Option<Step<'a>> {
        let ty: CType = name.parse().ok()?;
        let target = self.meaning(known(self.registry, &ty.base)?);
        Some(Step {
            owner: "",
            member: RETURNED,
            target,
            is_raw: false,
            written: Some(ty.pointers.first() != Some(&true)),
        })
    }

    /// Returns the type that a name denotes after all aliases and typedefs.
    pub(super) fn meaning(&self, name: &'a str) -> &'a str {
        let mut name = resolve(self.registry, name);
        for _ in 0..TYPEDEF_LIMIT {
            match self.typedefs.get(name) {
                Some(target) => name = resolve(self.registry, target),
                None => break,
            }
        }
        name
    }

    fn behind(&self, step: &Step<'a>) -> &[Step<'a>] {
        self.steps.get(step.target).map_or(&[], Vec::as_slice)
    }
}

/// Returns the base types that are typedefs of another type in the registry.
fn typedefs(registry: &Registry) -> BTreeMap<&str, &str> {
    let target = |text: &String| known(registry, &text.parse::<CType>().ok()?.base);
    let bases = registry.base_types.values();
    bases
        .filter_map(|base| Some((base.name.as_str(), target(base.target.as_ref()?)?)))
        .collect()
}

/// Returns a type name as the registry stores it, or `None` for an unknown type.
fn known<'a>(registry: &'a Registry, name: &str) -> Option<&'a str> {
    let keys = [
        registry.structs.get_key_value(name).map(|(key, _)| key),
        registry.handles.get_key_value(name).map(|(key, _)| key),
        registry.type_aliases.get_key_value(name).map(|(key, _)| key),
        registry.function_pointers.get_key_value(name).map(|(key, _)| key),
        registry.base_types.get_key_value(name).map(|(key, _)| key),
    ];
    keys.into_iter().flatten().next().map(String::as_str)
}

fn is_written(ty: &CType) -> bool {
    ty.pointers.first() == Some(&false)
}

/// Finds raw handles among the members of one structure or the parameters of one command.
pub(super) struct RawHandles {
    /// `true` if a sibling states the object type of a raw handle, but the registry marks no sibling as that handle.
    has_loose_kind: bool,
}

impl RawHandles {
    /// Examines all siblings. Each item contains the type of a sibling, and `true` if the registry marks the sibling as a handle.
    pub(super) fn new<'t>(mut siblings: impl Iterator<Item = (&'t CType, bool)> + Clone) -> Self {
        let is_kind = |ty: &CType| ty.pointers.is_empty() && OBJECT_KINDS.contains(&ty.base.as_str());
        let has_kind = siblings.clone().any(|(ty, _)| is_kind(ty));
        Self {
            has_loose_kind: has_kind && !siblings.any(|(_, is_marked)| is_marked),
        }
    }

    /// Returns `true` if a sibling of this type is, or may be, a handle.
    pub(super) fn holds(&self, ty: &CType, is_marked: bool) -> bool {
        is_marked || (self.has_loose_kind && ty.pointers.is_empty() && ty.base == "uint64_t")
    }
}

/// Types from which the end of a search can be reached, for example a wrapped handle.
pub(super) struct Reach<'a> {
    leading: BTreeSet<&'a str>,
}

impl<'a> Reach<'a> {
    /// Collects the types with a step that `is_end` accepts, and all types from which these types can be reached.
    pub(super) fn new(graph: &Graph<'a>, is_end: impl Fn(&Step<'a>) -> bool) -> Self {
        let mut into: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let mut pending = Vec::new();
        for step in graph.steps.values().flatten() {
            into.entry(step.target).or_default().push(step.owner);
            if is_end(step) {
                pending.push(step.owner);
            }
        }
        let mut leading = BTreeSet::new();
        while let Some(name) = pending.pop() {
            if leading.insert(name) {
                pending.extend(into.get(name).into_iter().flatten());
            }
        }
        Self { leading }
    }

    /// Returns the steps of all paths from the steps in `first` to a step that `is_end` accepts.
    pub(super) fn ways(
        &self,
        graph: &Graph<'a>,
        first: impl IntoIterator<Item = Step<'a>>,
        is_end: impl Fn(&Step<'a>) -> bool,
    ) -> BTreeSet<Step<'a>> {
        let counts = |step: &Step<'a>| is_end(step) || self.leading.contains(step.target);
        let mut pending: Vec<Step<'a>> = first.into_iter().filter(counts).collect();
        let mut found = BTreeSet::new();
        while let Some(step) = pending.pop() {
            if found.insert(step) {
                pending.extend(graph.behind(&step).iter().filter(|step| counts(step)));
            }
        }
        found
    }

    /// Returns `true` if the callee may write a handle: a step that `is_end` accepts leads to memory of the caller that is writable.
    pub(super) fn is_written(
        &self,
        graph: &Graph<'a>,
        first: impl IntoIterator<Item = Step<'a>>,
        is_end: impl Fn(&Step<'a>) -> bool,
    ) -> bool {
        let mut pending: Vec<(Step<'a>, bool)> = first.into_iter().map(|step| (step, false)).collect();
        let mut seen = BTreeSet::new();
        while let Some((step, outer)) = pending.pop() {
            let written = step.written.unwrap_or(outer);
            if is_end(&step) && written {
                return true;
            }
            if self.leading.contains(step.target) && seen.insert((step.target, written)) {
                pending.extend(graph.behind(&step).iter().map(|step| (*step, written)));
            }
        }
        false
    }
}

/// Returns the type that a name denotes after all aliases.
pub(super) fn resolve<'a>(registry: &'a Registry, name: &'a str) -> &'a str {
    registry.type_aliases.get(name).map_or(name, String::as_str)
}
