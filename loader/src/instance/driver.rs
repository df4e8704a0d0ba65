//! A driver within an instance.

use super::Instance;
use crate::alloc::{HostAllocator, HostText};
use crate::dispatch_table::UNKNOWN_SLOTS;
use crate::driver::OpenDriver;
use crate::driver_interface::{self, EnumerateAdapterPhysicalDevices, GetProcAddr};
use crate::ffi::Uncounted;
use crate::generated::dispatch::DriverTable;
use crate::generated::types::{PFN_vkVoidFunction, VkAllocationCallbacks, VkPhysicalDeviceProperties, VkResult};
use crate::handle::{Driver, InstanceHandle, PhysicalDeviceHandle};
use crate::library::{Library, RealPath};
use crate::physical_device::ReportedDevices;
use crate::slots::HandleTable;
use crate::table::{Entry, Slot};
use crate::unopened::{ClosedDrivers, Known, StandIns as _};
use discovery::extension::InstanceExtensionSet;
use discovery::journal::Source;
use discovery::trace::Step;
use os::Mutex;
use os::ReentrantGate;
use os::UseCount;

/// The driver's own instance, and the functions of the driver.
///
/// Lives as long as the loader's instance, even after [`InstanceDriver::destroy`], so that pointers to this structure stay valid.
#[repr(C)]
pub(crate) struct InstanceDriver {
    /// The driver's functions for this instance.
    pub table: DriverTable,
    /// The driver's functions that the registry does not know, by slot (DRV-218).
    pub unknown: [Entry<Slot>; UNKNOWN_SLOTS],
    instance: *const Instance,
    /// Index of the driver in the list of drivers that the scan found.
    index: usize,
    library: Mutex<Option<Library>>,
    path: HostText,
    /// The negotiated interface version.
    pub interface_version: u32,
    /// Facts that were known before the driver was opened. The loader compares the driver's answers with these facts. At this position, the
    /// member fits into padding.
    pub known: Option<Known>,
    /// `true` for a driver from a driver service.
    pub is_of_service: bool,
    /// The driver's lookup of physical-device functions, if it has one and the loader may use it (DRV-69).
    pub get_physical_device_proc_addr: Option<GetProcAddr>,
    /// The driver's function that lists devices by adapter, on systems that use it (DRV-71).
    pub enumerate_adapter_physical_devices: Option<EnumerateAdapterPhysicalDevices>,
    /// The driver's lookup function.
    pub get_instance_proc_addr: GetProcAddr,
    /// Handle of the driver's own instance.
    pub handle: InstanceHandle<Driver>,
    /// Known extensions that were actually enabled on this driver (DRV-116).
    pub enabled: InstanceExtensionSet,
    /// Physical devices that the driver reported.
    pub devices: ReportedDevices,
    /// Number of threads that use the driver now, or a mark that the driver is retired.
    uses: UseCount,
    /// The driver's surfaces by slot.
    pub surfaces: Mutex<HandleTable>,
    /// Gate that is held by the thread that creates a surface in the driver (DRV-177).
    pub making_surface: ReentrantGate,
    /// The driver's messengers by slot.
    pub messengers: Mutex<HandleTable>,
    /// The driver's report callbacks by slot.
    pub report_callbacks: Mutex<HandleTable>,
}

// SAFETY: the raw pointer points to the owning instance, which outlives the driver; all mutable members are atomic or locked.
unsafe impl Send for InstanceDriver {}
// SAFETY: threads that share a driver change only atomic or locked members, and the owning instance outlives the driver.
unsafe impl Sync for InstanceDriver {}

impl InstanceDriver {
    /// Describes a driver whose instance was just created; `index` is the driver's position among the found drivers. The caller has filled
    /// the function table, and keeps the library until [`InstanceDriver::keep`].
    pub(crate) fn new(
        instance: &Instance,
        (index, driver): (usize, &OpenDriver),
        path: HostText,
        handle: InstanceHandle<Driver>,
        table: DriverTable,
        enabled: InstanceExtensionSet,
    ) -> Self {
        let allocator: HostAllocator = instance.allocator;
        Self {
            table,
            unknown: [const { Entry::new(None) }; UNKNOWN_SLOTS],
            instance,
            index,
            path,
            interface_version: driver.interface.version,
            get_physical_device_proc_addr: driver
                .interface
                .get_physical_device_proc_addr
                .filter(|_| driver.interface.version >= 4),
            enumerate_adapter_physical_devices: driver.interface.enumerate_adapter_physical_devices,
            get_instance_proc_addr: driver.interface.get_instance_proc_addr,
            library: Mutex::new(None),
            handle,
            enabled,
            known: driver.known,
            is_of_service: driver.source == Source::Service,
            devices: ReportedDevices::new(allocator),
            uses: UseCount::default(),
            surfaces: Mutex::new(HandleTable::new(allocator)),
            making_surface: ReentrantGate::new(),
            messengers: Mutex::new(HandleTable::new(allocator)),
            report_callbacks: Mutex::new(HandleTable::new(allocator)),
        }
    }

    /// Returns the path of the driver's library as the system reports it, or a substitute name.
    pub(crate) fn path(&self) -> &[u8] {
        self.path.bytes()
    }

