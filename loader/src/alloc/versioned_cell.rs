//! A value of which a later one may take the place, while references to the earlier ones live on.
//!
//! A layer may let the end of a chain run again within one creation: with fewer extensions after a failure, or after it
//! destroyed what the first run made. What counts then is what the last run made, but objects may refer to the others.

use super::{HostAllocator, HostBox};
use core::sync::atomic::{AtomicPtr, Ordering};
use os::memory::OutOfMemory;

/// Values that live as long as this, the latest of which counts. Any thread may read; one at a time adds.
pub struct VersionedCell<T> {
    node: AtomicPtr<Node<T>>,
    allocator: HostAllocator,
}

struct Node<T> {
    value: Option<T>,
    earlier: Option<HostBox<Self>>,
}

/// Memory for one more value, so that adding it cannot fail.
pub struct Room<T>(HostBox<Node<T>>);

impl<T> VersionedCell<T> {
    /// No value yet; all of them will lie in memory from `allocator`.
    pub const fn new(allocator: HostAllocator) -> Self {
        Self {
            node: AtomicPtr::new(core::ptr::null_mut()),
            allocator,
        }
    }

    /// Memory for a value.
    ///
    /// # Errors
    /// When the allocator has none.
    pub fn room(&self) -> Result<Room<T>, OutOfMemory> {
        let node = Node {
            value: None,
            earlier: None,
        };
        HostBox::try_new(node, self.allocator).map(Room)
    }

    /// Makes `value` the one that counts.
    pub fn add(&self, Room(mut node): Room<T>, value: T) {
        node.value = Some(value);
        let earlier = self.node.load(Ordering::Relaxed);
        // SAFETY: the pointer came from `into_raw` here, of a box made by `room` with this allocator; from now on the new
        // node owns it, and this list only owns the new one.
        node.earlier = (!earlier.is_null()).then(|| unsafe { HostBox::from_raw(earlier, self.allocator) });
        self.node.store(node.into_raw().0, Ordering::Release);
    }

    /// The value that counts.
    pub fn get(&self) -> Option<&T> {
        self.first()?.value.as_ref()
    }

    /// All values, the latest first.
    pub fn all(&self) -> impl Iterator<Item = &T> {
        core::iter::successors(self.first(), |node| node.earlier.as_deref()).filter_map(|node| node.value.as_ref())
    }

    fn first(&self) -> Option<&Node<T>> {
        // SAFETY: null, or a node that stays where it is for as long as `self`.
        unsafe { self.node.load(Ordering::Acquire).as_ref() }
    }
}

impl<T> Drop for VersionedCell<T> {
    fn drop(&mut self) {
        let latest = *self.node.get_mut();
        // SAFETY: as in `add`; nothing refers to the list any more.
        let mut next = (!latest.is_null()).then(|| unsafe { HostBox::from_raw(latest, self.allocator) });
        // Not by recursion, which a long list would turn into a deep stack.
        while let Some(mut node) = next {
            next = node.earlier.take();
        }
    }
}
