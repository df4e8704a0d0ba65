//! Structures that receive the answers to queries of a physical device, and whose whole content can be recorded for other processes.

use super::Plan;
use super::reach::resolve;
use vk_registry::model::{Struct, StructKind};

/// Structures that queries fill. Each row has the outer structure, the structure inside it, and the word for the query.
const QUERIES: [(&str, &str, &str); 5] = [
    (
        "VkPhysicalDeviceProperties2",
        "VkPhysicalDeviceProperties",
        "Properties",
    ),
    ("VkPhysicalDeviceFeatures2", "VkPhysicalDeviceFeatures", "Features"),
    (
        "VkPhysicalDeviceMemoryProperties2",
        "VkPhysicalDeviceMemoryProperties",
        "Memory",
    ),
    ("VkQueueFamilyProperties2", "VkQueueFamilyProperties", "QueueFamilies"),
    ("VkFormatProperties2", "VkFormatProperties", "Format"),
];

/// Structure that extends the answer to a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryMember<'a> {
    /// Word for the query.
    pub query: &'static str,
    /// Value of `sType` in this structure, or zero for the query's own structure, which the other structures extend.
    pub kind: i64,
    /// Size in bytes on a 64-bit target.
    pub size: u32,
    /// First byte and length of each gap of padding.
    pub gaps: Vec<(u32, u32)>,
    /// Name of the structure.
    pub name: &'a str,
}

impl Plan<'_> {
    /// Returns the structures that extend a query, sorted by query and `sType`. Structures with a pointer or a handle are not included,
    /// because their content has no meaning in another process.
    pub fn query_members(&self) -> Vec<QueryMember<'_>> {
        let mut members = Vec::new();
        for (base, inner, query) in QUERIES {
            let inner = self.registry.structs.get(inner);
            members.extend(inner.and_then(|inner| self.measured(query, 0, inner)));
            let extending = self.registry.structs.values();
            let extending = extending.filter(|structure| structure.extends.iter().any(|known| known == base));
            let mut found: Vec<_> = extending.filter_map(|one| self.query_member(query, one)).collect();
            found.sort_by_key(|member| member.kind);
            members.extend(found);
        }
        members
    }

    fn query_member<'s>(&'s self, query: &'static str, structure: &'s Struct) -> Option<QueryMember<'s>> {
        let [kind, next, rest @ ..] = structure.members.as_slice() else {
            return None;
        };
        let has_head = structure.kind == StructKind::Struct && kind.name == "sType" && next.name == "pNext";
        if !has_head
            || !rest
                .iter()
                .all(|member| self.is_plain(member.ty.pointers.is_empty(), &member.ty.base))
        {
            return None;
        }
        self.measured(
            query,
            self.number_of(&kind.ty.base, kind.values.as_deref()?)?,
            structure,
        )
    }

    fn measured<'s>(&'s self, query: &'static str, kind: i64, structure: &'s Struct) -> Option<QueryMember<'s>> {
        let size = self.layout(&structure.name)?.size;
        let mut used = vec![false; size as usize];
        self.mark(&structure.name, 0, &mut used)?;
        let mut gaps: Vec<(u32, u32)> = Vec::new();
        for at in (0..size).filter(|at| !used[*at as usize]) {
            match gaps.last_mut() {
                Some((start, length)) if *start + *length == at => *length += 1,
                _ => gaps.push((at, 1)),
            }
        }
        Some(QueryMember {
            query,
            kind,
            size,
            gaps,
            name: &structure.name,
        })
    }

    /// Marks the bytes of a structure that belong to members.
    fn mark(&self, name: &str, start: u32, used: &mut [bool]) -> Option<()> {
        let structure = self.registry.structs.get(name)?;
        let layout = self.layout(name)?;
        if structure.kind == StructKind::Union || structure.members.iter().any(|member| member.ty.bits.is_some()) {
            used.get_mut(start as usize..(start + layout.size) as usize)?.fill(true);
            return Some(());
        }
        for (member, (_, offset)) in structure.members.iter().zip(&layout.offsets) {
            let (size, _) = self.extent(&member.ty)?;
            let from = start + offset;
            let inner = resolve(self.registry, &member.ty.base);
            if self.registry.structs.contains_key(inner) && member.ty.pointers.is_empty() {
                let each = self.layout(inner)?.size;
                (0..size / each).try_for_each(|place| self.mark(inner, from + place * each, used))?;
            } else {
                used.get_mut(from as usize..(from + size) as usize)?.fill(true)
            }
        }
        Some(())
    }

    /// Returns `true` if a member is a number, or consists of numbers.
    fn is_plain(&self, is_value: bool, name: &str) -> bool {
        let name = resolve(self.registry, name);
        let registry = self.registry;
        let parts = registry.structs.get(name).map(|found| &found.members);
        is_value
            && !registry.handles.contains_key(name)
            && !registry.function_pointers.contains_key(name)
            && !self.policy.types.by_value.contains_key(name)
            && parts.is_none_or(|parts| {
                parts
                    .iter()
                    .all(|part| self.is_plain(part.ty.pointers.is_empty(), &part.ty.base))
            })
    }
}
