//! The end of the instance chain: creates an instance on every driver (APP-95 to APP-97, DRV-109 to DRV-117).

use super::destroy::release_drivers;
use super::nothing_left::tell_nothing_left;
use super::{Instance, InstanceDriver};
use crate::alloc::{HostBox, HostText, HostVec, ReservedNode};
use crate::driver::{self, OpenDriver};
use crate::driver_interface::{LibraryPlace, lookup_known};
use crate::ffi;
use crate::generated::dispatch::DriverTable;
use crate::generated::dispatch::driver::MANDATORY;
use crate::generated::pfn::PFN_vkDestroyInstance;
use crate::generated::types::{
    VkAllocationCallbacks, VkApplicationInfo, VkExtensionProperties, VkInstanceCreateFlagBits, VkInstanceCreateInfo,
    VkResult, VkSystemAllocationScope,
};
use crate::handle::{Chain, Driver, InstanceHandle};
use crate::instance::requests::Requests;
use crate::late::LateHost;
use crate::proc_addr;
use crate::table::Slots;
use crate::translation::INSTANCE_MAGIC;
use crate::unopened::{BeforeOpening as _, KnownDrivers};
use core::ffi::c_char;
use core::sync::atomic::Ordering;
use discovery::extension::{InstanceExtension, InstanceExtensionSet};
use discovery::journal::reason::DriverLibraryReason;
use discovery::journal::{Decision, Journal, LogBits, Reason, Subject, Verdict};
use discovery::log::{self, LogSink};
use discovery::text::Text;
use discovery::trace::{self, Step};
use discovery::version::ApiVersion;
use os::Raw;
use os::memory::{Grow, OutOfMemory, shortage};
use rust_alloc::vec::Vec;

/// Creates an instance on every driver that the scan found.
///
/// # Safety
/// The parameters are those that the lowest layer passed; `*out` must still hold the loader's own object.
pub(crate) unsafe fn create_instance_terminator(
    create_info: *const VkInstanceCreateInfo,
    callbacks: *const VkAllocationCallbacks,
    out: *mut InstanceHandle<Chain>,
) -> VkResult {
    // SAFETY: layers pass on valid structures.
    let (Some(create_info), Some(handle)) = (unsafe { create_info.as_ref() }, unsafe { out.as_ref() }) else {
        return VkResult::VK_ERROR_INITIALIZATION_FAILED;
    };
    // SAFETY: a layer must pass on the loader's own handle, which points to more than two readable words.
    let instance = unsafe { own_instance(*handle) };
    // SAFETY: the lowest layer passes a valid create info.
    let requests = unsafe { Requests::new(create_info) };
    // A layer may have changed the version; the version that arrives here is used (DRV-94).
    instance.set_api_version(requests.api_version());
    instance.enabled.reach(requests.extensions());
    let sink = LogSink(Some(instance));
    let mut journal = Journal::of_call(&sink);
    let creation = Creation {
        instance,
        create_info,
        requests,
        callbacks,
    };
    // `found_drivers` is not locked while drivers run. The list is put back afterwards, because a layer may call the terminator again.
    let mut found = core::mem::take(&mut *instance.found_drivers.lock());
    // SAFETY: the create info came from the lowest layer, which passes valid structures.
    let made = unsafe { creation.run(&mut found, &mut journal) };
    *instance.found_drivers.lock() = found;
    match made {
        Ok(()) => VkResult::VK_SUCCESS,
        Err(result) => {
            // SAFETY: Vulkan requires callbacks that are null or valid.
            unsafe { release_drivers(instance, callbacks) };
            result
        }
    }
}

/// Returns the loader's object to which the handle points. Ends the process if the handle points to anything else (LAY-235, DRV-115).
///
/// # Safety
/// A non-null handle points to at least two readable words.
unsafe fn own_instance(handle: InstanceHandle<Chain>) -> &'static Instance {
    let object = handle.raw().cast::<Instance>();
    if object.is_null() {
        log::fatal(format_args!(
            "terminator_CreateInstance: Loader instance pointer null encountered.  Possibly set by active layer. (Policy \
             #LLP_LAYER_21)"
        ));
        os::abort();
    }
    // SAFETY: the pointer is not null, so the caller promises two readable words.
    let magic = unsafe { Instance::magic_of(object) };
    if magic != INSTANCE_MAGIC {
        log::fatal(format_args!(
            "terminator_CreateInstance: Instance pointer ({}) has invalid MAGIC value 0x{magic:08x}. Instance \
             value possibly corrupted by active layer (Policy #LLP_LAYER_21).",
            os::Address(object)
        ));
        os::abort();
    }
    // SAFETY: the magic identifies an object of the loader, which lives until `vkDestroyInstance`.
    unsafe { &*object }
}

