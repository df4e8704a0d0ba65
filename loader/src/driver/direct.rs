//! `VK_LUNARG_direct_driver_loading`: drivers that the application supplies as function pointers (DRV-78 to DRV-87).

use super::open::OpenDriver;
use crate::driver_interface::{GetProcAddr, Interface, NegotiationError};
use crate::ffi;
use crate::generated::types::{
    VkDirectDriverLoadingInfoLUNARG, VkDirectDriverLoadingListLUNARG, VkDirectDriverLoadingModeLUNARG,
    VkInstanceCreateInfo,
};
use crate::handle::Driver;
use discovery::journal::reason::DriverLibraryReason;
use discovery::journal::{Decision, Journal, LogBits, Reason, Source, Subject, Verdict};
use discovery::text::Text;
use discovery::version::ApiVersion;
use os::memory::Grow;
use os::render;
use rust_alloc::vec::Vec;

const HERE: &str = "loader_scan_for_direct_drivers:";
const WARN: LogBits = LogBits::WARN.with(LogBits::DRIVER);

type List = VkDirectDriverLoadingListLUNARG<Driver>;

/// Usable drivers from the application's list.
#[derive(Default)]
pub(crate) struct DirectDrivers {
    /// The drivers, in the application's order.
    pub drivers: Vec<OpenDriver>,
    /// `true` if the loader must not look for other drivers (DRV-81).
    pub exclusive: bool,
}

/// Reads the application's list, if the extension is enabled.
///
/// # Safety
/// `create_info` is valid, with a valid `pNext` chain.
pub(crate) unsafe fn direct_drivers(
    create_info: &VkInstanceCreateInfo,
    extension_enabled: bool,
    journal: &mut Journal<'_>,
) -> DirectDrivers {
    // SAFETY: the caller promises a valid create info with a valid chain.
    let Some(list) = (unsafe { usable_list(create_info, extension_enabled, journal) }) else {
        return DirectDrivers::default();
    };
    let exclusive = list.mode == VkDirectDriverLoadingModeLUNARG::VK_DIRECT_DRIVER_LOADING_MODE_EXCLUSIVE_LUNARG;
    if exclusive {
        journal.note(
            LogBits::INFO | LogBits::DRIVER,
            format_args!(
                "{HERE} The VK_LUNARG_direct_driver_loading extension is active and specified \
                 VK_DIRECT_DRIVER_LOADING_MODE_EXCLUSIVE_LUNARG, skipping system and environment variable driver \
                 search mechanisms."
            ),
        );
    }
    let problem = if list.pDrivers.is_null() {
        Some("has a NULL pDrivers member.")
    } else if list.driverCount == 0 {
        Some("has a non-null pDrivers member but a driverCount member with a value of zero.")
    } else {
        None
    };
    if let Some(problem) = problem {
        journal.note(
            WARN,
            format_args!(
                "{HERE} The VkDirectDriverLoadingListLUNARG structure in the pNext chain of VkInstanceCreateInfo {problem}"
            ),
        );
    }
    // SAFETY: the array of the application has as many elements as its count says.
    let entries = unsafe { ffi::c_array(list.pDrivers, list.driverCount) };
    let mut drivers = Vec::new();
    for (index, entry) in (0..).zip(entries) {
        if let Some(driver) = open(index, entry, journal) {
            drivers.push_or_note(driver);
        }
    }
    DirectDrivers { drivers, exclusive }
}

/// Returns the first list in the chain if the extension is enabled. Warns if there is a list without the extension, or the extension
/// without a list (DRV-80).
///
/// # Safety
/// `create_info` is valid, with a valid `pNext` chain.
unsafe fn usable_list<'a>(
    create_info: &'a VkInstanceCreateInfo,
    extension_enabled: bool,
    journal: &Journal<'_>,
) -> Option<&'a List> {
    // SAFETY: the caller promises a valid chain.
    let list = unsafe { ffi::find::<List>(create_info.pNext, List::STRUCTURE_TYPE) };
    match (&list, extension_enabled) {
        (None, false) | (Some(_), true) => return list,
        (None, true) => journal.note(
            WARN,
            format_args!(
                "{HERE} The VK_LUNARG_direct_driver_loading extension was enabled but the pNext chain of \
                 VkInstanceCreateInfo did not contain the VkDirectDriverLoadingListLUNARG structure."
            ),
        ),
        (Some(_), false) => journal.note(
            WARN,
            format_args!(
                "{HERE} The pNext chain of VkInstanceCreateInfo contained the VkDirectDriverLoadingListLUNARG \
                 structure, but the VK_LUNARG_direct_driver_loading extension was not enabled."
            ),
        ),
    }
    None
}

fn open(index: u32, entry: &VkDirectDriverLoadingInfoLUNARG<Driver>, journal: &mut Journal<'_>) -> Option<OpenDriver> {
    let name = Text::from(render(format_args!("direct driver #{index}")));
    match negotiated(index, entry, journal) {
        Ok((interface, claimed_version)) => Some(OpenDriver {
            library: None,
            path: name,
            claimed_version,
            interface,
            source: Source::Application,
            known: None,
            closed: None,
        }),
        Err(reason) => {
            journal.decide(Decision {
                subject: Subject::DriverLibrary,
                name,
                path: Text::default(),
                verdict: Verdict::Dropped(Reason::from(reason)),
                source: Source::Application,
            });
            None
        }
    }
}

fn negotiated(
    index: u32,
    entry: &VkDirectDriverLoadingInfoLUNARG<Driver>,
    journal: &Journal<'_>,
) -> Result<(Interface, ApiVersion), DriverLibraryReason> {
    let function: GetProcAddr = entry
        .pfnGetInstanceProcAddr
        .ok_or(DriverLibraryReason::DirectNoFunction(index))?;
    let interface = Interface::of_direct_driver(function).map_err(|error| match error {
        NegotiationError::Refused(version) | NegotiationError::NoLookup(version) => {
            DriverLibraryReason::DirectVersion(index, version)
        }
        NegotiationError::Missing(name) => {
            DriverLibraryReason::DirectNoCommand(index, name.to_str().unwrap_or_default())
        }
    })?;
    let version = match interface.instance_version() {
        None => ApiVersion::V1_1,
        Some(Ok(version)) => ApiVersion(version),
        Some(Err(result)) => return Err(DriverLibraryReason::DirectVersionQueryFailed(index, result.0)),
    };
    journal.note(
        LogBits::INFO | LogBits::DRIVER,
        format_args!(
            "loader_add_direct_driver: Adding driver found in index {index} of \
             VkDirectDriverLoadingListLUNARG::pDrivers structure. pfnGetInstanceProcAddr was set to {}",
            os::Address(function as *const ())
        ),
    );
    Ok((interface, version))
}
