//! A list for values that keep their address.

use super::{HostAllocator, HostBox};
use core::ops::{Deref, DerefMut};
use os::memory::OutOfMemory;

/// Values threaded through themselves, newest first. Memory for a value is taken before the list is touched, so the lock of
/// a list need not be held while the application's callbacks run.
pub struct HostList<T> {
    newest: Option<HostBox<Node<T>>>,
}

/// `value` comes first: its address is that of the node.
#[repr(C)]
struct Node<T> {
    value: T,
    older: Option<HostBox<Self>>,
}

/// A value that is in no list yet.
pub struct Made<T>(HostBox<Node<T>>);

impl<T> Made<T> {
    /// Moves `value` into host memory.
    ///
    /// # Errors
    /// When there is none.
    pub fn try_new(value: T, allocator: HostAllocator) -> Result<Self, OutOfMemory> {
        HostBox::try_new(Node { value, older: None }, allocator).map(Self)
    }
}

impl<T> Deref for Made<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0.value
    }
}

impl<T> DerefMut for Made<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0.value
    }
}

impl<T> Default for HostList<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> HostList<T> {
    /// No values; allocates nothing.
    pub const fn new() -> Self {
        Self { newest: None }
    }

    fn nodes(&self) -> impl Iterator<Item = &HostBox<Node<T>>> {
        core::iter::successors(self.newest.as_ref(), |node| node.older.as_ref())
    }

    /// The values, the newest first.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.nodes().map(|node| &node.value)
    }

    /// The address of the newest value that `wanted` accepts.
    pub fn find(&self, wanted: impl Fn(&T) -> bool) -> Option<*mut T> {
        self.nodes()
            .find(|node| wanted(&node.value))
            .map(|node| node.as_ptr().cast())
    }

    /// Adds a value; its address stays the same for the life of the list.
    pub fn add(&mut self, Made(mut node): Made<T>) -> *mut T {
        let address = node.as_ptr().cast();
        node.older = self.newest.take();
        self.newest = Some(node);
        address
    }
}

impl<T> Drop for HostList<T> {
    /// One after the other: the nodes' own order would recurse once a value.
    fn drop(&mut self) {
        let mut next = self.newest.take();
        while let Some(mut node) = next {
            next = node.older.take();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(value: u64) -> Made<u64> {
        Made::try_new(value, HostAllocator::system()).expect("memory")
    }

    #[test]
    fn drv_128_a_value_keeps_its_address() {
        let mut list = HostList::new();
        let first = list.add(made(1));
        let others: Vec<_> = (2..100_000).map(|value| list.add(made(value))).collect();
        assert!(!others.contains(&first));
        assert_eq!(list.find(|&value| value == 1), Some(first));
        assert_eq!(list.find(|&value| value == 100_000), None);
        assert_eq!(list.iter().next(), Some(&99_999));
    }
}
