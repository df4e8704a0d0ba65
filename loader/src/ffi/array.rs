//! Enumerations in two calls: the loader answers callers and queries drivers in this way (APP-61, DRV-169).

use crate::alloc::{HostAllocator, HostVec};
use crate::generated::types::VkResult;

/// The count and array parameters of an enumeration command.
pub(crate) struct TwoCall<T> {
    count: *mut u32,
    array: *mut T,
}

impl<T: Copy> TwoCall<T> {
    /// Wraps the two parameters of a command.
    ///
    /// # Safety
    /// `count` points to a writable number; `array` is null or has room for `*count` elements.
    pub(crate) const unsafe fn new(count: *mut u32, array: *mut T) -> Self {
        Self { count, array }
    }

    /// Returns `true` if the caller asked only for the count.
    pub(crate) const fn counts_only(&self) -> bool {
        self.array.is_null()
    }

    /// Returns the number of elements for which the caller has room; the maximum if the caller asked only for the count.
    pub(crate) fn capacity(&self) -> usize {
        if self.array.is_null() {
            return usize::MAX;
        }
        // SAFETY: the caller of `new` promised a valid `count`.
        unsafe { *self.count as usize }
    }

    /// Answers with `items`. Writes the total if the caller asked only for the count, otherwise the elements that fit and their number.
    /// Returns `VK_INCOMPLETE` if some elements did not fit.
    pub(crate) fn answer(self, items: impl ExactSizeIterator<Item = T>) -> VkResult {
        let total = items.len();
        let array = self.array;
        if !array.is_null() {
            for (index, item) in items.take(self.capacity()).enumerate() {
                // SAFETY: `index` is below the capacity that the caller passed.
                unsafe { array.add(index).write(item) };
            }
        }
        self.conclude(total)
    }

    /// Writes the count: the total, or the number of written elements if the caller passed an array.
    fn conclude(self, total: usize) -> VkResult {
        let told = total.min(self.capacity());
        // SAFETY: the caller of `new` promised a writable `count`.
        unsafe { *self.count = saturating(told) };
        if told < total {
            VkResult::VK_INCOMPLETE
        } else {
            VkResult::VK_SUCCESS
        }
    }
}

