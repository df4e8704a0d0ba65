//! Physical devices that a driver has reported so far.

use crate::alloc::{HostAllocator, HostVec};
use crate::handle::{Driver, PhysicalDeviceHandle};
use core::sync::atomic::{AtomicU8, Ordering};
use os::Mutex;
use os::memory::OutOfMemory;

type Handles = HostVec<PhysicalDeviceHandle<Driver>>;

/// State before the first enumeration.
const UNKNOWN: u8 = 0;
/// State in which every enumeration so far found nothing, or failed.
const NONE: u8 = 1;
/// State after an enumeration found a device; this state never changes.
const SOME: u8 = 2;

/// Devices that one driver of an instance reported. Any thread may use this value.
pub(crate) struct ReportedDevices {
    state: AtomicU8,
    /// Result of the last successful enumeration.
    last: Mutex<Handles>,
}

impl ReportedDevices {
    /// Returns the state before the first enumeration.
    pub(crate) const fn new(allocator: HostAllocator) -> Self {
        Self {
            state: AtomicU8::new(UNKNOWN),
            last: Mutex::new(Handles::new(allocator)),
        }
    }

    /// Stores the list of a successful enumeration. Allocates only if the list differs from the previous one.
    ///
    /// # Errors
    /// There is not enough memory.
    pub(super) fn remember(
        &self,
        handles: &[PhysicalDeviceHandle<Driver>],
        allocator: HostAllocator,
    ) -> Result<(), OutOfMemory> {
        self.note(!handles.is_empty());
        let is_known = {
            let last = self.last.lock();
            let pairs = last.iter().zip(handles);
            last.len() == handles.len() && pairs.into_iter().all(|(a, b)| a.raw() == b.raw())
        };
        if !is_known {
            // The lists are swapped under the lock; memory is allocated and freed without it.
            let mut list = Handles::try_from_slice(handles, allocator)?;
            core::mem::swap(&mut *self.last.lock(), &mut list);
        }
        Ok(())
    }

    /// Returns the list of the last successful enumeration, after an enumeration that failed.
    ///
    /// # Errors
    /// Memory ran out.
    pub(super) fn remembered(&self, allocator: HostAllocator) -> Result<Handles, OutOfMemory> {
        self.note(false);
        let mut copy = Handles::new(allocator);
        loop {
            let missing = {
                let last = self.last.lock();
                if last.len() <= copy.capacity() {
                    copy.try_append(&last)?;
                    return Ok(copy);
                }
                last.len()
            };
            copy.try_reserve_exact(missing)?;
        }
    }

    /// Records whether an enumeration found a device.
    pub(super) fn note(&self, any: bool) {
        self.state.fetch_max(if any { SOME } else { NONE }, Ordering::Relaxed);
    }

    /// Returns `true` if the driver ever reported a device.
    pub(crate) fn ever_any(&self) -> bool {
        self.state.load(Ordering::Relaxed) == SOME
    }

    /// Returns `true` if the driver was asked and never reported a device.
    pub(crate) fn none_yet(&self) -> bool {
        self.state.load(Ordering::Relaxed) == NONE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handle(number: usize) -> PhysicalDeviceHandle<Driver> {
        PhysicalDeviceHandle::from_raw(core::ptr::without_provenance_mut(number))
    }

    #[test]
    fn drv_131_a_device_once_reported_counts_for_good() {
        let allocator = HostAllocator::system();
        let devices = ReportedDevices::new(allocator);
        assert!(!devices.none_yet() && !devices.ever_any());
        assert!(devices.remembered(allocator).is_ok_and(|list| list.is_empty()));
        assert!(devices.none_yet());
        devices.remember(&[handle(1), handle(2)], allocator).expect("memory");
        let remembered = devices.remembered(allocator).expect("memory");
        assert_eq!(
            remembered.iter().map(|handle| handle.raw().addr()).collect::<Vec<_>>(),
            [1, 2]
        );
        devices.remember(&[], allocator).expect("memory");
        assert!(devices.remembered(allocator).is_ok_and(|list| list.is_empty()));
        assert!(devices.ever_any() && !devices.none_yet());
    }

    #[test]
    fn drv_131_the_list_of_the_last_enumeration_counts() {
        let allocator = HostAllocator::system();
        let devices = ReportedDevices::new(allocator);
        for numbers in [
            &[1, 2][..],
            &[2, 1],
            &[2, 1, 3],
            &[2, 1],
            &[2, 4],
            &[2, 4],
            &[5, 4],
            &[4],
            &[],
        ] {
            let handles: Vec<_> = numbers.iter().copied().map(handle).collect();
            devices.remember(&handles, allocator).expect("memory");
            let remembered = devices.remembered(allocator).expect("memory");
            let found: Vec<usize> = remembered.iter().map(|handle| handle.raw().addr()).collect();
            assert_eq!(found, numbers);
            assert!(devices.ever_any());
        }
    }
}
