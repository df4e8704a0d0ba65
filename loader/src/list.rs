//! A list threaded through its members, for objects that outlive every look at them.

use core::ptr::NonNull;
use core::sync::atomic::{AtomicPtr, Ordering};
use os::Mutex;

/// An object that can be a member of one [`List`], and so comes to any thread.
pub(crate) trait Linked: Sync + Sized + 'static {
    /// The link to the next older member. Only the list reads or writes it.
    fn next(&self) -> &AtomicPtr<Self>;
}

/// A list threaded through its members, so that adding one needs no memory.
pub(crate) struct List<T> {
    /// Held while links are followed or changed.
    lock: Mutex<()>,
    /// The newest member, or [`List::END`]. Written under the lock.
    head: AtomicPtr<T>,
    /// The member that [`List::at`] found last.
    recent: AtomicPtr<T>,
}

/// Its address ends every list.
static END: u8 = 0;

impl<T: Linked> List<T> {
    /// Stands where no member follows. Not null, so that [`List::newest`] never equals what an object may hold.
    const END: *mut T = (&raw const END).cast_mut().cast();

    /// An empty list.
    pub(crate) const fn new() -> Self {
        Self {
            lock: Mutex::new(()),
            head: AtomicPtr::new(Self::END),
            recent: AtomicPtr::new(core::ptr::null_mut()),
        }
    }

    /// Where [`List::newest`] stands in a list.
    pub(crate) const NEWEST: usize = core::mem::offset_of!(Self, head);

    /// The address of the newest member, or one that no object outside this library holds.
    #[inline(always)]
    pub(crate) fn newest(&self) -> NonNull<T> {
        // SAFETY: members and the end of the list have addresses.
        unsafe { NonNull::new_unchecked(self.head.load(Ordering::Relaxed)) }
    }

    /// Adds a member.
    ///
    /// # Safety
    /// `member` is in no list yet. It stays valid until [`List::remove`], and then for as long as any thread uses a reference
    /// that [`List::find`] or [`List::at`] gave: what removes an object must not run beside a command that uses it, which is
    /// what Vulkan's external synchronisation demands of the application.
    pub(crate) unsafe fn insert(&self, member: NonNull<T>) {
        let _locked = self.lock.lock();
        let older = self.head.load(Ordering::Relaxed);
        // SAFETY: valid by this function's contract.
        unsafe { member.as_ref() }.next().store(older, Ordering::Relaxed);
        self.head.store(member.as_ptr(), Ordering::Relaxed);
    }

    /// Removes a member. Returns whether it was in the list.
    pub(crate) fn remove(&self, member: *const T) -> bool {
        let _ = self.recent.compare_exchange(
            member.cast_mut(),
            core::ptr::null_mut(),
            Ordering::AcqRel,
            Ordering::Relaxed,
        );
        let _locked = self.lock.lock();
        let mut link = &self.head;
        // SAFETY: the list is locked.
        while let Some(current) = unsafe { Self::member(link) } {
            if core::ptr::eq(current, member) {
                link.store(current.next().load(Ordering::Relaxed), Ordering::Relaxed);
                return true;
            }
            link = current.next();
        }
        false
    }

    /// The newest member that `wanted` accepts. The reference outlives the lock, by the contract of [`List::insert`].
    pub(crate) fn find(&self, wanted: impl FnMut(&T) -> bool) -> Option<&'static T> {
        let _locked = self.lock.lock();
        // SAFETY: the list is locked.
        unsafe { self.search(wanted) }
    }

    /// # Safety
    /// The list is locked.
    unsafe fn search(&self, mut wanted: impl FnMut(&T) -> bool) -> Option<&'static T> {
        let mut link = &self.head;
        // SAFETY: by this function's contract.
        while let Some(current) = unsafe { Self::member(link) } {
            if wanted(current) {
                return Some(current);
            }
            link = current.next();
        }
        None
    }

    /// The member that a link leads to.
    ///
    /// # Safety
    /// The list is locked, and `link` is its head or that of a member.
    unsafe fn member<'a>(link: &AtomicPtr<T>) -> Option<&'a T> {
        let at = link.load(Ordering::Relaxed).cast_const();
        // SAFETY: members are valid while they are in the list, and the list is locked.
        (!core::ptr::eq(at, Self::END)).then(|| unsafe { &*at })
    }

    /// The member at `address`, without the lock if it is the one that was asked for last.
    pub(crate) fn at(&self, address: *const T) -> Option<&'static T> {
        let recent = self.recent.load(Ordering::Acquire).cast_const();
        if core::ptr::eq(recent, address) {
            // SAFETY: `remove` forgets a member before it may be freed; the rest is the contract of `insert`.
            return unsafe { recent.as_ref() };
        }
        let found = self.find(|member| core::ptr::eq(member, address))?;
        self.recent.store(address.cast_mut(), Ordering::Release);
        Some(found)
    }
}

impl<T: Linked> Default for List<T> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Member(AtomicPtr<Self>);

    impl Linked for Member {
        fn next(&self) -> &AtomicPtr<Self> {
            &self.0
        }
    }

    #[test]
    fn app_182_the_newest_member_is_alive_and_never_null() {
        let members = [const { Member(AtomicPtr::new(core::ptr::null_mut())) }; 3];
        let list = List::new();
        let empty = list.newest();
        for member in &members {
            // SAFETY: the members outlive the list's use of them.
            unsafe { list.insert(NonNull::from(member)) };
            assert_eq!(list.newest(), NonNull::from(member));
        }
        assert!(list.remove(&raw const members[1]) && !list.remove(&raw const members[1]));
        assert_eq!(list.newest(), NonNull::from(&members[2]));
        assert!(list.remove(&raw const members[2]));
        assert_eq!(list.newest(), NonNull::from(&members[0]));
        assert!(list.find(|_| false).is_none());
        assert!(list.remove(&raw const members[0]));
        assert_eq!(list.newest(), empty);
    }
}
