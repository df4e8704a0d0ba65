//! Instances of drivers that are not open (DRV-282 to DRV-286).
//!
//! A [`Sleeper`] stands in for a driver's instance, and a [`Device`] for each of its physical devices. The rest of the loader treats these
//! stand-ins as handles of a driver, whose functions are in [`table`]. Functions in [`answer`] answer from the record. If the record lacks
//! the answer, these functions open the driver ([`open`]) and pass the call on with the driver's own handle ([`stubs`]). All other
//! functions always open the driver. The stand-ins remain in use afterwards, so no handle ever changes its meaning while another thread
//! uses it. This module is not used for drivers that are open from the start.

mod answer;
mod ask;
mod callbacks;
mod compare;
#[cfg(test)]
mod compare_tests;
mod find;
mod late;
mod list;
mod lost;
mod open;
mod request;
#[cfg(fuzzing)]
mod stand;
mod stubs;
mod table;
#[cfg(any(test, fuzzing))]
mod testing;
#[cfg(test)]
mod tests;

pub(crate) use late::stub;
#[cfg(fuzzing)]
pub(crate) use stand::Stand;
pub(crate) use stubs::Late;

use super::catalogue::Needed;
use super::recorded::Closed;
use super::{Known, KnownDrivers, StandIn, StandIns};
use crate::alloc::{HostAllocator, HostBox, HostList, HostVec};
use crate::driver_interface::{GetProcAddr, Interface};
use crate::ffi;
use crate::ffi::layer_interface::GetDeviceProcAddr;
use crate::generated::types::{VkAllocationCallbacks, VkExtensionProperties, VkInstanceCreateInfo, VkResult};
use crate::handle::{Driver, InstanceHandle, PhysicalDeviceHandle};
use crate::late::LateHost;
use ::catalogue::Opening;
use core::ffi::{c_char, c_void};
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use discovery::journal::Journal;
use discovery::manifest::DriverManifest;
use discovery::version::ApiVersion;
use open::{FAILED, Opened};
use os::Mutex;
use os::memory::OutOfMemory;
use record::{Key, Query, Record};
use request::Request;
use rust_alloc::sync::Arc;
use stubs::Unknown;

/// First word of an object that a driver returns to a loader.
const LOADER_WORD: usize = 0x01CD_C0DE;

/// Stand-in for a driver's instance.
#[repr(C)]
struct Sleeper {
    word: usize,
    closed: Arc<Closed>,
    /// Copy of the create info, for the driver's own instance.
    request: Request,
    /// The loader's instance for which the stand-in was created.
    host: &'static dyn LateHost,
    allocator: HostAllocator,
    /// The driver's instance; null until the driver is open.
    opened: AtomicPtr<Opened>,
    /// Not zero if the driver could not be opened.
    failed: AtomicU32,
    /// Not zero while a thread opens the driver.
    opening: AtomicU32,
    /// The recorded devices, by number.
    devices: HostVec<HostBox<Device>>,
    /// Devices that the driver has in addition to the recorded ones.
    others: HostList<Device>,
    /// A bit for each row of the record, which is set if the row was used as an answer.
    answered: HostVec<AtomicU32>,
    /// Names and functions that the registry does not know.
    unknown: Mutex<Unknown>,
}

// SAFETY: all members that change after construction are atomic or locked. Vulkan allows the application's callbacks, to which the request
// has pointers, to be called from any thread.
unsafe impl Sync for Sleeper {}
// SAFETY: no member of the object belongs to one thread.
unsafe impl Send for Sleeper {}

/// Stand-in for a physical device of a driver.
#[repr(C)]
struct Device {
    /// The table from which thunks load functions.
    table: AtomicPtr<c_void>,
    sleeper: *const Sleeper,
    /// Number in the record, or [`record::DRIVER`] for a device that is not recorded.
    number: u16,
    /// The driver's handle; null until it is known. Thunks look for the handle at this offset.
    real: AtomicPtr<c_void>,
}

