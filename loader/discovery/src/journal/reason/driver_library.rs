//! Reasons about driver libraries and drivers that are not used (DRV-58 to DRV-68, DRV-83, DRV-84, DRV-107, DRV-111, DRV-112, DRV-131).

use core::fmt;

use super::{DRIVER_ERROR, DRIVER_INFO, LogBits};
use crate::text::Text;
use reasons::Code;

/// Reason why a driver is not used, although its manifest was valid or the application supplied it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DriverLibraryReason {
    /// The system could not open the library, and reported this error, which was logged before.
    NotOpened(Text),
    /// The library is for another architecture, and the system reported this error, which was logged before.
    WrongArchitecture(Text),
    /// Negotiation returned `VK_ERROR_INCOMPATIBLE_DRIVER`.
    NegotiationRefused,
    /// The driver negotiated this interface version but does not export `vk_icdGetInstanceProcAddr`.
    NoGetInstanceProcAddr(u32),
    /// The library exports neither `vkGetInstanceProcAddr` nor `vk_icdGetInstanceProcAddr`.
    NoEntryPoint,
    /// A driver of interface version 0 does not export this function.
    NoExport(&'static str),
    /// `vk_icdGetInstanceProcAddr` does not return this function.
    NoGlobalFunction(&'static str),
    /// `vkEnumerateInstanceExtensionProperties` of the driver failed with this `VkResult`.
    ExtensionQueryFailed(i32),
    /// `vkCreateInstance` of the driver failed with this `VkResult`.
    CreationFailed(i32),
    /// `vkCreateInstance` of the driver succeeded without an instance.
    NullInstance,
    /// The driver's instance does not provide a command that every driver must have.
    NoRequiredCommand,
    /// The driver reports no physical device, so the loader releases the driver to save address space.
    NoDevices,
    /// The application listed no function for the direct driver of this index.
    DirectNoFunction(u32),
    /// The direct driver of index `.0` does not return the function `.1`.
    DirectNoCommand(u32, &'static str),
    /// The direct driver of index `.0` supports only interface version `.1`, which is too old.
    DirectVersion(u32, u32),
    /// `vkEnumerateInstanceVersion` of the direct driver of index `.0` failed with `VkResult` `.1`.
    DirectVersionQueryFailed(u32, i32),
}

impl DriverLibraryReason {
    pub(super) fn code(&self) -> Code {
        match self {
            Self::NotOpened(_) => Code::DriverNotOpened,
            Self::WrongArchitecture(_) => Code::DriverWrongArchitecture,
            Self::NegotiationRefused => Code::DriverNegotiationRefused,
            Self::NoGetInstanceProcAddr(_) => Code::DriverNoGetInstanceProcAddr,
            Self::NoEntryPoint => Code::DriverNoEntryPoint,
            Self::NoExport(_) => Code::DriverNoExport,
            Self::NoGlobalFunction(_) => Code::DriverNoGlobalFunction,
            Self::ExtensionQueryFailed(_) => Code::DriverExtensionQueryFailed,
            Self::CreationFailed(_) => Code::DriverCreationFailed,
            Self::NullInstance => Code::DriverNullInstance,
            Self::NoRequiredCommand => Code::DriverNoRequiredCommand,
            Self::NoDevices => Code::DriverNoDevices,
            Self::DirectNoFunction(_) => Code::DriverDirectNoFunction,
            Self::DirectNoCommand(..) => Code::DriverDirectNoCommand,
            Self::DirectVersion(..) => Code::DriverDirectVersion,
            Self::DirectVersionQueryFailed(..) => Code::DriverDirectVersionQueryFailed,
        }
    }

    pub(super) fn bits(&self) -> Option<LogBits> {
        Some(match self {
            Self::WrongArchitecture(_) => LogBits::DRIVER,
            Self::NoDevices => DRIVER_INFO,
            Self::CreationFailed(_) | Self::NullInstance | Self::NoRequiredCommand => LogBits::WARN,
            Self::NotOpened(_)
            | Self::DirectNoFunction(_)
            | Self::DirectNoCommand(..)
            | Self::DirectVersion(..)
            | Self::DirectVersionQueryFailed(..) => DRIVER_ERROR,
            Self::NegotiationRefused
            | Self::NoGetInstanceProcAddr(_)
            | Self::NoEntryPoint
            | Self::NoExport(_)
            | Self::NoGlobalFunction(_)
            | Self::ExtensionQueryFailed(_) => LogBits::ERROR,
        })
    }

    pub(super) fn write(&self, out: &mut fmt::Formatter<'_>, name: &Text, _path: &Text) -> fmt::Result {
        const SCAN: &str = "loader_scanned_icd_add:";
        const CREATE: &str = "terminator_CreateInstance:";
        const DIRECT: &str = "loader_add_direct_driver: VkDirectDriverLoadingInfoLUNARG structure at index";
        match self {
            Self::NotOpened(_) => write!(
                out,
                "loader_icd_scan: Failed loading library associated with ICD JSON {name}. Ignoring this JSON"
            ),
            Self::WrongArchitecture(_) => write!(out, "Requested ICD {name} was wrong bit-type. Ignoring this JSON"),
            Self::NegotiationRefused => write!(
                out,
                "{SCAN} ICD {name} doesn't support interface version compatible with loader, skip this ICD."
            ),
            Self::NoGetInstanceProcAddr(version) => write!(
                out,
                "{SCAN} ICD {name} reports an interface version of {version} but doesn't export \
                 vk_icdGetInstanceProcAddr, skip this ICD."
            ),
            Self::NoEntryPoint => write!(
                out,
                "{SCAN} Attempt to retrieve either 'vkGetInstanceProcAddr' or 'vk_icdGetInstanceProcAddr' from ICD \
                 {name} failed."
            ),
            Self::NoExport(command) => write!(
                out,
                "{SCAN} Failed to get '{command}' from the exports of ICD {name}, skip this ICD."
            ),
            Self::NoGlobalFunction(command) => write!(
                out,
                "{SCAN} Could not get '{command}' via 'vk_icdGetInstanceProcAddr' for ICD {name}"
            ),
            Self::ExtensionQueryFailed(result) => write!(
                out,
                "loader_add_instance_extensions: Error getting Instance extension count from {name}: VkResult \
                 {result}. Skipping this driver."
            ),
            Self::CreationFailed(result) => write!(
                out,
                "{CREATE} Received return code {result} from call to vkCreateInstance in ICD {name}. Skipping this \
                 driver."
            ),
            Self::NullInstance => write!(
                out,
                "{CREATE} vkCreateInstance in ICD {name} succeeded without an instance. Skipping this driver."
            ),
            Self::NoRequiredCommand => write!(
                out,
                "{CREATE} Failed to find required entrypoints in ICD {name}. Skipping this driver."
            ),
            Self::NoDevices => write!(out, "Removing driver {name} due to not having any physical devices"),
            Self::DirectNoFunction(index) => write!(
                out,
                "{DIRECT} {index} contains a NULL pointer for the pfnGetInstanceProcAddr member, skipping."
            ),
            Self::DirectNoCommand(index, command) => write!(
                out,
                "loader_add_direct_driver: Could not get '{command}' from VkDirectDriverLoadingInfoLUNARG structure at \
                 index {index}, skipping."
            ),
            Self::DirectVersion(index, version) => write!(
                out,
                "{DIRECT} {index} supports interface version {version}, which is incompatible with the Loader Driver \
                 Interface version that supports the VK_LUNARG_direct_driver_loading extension, skipping."
            ),
            Self::DirectVersionQueryFailed(index, result) => write!(
                out,
                "{DIRECT} {index}: vkEnumerateInstanceVersion returned VkResult {result}, skipping."
            ),
        }
    }
}