fn saturating(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Answers with the elements of a slice, like [`TwoCall::answer`], if the caller has `count` and `array` but no [`TwoCall`].
///
/// # Safety
/// `count` points to a writable number; `array` is null or has room for `*count` elements.
pub(crate) unsafe fn write_all<T: Copy>(count: *mut u32, array: *mut T, items: &[T]) -> VkResult {
    // SAFETY: the caller promises a writable `count`, and an array that is null or has room for `*count` elements.
    let call = unsafe { TwoCall::new(count, array) };
    if !call.counts_only() {
        let written = items.len().min(call.capacity());
        // SAFETY: the caller promises an array with room for `*count` elements, which cannot be memory of the loader.
        unsafe { array.copy_from_nonoverlapping(items.as_ptr(), written) };
    }
    call.conclude(items.len())
}

/// Parameters of an enumeration in two calls.
#[derive(Clone, Copy)]
pub(crate) struct TwoCalls {
    /// Upper bound on the number of elements; larger counts are reduced to this bound.
    pub most: u32,
    /// Number of attempts if the list grows between the two calls; at least one.
    pub attempts: usize,
    /// `true` to make the second call for an empty list too, because the list may have elements by then.
    pub even_empty: bool,
}

/// Returns `true` if an answer is the whole list, and `false` for `VK_INCOMPLETE`.
///
/// # Errors
/// `result` itself, if it is any other code.
pub(crate) fn is_whole(result: VkResult) -> Result<bool, VkResult> {
    match result {
        VkResult::VK_SUCCESS => Ok(true),
        VkResult::VK_INCOMPLETE => Ok(false),
        _ => Err(result),
    }
}

impl TwoCalls {
    /// Asks for the number of elements and then for the elements.
    ///
    /// Keeps at most as many elements as there was room for, even if the second call reports more (DRV-169). `call` gets a number, and NULL
    /// or an array with that number of zeroed elements, and returns `true` if it wrote all elements. If the list still grows at the last
    /// attempt, the result is the list from that attempt.
    ///
    /// # Errors
    /// The error that `call` returned, or out of host memory.
    ///
    /// # Safety
    /// An element whose bytes are all zero is valid, and `call` leaves valid elements.
    pub(crate) unsafe fn ask<T: Copy>(
        self,
        allocator: HostAllocator,
        mut call: impl FnMut(*mut u32, *mut T) -> Result<bool, VkResult>,
    ) -> Result<HostVec<T>, VkResult> {
        let mut attempt = 1;
        loop {
            let mut count = 0;
            call(&mut count, core::ptr::null_mut())?;
            let room = count.min(self.most);
            if room == 0 && !self.even_empty {
                return Ok(HostVec::new(allocator));
            }
            // SAFETY: the caller promises that an element whose bytes are all zero is valid.
            let mut list = unsafe { HostVec::<T>::try_zeroed(room as usize, allocator) }?;
            let mut written = room;
            let is_whole = call(&mut written, list.as_mut_ptr())?;
            if is_whole || room == self.most || attempt >= self.attempts {
                list.truncate(written.min(room) as usize);
                return Ok(list);
            }
            attempt += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::cell::Cell;

    /// Queries a list that reports a count of `offered`, then writes `written` numbers, reports a count of `claimed`, and returns `result`.
    fn listed(offered: u32, written: u32, claimed: u32, result: VkResult) -> Result<Vec<u32>, VkResult> {
        let asking = TwoCalls {
            most: 5,
            attempts: 1,
            even_empty: false,
        };
        let call = |count: *mut u32, array: *mut u32| {
            if array.is_null() {
                // SAFETY: `ask` passes a writable number.
                unsafe { *count = offered };
                return Ok(true);
            }
            // SAFETY: `ask` passes a writable number and an array with room for that many elements.
            unsafe {
                assert!(written <= *count);
                (0..written).for_each(|index| array.add(index as usize).write(index + 1));
                *count = claimed;
            }
            is_whole(result)
        };
        // SAFETY: the elements are integers, for which any bytes are valid.
        unsafe { asking.ask(HostAllocator::system(), call) }.map(|list| list.to_vec())
    }

    #[test]
    fn drv_169_the_smaller_of_both_counts_is_believed() {
        for result in [VkResult::VK_SUCCESS, VkResult::VK_INCOMPLETE] {
            assert_eq!(listed(3, 3, 3, result), Ok(vec![1, 2, 3]));
            assert_eq!(listed(3, 2, 2, result), Ok(vec![1, 2]));
            assert_eq!(listed(3, 0, 0, result), Ok(vec![]));
            assert_eq!(listed(2, 2, 9, result), Ok(vec![1, 2]));
            assert_eq!(listed(2, 1, 9, result), Ok(vec![1, 0]));
            assert_eq!(listed(9, 5, 9, result), Ok(vec![1, 2, 3, 4, 5]));
        }
    }

    #[test]
    fn drv_120_no_elements_need_no_second_call() {
        assert_eq!(listed(0, 9, 9, VkResult::VK_ERROR_DEVICE_LOST), Ok(vec![]));
    }

    #[test]
    fn drv_120_anything_but_success_is_a_failure() {
        for result in [
            VkResult::VK_TIMEOUT,
            VkResult::VK_ERROR_DEVICE_LOST,
            VkResult::VK_ERROR_OUT_OF_HOST_MEMORY,
        ] {
            assert_eq!(listed(2, 2, 2, result), Err(result));
        }
    }

    /// Queries a list of `first` elements that grows by `more` after each of its first four counts. Returns the number of elements that are
    /// found in the end, and the number of calls.
    fn growing(asking: TwoCalls, first: u32, more: u32) -> (usize, u32) {
        let (length, calls) = (Cell::new(first), Cell::new(0));
        let call = |count: *mut u32, array: *mut u8| {
            calls.set(calls.get() + 1);
            // SAFETY: `ask` passes a writable number.
            let count = unsafe { &mut *count };
            if array.is_null() {
                *count = length.get();
                length.set(length.get() + if calls.get() > 7 { 0 } else { more });
                return Ok(true);
            }
            *count = length.get().min(*count);
            Ok(*count == length.get())
        };
        // SAFETY: the elements are integers, for which any bytes are valid.
        let list = unsafe { asking.ask(HostAllocator::system(), call) };
        (list.expect("memory").len(), calls.get())
    }

    #[test]
    fn drv_120_a_list_that_grew_is_asked_for_anew() {
        let asking = TwoCalls {
            most: 100,
            attempts: 8,
            even_empty: false,
        };
        assert_eq!(growing(asking, 1, 0), (1, 2));
        assert_eq!(growing(asking, 1, 1), (5, 10));
        assert_eq!(growing(TwoCalls { attempts: 3, ..asking }, 1, 1), (3, 6));
        assert_eq!(growing(asking, 1, 100), (100, 4));
    }

    #[test]
    fn drv_134_an_empty_list_that_grew_is_asked_for_anew() {
        let asking = TwoCalls {
            most: 100,
            attempts: 8,
            even_empty: true,
        };
        assert_eq!(growing(asking, 0, 0), (0, 2));
        assert_eq!(growing(asking, 0, 1), (4, 10));
        let once = TwoCalls {
            even_empty: false,
            ..asking
        };
        assert_eq!(growing(once, 0, 1), (0, 1));
    }
}
