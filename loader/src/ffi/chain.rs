//! Walks over `pNext` chains.

use crate::generated::types::{VkBaseInStructure, VkBaseOutStructure, VkStructureType};
use core::ffi::c_void;

/// Iterates over the structures of a chain, from the head on.
///
/// # Safety
/// `first` is null or the head of a valid chain that stays valid while the iterator is used.
pub(crate) unsafe fn chain(first: *const c_void) -> impl Iterator<Item = *const VkBaseInStructure> {
    let first = first.cast::<VkBaseInStructure>();
    let head = (!first.is_null()).then_some(first);
    core::iter::successors(head, |&at| {
        // SAFETY: the caller promises a valid chain, so every link is null or valid.
        let next = unsafe { (*at).pNext }.cast::<VkBaseInStructure>();
        (!next.is_null()).then_some(next)
    })
}

/// Iterates over the structures of a chain like [`chain`], for callers that write to the structures.
///
/// # Safety
/// `first` is null or the head of a valid chain that stays valid while the iterator is used.
pub(crate) unsafe fn chain_mut(first: *mut c_void) -> impl Iterator<Item = *mut VkBaseOutStructure> {
    // SAFETY: the caller promises a valid chain.
    unsafe { chain(first) }.map(|at| at.cast_mut().cast::<VkBaseOutStructure>())
}

/// Returns the first structure of type `wanted` in a chain.
///
/// # Safety
/// `first` is null or the head of a valid chain that stays valid for `'a`; a structure whose `sType` is `wanted` is a `T`.
pub(crate) unsafe fn find<'a, T>(first: *const c_void, wanted: VkStructureType) -> Option<&'a T> {
    // SAFETY: the caller promises a valid chain, whose structures all begin with a type.
    let at = unsafe { chain(first) }.find(|&at| unsafe { (*at).sType } == wanted)?;
    // SAFETY: the `sType` is `wanted`, so the caller promises that the structure is a `T`.
    Some(unsafe { &*at.cast::<T>() })
}
