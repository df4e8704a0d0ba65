//! Order in which reasons explain a missing driver or device. The reason that users most likely look for has the smallest rank.

use super::Code;

/// Rank of reasons about objects that exist but do not work.
pub const BROKEN: u8 = 25;
/// Rank of every code that [`Code::rank`] does not list.
pub const OTHER: u8 = 50;
/// Lowest rank of harmless reasons. Reports mention these reasons, but never present them as the explanation of a failure.
pub const ASIDE: u8 = 70;

impl Code {
    /// Returns the rank of the reason. Reasons about a filter that the user set have the smallest ranks. The reason for a broken file has a
    /// smaller rank than the reason for a driver of another architecture.
    pub const fn rank(self) -> u8 {
        match self {
            Self::DriverManifestDisabled
            | Self::DriverManifestNotSelected
            | Self::DeviceIdFilter
            | Self::DeviceNotVisible
            | Self::DeviceNotConfigured => 15,
            Self::DriverNotOpened
            | Self::DriverNegotiationRefused
            | Self::DriverNoGetInstanceProcAddr
            | Self::DriverNoEntryPoint
            | Self::DriverNoExport
            | Self::DriverNoGlobalFunction
            | Self::DriverExtensionQueryFailed
            | Self::DriverCreationFailed
            | Self::DriverNullInstance
            | Self::DriverNoRequiredCommand
            | Self::DeviceEnumerationFailed
            | Self::CatalogueCrashed
            | Self::CatalogueHung => BROKEN,
            Self::LayerLibraryNotOpened | Self::LayerLibraryNoSymbol | Self::LayerLibraryNegotiationRefused => 28,
            Self::FileNotFound
            | Self::FileNotOpened
            | Self::FileNotRegular
            | Self::FileNotRead
            | Self::FileTooLarge
            | Self::FileChanged
            | Self::FileInvalidJson
            | Self::FileNotAnObject
            | Self::FileNotJsonName => 30,
            Self::DriverManifestPortability => 45,
            Self::DriverWrongArchitecture | Self::DriverManifestArchitecture | Self::LayerLibraryWrongArchitecture => {
                55
            }
            #[cfg(feature = "service")]
            Self::ServiceOtherWordSize => 55,
            Self::DriverNoDevices | Self::CatalogueNoDevice | Self::CatalogueHidden => 65,
            Self::LayerOtherExecutable
            | Self::CatalogueOtherLoader
            | Self::CatalogueVariable
            | Self::DeviceServed
            | Self::FileFoundBefore => ASIDE,
            _ => OTHER,
        }
    }
}
