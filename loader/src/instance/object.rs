//! The object for the application's `VkInstance` handle.

use super::{EnabledExtensions, InstanceDriver, VisibleDevices};
use crate::alloc::{HostAllocator, HostBox, HostList, HostText, HostVec};
use crate::driver::OpenDriver;
use crate::generated::dispatch::InstanceTable;
use crate::handle::{App, Chain, InstanceHandle};
use crate::layer::InstanceLayers;
use crate::list::{Linked, List};
use crate::messenger::Messengers;
use crate::physical_device::PhysicalDevices;
use crate::proc_addr::{AskedEnds, UnknownFunctions};
use crate::slots::SlotTable;
use crate::translation::INSTANCE_MAGIC;
use crate::unopened::Reserves;
use crate::window_system::Surface;
use core::ffi::{CStr, c_void};
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use discovery::journal::{Cause, LogBits};
use discovery::log::Listener;
use discovery::settings::{DeviceConfiguration, Settings};
use discovery::version::ApiVersion;
use os::memory::OutOfMemory;
use os::{Mutex, SetOnce};
use rust_alloc::vec::Vec;

/// Number of bytes at the start of the object that a faulty layer may overwrite (DRV-115). These bytes contain only the dispatch pointer,
/// the magic word, the topmost layer's handle, and unused bytes.
const EXPOSED: usize = 128;
/// Number of unused bytes among the first [`EXPOSED`] bytes of an instance.
const UNUSED: usize = EXPOSED - size_of::<u64>() - 2 * size_of::<usize>();

#[repr(C)]
struct Header {
    dispatch: AtomicPtr<InstanceTable>,
    magic: u64,
    /// The topmost layer's handle of this instance (LAY-237); the object itself if there is no layer.
    chain: AtomicPtr<c_void>,
    unused: [u8; UNUSED],
}

/// All live instances, newest first.
pub(crate) static INSTANCES: List<Instance> = List::new();

/// An instance. All threads that use the handle share this object. No member is locked while a layer or driver runs.
#[repr(C)]
pub(crate) struct Instance {
    header: Header,
    table: InstanceTable,
    next: AtomicPtr<Self>,
    /// The callbacks of `vkCreateInstance`, which provide all memory of the instance (APP-170).
    pub allocator: HostAllocator,
    api_version: AtomicU32,
    /// Extensions enabled by the application or by a layer (APP-28).
    pub enabled: EnabledExtensions,
    /// Devices that the settings file selected at creation (APP-243); unset if the file selects none.
    device_configurations: SetOnce<HostVec<DeviceConfiguration>>,
    /// The only devices to show, as the user requested at creation; unset if all devices are shown.
    pub(super) visible: SetOnce<VisibleDevices>,
    /// Log levels that the settings file enables; zero if the file names none.
    pub settings_log_mask: AtomicU32,
    /// The application's messengers and report callbacks.
    pub messengers: Messengers,
    /// Slots of surfaces. Each driver has a table of its own, with the driver's handle of a surface at the same index.
    pub surface_slots: Mutex<SlotTable<Surface>>,
    /// Layer names that the application requested (DRV-191).
    pub requested_layers: SetOnce<HostVec<HostText>>,
    /// The active layers, and the device extensions of all layers.
    pub layers: SetOnce<InstanceLayers>,
    /// Drivers that the scan found; empty after the creation of the instance.
    pub found_drivers: Mutex<Vec<OpenDriver>>,
    /// Drivers that the scan did not open because other drivers suffice; unused after the creation of the instance.
    pub aside_drivers: Mutex<Reserves>,
    /// Drivers of the scan that created no instance. The libraries of these drivers stay open as long as this instance, like those of other
    /// drivers.
    pub refused_drivers: Mutex<Vec<OpenDriver>>,
    /// Best reason why a driver of the scan is missing, for a later call that finds no device (APP-89a).
    pub(crate) cause: Mutex<Cause>,
    /// Drivers whose instances the terminator created, in the order in which the loader always iterates over them: reverse scan order
    /// (DRV-10).
    pub drivers: HostList<HostVec<HostBox<InstanceDriver>>>,
    /// Objects for physical devices.
    pub physical_devices: Mutex<PhysicalDevices>,
    /// Names of functions that the registry does not know.
    pub unknown: Mutex<UnknownFunctions>,
    /// Device functions that layers requested from the end of the chain.
    pub asked_ends: Mutex<AskedEnds>,
    /// Not zero if the loader may sort devices by the results of `vkGetPhysicalDeviceProperties2` (DRV-117).
    pub supports_properties2: AtomicU32,
}

// SAFETY: the table is written word by word through atomics; every other member is immutable after creation, atomic or under a lock.
unsafe impl Sync for Instance {}
// SAFETY: the object has no thread of its own, and its raw pointers point to objects that live as long as the instance.
unsafe impl Send for Instance {}

