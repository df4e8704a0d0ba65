//! How an allocator argument looks in the journal.

use std::fmt;

use ash::vk;

/// Prints `alloc=null`, or the user data of the callbacks, by which a test knows its allocators apart.
pub(crate) struct Allocator(pub(crate) *const vk::AllocationCallbacks<'static>);

impl fmt::Display for Allocator {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_null() {
            return formatter.write_str("alloc=null");
        }
        // SAFETY: a non-null allocator argument points at callbacks for the time of the call.
        write!(formatter, "alloc={:#x}", unsafe { (*self.0).p_user_data } as usize)
    }
}
