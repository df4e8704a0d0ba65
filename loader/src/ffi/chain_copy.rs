//! Replacing one structure of a chain that belongs to the caller.
//!
//! What lies in front of the structure must lead to another one, so it is copied: the caller's chain may be in memory that
//! cannot be written to, and another thread may use it at the same time. How large a structure is follows from the
//! registry. One that the registry does not know, or whose shape is unusual, cannot be copied; the copies then begin
//! behind the last such structure, and its `pNext` leads to them for the length of the call, as under the Khronos loader.

use super::chain;
use super::layer_interface::VkLayerDeviceCreateInfo;
use crate::alloc::{HostAllocator, HostVec};
use crate::generated::chains::CHAIN_MEMBERS;
use crate::generated::types::{VkBaseInStructure, VkStructureType};
use core::ffi::c_void;
use os::memory::OutOfMemory;

/// How large the structures of one type are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChainMember {
    /// The number of the type.
    pub kind: i32,
    /// Words of 32 bits behind the two members that every structure begins with.
    pub words: u16,
    /// Pointers behind those.
    pub pointers: u16,
}

impl ChainMember {
    /// Size in bytes, with the padding at the end.
    const fn size(self) -> usize {
        let words = size_of::<VkBaseInStructure>() + 4 * self.words as usize;
        words.next_multiple_of(align_of::<VkBaseInStructure>()) + size_of::<usize>() * self.pointers as usize
    }
}

/// Rows of number, words, pointers and name, sorted by number.
macro_rules! chain_members {
    ($($kind:literal, $words:literal, $pointers:literal, $name:ident;)*) => {
        /// Sorted by number.
        pub static CHAIN_MEMBERS: &[crate::ffi::ChainMember] = &[
            $(crate::ffi::ChainMember { kind: $kind, words: $words, pointers: $pointers }),*
        ];
    };
}
pub(crate) use chain_members;

/// Size in bytes of the structures of a type; `None` when it is not known.
fn size_of_type(kind: VkStructureType) -> Option<usize> {
    // The loader's own nodes are in no registry.
    if kind == VkStructureType::VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO {
        return Some(size_of::<VkLayerDeviceCreateInfo>());
    }
    let at = CHAIN_MEMBERS.binary_search_by_key(&kind.0, |member| member.kind).ok()?;
    Some(CHAIN_MEMBERS[at].size())
}

/// Copies begin on multiples of this many bytes.
const UNIT: usize = size_of::<u64>();

/// A chain in which one structure was replaced. What it led to before comes back when this is dropped.
pub(crate) struct Replaced {
    /// Copies of what lies in front of the replacement.
    _copies: HostVec<u64>,
    /// A `pNext` of the caller that leads to the copies, and what it held.
    written: Option<(*mut *const c_void, *const c_void)>,
}

/// Where the copies of a chain begin.
struct Front {
    /// The `pNext` that is to lead to them; the head of the chain when all in front can be copied.
    link: *mut *const c_void,
    is_head: bool,
    /// [`UNIT`]s that the copies take.
    units: usize,
}

impl Replaced {
    /// Lets the chain that starts at `*head` lead to `replacement` instead of `original`.
    ///
    /// # Errors
    /// When memory runs out.
    ///
    /// # Safety
    /// `*head` starts a valid chain with `original` in it, and no thread writes to the chain while this lives, but for
    /// the `pNext` of a structure of unknown size in front, which is written to here. `head` outlives the value, as does
    /// `replacement`, which leads on to the rest of the chain.
    pub(crate) unsafe fn put(
        head: &mut *const c_void,
        original: *const c_void,
        replacement: *const c_void,
        allocator: HostAllocator,
    ) -> Result<Self, OutOfMemory> {
        // SAFETY: passed on.
        let front = unsafe { front(head, original) };
        let mut copies = HostVec::new(allocator);
        copies.try_fill_to(front.units, 0_u64)?;
        // SAFETY: the link is readable; the room is as large as the structures from there on.
        let first = unsafe { copy(*front.link, original, replacement, copies.as_mut_ptr()) };
        // SAFETY: the head is the caller's to give, any other link by this function's contract.
        let before = unsafe { front.link.replace(first) };
        Ok(Self {
            _copies: copies,
            written: (!front.is_head).then_some((front.link, before)),
        })
    }
}

