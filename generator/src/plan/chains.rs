//! Sizes of the structures in `pNext` chains whose members the runtime copies.

use super::Plan;
use vk_registry::model::{Member, Struct, StructKind};

/// Structure of a chain: the value of its `sType`, and the members after `sType` and `pNext`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainMember<'a> {
    /// Name of the structure.
    pub name: &'a str,
    /// Value of `sType` in this structure.
    pub kind: i64,
    /// Number of 32-bit words after `sType` and `pNext`.
    pub words: u32,
    /// Number of pointers after the 32-bit words.
    pub pointers: u32,
}

impl Plan<'_> {
    /// Returns the structures of all chains that the policy lists, sorted by their `sType`. Includes only structures whose
    /// members after `sType` and `pNext` are 32-bit words, followed by pointers. The runtime treats all other structures like structures
    /// that the registry does not know.
    pub fn chain_members(&self) -> Vec<ChainMember<'_>> {
        let copied = &self.policy.types.copied_chains;
        let extends = |structure: &&Struct| structure.extends.iter().any(|base| copied.contains(base));
        let members = self.registry.structs.values().filter(extends);
        let mut members: Vec<_> = members.filter_map(|structure| self.chain_member(structure)).collect();
        members.sort_by_key(|member| member.kind);
        members
    }

    fn chain_member<'s>(&'s self, structure: &'s Struct) -> Option<ChainMember<'s>> {
        let [kind, next, rest @ ..] = structure.members.as_slice() else {
            return None;
        };
        if structure.kind != StructKind::Struct || kind.name != "sType" || next.name != "pNext" {
            return None;
        }
        let mut member = ChainMember {
            name: &structure.name,
            kind: self.number_of(&kind.ty.base, kind.values.as_deref()?)?,
            words: 0,
            pointers: 0,
        };
        for part in rest {
            let pointer = !part.ty.pointers.is_empty() || self.registry.function_pointers.contains_key(&part.ty.base);
            if pointer && part.ty.array.is_empty() {
                member.pointers += 1;
            } else if member.pointers == 0 {
                member.words += self.words(part)?;
            } else {
                return None;
            }
        }
        Some(member)
    }

    /// Returns the number of 32-bit words of a member, or `None` if the member consists of anything else.
    fn words(&self, member: &Member) -> Option<u32> {
        let (size, align) = self.extent(&member.ty)?;
        (align == 4 && member.ty.bits.is_none() && member.ty.pointers.is_empty()).then_some(size / 4)
    }

    pub(super) fn number_of(&self, enumeration: &str, enumerant: &str) -> Option<i64> {
        let enumerants = &self.registry.enums.get(enumeration)?.enumerants;
        let found = enumerants.iter().find(|found| found.name == enumerant)?;
        i64::try_from(found.value).ok()
    }
}
