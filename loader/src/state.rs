//! Everything that belongs to the process: all mutable statics of the loader live here.
//!
//! Lock order: none of these locks is ever held while another is taken, and none is held across a call into a layer, a
//! driver or an application callback. A lock protects a list for the length of a look-up or an insertion.

use crate::alloc::reserve::Reserve;
use crate::device::{Device, WalkEnds};
use crate::discovery::layers::Extent;
use crate::driver::{DriverList, PreloadedDrivers};
use crate::instance::{Found, Instance};
use crate::recall::{Kept, Slot};
use crate::settings::Settings;
use crate::wsi::Making;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What `VK_LOADER_DEBUG` asked for when the library was loaded (APP-230).
pub static LOG_MASK: AtomicU32 = AtomicU32::new(0);

/// What the process-wide settings file asks to log instead; zero when it says nothing (APP-234).
pub static SETTINGS_LOG_MASK: AtomicU32 = AtomicU32::new(0);

/// `VK_LOADER_DISABLE_DYNAMIC_LIBRARY_UNLOADING` was exactly `1` at load (DRV-236).
pub static KEEP_LIBRARIES: AtomicBool = AtomicBool::new(false);

/// What a call that ran out of memory ends with.
pub static RESERVE: Reserve = Reserve::new();

/// All live instances, newest first.
pub static INSTANCES: List<Instance> = List::new();

/// All live devices, newest first.
pub static DEVICES: List<Device> = List::new();

/// Which thread has put a stand-in into an application's chain of structures (APP-144).
pub static REGROUPING: Making = Making::new();

/// Where the destruction of a device waits for walks over the devices.
pub static WALKS: WalkEnds = WalkEnds::new();

/// Driver libraries kept open between a global query and the next `vkDestroyInstance` (DRV-233).
pub static PRELOADED: Mutex<Option<PreloadedDrivers>> = Mutex::new(None);

/// The settings file as the last global command read it (APP-243).
pub static SETTINGS: Mutex<Option<Arc<Settings>>> = Mutex::new(None);

/// What the last query for all layers found.
static FOUND_ALL: Slot<Kept<Found>> = Slot::new();

/// What the last query that needs implicit layers only found.
static FOUND_IMPLICIT: Slot<Kept<Found>> = Slot::new();

/// The driver manifests that the last query found.
pub static DRIVER_LIST: Slot<DriverList> = Slot::new();

/// Where queries for layers of this extent keep what they found.
pub fn found(extent: Extent) -> &'static Slot<Kept<Found>> {
    match extent {
        Extent::All => &FOUND_ALL,
        Extent::Implicit => &FOUND_IMPLICIT,
    }
}

/// Takes a lock. Panics abort the process, so a poisoned lock cannot be observed.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An object that can be a member of one [`List`], and so comes to any thread.
pub trait Linked: Sync + Sized + 'static {
    /// The link to the next older member. Only the list reads or writes it.
    fn next(&self) -> &AtomicPtr<Self>;
}

/// A list threaded through its members, so that adding one needs no memory.
pub struct List<T> {
    head: Mutex<Head<T>>,
    /// The member that [`List::at`] found last.
    recent: AtomicPtr<T>,
}

struct Head<T>(*mut T);

// SAFETY: the pointers are only followed under the list's lock, members stay valid until they are removed, and any thread
// may use them.
unsafe impl<T: Sync> Send for Head<T> {}

impl<T: Linked> Head<T> {
    /// The newest member that `wanted` accepts.
    fn find(&self, mut wanted: impl FnMut(&T) -> bool) -> Option<&'static T> {
        let mut at = self.0;
        // SAFETY: members are valid while they are in the list, which is locked while its head is borrowed.
        while let Some(current) = unsafe { at.cast_const().as_ref() } {
            if wanted(current) {
                return Some(current);
            }
            at = current.next().load(Ordering::Relaxed);
        }
        None
    }
}

impl<T: Linked> List<T> {
    /// An empty list.
    pub const fn new() -> Self {
        Self {
            head: Mutex::new(Head(std::ptr::null_mut())),
            recent: AtomicPtr::new(std::ptr::null_mut()),
        }
    }

    /// Adds a member.
    ///
    /// # Safety
    /// `member` is in no list yet. It stays valid until [`List::remove`], and then for as long as anybody uses a reference
    /// that [`List::find`] or [`List::at`] gave: what removes an object must not run beside a command that uses it, which is
    /// what Vulkan's external synchronisation demands of the application.
    pub unsafe fn insert(&self, member: NonNull<T>) {
        let mut head = lock(&self.head);
        // SAFETY: valid by this function's contract.
        unsafe { member.as_ref() }.next().store(head.0, Ordering::Relaxed);
        head.0 = member.as_ptr();
    }

    /// Removes a member. Returns whether it was in the list.
    pub fn remove(&self, member: *const T) -> bool {
        let _ = self.recent.compare_exchange(
            member.cast_mut(),
            std::ptr::null_mut(),
            Ordering::AcqRel,
            Ordering::Relaxed,
        );
        let mut head = lock(&self.head);
        let mut previous: Option<&T> = None;
        let mut at = head.0;
        // SAFETY: members are valid while they are in the list, and the list is locked.
        while let Some(current) = unsafe { at.cast_const().as_ref() } {
            let after = current.next().load(Ordering::Relaxed);
            if std::ptr::eq(at, member) {
                match previous {
                    Some(previous) => previous.next().store(after, Ordering::Relaxed),
                    None => head.0 = after,
                }
                return true;
            }
            previous = Some(current);
            at = after;
        }
        false
    }

    /// The newest member that `wanted` accepts. The reference outlives the lock, by the contract of [`List::insert`].
    pub fn find(&self, wanted: impl FnMut(&T) -> bool) -> Option<&'static T> {
        lock(&self.head).find(wanted)
    }
}

impl<T: Linked> List<T> {
    /// Does something while the list stays as it is, unless it has a member that `wanted` accepts.
    pub fn unless_any<R>(&self, wanted: impl FnMut(&T) -> bool, action: impl FnOnce() -> R) -> Option<R> {
        let head = lock(&self.head);
        head.find(wanted).is_none().then(action)
    }

    /// The member at `address`, without the lock if it is the one that was asked for last.
    pub fn at(&self, address: *const T) -> Option<&'static T> {
        let recent = self.recent.load(Ordering::Acquire).cast_const();
        if std::ptr::eq(recent, address) {
            // SAFETY: `remove` forgets a member before it may be freed; the rest is the contract of `insert`.
            return unsafe { recent.as_ref() };
        }
        let found = self.find(|member| std::ptr::eq(member, address))?;
        self.recent.store(address.cast_mut(), Ordering::Release);
        Some(found)
    }
}

impl<T: Linked> Default for List<T> {
    fn default() -> Self {
        Self::new()
    }
}
