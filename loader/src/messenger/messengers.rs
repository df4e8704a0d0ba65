//! The callbacks of an instance.

use super::callback::Callback;
use super::message::{self, Message};
use super::registered::{Kind, Registered};
use crate::alloc::{HostAllocator, HostVec};
use crate::ffi;
use crate::generated::types::{
    VkBaseInStructure, VkDebugReportCallbackCreateInfoEXT, VkDebugUtilsMessengerCreateInfoEXT, VkSystemAllocationScope,
};
use crate::handle::{App, InstanceHandle};
use crate::slots::SlotTable;
use core::ffi::{CStr, c_void};
use core::ptr::NonNull;
use discovery::journal::LogBits;
use os::Mutex;
use os::memory::OutOfMemory;

/// Messengers and report callbacks of an instance, and the state that decides which of them receive messages now.
///
/// The lock is held only during a look-up or an insertion. An iteration that calls callbacks acquires the lock again for each step and
/// continues by serial number. A callback may therefore create and destroy messengers, including itself (APP-196).
pub(crate) struct Messengers(Mutex<State>);

struct State {
    /// The callbacks of `VkInstanceCreateInfo::pNext`, in chain order (APP-82).
    create_time: HostVec<Callback>,
    /// `true` while the callbacks in `create_time` receive messages, and the objects in `messengers` and `reports` receive none (APP-195,
    /// APP-197).
    creating: bool,
    last_serial: u64,
    messengers: SlotTable<Registered>,
    reports: SlotTable<Registered>,
}

// SAFETY: the pointers in the slot tables are dereferenced only under the lock; any thread may call the callbacks (Vulkan spec,
// VK_EXT_debug_utils).
unsafe impl Send for State {}

impl Messengers {
    /// Returns an empty collection; allocates nothing.
    pub(crate) fn new(allocator: HostAllocator) -> Self {
        let objects = allocator.scoped(VkSystemAllocationScope::VK_SYSTEM_ALLOCATION_SCOPE_OBJECT);
        Self(Mutex::new(State {
            create_time: HostVec::new(objects),
            creating: true,
            last_serial: 0,
            messengers: SlotTable::new(allocator),
            reports: SlotTable::new(allocator),
        }))
    }

    /// Sends a log line of the loader to the callbacks of `instance`, to which this collection belongs (APP-194).
    pub(crate) fn deliver_log_line(&self, instance: InstanceHandle<App>, bits: LogBits, text: &CStr) {
        let object = message::instance_object(instance);
        let data = message::loader_data(text, &object);
        let (severity, types) = message::severity_and_types(bits);
        // SAFETY: the data and everything that it points to are on this stack frame, which outlives the calls of the callbacks.
        let message = unsafe { Message::from_utils(severity, types, &data) };
        // SAFETY: all data of the message is on this stack frame, and no lock of the loader is held.
        unsafe { self.deliver(&message) };
    }

    /// Returns `true` if any callback receives messages now.
    pub(crate) fn any(&self) -> bool {
        self.heard_before(u64::MAX).is_some()
    }

    /// Copies the callbacks in a create info's chain, even if their extensions are not enabled (APP-82).
    ///
    /// # Safety
    /// `first` is NULL or the head of a valid chain.
    pub(crate) unsafe fn install_create_time(&self, first: *const c_void) -> Result<(), OutOfMemory> {
        // SAFETY: the caller promises a valid chain.
        let found = || unsafe { ffi::chain(first) }.filter_map(|at| unsafe { callback_in(at) });
        // The allocation may call the application's callbacks, so no lock is held.
        let allocator = self.0.lock().create_time.allocator();
        let mut installed = HostVec::try_with_capacity(found().count(), allocator)?;
        found().try_for_each(|callback| installed.try_push(callback))?;
        let replaced = core::mem::replace(&mut self.0.lock().create_time, installed);
        drop(replaced);
        Ok(())
    }

    /// Makes the application's messengers and report callbacks receive messages from now on, instead of the callbacks in the instance's
    /// create info (APP-97).
    pub(crate) fn suspend_create_time(&self) {
        self.0.lock().creating = false;
    }

    /// Makes the callbacks in the create info receive messages again (APP-111).
    pub(crate) fn resume_create_time(&self) {
        self.0.lock().creating = true;
    }

    /// Stops messages to the application's messengers and report callbacks; their objects stay until they are destroyed (APP-111).
    pub(crate) fn forget_ordinary(&self) {
        let state = self.0.lock();
        for kind in Kind::ALL {
            let mut index = 0;
            while let Some((at, mut object)) = state.slots(kind).at_or_after(index) {
                // SAFETY: objects in a slot are valid, and this thread holds the lock.
                unsafe { object.as_mut() }.serial = 0;
                index = at + 1;
            }
        }
    }

