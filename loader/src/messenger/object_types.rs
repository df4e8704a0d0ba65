//! Kinds of objects as the two debugging extensions name them (APP-193). The rows are emitted.

use crate::generated::object_types::OBJECT_TYPES;
use crate::generated::types::{VkDebugReportObjectTypeEXT, VkObjectType};

/// A kind of handle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ObjectTypeRow {
    /// The handle type.
    #[cfg(test)]
    pub handle: &'static str,
    /// Its number for debug utils.
    pub object: VkObjectType,
    /// Its number for debug report; unknown for handles that are younger than that extension.
    pub report: VkDebugReportObjectTypeEXT,
}

/// What debug report calls an object type, or unknown (APP-193).
pub(super) fn to_report(object: VkObjectType) -> VkDebugReportObjectTypeEXT {
    let row = OBJECT_TYPES.iter().find(|row| row.object == object);
    row.map_or(
        VkDebugReportObjectTypeEXT::VK_DEBUG_REPORT_OBJECT_TYPE_UNKNOWN_EXT,
        |row| row.report,
    )
}

/// What debug utils calls an object type of debug report, or unknown (APP-193).
pub(super) fn to_object(report: VkDebugReportObjectTypeEXT) -> VkObjectType {
    let unknown = VkDebugReportObjectTypeEXT::VK_DEBUG_REPORT_OBJECT_TYPE_UNKNOWN_EXT;
    let row = OBJECT_TYPES
        .iter()
        .find(|row| row.report == report && report != unknown);
    row.map_or(VkObjectType::VK_OBJECT_TYPE_UNKNOWN, |row| row.object)
}

/// Declares the table of rows: handle, object type, object type of debug report.
macro_rules! object_types {
    ($($handle:ident, $object:ident, $report:ident;)*) => {
        /// All handles, sorted by name.
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
