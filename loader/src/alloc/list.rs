//! A list whose values keep their address while others are added.

use super::{HostAllocator, HostBox};
use core::marker::PhantomData;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering};
use os::memory::OutOfMemory;

/// Values that live as long as the list, newest first. Any thread may read and add without a lock. `ReservedNode` allocates before the list
/// is touched, so no lock around the list is held while the application's callbacks run.
///
/// Some users read only the newest value, while references to earlier ones stay valid. For example, a layer may call the loader's
/// terminator again while the application creates one object: with fewer extensions after a failure, or after the layer destroyed the first
/// result.
pub(crate) struct HostList<T> {
    newest: AtomicPtr<Node<T>>,
    /// Makes the compiler derive neither `Send` nor `Sync`; the impls below state the conditions.
    owned: PhantomData<*mut T>,
}

// SAFETY: the list owns its values, and any thread may free the memory of a node.
unsafe impl<T: Send> Send for HostList<T> {}
// SAFETY: threads that share the list read its values (`T: Sync`), and one thread may drop a value that another added (`T: Send`).
unsafe impl<T: Send + Sync> Sync for HostList<T> {}

struct Node<T> {
    value: Option<T>,
    allocator: HostAllocator,
    older: *mut Self,
}

/// Memory for one more value, so that adding it cannot fail.
pub(crate) struct ReservedNode<T>(HostBox<Node<T>>);

impl<T> ReservedNode<T> {
    /// Allocates memory for one value.
    ///
    /// # Errors
    /// The allocator has no memory.
    pub(crate) fn new(allocator: HostAllocator) -> Result<Self, OutOfMemory> {
        let node = Node {
            value: None,
            allocator,
            older: null_mut(),
        };
        HostBox::try_new(node, allocator).map(Self)
    }
}

impl<T> HostList<T> {
    /// Returns an empty list; allocates nothing.
    pub(crate) const fn new() -> Self {
        Self {
            newest: AtomicPtr::new(null_mut()),
            owned: PhantomData,
        }
    }

    /// Adds a value before the others.
    pub(crate) fn add(&self, ReservedNode(mut node): ReservedNode<T>, value: T) {
        node.value = Some(value);
        let (node, _) = node.into_raw();
        let mut older = self.newest.load(Ordering::Relaxed);
        loop {
            // SAFETY: no other thread can reach the node before it is in the list.
            unsafe { (*node).older = older };
            match self
                .newest
                .compare_exchange_weak(older, node, Ordering::Release, Ordering::Relaxed)
            {
                Ok(_) => return,
                Err(newer) => older = newer,
            }
        }
    }

    /// Returns the newest value.
    #[inline]
    pub(crate) fn newest(&self) -> Option<&T> {
        self.first()?.value.as_ref()
    }

    /// Returns the values, newest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        // SAFETY: `older` is null or a node that was added before this one; nodes live as long as the list.
        core::iter::successors(self.first(), |node| unsafe { node.older.as_ref() })
            .filter_map(|node| node.value.as_ref())
    }

    fn first(&self) -> Option<&Node<T>> {
        // SAFETY: the pointer is null or a node, which keeps its address as long as `self` and does not change after it was added.
        unsafe { self.newest.load(Ordering::Acquire).as_ref() }
    }
}

impl<T> Default for HostList<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Drop for HostList<T> {
    /// Frees the nodes in a loop: a node that dropped the next one would recurse once per value.
    fn drop(&mut self) {
        let mut next = *self.newest.get_mut();
        while !next.is_null() {
            // SAFETY: `next` is a node of the list, and `&mut self` excludes other references to it.
            let (allocator, older) = unsafe { ((*next).allocator, (*next).older) };
            // SAFETY: `add` got this node from `into_raw` of a box with this allocator, and this loop frees each node once.
            drop(unsafe { HostBox::from_raw(next, allocator) });
            next = older;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rust_alloc::sync::Arc;

    fn add<T>(list: &HostList<T>, value: T) {
        list.add(ReservedNode::new(HostAllocator::system()).expect("memory"), value);
    }

    #[test]
    fn drv_128_a_value_keeps_its_address() {
        let list = HostList::new();
        add(&list, 1_u64);
        let first = core::ptr::from_ref(list.newest().unwrap());
        (2..100_000).for_each(|value| add(&list, value));
        assert_eq!(list.newest(), Some(&99_999));
        assert!(list.iter().copied().eq((1..100_000).rev()));
        assert_eq!(list.iter().last().map(core::ptr::from_ref), Some(first));
    }

    #[test]
    fn drv_110_every_value_is_dropped_once() {
        let value = Arc::new(());
        let list = HostList::new();
        (0..3).for_each(|_| add(&list, value.clone()));
        drop(ReservedNode::<Arc<()>>::new(HostAllocator::system()));
        assert_eq!(Arc::strong_count(&value), 4);
        drop(list);
        assert_eq!(Arc::strong_count(&value), 1);
    }

    #[test]
    fn drv_128_threads_that_add_lose_nothing() {
        let list = HostList::new();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let list = &list;
                scope.spawn(move || (0..1000).for_each(|number| add(list, thread * 1000 + number)));
            }
        });
        let mut values: Vec<u32> = list.iter().copied().collect();
        values.sort_unstable();
        assert!(values.into_iter().eq(0..4000));
    }
}