struct Creation<'a> {
    instance: &'static Instance,
    create_info: &'a VkInstanceCreateInfo,
    requests: Requests<'a>,
    callbacks: *const VkAllocationCallbacks,
}

impl Creation<'_> {
    /// Creates an instance on each driver.
    ///
    /// # Safety
    /// The create info is valid.
    unsafe fn run(&self, found: &mut Vec<OpenDriver>, journal: &mut Journal<'_>) -> Result<(), VkResult> {
        let room = ReservedNode::new(self.instance.allocator)?;
        let mut drivers = HostVec::try_with_capacity(found.len(), self.instance.allocator)?;
        let mut forced_properties2 = false;
        let mut made = Ok(());
        let mut index = 0;
        while made.is_ok() {
            if index == found.len() && (drivers.is_empty() || self.lacks_devices(&drivers)) {
                made = self.open_aside(found, journal);
            }
            let Some(driver) = found.get_mut(index) else { break };
            // SAFETY: the caller promises a valid create info.
            made = unsafe { self.create_one(index, driver, journal) }.and_then(|one| match one {
                Some((driver, forced)) => {
                    forced_properties2 |= forced;
                    drivers.try_push(driver)
                }
                None => Ok(()),
            });
            index += 1;
        }
        // Iterations over the drivers use reverse scan order (DRV-10).
        drivers.reverse();
        let any = !drivers.is_empty();
        // The drivers are added even after a failure, because the cleanup destroys the drivers in this list.
        self.instance.drivers.add(room, drivers);
        made?;
        if !any {
            let line = "terminator_CreateInstance: Found no drivers!";
            let bits = LogBits::ERROR | LogBits::DRIVER;
            tell_nothing_left(self.instance, (bits, line), "No driver is open", journal);
            return Err(VkResult::VK_ERROR_INCOMPATIBLE_DRIVER);
        }
        self.instance.cause.lock().add(journal.take_cause());
        let properties2 = forced_properties2
            || self.instance.api_version() >= ApiVersion::V1_1
            || self
                .instance
                .enabled
                .contains(InstanceExtension::VK_KHR_get_physical_device_properties2);
        self.instance
            .supports_properties2
            .store(u32::from(properties2), Ordering::Relaxed);
        proc_addr::fill_with_terminators(self.instance);
        Ok(())
    }

    /// Returns `true` if a policy left out drivers that have devices, and the created drivers report no device. A user may lack access to a
    /// device that the superuser's catalogue lists.
    fn lacks_devices(&self, drivers: &[HostBox<InstanceDriver>]) -> bool {
        let is_left_out = self.instance.aside_drivers.lock().have_devices();
        is_left_out && !drivers.iter().any(|driver| driver.has_devices())
    }

    /// Opens the drivers that were set aside, because the other drivers did not suffice.
    #[cold]
    #[inline(never)]
    fn open_aside(&self, found: &mut Vec<OpenDriver>, journal: &mut Journal<'_>) -> Result<(), OutOfMemory> {
        let aside = core::mem::take(&mut *self.instance.aside_drivers.lock());
        aside.open_all(|manifest, known| {
            let name = &manifest.library_path;
            journal.note(
                LogBits::INFO | LogBits::DRIVER,
                format_args!("Opening driver {name} now, because the other drivers have no device"),
            );
            let library = (&manifest.library_path, LibraryPlace::Path);
            match OpenDriver::open(manifest, library, Some(known), journal) {
                Some(driver) => found.try_push(driver),
                None => Ok(()),
            }
        })?;
        shortage::check()
    }

    /// Opens a driver that has a stand-in, if the stand-in does not suffice for this instance. Returns `false` if the driver cannot be
    /// opened.
    ///
    /// # Safety
    /// The create info is valid.
    unsafe fn open_if_needed(&self, driver: &mut OpenDriver, journal: &mut Journal<'_>) -> Result<bool, OutOfMemory> {
        let Some(closed) = driver.closed.clone() else {
            return Ok(true);
        };
        // SAFETY: the caller promises a valid create info.
        if !unsafe { closed.must_open(self.create_info, self.callbacks, journal) } {
            return Ok(true);
        }
        let manifest = closed.manifest();
        let library = (&manifest.library_path, LibraryPlace::Path);
        let opened = OpenDriver::open(manifest, library, driver.known, journal);
        shortage::check()?;
        let is_open = opened.is_some();
        if let Some(opened) = opened {
            *driver = opened;
        }
        Ok(is_open)
    }

    /// Creates the instance of one driver; `None` if the driver was dropped. The flag is `true` if the loader added
    /// `VK_KHR_get_physical_device_properties2` to the requested extensions (DRV-110).
    ///
    /// # Safety
    /// The create info is valid.
    unsafe fn create_one(
        &self,
        index: usize,
        driver: &mut OpenDriver,
        journal: &mut Journal<'_>,
    ) -> Result<Option<(HostBox<InstanceDriver>, bool)>, OutOfMemory> {
        let scratch = self
            .instance
            .allocator
            .scoped(VkSystemAllocationScope::VK_SYSTEM_ALLOCATION_SCOPE_COMMAND);
        // SAFETY: the caller promises a valid create info.
        if !unsafe { self.open_if_needed(driver, journal) }? {
            return Ok(None);
        }
        let step = Step::Driver(&driver.path).begin(b"vkEnumerateInstanceExtensionProperties");
        let offered = driver::instance_extensions(driver, scratch);
        step.end(offered.as_ref().err().map_or(0, |error| error.0));
        let offered = match offered {
            Ok(offered) => offered,
            Err(VkResult::VK_ERROR_OUT_OF_HOST_MEMORY) => return Err(OutOfMemory),
            Err(error) => {
                return Ok(drop_driver(
                    driver,
                    DriverLibraryReason::ExtensionQueryFailed(error.0),
                    journal,
                ));
            }
        };
        KnownDrivers::compare_extensions(driver.known, &driver.path, &offered, journal);
        let driver_version = driver.api_version(journal);
        let (names, forced) = self.extensions_for(&offered, driver.claimed_version, scratch)?;
        let application = self.application_info(driver_version, journal);
        let info = self.info_for(&offered, &names, application.as_ref());
        // SAFETY: the create info is valid during the call.
        let (result, handle) = unsafe { self.call(driver, &info) };
        trace::write("driver", |record| {
            record.text("library", &driver.path);
            driver.source.describe(record);
            record.number("interface-version", driver.interface.version.into());
            record.version("api-version", driver_version);
            record.number("extensions", offered.len() as u64);
            record.signed("result", result.0.into());
        });
        let facts = (driver.interface.version, driver_version, result);
        KnownDrivers::compare_instance(driver.known, &driver.path, facts, journal);
        let problem = match result {
            VkResult::VK_ERROR_OUT_OF_HOST_MEMORY => return Err(OutOfMemory),
            VkResult::VK_SUCCESS if handle.is_null() => Some(DriverLibraryReason::NullInstance),
            VkResult::VK_SUCCESS => None,
            failure => Some(DriverLibraryReason::CreationFailed(failure.0)),
        };
        if let Some(problem) = problem {
            return Ok(drop_driver(driver, problem, journal));
        }
        let enabled = self.enabled_on(&names, driver);
        self.adopt((index, driver), handle, enabled, journal)
            .map(|made| made.map(|made| (made, forced)))
    }

    /// Calls the driver, or creates the stand-in of a driver that stays closed.
    ///
    /// # Safety
    /// `info` is valid.
    unsafe fn call(&self, driver: &OpenDriver, info: &VkInstanceCreateInfo) -> (VkResult, InstanceHandle<Driver>) {
        let mut handle = InstanceHandle::<Driver>::NULL;
        let step = Step::Driver(&driver.path).begin(b"vkCreateInstance");
        let result = match &driver.closed {
            None => {
                let create = driver.interface.create_instance;
                // SAFETY: the function belongs to the driver, and the arrays of the create info live until the function returns; `pNext`
                // and the callbacks are unchanged (DRV-109).
                unsafe { create(info, self.callbacks, &mut handle) }
            }
            Some(closed) => {
                let loader: (&'static dyn LateHost, _) = (self.instance, self.instance.allocator);
                // SAFETY: the caller promises a valid create info, whose chain is the chain of this creation.
                unsafe { closed.clone().create(loader, info, &mut handle) }
            }
        };
        step.end(result.0);
        (result, handle)
    }

    /// Returns the create info for one driver: without layers, with only `names` as extensions, and with the portability bit only for
    /// drivers that know it (DRV-100, DRV-109).
    fn info_for(
        &self,
        offered: &[VkExtensionProperties],
        names: &[*const c_char],
        application: Option<&VkApplicationInfo>,
    ) -> VkInstanceCreateInfo {
        let mut info = *self.create_info;
        info.enabledLayerCount = 0;
        info.ppEnabledLayerNames = core::ptr::null();
        info.enabledExtensionCount = u32::try_from(names.len()).unwrap_or(u32::MAX);
        info.ppEnabledExtensionNames = if names.is_empty() {
            core::ptr::null()
        } else {
            names.as_ptr()
        };
        if let Some(application) = application {
            info.pApplicationInfo = application;
        }
        if !offers(
            offered,
            InstanceExtension::VK_KHR_portability_enumeration.name().to_bytes(),
        ) {
            info.flags.0 &= !(VkInstanceCreateFlagBits::VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR.0);
        }
        info
    }

    /// Returns the requested extensions that the driver offers, in the requested order, and `true` if the loader added
    /// `VK_KHR_get_physical_device_properties2`. The version in the manifest decides about the addition, not the driver's own version
    /// (DRV-110).
    fn extensions_for(
        &self,
        offered: &[VkExtensionProperties],
        claimed_version: ApiVersion,
        allocator: crate::alloc::HostAllocator,
    ) -> Result<(HostVec<*const c_char>, bool), OutOfMemory> {
        let requested = self.requests.extension_names();
        let mut names = HostVec::try_with_capacity(requested.len() + 1, allocator)?;
        for &name in requested {
            // SAFETY: the application's extension names are null or terminated.
            if offers(offered, unsafe { ffi::c_text(name) }) {
                names.try_push(name)?;
            }
        }
        let properties2 = InstanceExtension::VK_KHR_get_physical_device_properties2.name();
        let old = self.instance.api_version() < ApiVersion::V1_1 || claimed_version < ApiVersion::V1_1;
        let missing = !self.requests.extensions().any(|name| name == properties2.to_bytes());
        let forced = os::SORTED_BY_PROPERTIES && old && missing && offers(offered, properties2.to_bytes());
        if forced {
            names.try_push(properties2.as_ptr())?;
        }
        Ok((names, forced))
    }

    /// Returns an application info that replaces the application's own, if one is needed (DRV-90, DRV-91).
    fn application_info(&self, driver_version: ApiVersion, journal: &Journal<'_>) -> Option<VkApplicationInfo> {
        // SAFETY: a valid create info has application info that is null or valid.
        let given = unsafe { self.create_info.pApplicationInfo.as_ref() };
        let requested = self.requests.raw_api_version();
        if driver_version.without_patch() == ApiVersion::V1_0 && (given.is_none() || requested.0 != 0) {
            let mut copy = given.copied().unwrap_or(EMPTY_APPLICATION_INFO);
            copy.apiVersion = driver_version.0;
            return Some(copy);
        }
        let configured = self.instance.device_configurations().is_some();
        if configured && self.instance.api_version() < ApiVersion::V1_1 {
            journal.note(
                LogBits::INFO,
                format_args!("Raising configured application apiVersion to 1.1 because the settings select devices"),
            );
            let mut copy = given.copied().unwrap_or(EMPTY_APPLICATION_INFO);
            copy.apiVersion = ApiVersion::V1_1.0;
            return Some(copy);
        }
        None
    }

    /// Returns the extensions that are treated as enabled on this driver (DRV-116).
    fn enabled_on(&self, names: &[*const c_char], driver: &OpenDriver) -> InstanceExtensionSet {
        // SAFETY: the names are the application's or the loader's own, all terminated.
        let enabled = super::extensions::known(names.iter().map(|&name| unsafe { ffi::c_text(name) }));
        if driver.claimed_version.without_patch() >= ApiVersion::V1_1 {
            enabled.with(InstanceExtension::VK_KHR_get_physical_device_properties2)
        } else {
            enabled
        }
    }

    /// Starts to use a driver's new instance, if the driver has all mandatory functions (DRV-112).
    fn adopt(
        &self,
        (index, driver): (usize, &mut OpenDriver),
        handle: InstanceHandle<Driver>,
        enabled: InstanceExtensionSet,
        journal: &mut Journal<'_>,
    ) -> Result<Option<HostBox<InstanceDriver>>, OutOfMemory> {
        let gipa = driver.interface.get_instance_proc_addr;
        // SAFETY: the slots of a `DriverTable` may be null, so a missing function is allowed.
        let functions = unsafe { DriverTable::build(|row| lookup_known(gipa, handle, row)) };
        let destroy = functions.vkDestroyInstance;
        let missing = MANDATORY.iter().find(|&&slot| functions.get(slot).is_none());
        if let Some(&slot) = missing {
            let command = Raw(DriverTable::name(slot).to_bytes());
            journal.note(
                LogBits::WARN,
                format_args!("Unable to load {command} from ICD {}", driver.name()),
            );
            self.destroy(destroy, handle);
            return Ok(drop_driver(driver, DriverLibraryReason::NoRequiredCommand, journal));
        }
        warn_about_surfaces(driver, &functions, journal);
        let allocator = self.instance.allocator;
        let made = HostText::try_new(&driver.path, allocator).and_then(|path| {
            let made = InstanceDriver::new(self.instance, (index, driver), path, handle, functions, enabled);
            HostBox::try_new(made, allocator)
        });
        match made {
            Ok(made) => {
                made.keep(driver.library.take());
                Ok(Some(made))
            }
            Err(error) => {
                self.destroy(destroy, handle);
                Err(error)
            }
        }
    }

    fn destroy(&self, destroy: Option<PFN_vkDestroyInstance<Driver>>, handle: InstanceHandle<Driver>) {
        if let Some(destroy) = destroy {
            // SAFETY: function and instance belong to this driver, and nothing else refers to the instance.
            unsafe { destroy(handle, self.callbacks) };
        }
    }
}