impl Instance {
    /// Creates an empty instance at an address that does not change.
    ///
    /// # Errors
    /// The allocator has no memory.
    // This function is not inlined: the table is large, and must not occupy the caller's stack while layers and drivers run, which may call
    // back and create another instance.
    #[inline(never)]
    pub(crate) fn try_new(allocator: HostAllocator, api_version: ApiVersion) -> Result<HostBox<Self>, OutOfMemory> {
        let instance = HostBox::try_new(
            Self {
                header: Header {
                    dispatch: AtomicPtr::new(core::ptr::null_mut()),
                    magic: INSTANCE_MAGIC,
                    chain: AtomicPtr::new(core::ptr::null_mut()),
                    unused: [0; UNUSED],
                },
                table: crate::proc_addr::empty_instance_table(),
                next: AtomicPtr::new(core::ptr::null_mut()),
                allocator,
                api_version: AtomicU32::new(api_version.0),
                enabled: EnabledExtensions::default(),
                device_configurations: SetOnce::new(),
                visible: SetOnce::new(),
                settings_log_mask: AtomicU32::new(0),
                messengers: Messengers::new(allocator),
                surface_slots: Mutex::new(SlotTable::new(allocator)),
                requested_layers: SetOnce::new(),
                layers: SetOnce::new(),
                found_drivers: Mutex::new(Vec::new()),
                aside_drivers: Mutex::new(Reserves::new()),
                refused_drivers: Mutex::new(Vec::new()),
                cause: Mutex::new(Cause::NONE),
                drivers: HostList::new(),
                physical_devices: Mutex::new(PhysicalDevices::new(allocator)),
                unknown: Mutex::new(UnknownFunctions::new()),
                asked_ends: Mutex::new(AskedEnds::new()),
                supports_properties2: AtomicU32::new(0),
            },
            allocator,
        )?;
        instance
            .header
            .dispatch
            .store(core::ptr::from_ref(&instance.table).cast_mut(), Ordering::Relaxed);
        instance.header.chain.store(instance.as_ptr().cast(), Ordering::Relaxed);
        Ok(instance)
    }

    /// Reads the magic word through a handle of unknown origin.
    ///
    /// # Safety
    /// `object` points to at least two readable words.
    #[inline(always)]
    pub(crate) unsafe fn magic_of(object: *const Self) -> u64 {
        // SAFETY: this reads only the second word, and the caller promises two readable ones.
        unsafe { (*object).header.magic }
    }

    /// Returns the table through which trampolines call.
    #[inline(always)]
    pub(crate) fn table(&self) -> &InstanceTable {
        &self.table
    }

    /// Returns the application's handle.
    pub(crate) fn handle(&self) -> InstanceHandle<App> {
        InstanceHandle::from_raw(core::ptr::from_ref(self).cast_mut().cast())
    }

    /// Returns the handle that the end of the chain returns: the address of this object.
    pub(crate) fn own_handle(&self) -> InstanceHandle<Chain> {
        InstanceHandle::from_raw(core::ptr::from_ref(self).cast_mut().cast())
    }

    /// Returns the topmost layer's handle of this instance.
    #[inline(always)]
    pub(crate) fn chain_handle(&self) -> InstanceHandle<Chain> {
        InstanceHandle::from_raw(self.header.chain.load(Ordering::Relaxed))
    }

    /// Stores the handle that the topmost layer returned (LAY-237).
    pub(crate) fn set_chain_handle(&self, handle: InstanceHandle<Chain>) {
        self.header.chain.store(handle.raw(), Ordering::Release);
    }

    /// Returns the major and minor version that the application requested; a layer may have changed it (APP-62).
    pub(crate) fn api_version(&self) -> ApiVersion {
        ApiVersion(self.api_version.load(Ordering::Relaxed))
    }

    /// Stores the version that arrived at the terminator (DRV-94).
    pub(crate) fn set_api_version(&self, version: ApiVersion) {
        self.api_version.store(version.0, Ordering::Relaxed);
    }

    /// Applies a settings file to the instance for the life of the instance (APP-243). Keeps only the parts that later calls need.
    ///
    /// # Errors
    /// There is not enough memory.
    pub(crate) fn use_settings(&self, settings: &Settings) -> Result<(), OutOfMemory> {
        self.settings_log_mask
            .store(settings.log_mask.word(), Ordering::Relaxed);
        if let Some(devices) = &settings.device_configurations {
            // Only the creation of the instance sets the devices, and it runs once.
            let _ = self
                .device_configurations
                .set(HostVec::try_from_slice(devices, self.allocator)?);
        }
        Ok(())
    }

    /// Returns the devices that the settings file selects; `None` if the file selects none.
    pub(crate) fn device_configurations(&self) -> Option<&[DeviceConfiguration]> {
        self.device_configurations.get().map(|devices| &**devices)
    }

    /// Iterates over the drivers; empty before the terminator ran.
    pub(crate) fn drivers(&self) -> impl Iterator<Item = &InstanceDriver> {
        self.drivers.newest().into_iter().flatten().map(|driver| &**driver)
    }

    /// Iterates over the drivers of all runs of the terminator; a layer may cause more than one run.
    pub(crate) fn all_drivers(&self) -> impl Iterator<Item = &InstanceDriver> {
        self.drivers.iter().flatten().map(|driver| &**driver)
    }

    /// Returns the active layers; `None` before they were loaded.
    pub(crate) fn layers(&self) -> Option<&InstanceLayers> {
        self.layers.get()
    }
}

impl Linked for Instance {
    fn next(&self) -> &AtomicPtr<Self> {
        &self.next
    }
}

impl Listener for Instance {
    fn settings_mask(&self) -> LogBits {
        LogBits::from_word(self.settings_log_mask.load(Ordering::Relaxed))
    }

    fn hears(&self) -> bool {
        self.messengers.any()
    }

    fn deliver(&self, bits: LogBits, text: &CStr) {
        self.messengers.deliver_log_line(self.handle(), bits, text);
    }
}

const _: () = assert!(core::mem::offset_of!(Instance, table) >= EXPOSED);
