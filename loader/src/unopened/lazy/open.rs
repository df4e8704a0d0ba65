//! The late opening of a driver (DRV-283).

use super::{Sleeper, compare};
use crate::alloc::{HostBox, HostVec};
use crate::driver_interface::{self, DriverLibrary, GetProcAddr, LibraryPlace};
use crate::ffi::{self, TwoCalls};
use crate::gate::GATE;
use crate::generated::dispatch::DriverTable;
use crate::generated::types::{VkAllocationCallbacks, VkInstanceCreateInfo, VkResult, VkSystemAllocationScope};
use crate::handle::{Driver, InstanceHandle, PhysicalDeviceHandle};
use crate::library::{Library, RealPath};
use crate::table::Slots;
use crate::unopened::catalogue;
use core::ffi::CStr;
use core::ptr::null;
use core::sync::atomic::Ordering;
use discovery::journal::{Journal, LogBits};
use discovery::log::LogSink;
use discovery::text::Text;
use discovery::trace::Step;
use os::Raw;
use os::memory::shortage;
use promises::limits::{ATTEMPTS, MOST_OF_ONE_DRIVER};

/// Result of the commands of a driver that cannot be opened.
pub(super) const FAILED: VkResult = VkResult::VK_ERROR_INITIALIZATION_FAILED;

/// The driver's own instance.
pub(super) struct Opened {
    /// Functions of the instance.
    pub(super) table: DriverTable,
    /// Handle of the instance.
    pub(super) handle: InstanceHandle<Driver>,
    /// Look-up of the driver's functions.
    pub(super) look_up: GetProcAddr,
    /// Look-up of the driver's physical-device functions.
    pub(super) look_up_of_physical_devices: Option<GetProcAddr>,
    /// Path of the driver's library.
    pub(super) path: Text,
    /// `true` if the driver lists exactly the recorded devices, in the same order.
    pub(super) lists_recorded: bool,
    library: Option<Library>,
}

impl Opened {
    /// Returns a driver's own instance with the functions in `table` and the look-up `look_up`.
    #[cfg(any(test, fuzzing))]
    pub(super) fn of(table: DriverTable, look_up: GetProcAddr) -> Self {
        Self {
            table,
            handle: InstanceHandle::NULL,
            look_up,
            look_up_of_physical_devices: None,
            path: "none".into(),
            lists_recorded: true,
            library: None,
        }
    }

    /// Destroys the driver's instance.
    ///
    /// # Safety
    /// `callbacks` are null or valid, and no object of the instance is in use.
    pub(super) unsafe fn destroy(&self, callbacks: *const VkAllocationCallbacks) {
        if let Some(destroy) = self.table.vkDestroyInstance {
            // SAFETY: the function belongs to this instance. The caller promises valid callbacks, and that no object is in use.
            unsafe { destroy(self.handle, callbacks) };
        }
    }

    /// Returns the driver's handles of its physical devices.
    pub(super) fn devices(&self, sleeper: &Sleeper) -> Result<HostVec<PhysicalDeviceHandle<Driver>>, VkResult> {
        let enumerate = self.table.vkEnumeratePhysicalDevices.ok_or(FAILED)?;
        let asking = TwoCalls {
            most: MOST_OF_ONE_DRIVER,
            attempts: ATTEMPTS,
            even_empty: false,
        };
        let scope = VkSystemAllocationScope::VK_SYSTEM_ALLOCATION_SCOPE_COMMAND;
        let call = |count, array: *mut PhysicalDeviceHandle<Driver>| {
            // SAFETY: function and instance belong to this driver; the number is writable, and the array has room for that number of
            // handles.
            let result = unsafe { enumerate(self.handle, count, array) };
            match array.is_null() {
                true if result == VkResult::VK_SUCCESS => Ok(true),
                true => Err(result),
                false => ffi::is_whole(result),
            }
        };
        // SAFETY: a handle whose bytes are all zero is a null handle.
        let mut handles = unsafe { asking.ask(sleeper.allocator.scoped(scope), call) }?;
        handles.retain(|handle| !handle.is_null());
        Ok(handles)
    }
}

impl Sleeper {
    /// Returns the driver's instance, and opens the driver first if it is closed. `command` is the Vulkan command that needs the driver,
    /// for the log.
    ///
    /// # Errors
    /// - `VK_ERROR_OUT_OF_HOST_MEMORY`: there is not enough memory now; the next call tries again.
    /// - `VK_ERROR_INITIALIZATION_FAILED`: the driver cannot be opened, which is reported once.
    pub(super) fn wake(&self, command: &CStr) -> Result<&Opened, VkResult> {
        match self.opened() {
            Some(opened) => Ok(opened),
            None => self.wake_now(command),
        }
    }

    #[cold]
    #[inline(never)]
    fn wake_now(&self, command: &CStr) -> Result<&Opened, VkResult> {
        if self.has_failed() {
            return Err(FAILED);
        }
        let _passage = GATE.enter();
        // A callback of the application may call this function while the driver is being opened, although Vulkan forbids such a call.
        if self.opening.swap(1, Ordering::Relaxed) != 0 {
            return Err(FAILED);
        }
        let result = match self.opened() {
            Some(_) => Ok(()),
            None if self.has_failed() => Err(FAILED),
            None => self.open_once(command),
        };
        self.opening.store(0, Ordering::Relaxed);
        result.and_then(|()| self.opened().ok_or(FAILED))
    }

