//! Prints allocator arguments for the journal.

use std::fmt;

use ash::vk;

/// Prints `alloc=null`, or the user data of the callbacks and a checksum of the five functions. A test identifies its allocators by the
/// user data. The checksum shows that each function is in the correct member of the structure.
pub(crate) struct Allocator(pub(crate) *const vk::AllocationCallbacks<'static>);

impl fmt::Display for Allocator {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_null() {
            return formatter.write_str("alloc=null");
        }
        // SAFETY: if the allocator argument is not null, it points to valid callbacks during the call. The callbacks consist of six
        // pointers.
        let words = unsafe { *self.0.cast::<[usize; 6]>() };
        let [user_data, functions @ ..] = words;
        let sum = functions
            .iter()
            .fold(0, |sum: usize, function| sum.rotate_left(7) ^ function);
        write!(formatter, "alloc={user_data:#x}/{sum:#x}")
    }
}