impl Device {
    fn new(sleeper: *const Sleeper, number: u16, table: *mut c_void) -> Self {
        Self {
            table: AtomicPtr::new(table),
            sleeper,
            number,
            real: AtomicPtr::new(core::ptr::null_mut()),
        }
    }

    /// Returns the object of a handle.
    ///
    /// # Safety
    /// The handle came from this module, and its instance is live.
    unsafe fn of(handle: PhysicalDeviceHandle<Driver>) -> &'static Self {
        // SAFETY: the caller promises a handle of this module, which is the address of a `Device`.
        unsafe { &*handle.raw().cast::<Self>() }
    }

    fn handle(&self) -> PhysicalDeviceHandle<Driver> {
        PhysicalDeviceHandle::from_raw(core::ptr::from_ref(self).cast_mut().cast())
    }

    fn sleeper(&self) -> &'static Sleeper {
        // SAFETY: the stand-in of the instance owns its devices, and lives as long as their handles may be used.
        unsafe { &*self.sleeper }
    }

    /// Sets the driver's handle of this device.
    fn found(&self, real: PhysicalDeviceHandle<Driver>) {
        let table = stubs::table(&self.sleeper().unknown, false);
        self.table.store(table, Ordering::Relaxed);
        self.real.store(real.raw(), Ordering::Release);
    }

    /// Returns the record as long as the record answers for this device: until the driver is open, and afterwards if the driver lacks the
    /// device.
    fn record(&self) -> Option<Record<'static>> {
        let sleeper = self.sleeper();
        let is_recorded = sleeper.opened().is_none() || self.real().is_none();
        sleeper.closed.record().filter(|_| is_recorded)
    }

    /// Returns the driver's handle, if the driver is open and has the device.
    fn real(&self) -> Option<PhysicalDeviceHandle<Driver>> {
        let real = self.real.load(Ordering::Acquire);
        (!real.is_null()).then(|| PhysicalDeviceHandle::from_raw(real))
    }

    fn key(&self, query: Query) -> Key {
        Key::of(self.number, query)
    }
}

impl Sleeper {
    /// Returns the handle that the rest of the loader uses for the driver's instance.
    fn handle(&self) -> InstanceHandle<Driver> {
        InstanceHandle::from_raw(core::ptr::from_ref(self).cast_mut().cast())
    }

    /// Returns the object of a handle.
    ///
    /// # Safety
    /// The handle came from this module, and is live.
    unsafe fn of(handle: InstanceHandle<Driver>) -> &'static Self {
        // SAFETY: the caller promises a handle of this module, which is the address of a `Sleeper`.
        unsafe { &*handle.raw().cast::<Self>() }
    }

    /// Returns the driver's instance, if it is open.
    #[inline]
    fn opened(&self) -> Option<&Opened> {
        // SAFETY: the pointer is null, or points to a value that lives as long as this object.
        unsafe { self.opened.load(Ordering::SeqCst).as_ref() }
    }

    /// Returns `true` if the driver could not be opened.
    fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed) != 0
    }

    /// Marks a row of the record as used for an answer to the application. All accesses of these marks and of the driver's instance have
    /// one total order (`SeqCst`). Therefore, a thread that marks a row either finds the driver open afterwards, or the row is compared
    /// with the driver's answer.
    fn note(&self, row: usize) {
        if let Some(word) = self.answered.get(row / 32) {
            word.fetch_or(1 << (row % 32), Ordering::SeqCst);
        }
    }

    fn new(
        closed: &Arc<Closed>,
        (host, allocator): (&'static dyn LateHost, HostAllocator),
        request: Request,
    ) -> Result<HostBox<Self>, VkResult> {
        let (count, rows) = closed
            .record()
            .map_or((0, 0), |record| (record.devices(), record.len()));
        let words = (0..rows.div_ceil(32)).map(|_| AtomicU32::new(0));
        let mut made = HostBox::try_new(
            Self {
                word: LOADER_WORD,
                closed: closed.clone(),
                request,
                host,
                allocator,
                opened: AtomicPtr::new(core::ptr::null_mut()),
                failed: AtomicU32::new(0),
                opening: AtomicU32::new(0),
                devices: HostVec::new(allocator),
                others: HostList::new(),
                answered: HostVec::try_from_iter(words, allocator)?,
                unknown: Mutex::new(Unknown::new(allocator)),
            },
            allocator,
        )?;
        let own = made.as_ptr().cast_const();
        let lost = stubs::table(&made.unknown, true);
        for number in 0..count {
            let device = HostBox::try_new(Device::new(own, number, lost), allocator)?;
            made.devices.try_push(device)?;
        }
        Ok(made)
    }
}

