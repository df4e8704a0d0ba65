//! One driver inside one instance.

use super::Instance;
use crate::alloc::{HostAllocator, HostText};
use crate::catalogue::Known;
use crate::dispatch_table::UNKNOWN_SLOTS;
use crate::driver::{EnumerateAdapterPhysicalDevices, GetProcAddr, OpenDriver};
use crate::ffi::Uncounted;
use crate::generated::dispatch::DriverTable;
use crate::generated::types::{PFN_vkVoidFunction, VkAllocationCallbacks, VkPhysicalDeviceProperties, VkResult};
use crate::handle::{Driver, InstanceHandle, PhysicalDeviceHandle};
use crate::library::{Library, RealPath};
use crate::physical_device::ReportedDevices;
use crate::slots::HandleTable;
use crate::table::{Entry, Slot};
use discovery::extension::InstanceExtensionSet;
use discovery::trace::Step;
use os::Mutex;
use os::ReentrantGate;
use os::UseCount;

/// What an instance made of a driver: the driver's own instance and its functions.
///
/// Lives as long as the instance, also after [`InstanceDriver::destroy`], so that pointers to it stay valid.
#[repr(C)]
pub(crate) struct InstanceDriver {
    /// The driver's functions for this instance.
    pub table: DriverTable,
    /// The driver's functions that the registry does not know, by slot (DRV-218).
    pub unknown: [Entry<Slot>; UNKNOWN_SLOTS],
    instance: *const Instance,
    /// Which of the drivers it is that the scan found.
    index: usize,
    library: Mutex<Option<Library>>,
    path: HostText,
    /// The negotiated interface version.
    pub interface_version: u32,
    /// What the driver catalogue says of it. Here it takes no room of its own.
    pub known: Option<Known>,
    /// The driver's lookup of physical-device functions, if it has one and may use it (DRV-69).
    pub get_physical_device_proc_addr: Option<GetProcAddr>,
    /// The driver's list of devices by adapter, where that counts (DRV-71).
    pub enumerate_adapter_physical_devices: Option<EnumerateAdapterPhysicalDevices>,
    /// The driver's lookup function.
    pub get_instance_proc_addr: GetProcAddr,
    /// The driver's instance.
    pub handle: InstanceHandle<Driver>,
    /// Known extensions that were really enabled on this driver (DRV-116).
    pub enabled: InstanceExtensionSet,
    /// The physical devices that it reported.
    pub devices: ReportedDevices,
    /// How many threads use the driver right now, and whether it is retired.
    uses: UseCount,
    /// The driver's surfaces by slot.
    pub surfaces: Mutex<HandleTable>,
    /// Held by the thread that asks the driver for a surface (DRV-177).
    pub making_surface: ReentrantGate,
    /// The driver's messengers by slot.
    pub messengers: Mutex<HandleTable>,
    /// The driver's report callbacks by slot.
    pub report_callbacks: Mutex<HandleTable>,
}

// SAFETY: the raw pointer is the owning instance, which outlives the driver; everything mutable is atomic or locked.
unsafe impl Send for InstanceDriver {}
// SAFETY: as above.
unsafe impl Sync for InstanceDriver {}

impl InstanceDriver {
    /// Describes a driver whose instance was just made; `index` says which of the found drivers it is. The function table
    /// must be filled already; the library stays with the caller until [`InstanceDriver::keep`].
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
            devices: ReportedDevices::new(allocator),
            uses: UseCount::default(),
            surfaces: Mutex::new(HandleTable::new(allocator)),
            making_surface: ReentrantGate::new(),
            messengers: Mutex::new(HandleTable::new(allocator)),
            report_callbacks: Mutex::new(HandleTable::new(allocator)),
        }
    }

    /// The driver that a table belongs to.
    pub(crate) fn of_table(table: &'static DriverTable) -> &'static Self {
        // SAFETY: such tables live nowhere but at the beginning of a driver, which outlives all calls through them.
        unsafe { &*core::ptr::from_ref(table).cast::<Self>() }
    }

    /// The path of its library as the system reports it, or a stand-in.
    pub(crate) fn path(&self) -> &[u8] {
        self.path.bytes()
    }

    /// What messages call the driver.
    pub(crate) fn name(&self) -> RealPath<'_> {
        RealPath(self.path.bytes())
    }

    /// Takes over the open library; a direct driver has none.
    pub(crate) fn keep(&self, library: Option<Library>) {
        *self.library.lock() = library;
    }

    /// The instance it belongs to.
    pub(crate) fn instance(&self) -> &'static Instance {
        // SAFETY: the instance owns this driver and so outlives it.
        unsafe { &*self.instance }
    }

    /// Asks the driver for one of its instance-level functions.
    #[inline]
    pub(crate) fn lookup(&self, name: Uncounted<'_>) -> PFN_vkVoidFunction {
        crate::driver::lookup(self.get_instance_proc_addr, self.handle, name)
    }

    /// The properties of a device that it reported, which every driver knows.
    pub(crate) fn properties_of(&self, device: PhysicalDeviceHandle<Driver>) -> VkPhysicalDeviceProperties {
        // SAFETY: a structure of numbers and arrays of them, for all of which zero is a value.
        let mut properties = unsafe { core::mem::MaybeUninit::<VkPhysicalDeviceProperties>::zeroed().assume_init() };
        if let Some(get) = self.table.vkGetPhysicalDeviceProperties {
            // SAFETY: the driver's function with its own device and a writable structure.
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
            // SAFETY: the driver's function with its own live instance, a writable number, and no room for handles.
            unsafe { enumerate(self.handle, &mut count, core::ptr::null_mut()) }
        });
        step.end(result.map_or(0, |result| result.0));
        result == Some(VkResult::VK_SUCCESS) && count > 0
    }

    /// Keeps the driver from being retired while the guard lives; `None` if it already is.
    #[inline]
    pub(crate) fn pin(&self) -> Option<Pin<'_>> {
        self.uses.acquire().then(|| Pin(self))
    }

    /// Whether the driver was released for having no devices.
    pub(crate) fn is_retired(&self) -> bool {
        self.uses.is_closed()
    }

    /// Marks the driver as retired, unless a thread is using it right now or it is marked already. A caller that gets
    /// `true` destroys what is in the driver and then its instance.
    pub(crate) fn claim(&self) -> bool {
        self.uses.try_close()
    }

    /// Destroys the driver's instance.
    ///
    /// # Safety
    /// The caller has the one `true` of [`InstanceDriver::claim`]; `allocator` is null or points to valid callbacks.
    pub(crate) unsafe fn destroy(&self, allocator: *const VkAllocationCallbacks) {
        if let Some(destroy) = self.table.vkDestroyInstance {
            let step = Step::Driver(self.path()).begin(b"vkDestroyInstance");
            // SAFETY: the driver's function with its own live instance, which no thread reaches any more once it is claimed.
            unsafe { destroy(self.handle, allocator) };
            step.end_with(|_| ());
        }
    }

    /// Closes the library of a driver that was retired. While its instance is being created, the library goes back to
    /// the found driver instead: the terminator may run again. A driver of an earlier run has none to give.
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

const _: () = assert!(core::mem::offset_of!(InstanceDriver, table) == 0);
