//! Walking `pNext` chains.

use crate::generated::types::{VkBaseInStructure, VkBaseOutStructure, VkStructureType};
use core::ffi::c_void;

/// The structures of a chain, front to back.
///
/// # Safety
/// `first` is null or the head of a valid chain that stays valid while the iterator is used.
pub(crate) unsafe fn chain(first: *const c_void) -> impl Iterator<Item = *const VkBaseInStructure> {
    let first = first.cast::<VkBaseInStructure>();
    let head = (!first.is_null()).then_some(first);
    core::iter::successors(head, |&at| {
        // SAFETY: by this function's contract every link is null or valid.
        let next = unsafe { (*at).pNext }.cast::<VkBaseInStructure>();
        (!next.is_null()).then_some(next)
    })
}

/// [`chain`] for structures that are written to.
///
/// # Safety
/// As for [`chain`].
pub(crate) unsafe fn chain_mut(first: *mut c_void) -> impl Iterator<Item = *mut VkBaseOutStructure> {
    // SAFETY: passed on to the caller.
    unsafe { chain(first) }.map(|at| at.cast_mut().cast::<VkBaseOutStructure>())
}

/// The first structure of type `wanted` in a chain.
///
/// # Safety
/// As for [`chain`]; a structure whose `sType` is `wanted` is a `T`.
pub(crate) unsafe fn find<'a, T>(first: *const c_void, wanted: VkStructureType) -> Option<&'a T> {
    // SAFETY: passed on to the caller.
    let at = unsafe { chain(first) }.find(|&at| unsafe { (*at).sType } == wanted)?;
    // SAFETY: the structure says it is of the wanted type.
    Some(unsafe { &*at.cast::<T>() })
}