impl StandIn for Closed {
    fn manifest(&self) -> &DriverManifest {
        &self.manifest
    }

    fn extensions(&self) -> &[VkExtensionProperties] {
        &self.extensions
    }

    fn version(&self) -> u32 {
        Self::version(self)
    }

    fn interface(&self) -> Interface {
        Interface {
            version: Self::interface(self),
            get_instance_proc_addr: find::look_up,
            get_physical_device_proc_addr: self
                .has_physical_device_look_up()
                .then_some(find::look_up_of_physical_devices as GetProcAddr),
            enumerate_adapter_physical_devices: None,
            create_instance: no_instance,
            enumerate_instance_extensions: no_extensions,
        }
    }

    /// Returns `true` if the create info cannot be copied, if the program has allocation callbacks, or if the profiles of the driver may
    /// mention the program.
    ///
    /// # Safety
    /// The create info is valid.
    unsafe fn must_open(
        &self,
        info: &VkInstanceCreateInfo,
        callbacks: *const VkAllocationCallbacks,
        journal: &Journal<'_>,
    ) -> bool {
        // SAFETY: the caller promises a valid create info.
        let needed = match unsafe { request::not_copied(info, &self.extensions) } {
            _ if !callbacks.is_null() => Err(Opening::AllocationCallbacks.into()),
            Some(kind) => {
                let name = os::render(format_args!("sType {}", kind.0));
                Err(Needed::of(Opening::Chain, &name))
            }
            // SAFETY: the caller promises a valid create info.
            None => self.check_names(unsafe { request::names(info) }),
        };
        needed
            .inspect_err(|needed| needed.tell(&self.manifest, journal))
            .is_err()
    }