    /// Opens the driver, and compares it with its record.
    fn open_once(&self, command: &CStr) -> Result<(), VkResult> {
        let _watch = shortage::watch();
        let sink = LogSink(Some(self.host));
        let mut journal = Journal::of_call(&sink);
        let name = &self.closed.manifest.library_path;
        let bits = LogBits::INFO | LogBits::DRIVER;
        let words = Raw(command.to_bytes());
        journal.note(bits, format_args!("Opening driver {name} now, for {words}"));
        // SAFETY: the create info has copies of the application's parameters, which live during the call.
        let open = |info: &VkInstanceCreateInfo| unsafe { self.open(info, &mut journal) };
        let opened = self.request.with_info(self.allocator, open);
        let result = match opened.map_err(VkResult::from).and_then(|opened| opened) {
            Ok(opened) => {
                self.host.keep(&opened.path, opened.library.as_ref());
                self.publish(opened);
                compare::all(self, &journal);
                return Ok(());
            }
            Err(result) => result,
        };
        if result == VkResult::VK_ERROR_OUT_OF_HOST_MEMORY || shortage::check().is_err() {
            return Err(VkResult::VK_ERROR_OUT_OF_HOST_MEMORY);
        }
        self.failed.store(1, Ordering::Relaxed);
        journal.note(
            LogBits::ERROR | LogBits::DRIVER,
            format_args!(
                "Driver {name} was listed from its record and cannot be opened now (VkResult {}), so its devices cannot be used. \
                 Run vkloader explain",
                result.0
            ),
        );
        catalogue::contradict_record(self.closed.known, name, "another state", &journal);
        Err(FAILED)
    }

    pub(super) fn publish(&self, opened: HostBox<Opened>) {
        let (opened, _) = opened.into_raw();
        self.opened.store(opened, Ordering::SeqCst);
    }

    /// Opens the library, which must be the recorded library.
    fn open_library(&self, journal: &mut Journal<'_>) -> Result<DriverLibrary, VkResult> {
        let closed = &*self.closed;
        let manifest = &closed.manifest;
        let opened = DriverLibrary::open(manifest, &manifest.library_path, LibraryPlace::Path, journal);
        let driver = opened.ok_or(FAILED)?;
        let interface = driver.interface;
        let version = interface.instance_version().and_then(Result::ok);
        let is_same = interface.version == closed.interface()
            && version.is_none_or(|version| version == closed.version())
            && interface.get_physical_device_proc_addr.is_some() == closed.has_physical_device_look_up();
        if is_same {
            return Ok(driver);
        }
        journal.note(
            LogBits::ERROR | LogBits::DRIVER,
            format_args!(
                "The driver {} is another one than its record describes",
                RealPath(&driver.path)
            ),
        );
        Err(FAILED)
    }

    /// Opens the library, creates the instance, and finds the recorded devices.
    ///
    /// # Safety
    /// `info` and everything that it points to are valid.
    unsafe fn open(&self, info: &VkInstanceCreateInfo, journal: &mut Journal<'_>) -> Result<HostBox<Opened>, VkResult> {
        let driver = self.open_library(journal)?;
        let interface = driver.interface;
        let look_up = interface.get_instance_proc_addr;
        let step = Step::Driver(&driver.path);
        // The memory is allocated first, so that no instance of the driver is lost if memory runs out.
        let opened = Opened {
            // SAFETY: each slot of the table is an optional function, for which zero is valid.
            table: unsafe { core::mem::zeroed() },
            handle: InstanceHandle::NULL,
            look_up,
            look_up_of_physical_devices: interface.get_physical_device_proc_addr,
            path: driver.path.clone(),
            lists_recorded: false,
            library: Some(driver.library),
        };
        let mut opened = HostBox::try_new(opened, self.allocator)?;
        let step = step.begin(b"vkCreateInstance");
        // SAFETY: the function belongs to the driver, and the caller promises a valid create info.
        let result = unsafe { (interface.create_instance)(info, null(), &mut opened.handle) };
        step.end(result.0);
        let handle = opened.handle;
        match result {
            VkResult::VK_SUCCESS if handle.is_null() => return Err(FAILED),
            VkResult::VK_SUCCESS => {}
            error => return Err(driver_interface::failure(error)),
        }
        // SAFETY: the slots of a `DriverTable` may be null, so a missing function is allowed.
        opened.table = unsafe { DriverTable::build(|row| driver_interface::lookup_known(look_up, handle, row)) };
        // The driver receives the callbacks before it lists its devices, because the callbacks receive the driver's messages about devices.
        let handed = self.host.hand_over(self.handle(), (&opened.table, handle));
        match handed.and_then(|()| opened.devices(self)) {
            Ok(real) => opened.lists_recorded = self.assign(&opened, &real),
            Err(result) => {
                self.host.take_back(self.handle(), (&opened.table, handle));
                // SAFETY: nothing uses the new instance, which was created without callbacks.
                unsafe { opened.destroy(null()) };
                return Err(result);
            }
        }
        Ok(opened)
    }

    /// Sets the driver's handle of each recorded device. A device that the driver lacks gets no handle. Returns `true` if the driver lists
    /// exactly the recorded devices, in the same order. If a driver lists a device twice, the record has the device once.
    pub(super) fn assign(&self, opened: &Opened, real: &[PhysicalDeviceHandle<Driver>]) -> bool {
        let is_taken = |handle: PhysicalDeviceHandle<Driver>| self.devices.iter().any(|one| one.real() == Some(handle));
        for device in &self.devices {
            let free = real.iter().copied().filter(|handle| !is_taken(*handle));
            let found = free
                .into_iter()
                .find(|handle| compare::is_device(device, opened, *handle));
            if let Some(handle) = found {
                device.found(handle);
            }
        }
        let listed = real.iter().enumerate();
        let once = listed.filter(|(place, handle)| !real.iter().take(*place).any(|before| before == *handle));
        once.map(|(_, handle)| Some(*handle))
            .eq(self.devices.iter().map(|device| device.real()))
    }
}
