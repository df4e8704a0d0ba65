//! What a user most likely looks for.

use reasons::Code;

/// The rank of what is no decision of the loader: a process that did not end by itself, and the like.
pub(crate) const FIRST: u8 = 0;
/// The program asked for something that is not there.
pub(crate) const REFUSED: u8 = 5;
/// The program says that it failed, without a reason.
pub(crate) const STATUS: u8 = 40;
/// What follows from other findings.
pub(crate) const CONSEQUENCE: u8 = 58;
/// Settings and variables that win without a word.
pub(crate) const SILENT: u8 = 10;
/// What is worth a word, and in no program's way.
pub(crate) const ASIDE: u8 = 70;
/// Something that is there does not work.
pub(crate) const BROKEN: u8 = 25;
/// There is nothing at all.
pub(crate) const NOTHING: u8 = 20;
/// The machine does not let the driver reach its hardware.
pub(crate) const HARDWARE: u8 = 18;

/// The rank of what the loader dropped. What somebody broke comes before what was asked for, and both before what is as it should be.
pub(crate) fn of(code: Option<Code>) -> u8 {
    match code {
        None => 50,
        Some(
            Code::FileNotFound
            | Code::FileNotOpened
            | Code::FileNotRegular
            | Code::FileNotRead
            | Code::FileTooLarge
            | Code::FileChanged
            | Code::FileInvalidJson
            | Code::FileNotAnObject
            | Code::FileNotJsonName,
        ) => 30,
        Some(
            Code::DriverNotOpened
            | Code::DriverNegotiationRefused
            | Code::DriverNoGetInstanceProcAddr
            | Code::DriverNoEntryPoint
            | Code::DriverNoExport
            | Code::DriverNoGlobalFunction
            | Code::DriverExtensionQueryFailed
            | Code::DriverCreationFailed
            | Code::DriverNullInstance
            | Code::DriverNoRequiredCommand
            | Code::DeviceEnumerationFailed
            | Code::CatalogueCrashed
            | Code::CatalogueHung,
        ) => BROKEN,
        Some(
            Code::DriverManifestDisabled
            | Code::DriverManifestNotSelected
            | Code::DeviceIdFilter
            | Code::DeviceNotConfigured,
        ) => 15,
        Some(Code::LayerLibraryNotOpened | Code::LayerLibraryNoSymbol) => 28,
        Some(Code::DriverManifestPortability) => 45,
        Some(
            Code::DriverWrongArchitecture | Code::DriverManifestArchitecture | Code::LayerLibraryWrongArchitecture,
        ) => 55,
        Some(Code::DriverNoDevices | Code::CatalogueNoDevice) => 65,
        Some(Code::CatalogueOtherLoader | Code::CatalogueVariable | Code::FileFoundBefore) => ASIDE,
        Some(_) => 50,
    }
}
