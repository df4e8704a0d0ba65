//! Sorting with one function for elements of all types.
//!
//! The sort function of the standard library is generic, so its code would be in the library once per type, with three to six
//! kilobytes each. Its function for rotation has half a kilobyte per type.

/// A list of elements that are compared and moved by their indices.
trait Order {
    /// Returns the number of elements.
    fn count(&self) -> usize;

    /// Returns `true` if the element at index `one` belongs before the element at index `other`.
    fn is_before(&self, one: usize, other: usize) -> bool;

    /// Exchanges two elements.
    fn swap(&mut self, one: usize, other: usize);
}

struct By<'a, T, F>(&'a mut [T], F);

impl<T, F: Fn(&T, &T) -> bool> Order for By<'_, T, F> {
    fn count(&self) -> usize {
        self.0.len()
    }

    fn is_before(&self, one: usize, other: usize) -> bool {
        (self.1)(&self.0[one], &self.0[other])
    }

    fn swap(&mut self, one: usize, other: usize) {
        self.0.swap(one, other);
    }
}

/// Sorts elements. Equal elements may come in any order.
pub fn sort_by<T>(elements: &mut [T], is_before: impl Fn(&T, &T) -> bool) {
    sort_all(&mut By(elements, is_before));
}

/// Sorts elements by their own order.
pub fn sort<T: Ord>(elements: &mut [T]) {
    sort_by(elements, |one, other| one < other);
}

/// Sorts a list with heapsort, which allocates no memory and needs at most about `2 n log n` comparisons. A sorted list needs one pass.
#[inline(never)]
fn sort_all(list: &mut dyn Order) {
    let count = list.count();
    if (1..count).all(|place| !list.is_before(place, place - 1)) {
        return;
    }
    for root in (0..count / 2).rev() {
        sink(list, root, count);
    }
    for end in (1..count).rev() {
        list.swap(0, end);
        sink(list, 0, end);
    }
}

/// Moves the element at `root` down until no element below the moved element belongs after it. Looks for the lowest position in the heap
/// first, because most moved elements belong there.
fn sink(list: &mut dyn Order, root: usize, end: usize) {
    let mut place = root;
    while let Some(left) = Some(2 * place + 1).filter(|&left| left < end) {
        let right = left + 1;
        place = if right < end && list.is_before(left, right) {
            right
        } else {
            left
        };
    }
    while place != root && list.is_before(place, root) {
        place = (place - 1) / 2;
    }
    // Number of levels of the heap from `root` to `place`.
    let mut levels = (place + 1).ilog2() - (root + 1).ilog2();
    let mut at = root;
    while levels > 0 {
        levels -= 1;
        let next = ((place + 1) >> levels) - 1;
        list.swap(at, next);
        at = next;
    }
}

/// Moves the first `count` elements after the other elements.
///
/// # Panics
/// If there are fewer than `count` elements.
pub fn rotate_left<T>(elements: &mut [T], count: usize) {
    let (first, rest) = elements.split_at_mut(count);
    first.reverse();
    rest.reverse();
    elements.reverse();
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn lists_of_any_length_and_order_are_sorted() {
        let mut state = 1_u32;
        for length in 0..200 {
            for most in [1, 3, u32::MAX] {
                let mut list: Vec<u32> = (0..length)
                    .map(|_| {
                        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                        (state >> 8) % most
                    })
                    .collect();
                let mut expected = list.clone();
                expected.sort();
                sort(&mut list);
                assert_eq!(list, expected);
                list.reverse();
                sort(&mut list);
                assert_eq!(list, expected);
            }
        }
    }

    #[test]
    fn lists_are_rotated() {
        for length in 0..20 {
            for count in 0..=length {
                let mut list: Vec<usize> = (0..length).collect();
                rotate_left(&mut list, count);
                assert!(list.into_iter().eq((count..length).chain(0..count)));
            }
        }
    }

    #[test]
    fn a_sorted_list_takes_one_comparison_per_element() {
        let compared = core::cell::Cell::new(0);
        let mut list: Vec<u32> = (0..1000).collect();
        sort_by(&mut list, |one, other| {
            compared.set(compared.get() + 1);
            one < other
        });
        assert_eq!(compared.get(), 999);
    }
}
