//! The record that the loader keeps of a device (APP-146, DRV-199).

use crate::alloc::{HostAllocator, HostBox, HostList};
use crate::ffi::Uncounted;
use crate::ffi::layer_interface::GetDeviceProcAddr;
use crate::generated::dispatch::{DeviceTable, DeviceTerminatorTable};
use crate::generated::terminator;
use crate::generated::types::{PFN_vkVoidFunction, VkDevice};
use crate::instance::{Instance, InstanceDriver};
use crate::library::is_own_entry_point;
use crate::list::{Linked, List};
use crate::lookup::{self, NO_ANSWER, Row};
use crate::proc_addr::{self, Ends};
use crate::table::{Entry, Slot};
use core::ffi::c_void;
use core::sync::atomic::{AtomicPtr, AtomicU8, Ordering};
use discovery::extension::{DeviceExtension, DeviceExtensionSet};
use os::SetOnce;
use os::UseCount;
use os::memory::OutOfMemory;

/// All live devices, newest first.
pub(crate) static DEVICES: List<Device> = List::new();

/// A device. The dispatch pointer in the device, its queues and its command buffers is the address of this record.
///
/// Shared by every thread that uses the device; lives from `vkCreateDevice` to `vkDestroyDevice`.
#[repr(C)]
pub(crate) struct Device {
    table: DeviceTable,
    answers: Answers,
    record: Record,
    ends: Ends,
}

/// What a device has beside its table.
struct Record {
    /// [`Device::highest_rank`].
    highest_rank: AtomicU8,
    next: AtomicPtr<Device>,
    allocator: HostAllocator,
    instance: &'static Instance,
    /// What the topmost layer calls the device; null while it is being created.
    handle: AtomicPtr<c_void>,
    /// The topmost entity's lookup, which is valid once `handle` is not null.
    lookup: SetOnce<GetDeviceProcAddr>,
    /// Relevant extensions that the application enabled.
    requested: DeviceExtensionSet,
    /// What the driver made; a layer may have made it do so more than once.
    driver_device: HostList<DriverDevice>,
    uses: UseCount,
}

/// What a device's look-up answers without a thought, by slot.
type Answers = [Entry<Slot>; NO_ANSWER + 1];

/// What the end of the chain learned when the driver made its device.
pub(super) struct DriverDevice {
    /// The driver.
    pub driver: &'static InstanceDriver,
    /// The driver's device.
    pub handle: VkDevice,
    /// The driver's lookup of device commands.
    pub get_device_proc_addr: GetDeviceProcAddr,
    /// Relevant extensions enabled on the driver (DRV-197).
    pub enabled: DeviceExtensionSet,
    /// The driver's functions behind the loader's device terminators; absent where the extension is not enabled.
    pub terminators: DeviceTerminatorTable,
}

// SAFETY: the tables are written word by word through atomics, and everything else is immutable or atomic.
unsafe impl Sync for Device {}
// SAFETY: as above; what the pointers refer to outlives the device.
unsafe impl Send for Device {}

impl Device {
    /// A record in which every command is missing.
    pub(super) fn try_new(
        instance: &'static Instance,
        allocator: HostAllocator,
        requested: DeviceExtensionSet,
    ) -> Result<HostBox<Self>, OutOfMemory> {
        let record = Record {
            highest_rank: AtomicU8::new(lookup::ALL_RANKS),
            next: AtomicPtr::new(core::ptr::null_mut()),
            allocator,
            instance,
            handle: AtomicPtr::new(core::ptr::null_mut()),
            lookup: SetOnce::new(),
            requested,
            driver_device: HostList::new(),
            uses: UseCount::default(),
        };
        // Table and answers are too large to be moved there.
        // SAFETY: every member is written, the answers with NULL.
        let device = unsafe {
            HostBox::try_new_in_place(allocator, |device: *mut Self| {
                proc_addr::write_empty_device_table(&raw mut (*device).table);
                (&raw mut (*device).answers).write_bytes(0, 1);
                (&raw mut (*device).record).write(record);
                proc_addr::write_empty_ends(&raw mut (*device).ends);
            })
        }?;
        proc_addr::fill_own_answers(&device);
        Ok(device)
    }

    /// The record that a dispatch table belongs to.
    ///
    /// # Safety
    /// The table is one that a record has, as every table is that
    /// [`translation::device_table`](crate::translation::device_table) gives.
    #[inline(always)]
    pub(crate) unsafe fn of_table(table: &'static DeviceTable) -> &'static Self {
        // SAFETY: by this function's contract; the table is the record's first member, and `repr(C)` puts it first.
        unsafe { &*core::ptr::from_ref(table).cast::<Self>() }
    }

    /// The table that trampolines call through.
    #[inline(always)]
    pub(crate) fn table(&self) -> &DeviceTable {
        &self.table
    }

    /// What the look-up gives for each slot of the table: NULL for what has no answer or the device hides, and, but for
    /// what the loader answers itself, until the chain has made the device. One more is always NULL.
    #[inline(always)]
    pub(crate) fn answers(&self) -> &Answers {
        &self.answers
    }

    /// What the end of its chain has of the functions that layers asked for.
    pub(crate) fn ends(&self) -> &Ends {
        &self.ends
    }

    /// Where [`Device::ends`] lie.
    pub(crate) const ENDS: usize = core::mem::offset_of!(Self, ends);

    /// The instance it belongs to.
    pub(crate) fn instance(&self) -> &'static Instance {
        self.record.instance
    }

    /// Where its memory comes from (APP-146).
    pub(crate) fn allocator(&self) -> HostAllocator {
        self.record.allocator
    }

