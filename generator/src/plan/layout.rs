//! Size, alignment and offsets of emitted structures on a 64-bit target, computed from the registry alone.
//!
//! The emitted assertions compare these numbers with the compiler's layout of the emitted structures, so they detect a mistake in emission.

use super::types::primitive;
use super::{Plan, reach::resolve};
use vk_registry::model::{CType, Member, Registry, StructKind};

/// Layout of a structure, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Size, which is a multiple of the alignment.
    pub size: u32,
    /// Alignment of the structure.
    pub align: u32,
    /// Offset of each member that is not part of a bit field, in order.
    pub offsets: Vec<(String, u32)>,
}

/// Size and alignment of a type.
type Extent = (u32, u32);

/// Size and alignment of a pointer.
const POINTER: Extent = (8, 8);

impl Plan<'_> {
    /// Returns the layout of an emitted structure or union, or `None` if a constant or type in the structure is unknown.
    pub fn layout(&self, name: &str) -> Option<Layout> {
        let structure = self.registry.structs.get(name)?;
        let mut layout = Layout {
            size: 0,
            align: 1,
            offsets: Vec::new(),
        };
        let mut end = 0u32;
        for (members, is_bits) in runs(&structure.members) {
            let (size, align) = if is_bits {
                (bit_words(members) * 4, 4)
            } else {
                self.extent(&members.first()?.ty)?
            };
            let start = match structure.kind {
                StructKind::Struct => end.next_multiple_of(align),
                StructKind::Union => 0,
            };
            if !is_bits {
                layout.offsets.push((members.first()?.name.clone(), start));
            }
            layout.align = layout.align.max(align);
            end = end.max(start + size);
        }
        layout.size = end.next_multiple_of(layout.align);
        Some(layout)
    }

    pub(super) fn extent(&self, ty: &CType) -> Option<Extent> {
        let (size, align) = if ty.pointers.is_empty() {
            self.named_extent(&ty.base)?
        } else {
            POINTER
        };
        let count = ty.array.iter().try_fold(1u32, |count, bound| {
            Some(count * bound.parse().ok().or_else(|| constant(self.registry, bound))?)
        })?;
        Some((size * count, align))
    }

    fn named_extent(&self, name: &str) -> Option<Extent> {
        if let Some((_, size)) = primitive(name) {
            return Some((size, size));
        }
        let registry = self.registry;
        let name = resolve(registry, name);
        let square = |size: u32| Some((size, size));
        if let Some(row) = self.policy.types.by_value.get(name) {
            square(row.size)
        } else if registry.handles.contains_key(name) || registry.function_pointers.contains_key(name) {
            Some(POINTER)
        } else if let Some(found) = registry.enums.get(name) {
            square(found.bits / 8)
        } else if let Some(found) = registry.bitmasks.get(name) {
            square(found.bits / 8)
        } else if registry.structs.contains_key(name) {
            self.layout(name).map(|layout| (layout.size, layout.align))
        } else {
            let target: CType = registry.base_types.get(name)?.target.as_deref()?.parse().ok()?;
            self.extent(&target)
        }
    }
}

/// Returns an integer constant of the registry, such as `256U`.
fn constant(registry: &Registry, name: &str) -> Option<u32> {
    registry
        .constants
        .get(name)?
        .value
        .trim_end_matches(['U', 'L'])
        .parse()
        .ok()
}

/// Iterates over groups of members. A group is one ordinary member, or neighbouring bit fields that share storage.
pub fn runs(members: &[Member]) -> impl Iterator<Item = (&[Member], bool)> {
    let mut rest = members;
    std::iter::from_fn(move || {
        let is_bits = rest.first()?.ty.bits.is_some();
        let count = if is_bits {
            rest.iter().take_while(|member| member.ty.bits.is_some()).count()
        } else {
            1
        };
        let (run, tail) = rest.split_at(count);
        rest = tail;
        Some((run, is_bits))
    })
}

/// Returns the number of 32-bit words that neighbouring bit fields need. A field does not cross the border of a word.
pub fn bit_words(members: &[Member]) -> u32 {
    let widths = members.iter().filter_map(|member| member.ty.bits);
    let (words, _) = widths.fold((0, 32), |(words, used), width| {
        if used + width > 32 {
            (words + 1, width)
        } else {
            (words, used + width)
        }
    });
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(width: u32) -> Member {
        let mut ty: CType = "uint32_t".parse().expect("a type");
        ty.bits = Some(width);
        Member {
            name: "field".to_owned(),
            ty,
            values: None,
            len: None,
            object_type: None,
        }
    }

    #[test]
    fn bit_fields_never_cross_a_word() {
        for (widths, words) in [
            (&[24, 8][..], 1),
            (&[24, 9], 2),
            (&[32, 1], 2),
            (&[1, 1, 1], 1),
            (&[24, 8, 24, 8], 2),
        ] {
            let members: Vec<Member> = widths.iter().map(|&width| bits(width)).collect();
            assert_eq!(bit_words(&members), words, "{widths:?}");
        }
    }

    #[test]
    fn runs_join_neighbouring_bit_fields_only() {
        let mut plain = bits(8);
        plain.ty.bits = None;
        let members = [plain.clone(), bits(8), bits(24), plain];
        let lengths: Vec<(usize, bool)> = runs(&members).map(|(run, is_bits)| (run.len(), is_bits)).collect();
        assert_eq!(lengths, [(1, false), (2, true), (1, false)]);
    }
}