    unsafe fn create(
        self: Arc<Self>,
        loader: (&'static dyn LateHost, HostAllocator),
        info: &VkInstanceCreateInfo,
        out: &mut InstanceHandle<Driver>,
    ) -> VkResult {
        // SAFETY: the caller promises a valid create info.
        let request = unsafe { Request::copy(info, loader.1) }.map_err(VkResult::from);
        match request.and_then(|request| Sleeper::new(&self, loader, request)) {
            Ok(made) => {
                let (made, _) = made.into_raw();
                *out = InstanceHandle::from_raw(made.cast());
                VkResult::VK_SUCCESS
            }
            Err(result) => result,
        }
    }
}

/// Returns an error. The loader calls [`StandIn::create`] instead of `vkCreateInstance` of a driver that is not open yet.
unsafe extern "system" fn no_instance(
    _: *const VkInstanceCreateInfo,
    _: *const VkAllocationCallbacks,
    _: *mut InstanceHandle<Driver>,
) -> VkResult {
    VkResult::VK_ERROR_INITIALIZATION_FAILED
}

/// Returns an error. The loader calls [`StandIn::extensions`] instead of `vkEnumerateInstanceExtensionProperties` of a driver that is not
/// open yet.
unsafe extern "system" fn no_extensions(_: *const c_char, _: *mut u32, _: *mut VkExtensionProperties) -> VkResult {
    VkResult::VK_ERROR_INITIALIZATION_FAILED
}

/// Destroys the stand-in, and the driver's instance if there is one. Closes the library.
unsafe extern "system" fn destroy(instance: InstanceHandle<Driver>, callbacks: *const VkAllocationCallbacks) {
    if instance.is_null() {
        return;
    }
    // SAFETY: this module created the handle, and the loader destroys it only once, so it points to a live `Sleeper`.
    let sleeper = unsafe { Sleeper::of(instance) };
    let allocator = sleeper.allocator;
    let opened = sleeper.opened.swap(core::ptr::null_mut(), Ordering::AcqRel);
    if !opened.is_null() {
        // SAFETY: `open` got the pointer from a box with this allocator, and nothing else refers to it any more.
        let opened = unsafe { HostBox::from_raw(opened, allocator) };
        // SAFETY: the caller promises callbacks that are null or valid.
        unsafe { opened.destroy(callbacks) };
    }
    // SAFETY: `create` got the handle from a box with this allocator; nothing refers to it after this call.
    drop(unsafe { HostBox::from_raw(instance.raw().cast::<Sleeper>(), allocator) });
}

fn is_own(look_up: GetProcAddr) -> bool {
    core::ptr::fn_addr_eq(look_up, find::look_up as GetProcAddr)
}

/// The drivers that have stand-ins because their devices are recorded.
pub(crate) struct ClosedDrivers;

impl StandIns for ClosedDrivers {
    #[inline]
    fn of(
        manifest: &DriverManifest,
        known: Option<Known>,
        drivers: &KnownDrivers,
        journal: &mut Journal<'_>,
    ) -> Result<Option<Arc<dyn StandIn>>, OutOfMemory> {
        let closed = Closed::of(manifest, known, drivers, journal)?;
        Ok(closed.map(|closed| closed as Arc<dyn StandIn>))
    }

    #[inline]
    fn own_device(
        look_up: GetProcAddr,
        device: PhysicalDeviceHandle<Driver>,
    ) -> Result<PhysicalDeviceHandle<Driver>, VkResult> {
        if !is_own(look_up) || device.is_null() {
            return Ok(device);
        }
        // SAFETY: a driver with this look-up has only handles of this module.
        let device = unsafe { Device::of(device) };
        device.sleeper().wake(c"a structure with a physical device")?;
        device.real().ok_or(FAILED)
    }

    #[inline]
    fn own_instance(
        look_up: GetProcAddr,
        instance: InstanceHandle<Driver>,
    ) -> Result<InstanceHandle<Driver>, VkResult> {
        if !is_own(look_up) || instance.is_null() {
            return Ok(instance);
        }
        // SAFETY: a driver with this look-up has only handles of this module.
        let opened = unsafe { Sleeper::of(instance) }.wake(c"an object of the instance")?;
        Ok(opened.handle)
    }

    #[inline]
    fn device_look_up(look_up: GetProcAddr, instance: InstanceHandle<Driver>) -> Option<GetDeviceProcAddr> {
        if !is_own(look_up) {
            return None;
        }
        // SAFETY: a driver with this look-up has only handles of this module.
        unsafe { Sleeper::of(instance) }.opened()?.table.vkGetDeviceProcAddr
    }
}

/// Returns the minor version of Vulkan for which an instance was created.
fn minor(version: u32) -> u32 {
    let version = ApiVersion(version);
    match version.0 {
        0 => 0,
        _ if version.major() > 1 => record::VERSIONS - 1,
        _ => version.minor(),
    }
}

/// Returns the bytes of a text that may be missing.
///
/// # Safety
/// `text` is null or points to a terminated text.
unsafe fn text_of<'a>(text: *const core::ffi::c_char) -> &'a [u8] {
    if text.is_null() {
        return b"";
    }
    // SAFETY: the pointer is not null, so the caller promises a terminated text.
    unsafe { ffi::c_text(text) }
}