    /// Returns the name by which messages refer to the driver.
    pub(crate) fn name(&self) -> RealPath<'_> {
        RealPath(self.path.bytes())
    }

    /// Takes ownership of the open library; `None` for a direct driver.
    pub(crate) fn keep(&self, library: Option<Library>) {
        *self.library.lock() = library;
    }

    /// Returns the instance of this driver.
    pub(crate) fn instance(&self) -> &'static Instance {
        // SAFETY: the instance owns this driver, so it outlives the driver.
        unsafe { &*self.instance }
    }

    /// Asks the driver for one of its instance-level functions.
    #[inline]
    pub(crate) fn lookup(&self, name: Uncounted<'_>) -> PFN_vkVoidFunction {
        driver_interface::lookup(self.get_instance_proc_addr, self.handle, name)
    }

    /// Returns the driver's own handle of a device, for structures that the driver reads. Opens the driver if a stand-in replaces its
    /// instance.
    ///
    /// # Errors
    /// The driver cannot be opened, or lacks the device.
    pub(crate) fn own_device(
        &self,
        device: PhysicalDeviceHandle<Driver>,
    ) -> Result<PhysicalDeviceHandle<Driver>, VkResult> {
        ClosedDrivers::own_device(self.get_instance_proc_addr, device)
    }

    /// Returns the driver's own handle of its instance. Opens the driver if a stand-in replaces the instance.
    ///
    /// # Errors
    /// The driver cannot be opened.
    pub(crate) fn own_instance(&self) -> Result<InstanceHandle<Driver>, VkResult> {
        ClosedDrivers::own_instance(self.get_instance_proc_addr, self.handle)
    }

    /// Returns the properties of a device that the driver reported. Every driver has the command for this query.
    pub(crate) fn properties_of(&self, device: PhysicalDeviceHandle<Driver>) -> VkPhysicalDeviceProperties {
        // SAFETY: the structure consists of numbers and arrays of numbers, for which zero is valid.
        let mut properties = unsafe { core::mem::MaybeUninit::<VkPhysicalDeviceProperties>::zeroed().assume_init() };
        if let Some(get) = self.table.vkGetPhysicalDeviceProperties {
            // SAFETY: the function and the device belong to this driver, and the structure is writable.
            unsafe { get(device, &mut properties) };
        }
        properties
    }

    /// Returns `true` if the driver reports a device.
    #[cold]
    pub(crate) fn has_devices(&self) -> bool {
        let mut count = 0;
        let step = Step::Driver(self.path()).begin(b"vkEnumeratePhysicalDevices");
        let result = self.table.vkEnumeratePhysicalDevices.map(|enumerate| {
            // SAFETY: the function belongs to this driver, whose instance is live; the number is writable, and NULL asks only for the
            // count.
            unsafe { enumerate(self.handle, &mut count, core::ptr::null_mut()) }
        });
        step.end(result.map_or(0, |result| result.0));
        result == Some(VkResult::VK_SUCCESS) && count > 0
    }

    /// Keeps the driver from being retired while the guard lives; `None` if the driver is already retired.
    #[inline]
    pub(crate) fn pin(&self) -> Option<Pin<'_>> {
        self.uses.acquire().then(|| Pin(self))
    }

    /// Returns `true` if the driver is retired, so that its instance is destroyed or is being destroyed.
    pub(crate) fn is_retired(&self) -> bool {
        self.uses.is_closed()
    }

    /// Marks the driver as retired and returns `true`, unless a thread uses the driver now or the mark is already set. After `true`, the
    /// caller destroys the objects in the driver and then the driver's instance.
    pub(crate) fn claim(&self) -> bool {
        self.uses.try_close()
    }

    /// Destroys the driver's instance.
    ///
    /// # Safety
    /// [`InstanceDriver::claim`] has returned `true` to the caller; `allocator` is null or points to valid callbacks.
    pub(crate) unsafe fn destroy(&self, allocator: *const VkAllocationCallbacks) {
        if let Some(destroy) = self.table.vkDestroyInstance {
            let step = Step::Driver(self.path()).begin(b"vkDestroyInstance");
            // SAFETY: the function belongs to this driver, and no thread can reach its live instance after `claim`.
            unsafe { destroy(self.handle, allocator) };
            step.end_with(|_| ());
        }
    }

    /// Closes the library of a retired driver. During the creation of the instance, the library returns to the list of found drivers
    /// instead, because the terminator may run again. A driver that an earlier run of the terminator created has no library.
    pub(crate) fn close(&self) {
        if !self.is_retired() {
            return;
        }
        let Some(library) = self.library.lock().take() else {
            return;
        };
        let unused = match self.instance().found_drivers.lock().get_mut(self.index) {
            Some(found) => found.library.replace(library),
            None => Some(library),
        };
        drop(unused);
    }
}

/// Proof that a driver is in use. See [`InstanceDriver::pin`].
pub(crate) struct Pin<'a>(&'a InstanceDriver);

impl core::ops::Deref for Pin<'_> {
    type Target = InstanceDriver;

    fn deref(&self) -> &InstanceDriver {
        self.0
    }
}

impl Drop for Pin<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.uses.release();
    }
}
