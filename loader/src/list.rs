//! An intrusive list, for objects that outlive every reference the list returns.

use core::ptr::NonNull;
use core::sync::atomic::{AtomicPtr, Ordering};
use os::Mutex;

/// An object that can be a member of one [`List`], and so is visible to all threads.
pub(crate) trait Linked: Sync + Sized + 'static {
    /// Returns the link to the next older member. Only the list reads or writes the link.
    fn next(&self) -> &AtomicPtr<Self>;
}

/// A list whose links are in its members, so that adding a member needs no memory.
pub(crate) struct List<T> {
    /// Lock that is held while links are followed or changed.
    lock: Mutex<()>,
    /// The newest member, or [`List::END`]; written only under the lock.
    head: AtomicPtr<T>,
    /// The member that [`List::at`] found last.
    recent: AtomicPtr<T>,
}

/// A byte whose address ends every list.
static END: u8 = 0;

impl<T: Linked> List<T> {
    /// Address that marks the end of a list. The address is not null, so that [`List::newest`] never equals a pointer that an object may
    /// contain.
    const END: *mut T = (&raw const END).cast_mut().cast();

    /// Returns an empty list.
    pub(crate) const fn new() -> Self {
        Self {
            lock: Mutex::new(()),
            head: AtomicPtr::new(Self::END),
            recent: AtomicPtr::new(core::ptr::null_mut()),
        }
    }

    /// Offset of the member that [`List::newest`] reads.
    #[cfg(target_arch = "x86_64")]
    pub(crate) const NEWEST: usize = core::mem::offset_of!(Self, head);

    /// Returns the address of the newest member, or an address that no object outside this library contains.
    #[inline(always)]
    pub(crate) fn newest(&self) -> NonNull<T> {
        // SAFETY: neither members nor `END` have a null address.
        unsafe { NonNull::new_unchecked(self.head.load(Ordering::Relaxed)) }
    }

    /// Adds a member.
    ///
    /// # Safety
    /// `member` is in no list yet, and stays valid until [`List::remove`], and then as long as any thread uses a reference that
    /// [`List::find`] or [`List::at`] returned. This condition holds because Vulkan's external synchronisation forbids destroying an object
    /// while another command uses it.
    pub(crate) unsafe fn insert(&self, member: NonNull<T>) {
        let _locked = self.lock.lock();
        let older = self.head.load(Ordering::Relaxed);
        // SAFETY: the caller promises that `member` is valid.
        unsafe { member.as_ref() }.next().store(older, Ordering::Relaxed);
        self.head.store(member.as_ptr(), Ordering::Relaxed);
    }

    /// Removes a member. Returns `true` if it was in the list.
    pub(crate) fn remove(&self, member: *const T) -> bool {
        let _ = self.recent.compare_exchange(
            member.cast_mut(),
            core::ptr::null_mut(),
            Ordering::AcqRel,
            Ordering::Relaxed,
        );
        let _locked = self.lock.lock();
        let mut link = &self.head;
        // SAFETY: this thread holds the lock, and `link` is the head or a member's link.
        while let Some(current) = unsafe { Self::member(link) } {
            if core::ptr::eq(current, member) {
                link.store(current.next().load(Ordering::Relaxed), Ordering::Relaxed);
                return true;
            }
            link = current.next();
        }
        false
    }

    /// Returns the newest member that `wanted` accepts. The reference outlives the lock; the contract of [`List::insert`] keeps the
    /// reference valid.
    pub(crate) fn find(&self, wanted: impl FnMut(&T) -> bool) -> Option<&'static T> {
        let _locked = self.lock.lock();
        // SAFETY: this thread holds the lock of the list.
        unsafe { self.search(wanted) }
    }

    /// Returns the newest member that `wanted` accepts.
    ///
    /// # Safety
    /// The caller holds the lock of the list.
    unsafe fn search(&self, mut wanted: impl FnMut(&T) -> bool) -> Option<&'static T> {
        let mut link = &self.head;
        // SAFETY: the caller holds the lock, and `link` is the head or a member's link.
        while let Some(current) = unsafe { Self::member(link) } {
            if wanted(current) {
                return Some(current);
            }
            link = current.next();
        }
        None
    }

    /// Returns the member to which a link points.
    ///
    /// # Safety
    /// The caller holds the lock of the list, and `link` is its head or the link of a member.
    unsafe fn member<'a>(link: &AtomicPtr<T>) -> Option<&'a T> {
        let at = link.load(Ordering::Relaxed).cast_const();
        // SAFETY: members are valid while they are in the list, and the caller holds its lock.
        (!core::ptr::eq(at, Self::END)).then(|| unsafe { &*at })
    }

    /// Returns the member at `address`. Takes no lock if the last call asked for the same member.
    pub(crate) fn at(&self, address: *const T) -> Option<&'static T> {
        let recent = self.recent.load(Ordering::Acquire).cast_const();
        if core::ptr::eq(recent, address) {
            // SAFETY: `remove` clears `recent` before a member may be freed; after that, the contract of `insert` keeps the member valid.
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
            // SAFETY: the members live until the end of the test and are in no other list.
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