const EMPTY_APPLICATION_INFO: VkApplicationInfo = VkApplicationInfo {
    sType: crate::generated::types::VkStructureType(0),
    pNext: core::ptr::null(),
    pApplicationName: core::ptr::null(),
    applicationVersion: 0,
    pEngineName: core::ptr::null(),
    engineVersion: 0,
    apiVersion: 0,
};

fn offers(offered: &[VkExtensionProperties], name: &[u8]) -> bool {
    offered
        .iter()
        .any(|extension| ffi::is_fixed_text(&extension.extensionName, name))
}

/// Records the reason why a driver is not used.
fn drop_driver<T>(driver: &OpenDriver, reason: DriverLibraryReason, journal: &mut Journal<'_>) -> Option<T> {
    journal.decide(Decision {
        subject: Subject::DriverInstance,
        name: driver.name().resolve().into(),
        path: Text::default(),
        verdict: Verdict::Dropped(Reason::from(reason)),
        source: driver.source,
    });
    None
}

/// Warns if a driver below interface version 3 makes its own surfaces, which only later versions allow (DRV-73).
fn warn_about_surfaces(driver: &OpenDriver, functions: &DriverTable, journal: &Journal<'_>) {
    if driver.interface.version < 3 && crate::window_system::makes_surfaces(functions) {
        journal.note(
            LogBits::WARN,
            format_args!(
                "terminator_CreateInstance: Driver {} supports interface version {} but still exposes VkSurfaceKHR \
                 create/destroy entrypoints (Policy #LDP_DRIVER_8)",
                driver.name(),
                driver.interface.version
            ),
        );
    }
}
