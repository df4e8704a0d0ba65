//! Types of objects in the two debugging extensions (APP-193). The generator emits the rows.

use crate::generated::object_types::OBJECT_TYPES;
use crate::generated::types::{VkDebugReportObjectTypeEXT, VkObjectType};

/// A type of handle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ObjectTypeRow {
    /// Name of the handle type.
    #[cfg(test)]
    pub handle: &'static str,
    /// Number of the type in debug utils.
    pub object: VkObjectType,
    /// Number of the type in debug report; unknown for handle types that are newer than debug report.
    pub report: VkDebugReportObjectTypeEXT,
}

/// Converts an object type of debug utils to debug report, or to unknown (APP-193).
pub(super) fn to_report(object: VkObjectType) -> VkDebugReportObjectTypeEXT {
    let row = OBJECT_TYPES.iter().find(|row| row.object == object);
    row.map_or(
        VkDebugReportObjectTypeEXT::VK_DEBUG_REPORT_OBJECT_TYPE_UNKNOWN_EXT,
        |row| row.report,
    )
}

/// Converts an object type of debug report to debug utils, or to unknown (APP-193).
pub(super) fn to_object(report: VkDebugReportObjectTypeEXT) -> VkObjectType {
    let unknown = VkDebugReportObjectTypeEXT::VK_DEBUG_REPORT_OBJECT_TYPE_UNKNOWN_EXT;
    let row = OBJECT_TYPES
        .iter()
        .find(|row| row.report == report && report != unknown);
    row.map_or(VkObjectType::VK_OBJECT_TYPE_UNKNOWN, |row| row.object)
}

/// Declares `OBJECT_TYPES` from rows of handle, object type, and object type of debug report.
macro_rules! object_types {
    ($($handle:ident, $object:ident, $report:ident;)*) => {
        /// All handle types, sorted by name.
        pub static OBJECT_TYPES: &[$crate::messenger::ObjectTypeRow] =
            &[$($crate::messenger::ObjectTypeRow {
                #[cfg(test)]
                handle: stringify!($handle),
                object: $crate::generated::types::VkObjectType::$object,
                report: $crate::generated::types::VkDebugReportObjectTypeEXT::$report,
            }),*];
    };
}

pub(crate) use object_types;
