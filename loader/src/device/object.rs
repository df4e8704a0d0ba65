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

/// The record of a device. The address of the record is the dispatch pointer in the device, its queues and its command buffers.
///
/// All threads that use the device share the record. The record lives from `vkCreateDevice` to `vkDestroyDevice`.
#[repr(C)]
pub(crate) struct Device {
    table: DeviceTable,
    answers: Answers,
    record: Record,
    ends: Ends,
}

/// Members of a device that are not tables.
struct Record {
    /// Value of [`Device::highest_rank`].
    highest_rank: AtomicU8,
    next: AtomicPtr<Device>,
    allocator: HostAllocator,
    instance: &'static Instance,
    /// The topmost layer's handle of the device; null during creation.
    handle: AtomicPtr<c_void>,
    /// The topmost entity's lookup function; valid once `handle` is not null.
    lookup: SetOnce<GetDeviceProcAddr>,
    /// Extensions that the application enabled, among those that the loader knows.
    requested: DeviceExtensionSet,
    /// Devices that the driver created; a layer may call the terminator more than once.
    driver_device: HostList<DriverDevice>,
    uses: UseCount,
}

/// Functions that `vkGetDeviceProcAddr` returns for the device: one for each slot of the table, and NULL at index [`NO_ANSWER`].
type Answers = [Entry<Slot>; NO_ANSWER + 1];

/// The driver's device, as the terminator stored it.
pub(super) struct DriverDevice {
    /// Driver that created the device.
    pub driver: &'static InstanceDriver,
    /// Handle of the device in the driver.
    pub handle: VkDevice,
    /// The driver's lookup of device commands.
    pub get_device_proc_addr: GetDeviceProcAddr,
    /// Extensions enabled on the driver's device, among those that the loader knows (DRV-197).
    pub enabled: DeviceExtensionSet,
    /// The driver's functions that the loader's device terminators call; absent where the extension is not enabled.
    pub terminators: DeviceTerminatorTable,
}

// SAFETY: the tables are written word by word through atomics, and everything else is immutable or atomic.
unsafe impl Sync for Device {}
// SAFETY: the record has no thread of its own, and everything that its pointers refer to outlives the device.
unsafe impl Send for Device {}

impl Device {
    /// Creates a record in whose tables every command is missing.
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
        // The tables are too large to be created elsewhere and moved. SAFETY: the function writes every member, and answers may consist of
        // bytes that are all zero.
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

    /// Returns the record that contains a dispatch table.
    ///
    /// # Safety
    /// The table is part of a record, as is every table that [`translation::device_table`](crate::translation::device_table) returns.
    #[inline(always)]
    pub(crate) unsafe fn of_table(table: &'static DeviceTable) -> &'static Self {
        // SAFETY: the caller promises that the table is part of a record; with `repr(C)` it is the first member.
        unsafe { &*core::ptr::from_ref(table).cast::<Self>() }
    }

    /// Returns the table through which trampolines call.
    #[inline(always)]
    pub(crate) fn table(&self) -> &DeviceTable {
        &self.table
    }

    /// Returns the functions that `vkGetDeviceProcAddr` returns for the device, one for each slot of the table.
    ///
    /// A slot contains NULL if the command is missing or hidden. Until the chain has created the device, only commands that the loader
    /// answers itself are set. The last slot belongs to no command and is always NULL.
    #[inline(always)]
    pub(crate) fn answers(&self) -> &Answers {
        &self.answers
    }

    /// Returns the functions at the end of the device's chain that layers have requested.
    pub(crate) fn ends(&self) -> &Ends {
        &self.ends
    }

    /// Offset of [`Device::ends`].
    pub(crate) const ENDS: usize = core::mem::offset_of!(Self, ends);

    /// Returns the instance of the device.
    pub(crate) fn instance(&self) -> &'static Instance {
        self.record.instance
    }

    /// Returns the allocator of the record (APP-146).
    pub(crate) fn allocator(&self) -> HostAllocator {
        self.record.allocator
    }