    /// The driver that made the device. A layer may answer `vkCreateDevice` alone; then it is any driver, and none of
    /// its functions is ever called for this device.
    pub(crate) fn driver(&self) -> Option<&'static InstanceDriver> {
        self.record
            .driver_device
            .newest()
            .map(|driver_device| driver_device.driver)
    }

    /// The driver's functions behind the loader's device terminators (DRV-199).
    pub(crate) fn terminators(&self) -> Option<&DeviceTerminatorTable> {
        self.record
            .driver_device
            .newest()
            .map(|driver_device| &driver_device.terminators)
    }

    /// Relevant extensions enabled on the driver's device.
    pub(crate) fn enabled(&self) -> DeviceExtensionSet {
        self.record
            .driver_device
            .newest()
            .map_or(DeviceExtensionSet::empty(), |driver_device| driver_device.enabled)
    }

    /// Whether the application enabled `extension`, which some entity of the chain listed (APP-44).
    pub(crate) fn names_objects(&self, extension: DeviceExtension) -> bool {
        self.record.requested.contains(extension)
    }

    /// The rank of the newest core version whose commands the look-up shows (APP-46).
    pub(crate) fn highest_rank(&self) -> u8 {
        self.record.highest_rank.load(Ordering::Relaxed)
    }

    /// Records whether the look-up hides core commands newer than the application's API version.
    pub(super) fn hide_newer_commands(&self, hides: bool) {
        let highest = if hides {
            lookup::rank(self.record.instance.api_version().0)
        } else {
            lookup::ALL_RANKS
        };
        self.record.highest_rank.store(highest, Ordering::Relaxed);
    }

    /// Records the handle that the application gets, and the lookup that belongs to it. From now on other threads ask the
    /// device for new names.
    pub(super) fn set_handle(&self, handle: VkDevice, lookup: GetDeviceProcAddr) {
        let _ = self.record.lookup.set(lookup);
        self.record.handle.store(handle.0, Ordering::Release);
    }

    /// What the topmost layer calls the device.
    pub(crate) fn handle(&self) -> VkDevice {
        VkDevice(self.record.handle.load(Ordering::Acquire))
    }

    /// What the driver made.
    pub(super) fn driver_device(&self) -> &HostList<DriverDevice> {
        &self.record.driver_device
    }

    /// Asks the top of the chain for a function that the registry does not know.
    pub(crate) fn ask_chain(&self, name: Uncounted<'_>) -> PFN_vkVoidFunction {
        let lookup = *self.record.lookup.get()?;
        if core::ptr::fn_addr_eq(lookup, terminator::vkGetDeviceProcAddr as GetDeviceProcAddr) {
            // Without layers the driver is the chain.
            return self.ask_driver(name, None);
        }
        // SAFETY: the topmost entity's lookup function with the handle that it returned.
        unsafe { lookup(self.handle(), name.as_ptr()) }
    }

    /// Asks the driver for a function; `row` is that of the command unless the registry does not know it.
    pub(crate) fn ask_driver(&self, name: Uncounted<'_>, row: Option<&Row>) -> PFN_vkVoidFunction {
        let driver_device = self.record.driver_device.newest()?;
        // SAFETY: the driver's lookup function with its own device.
        unsafe { driver_function(driver_device.get_device_proc_addr, driver_device.handle, name, row) }
    }

    /// Makes sure that no walk over the devices holds this one or will, before it is destroyed.
    pub(super) fn close(&self) {
        self.record.uses.close();
    }
}

/// Asks a driver for a device function. One of the loader's own, which a driver may find by its name instead of what it
/// meant to give, counts as absent: calling it would never come back (DRV-77, DRV-260).
///
/// # Safety
/// `lookup` is the driver's, `handle` one of its devices.
pub(super) unsafe fn driver_function(
    lookup: GetDeviceProcAddr,
    handle: VkDevice,
    name: Uncounted<'_>,
    row: Option<&Row>,
) -> PFN_vkVoidFunction {
    // SAFETY: by this function's contract.
    let found = unsafe { lookup(handle, name.as_ptr()) };
    found.filter(|&function| row.is_none_or(|row| !is_own_entry_point(row, function as *const ())))
}

impl Linked for Device {
    fn next(&self) -> &AtomicPtr<Self> {
        &self.record.next
    }
}

/// A device that cannot be destroyed while this value lives.
pub(crate) struct Pinned(&'static Device);

impl Pinned {
    /// The finished devices of an instance, one at a time and without a lock between them.
    pub(crate) fn all_of(instance: &Instance) -> impl Iterator<Item = Self> {
        let mut previous: Option<Self> = None;
        core::iter::from_fn(move || {
            let next = Self::after(instance, previous.as_ref());
            previous = next.as_ref().map(|pinned| Self::again(pinned.0));
            next
        })
    }

    fn after(instance: &Instance, previous: Option<&Self>) -> Option<Self> {
        let mut reached = previous.is_none();
        let found = DEVICES.find(|device| {
            let wanted = reached && core::ptr::eq(device.record.instance, instance) && !device.handle().0.is_null();
            reached |= previous.is_some_and(|previous| core::ptr::eq(previous.0, device));
            wanted && device.record.uses.acquire()
        });
        found.map(Self)
    }

    /// A second hold on a device that is held already.
    fn again(device: &'static Device) -> Self {
        device.record.uses.acquire_again();
        Self(device)
    }
}

impl core::ops::Deref for Pinned {
    type Target = Device;

    fn deref(&self) -> &Device {
        self.0
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        self.0.record.uses.release();
    }
}

const _: () = assert!(core::mem::offset_of!(Device, table) == 0);