    /// Calls every callback that receives messages with the severity and types of `message`, the most recently created first (APP-195).
    /// Skips callbacks that are created meanwhile.
    ///
    /// # Safety
    /// All pointers in the message are valid. No lock of the loader is held.
    pub(crate) unsafe fn deliver(&self, message: &Message) {
        let mut before = u64::MAX;
        while let Some((serial, callback)) = self.heard_before(before) {
            // SAFETY: the caller promises valid pointers; the application keeps a messenger alive while it may be called.
            unsafe { callback.hear(message) };
            before = serial;
        }
    }

    /// Reserves a slot for an object.
    pub(crate) fn reserve(&self, kind: Kind, object: NonNull<Registered>) -> Result<usize, OutOfMemory> {
        SlotTable::reserve(&self.0, |state| state.slots_mut(kind), object, |_| ())
    }

    /// Makes an object in a slot receive messages.
    pub(crate) fn activate(&self, kind: Kind, slot: usize) {
        let mut state = self.0.lock();
        state.last_serial += 1;
        let serial = state.last_serial;
        if let Some(mut object) = state.slots(kind).get(slot) {
            // SAFETY: objects in a slot are valid, and this thread holds the lock.
            unsafe { object.as_mut() }.serial = serial;
        }
    }

    /// Returns the slot of an object; `None` if the pointer is not an object of this instance.
    pub(crate) fn slot_of(&self, kind: Kind, object: NonNull<Registered>) -> Option<usize> {
        self.0.lock().slots(kind).index_of(object.as_ptr())
    }

    /// Returns the first object at or after a slot, with the result of `read`.
    pub(crate) fn next_slot<T>(
        &self,
        kind: Kind,
        slot: usize,
        read: impl FnOnce(&Registered) -> T,
    ) -> Option<(usize, NonNull<Registered>, T)> {
        let state = self.0.lock();
        let (at, object) = state.slots(kind).at_or_after(slot)?;
        // SAFETY: objects in a slot are valid, and this thread holds the lock.
        Some((at, object, read(unsafe { object.as_ref() })))
    }

    /// Releases a slot; its object receives no more messages.
    pub(crate) fn release(&self, kind: Kind, slot: usize) {
        // The released object is ignored, because the caller already has it.
        let _ = self.0.lock().slots_mut(kind).release(slot);
    }

    /// Returns the newest callback older than `before` that receives messages now, and its serial number.
    fn heard_before(&self, before: u64) -> Option<(u64, Callback)> {
        let state = self.0.lock();
        if state.creating {
            // The n-th callback of the chain has serial number n, so the last callback is the newest.
            let count = usize::try_from(before - 1)
                .unwrap_or(usize::MAX)
                .min(state.create_time.len());
            return state.create_time[..count]
                .last()
                .map(|callback| (count as u64, *callback));
        }
        Kind::ALL
            .into_iter()
            .filter_map(|kind| state.youngest(kind, before))
            .max_by_key(|(serial, _)| *serial)
    }
}

impl State {
    fn slots(&self, kind: Kind) -> &SlotTable<Registered> {
        match kind {
            Kind::Messenger => &self.messengers,
            Kind::Report => &self.reports,
        }
    }

    fn slots_mut(&mut self, kind: Kind) -> &mut SlotTable<Registered> {
        match kind {
            Kind::Messenger => &mut self.messengers,
            Kind::Report => &mut self.reports,
        }
    }

    fn youngest(&self, kind: Kind, before: u64) -> Option<(u64, Callback)> {
        let slots = self.slots(kind);
        let mut best: Option<(u64, Callback)> = None;
        let mut index = 0;
        while let Some((at, object)) = slots.at_or_after(index) {
            // SAFETY: objects in a slot are valid while the lock is held, and `State` is reachable only with the lock.
            let object = unsafe { object.as_ref() };
            if object.serial != 0 && object.serial < before && best.is_none_or(|(serial, _)| serial < object.serial) {
                best = Some((object.serial, object.callback));
            }
            index = at + 1;
        }
        best
    }
}

/// Returns the callback that a structure of a create info's chain describes.
///
/// # Safety
/// `at` points to a valid structure of its `sType`.
unsafe fn callback_in(at: *const VkBaseInStructure) -> Option<Callback> {
    // SAFETY: the caller promises a valid structure.
    let kind = unsafe { (*at).sType };
    if kind == VkDebugUtilsMessengerCreateInfoEXT::STRUCTURE_TYPE {
        // SAFETY: the caller promises that the structure has the type of its `sType`.
        Some(unsafe { &*at.cast::<VkDebugUtilsMessengerCreateInfoEXT>() }.into())
    } else if kind == VkDebugReportCallbackCreateInfoEXT::STRUCTURE_TYPE {
        // SAFETY: the caller promises that the structure has the type of its `sType`.
        Some(unsafe { &*at.cast::<VkDebugReportCallbackCreateInfoEXT>() }.into())
    } else {
        None
    }
}