    /// Returns the driver that created the device; `None` if a layer answered `vkCreateDevice` without a driver.
    pub(crate) fn driver(&self) -> Option<&'static InstanceDriver> {
        self.record
            .driver_device
            .newest()
            .map(|driver_device| driver_device.driver)
    }

    /// Returns the driver's functions that the loader's device terminators call (DRV-199).
    pub(crate) fn terminators(&self) -> Option<&DeviceTerminatorTable> {
        self.record
            .driver_device
            .newest()
            .map(|driver_device| &driver_device.terminators)
    }

    /// Returns the extensions that are enabled on the driver's device, among those that the loader knows.
    pub(crate) fn enabled(&self) -> DeviceExtensionSet {
        self.record
            .driver_device
            .newest()
            .map_or(DeviceExtensionSet::empty(), |driver_device| driver_device.enabled)
    }

    /// Returns `true` if the application enabled `extension`, which some entity of the chain listed (APP-44).
    pub(crate) fn names_objects(&self, extension: DeviceExtension) -> bool {
        self.record.requested.contains(extension)
    }

    /// Returns the rank of the newest core version whose commands the look-up shows (APP-46).
    pub(crate) fn highest_rank(&self) -> u8 {
        self.record.highest_rank.load(Ordering::Relaxed)
    }

    /// Records whether the look-up hides core commands that are newer than the application's API version.
    pub(super) fn hide_newer_commands(&self, hides: bool) {
        let highest = if hides {
            lookup::rank(self.record.instance.api_version().0)
        } else {
            lookup::ALL_RANKS
        };
        self.record.highest_rank.store(highest, Ordering::Relaxed);
    }

    /// Records the handle for the application and the lookup function that belongs to it. From then on, other threads look up new names
    /// through the device.
    pub(super) fn set_handle(&self, handle: VkDevice, lookup: GetDeviceProcAddr) {
        let _ = self.record.lookup.set(lookup);
        self.record.handle.store(handle.0, Ordering::Release);
    }

    /// Returns the topmost layer's handle of the device.
    pub(crate) fn handle(&self) -> VkDevice {
        VkDevice(self.record.handle.load(Ordering::Acquire))
    }

    /// Returns the devices that the driver created.
    pub(super) fn driver_device(&self) -> &HostList<DriverDevice> {
        &self.record.driver_device
    }

    /// Asks the topmost entity of the chain for a function that the registry does not know.
    pub(crate) fn ask_chain(&self, name: Uncounted<'_>) -> PFN_vkVoidFunction {
        let lookup = *self.record.lookup.get()?;
        if core::ptr::fn_addr_eq(lookup, terminator::vkGetDeviceProcAddr as GetDeviceProcAddr) {
            // Without layers, the driver is the whole chain.
            return self.ask_driver(name, None);
        }
        // SAFETY: the lookup function belongs to the topmost entity and receives the handle that this entity returned.
        unsafe { lookup(self.handle(), name.as_ptr()) }
    }

    /// Asks the driver for a function; `row` is the row of the command, or `None` if the registry does not know the command.
    pub(crate) fn ask_driver(&self, name: Uncounted<'_>, row: Option<&Row>) -> PFN_vkVoidFunction {
        let driver_device = self.record.driver_device.newest()?;
        // SAFETY: the lookup function belongs to the driver and receives the driver's own device.
        unsafe { driver_function(driver_device.get_device_proc_addr, driver_device.handle, name, row) }
    }

    /// Waits until no iteration over the devices uses this device, and excludes the device from later iterations. Must be called before the
    /// destruction.
    pub(super) fn close(&self) {
        self.record.uses.close();
    }
}

/// Asks a driver for a device function.
///
/// A driver that looks up a function by name may find the loader's entry point of this name. This entry point is treated as absent, because
/// a call of the entry point would never return (DRV-77, DRV-260).
///
/// # Safety
/// `lookup` belongs to the driver, and `handle` is one of its devices.
pub(super) unsafe fn driver_function(
    lookup: GetDeviceProcAddr,
    handle: VkDevice,
    name: Uncounted<'_>,
    row: Option<&Row>,
) -> PFN_vkVoidFunction {
    // SAFETY: the caller promises that the lookup function belongs to the driver, and so does the device.
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
    /// Iterates over the finished devices of an instance. The iterator holds no lock between two devices.
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

    /// Adds a use to a device that is already in use.
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
