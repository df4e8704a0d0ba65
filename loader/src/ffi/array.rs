//! The two-call idiom (APP-61, DRV-169).

use crate::generated::types::VkResult;

/// The count and array parameters of an enumeration command.
pub struct TwoCall<T> {
    count: *mut u32,
    array: *mut T,
}

impl<T: Copy> TwoCall<T> {
    /// Takes the two parameters of a command.
    ///
    /// # Safety
    /// `count` points to a writable number; `array` is null or has room for `*count` elements.
    pub const unsafe fn new(count: *mut u32, array: *mut T) -> Self {
        Self { count, array }
    }

    /// Whether only the count was asked for.
    pub const fn counts_only(&self) -> bool {
        self.array.is_null()
    }

    /// How many elements the caller has room for; everything when only the count was asked for.
    pub fn capacity(&self) -> usize {
        if self.array.is_null() {
            return usize::MAX;
        }
        // SAFETY: `count` is valid by the contract of `new`.
        unsafe { *self.count as usize }
    }

    /// Answers with `items`: the total, or as many as fit and `VK_INCOMPLETE` if some did not.
    pub fn answer(self, items: impl ExactSizeIterator<Item = T>) -> VkResult {
        let total = items.len();
        let array = self.array;
        if !array.is_null() {
            for (index, item) in items.take(self.capacity()).enumerate() {
                // SAFETY: `index` is below the capacity that the caller gave.
                unsafe { array.add(index).write(item) };
            }
        }
        self.conclude(total)
    }

    /// Tells the caller how many elements there are, or were written if it wants them.
    fn conclude(self, total: usize) -> VkResult {
        let told = total.min(self.capacity());
        // SAFETY: `count` is valid by the contract of `new`.
        unsafe { *self.count = saturating(told) };
        match told < total {
            true => VkResult::VK_INCOMPLETE,
            false => VkResult::VK_SUCCESS,
        }
    }
}

fn saturating(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// [`TwoCall::answer`] for a slice, with the raw parameters.
///
/// # Safety
/// As for [`TwoCall::new`].
pub unsafe fn write_all<T: Copy>(count: *mut u32, array: *mut T, items: &[T]) -> VkResult {
    // SAFETY: passed on to the caller.
    let call = unsafe { TwoCall::new(count, array) };
    if !call.counts_only() {
        let written = items.len().min(call.capacity());
        // SAFETY: the caller's array has room for as many elements, and is no slice of the loader.
        unsafe { array.copy_from_nonoverlapping(items.as_ptr(), written) };
    }
    call.conclude(items.len())
}