impl Drop for Replaced {
    fn drop(&mut self) {
        if let Some((link, before)) = self.written {
            // SAFETY: written to by `put`, under the contract that it may be until now.
            unsafe { *link = before };
        }
    }
}

/// The longest run of structures of known size in front of `original`.
///
/// # Safety
/// As for [`Replaced::put`].
unsafe fn front(head: &mut *const c_void, original: *const c_void) -> Front {
    let first = *head;
    let mut front = Front {
        link: head,
        is_head: true,
        units: 0,
    };
    // SAFETY: a valid chain.
    for at in unsafe { chain(first) }.take_while(|at| !core::ptr::addr_eq(*at, original)) {
        // SAFETY: every structure of a valid chain is readable.
        match size_of_type(unsafe { (*at).sType }) {
            Some(size) => front.units += size.div_ceil(UNIT),
            None => {
                // SAFETY: the member lies within the structure.
                let next = unsafe { &raw const (*at).pNext };
                front = Front {
                    link: next.cast_mut().cast(),
                    is_head: false,
                    units: 0,
                };
            }
        }
    }
    front
}

/// Copies the structures from `from` up to `original`, one behind the other, and links them; the last one leads to
/// `replacement`. Gives the first of them, or `replacement` when there is none.
///
/// # Safety
/// `from` leads to `original` over structures of known size, which `room` is large enough for.
unsafe fn copy(
    from: *const c_void,
    original: *const c_void,
    replacement: *const c_void,
    mut room: *mut u64,
) -> *const c_void {
    let mut first = replacement;
    let mut link: *mut *const c_void = &raw mut first;
    // SAFETY: a valid chain.
    for at in unsafe { chain(from) }.take_while(|at| !core::ptr::addr_eq(*at, original)) {
        // SAFETY: readable, as every structure of a valid chain; of known size by this function's contract, and so is
        // the room for it.
        unsafe {
            let size = size_of_type((*at).sType).unwrap_or(0);
            let structure = room.cast::<VkBaseInStructure>();
            core::ptr::copy_nonoverlapping(at.cast::<u8>(), structure.cast(), size);
            *link = structure.cast_const().cast();
            link = (&raw mut (*structure).pNext).cast();
            *link = replacement;
            room = room.add(size.div_ceil(UNIT));
        }
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generated::types::{
        VkExternalComputeQueueDeviceCreateInfoNV, VkPhysicalDeviceFeatures2, VkPhysicalDeviceMultiviewFeatures,
    };

    /// A structure that no registry knows.
    fn unknown(next: *const c_void) -> VkBaseInStructure {
        VkBaseInStructure {
            sType: VkStructureType(1_999_999_999),
            pNext: next.cast(),
        }
    }

    fn multiview(next: *const c_void) -> VkPhysicalDeviceMultiviewFeatures {
        VkPhysicalDeviceMultiviewFeatures {
            sType: VkPhysicalDeviceMultiviewFeatures::STRUCTURE_TYPE,
            pNext: next.cast_mut(),
            multiview: 1,
            multiviewGeometryShader: 2,
            multiviewTessellationShader: 3,
        }
    }

    fn external(next: *const c_void) -> VkExternalComputeQueueDeviceCreateInfoNV {
        VkExternalComputeQueueDeviceCreateInfoNV {
            sType: VkExternalComputeQueueDeviceCreateInfoNV::STRUCTURE_TYPE,
            pNext: next,
            reservedExternalQueues: 7,
        }
    }

    fn address<T>(value: &T) -> *const c_void {
        core::ptr::from_ref(value).cast()
    }

    fn addresses(first: *const c_void) -> Vec<*const c_void> {
        // SAFETY: chains of valid structures.
        unsafe { chain(first) }.map(<*const VkBaseInStructure>::cast).collect()
    }

    #[test]
    fn app_144_sizes_are_those_of_the_structures() {
        for (kind, size) in [
            (
                VkPhysicalDeviceFeatures2::STRUCTURE_TYPE,
                size_of::<VkPhysicalDeviceFeatures2>(),
            ),
            (
                VkPhysicalDeviceMultiviewFeatures::STRUCTURE_TYPE,
                size_of::<VkPhysicalDeviceMultiviewFeatures>(),
            ),
            (
                VkExternalComputeQueueDeviceCreateInfoNV::STRUCTURE_TYPE,
                size_of::<VkExternalComputeQueueDeviceCreateInfoNV>(),
            ),
            (
                VkStructureType::VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO,
                size_of::<VkLayerDeviceCreateInfo>(),
            ),
        ] {
            assert_eq!(size_of_type(kind), Some(size), "{kind:?}");
        }
        assert!(CHAIN_MEMBERS.is_sorted_by_key(|member| member.kind));
        assert!(CHAIN_MEMBERS.len() > 250);
        assert_eq!(size_of_type(VkStructureType(1_999_999_999)), None);
    }

    #[test]
    fn app_144_what_lies_in_front_is_copied_and_what_is_behind_is_not() {
        let last = external(core::ptr::null());
        let (original, replacement) = (multiview(address(&last)), multiview(address(&last)));
        let second = external(address(&original));
        let first = multiview(address(&second));
        let mut head = address(&first);
        // SAFETY: a valid chain with the original in it; all of it outlives the result.
        let replaced = unsafe {
            Replaced::put(
                &mut head,
                address(&original),
                address(&replacement),
                HostAllocator::system(),
            )
        };
        let replaced = replaced.expect("memory");
        let seen = addresses(head);
        assert_eq!(seen[2..], [address(&replacement), address(&last)]);
        assert!(seen[0] != address(&first) && seen[1] != address(&second));
        // SAFETY: copies of these types.
        let (one, two) = unsafe {
            (
                &*seen[0].cast::<VkPhysicalDeviceMultiviewFeatures>(),
                &*seen[1].cast::<VkExternalComputeQueueDeviceCreateInfoNV>(),
            )
        };
        assert_eq!((one.multiview, one.multiviewTessellationShader), (1, 3));
        assert_eq!(two.reservedExternalQueues, 7);
        let before = addresses(address(&first));
        assert_eq!(
            before,
            [address(&first), address(&second), address(&original), address(&last)]
        );
        drop(replaced);
    }

    #[test]
    fn app_144_the_last_unknown_structure_leads_to_the_copies_meanwhile() {
        let (original, replacement) = (multiview(core::ptr::null()), multiview(core::ptr::null()));
        let third = external(address(&original));
        let second = unknown(address(&third));
        let first = external(address(&second));
        let mut head = address(&first);
        // SAFETY: as above; the unknown structure is not read elsewhere meanwhile.
        let replaced = unsafe {
            Replaced::put(
                &mut head,
                address(&original),
                address(&replacement),
                HostAllocator::system(),
            )
        };
        let replaced = replaced.expect("memory");
        let seen = addresses(head);
        assert_eq!(seen[..2], [address(&first), address(&second)]);
        assert!(seen[2] != address(&third));
        assert_eq!(seen[3], address(&replacement));
        drop(replaced);
        let before = addresses(head);
        assert_eq!(
            before,
            [address(&first), address(&second), address(&third), address(&original)]
        );
    }

    #[test]
    fn app_144_the_head_leads_to_the_replacement_when_nothing_is_in_front() {
        let (original, replacement) = (multiview(core::ptr::null()), multiview(core::ptr::null()));
        let mut head = address(&original);
        // SAFETY: as above.
        let replaced = unsafe {
            Replaced::put(
                &mut head,
                address(&original),
                address(&replacement),
                HostAllocator::system(),
            )
        };
        assert!(replaced.is_ok());
        assert_eq!(addresses(head), [address(&replacement)]);
    }
}
