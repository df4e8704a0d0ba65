//! Iterates over `pNext` chains, and prints them.

use std::ffi::{CStr, c_char, c_void};

use ash::vk;

/// Iterates over the structures of a chain, first to last.
pub(crate) fn links(first: *const c_void) -> impl Iterator<Item = *const vk::BaseInStructure<'static>> {
    let mut next = first.cast::<vk::BaseInStructure<'static>>();
    std::iter::from_fn(move || {
        let link = next;
        if link.is_null() {
            return None;
        }
        // SAFETY: every link of a chain begins with the type and next pointer of the base structure.
        next = unsafe { (*link).p_next };
        Some(link)
    })
}

/// Returns the structure of type `kind` in the chain.
pub(crate) fn find<T>(first: *const c_void, kind: vk::StructureType) -> Option<*mut T> {
    // SAFETY: callers pass a valid chain, as Vulkan requires, so `links` returns only valid structures.
    let hit = links(first).find(|link| unsafe { (**link).s_type } == kind)?;
    Some(hit.cast::<T>().cast_mut())
}

/// Common beginning of the two structures that loaders and layers exchange: the type, the next structure, and the function.
#[repr(C)]
struct LoaderInfo {
    base: vk::BaseInStructure<'static>,
    function: i32,
}

/// Returns the structure types of a chain as text for the journal. For the two structures of the loader, a colon and the value of the
/// member `function` follow the type.
pub(crate) fn show(first: *const c_void) -> String {
    let show = |link: *const vk::BaseInStructure<'static>| {
        // SAFETY: callers pass a valid chain, as Vulkan requires, so `links` returns only valid structures.
        match unsafe { (*link).s_type }.as_raw() {
            // SAFETY: structures of the types 47 and 48 begin with the members of `LoaderInfo`.
            kind @ (47 | 48) => format!("{kind}:{}", unsafe { (*link.cast::<LoaderInfo>()).function }),
            kind => kind.to_string(),
        }
    };
    format!("pnext=[{}]", links(first).map(show).collect::<Vec<_>>().join(" "))
}

/// Returns the strings of an array, for the journal.
///
/// # Safety
/// `names` points to `count` terminated strings.
pub(crate) unsafe fn names(names: *const *const c_char, count: u32) -> Vec<String> {
    if names.is_null() {
        return Vec::new();
    }
    let name = |index: usize| {
        // SAFETY: the caller promises an array of terminated names.
        unsafe { CStr::from_ptr(*names.add(index)) }
            .to_string_lossy()
            .into_owned()
    };
    (0..count as usize).map(name).collect()
}
