//! Replacement of one structure in a chain that belongs to the caller.
//!
//! The structures before the replaced one must lead to the replacement, so they are copied. The caller's chain may be in read-only memory,
//! and another thread may use it at the same time.
//!
//! The size of a structure comes from the registry. A structure that the registry does not know, or whose shape is unusual, cannot be
//! copied. The copies then begin after the last structure of this kind, and the `pNext` of that structure points to the copies during the
//! call, as with the Khronos loader.

use super::chain;
use super::layer_interface::VkLayerDeviceCreateInfo;
use crate::alloc::{HostAllocator, HostVec};
use crate::generated::chains::CHAIN_MEMBERS;
use crate::generated::types::{VkBaseInStructure, VkStructureType};
use core::ffi::c_void;
use os::memory::OutOfMemory;

/// Size of the structures of one type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChainMember {
    /// Number of the type.
    pub kind: i32,
    /// Number of 32-bit words after the two members with which every structure begins.
    pub words: u16,
    /// Number of pointers after those words.
    pub pointers: u16,
}

impl ChainMember {
    /// Returns the size in bytes, including the padding at the end.
    const fn size(self) -> usize {
        let words = size_of::<VkBaseInStructure>() + 4 * self.words as usize;
        words.next_multiple_of(align_of::<VkBaseInStructure>()) + size_of::<usize>() * self.pointers as usize
    }
}

/// Declares `CHAIN_MEMBERS` from rows of structure type, words, pointers and name. The rows are sorted by the number of the type.
macro_rules! chain_members {
    ($($kind:literal, $words:literal, $pointers:literal, $name:ident;)*) => {
        /// Sizes of structures, sorted by the number of the structure type.
        pub static CHAIN_MEMBERS: &[crate::ffi::ChainMember] = &[
            $(crate::ffi::ChainMember { kind: $kind, words: $words, pointers: $pointers }),*
        ];
    };
}
pub(crate) use chain_members;

/// Returns the size in bytes of the structures of a type; `None` if the size is unknown.
fn size_of_type(kind: VkStructureType) -> Option<usize> {
    // The registry does not contain the loader's own nodes.
    if kind == VkStructureType::VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO {
        return Some(size_of::<VkLayerDeviceCreateInfo>());
    }
    let at = CHAIN_MEMBERS.binary_search_by_key(&kind.0, |member| member.kind).ok()?;
    Some(CHAIN_MEMBERS[at].size())
}

/// Returns the number of 32-bit words after the first two members of the structures of a type. Returns `None` if the number is unknown, or if
/// the structures also have pointers.
pub(crate) fn words_of_type(kind: VkStructureType) -> Option<usize> {
    let at = CHAIN_MEMBERS.binary_search_by_key(&kind.0, |member| member.kind).ok()?;
    let member = CHAIN_MEMBERS[at];
    (member.pointers == 0).then_some(member.words.into())
}

/// Alignment of the copies in bytes.
const UNIT: usize = size_of::<u64>();

/// A chain in which one structure is replaced. Dropping the value restores the chain.
pub(crate) struct Replaced {
    /// Copies of the structures before the replacement.
    _copies: HostVec<u64>,
    /// A `pNext` of the caller that points to the copies, and its previous value.
    written: Option<(*mut *const c_void, *const c_void)>,
}

/// Start of the copies of a chain.
struct Front {
    /// The `pNext` that points to the copies: the head of the chain if all structures before the replaced one can be copied.
    link: *mut *const c_void,
    is_head: bool,
    /// Number of [`UNIT`]s that the copies take.
    units: usize,
}

impl Replaced {
    /// Makes the chain that starts at `*head` lead to `replacement` instead of `original`.
    ///
    /// # Errors
    /// There is not enough memory.
    ///
    /// # Safety
    /// - `*head` starts a valid chain that contains `original`.
    /// - No thread writes to the chain while the result lives. This function itself writes to the `pNext` of a structure of unknown size
    ///   before `original`; other threads must not read it meanwhile.
    /// - `head` and `replacement` outlive the result, and `replacement` leads on to the rest of the chain.
    pub(crate) unsafe fn put(
        head: &mut *const c_void,
        original: *const c_void,
        replacement: *const c_void,
        allocator: HostAllocator,
    ) -> Result<Self, OutOfMemory> {
        // SAFETY: the caller promises a valid chain with `original` in it.
        let front = unsafe { front(head, original) };
        let mut copies = HostVec::new(allocator);
        copies.try_fill_to(front.units, 0_u64)?;
        // SAFETY: the link is readable, and `front` counted the room that the structures after it need.
        let first = unsafe { copy(*front.link, original, replacement, copies.as_mut_ptr()) };
        // SAFETY: the link is the caller's head, or a `pNext` that the caller allows this function to write.
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
            // SAFETY: `put` wrote to the same link, and its caller promised that the write stays allowed until now.
            unsafe { *link = before };
        }
    }
}

/// Finds the longest run of structures of known size before `original`.
///
/// # Safety
/// `*head` starts a valid chain that contains `original`.
unsafe fn front(head: &mut *const c_void, original: *const c_void) -> Front {
    let first = *head;
    let mut front = Front {
        link: head,
        is_head: true,
        units: 0,
    };
    // SAFETY: the caller promises a valid chain.
    for at in unsafe { chain(first) }.take_while(|at| !core::ptr::addr_eq(*at, original)) {
        // SAFETY: every structure of a valid chain is readable.
        match size_of_type(unsafe { (*at).sType }) {
            Some(size) => front.units += size.div_ceil(UNIT),
            None => {
                // SAFETY: `at` points to a structure of the chain, so its member is in bounds.
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

/// Copies the structures from `from` up to `original`, one after the other, and links them; the last copy points to `replacement`. Returns
/// the first copy, or `replacement` if nothing is copied.
///
/// # Safety
/// `from` leads to `original` through structures of known size, and `room` is large enough for them.
unsafe fn copy(
    from: *const c_void,
    original: *const c_void,
    replacement: *const c_void,
    mut room: *mut u64,
) -> *const c_void {
    let mut first = replacement;
    let mut link: *mut *const c_void = &raw mut first;
    // SAFETY: the caller promises a valid chain.
    for at in unsafe { chain(from) }.take_while(|at| !core::ptr::addr_eq(*at, original)) {
        // SAFETY: every structure of a valid chain is readable; the caller promises that its size is known and that `room` is large enough.
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

    /// Returns a structure that the registry does not know.
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
        // SAFETY: the tests pass chains of valid structures.
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
        // SAFETY: the chain is valid and contains the original; all of it outlives the result.
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
        // SAFETY: the two structures are copies of these types.
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
        // SAFETY: the chain is valid and contains the original; nothing else reads the unknown structure meanwhile.
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
        // SAFETY: the chain is valid and contains the original; all of it outlives the result.
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
