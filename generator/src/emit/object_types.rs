//! `object_types.rs`: the kinds of objects, with their numbers in the two enumerations of object types (GEN-69).

use super::file::File;
use crate::names::ident;
use crate::plan::Plan;
use quote::quote;

pub(super) fn file(plan: &Plan<'_>) -> File {
    let reports = plan.registry.enums.get("VkDebugReportObjectTypeEXT");
    let rows = plan.registry.handles.values().map(|handle| {
        // The counterpart in `VkDebugReportObjectTypeEXT` has the same name with another prefix and the suffix `_EXT`. The numbers of the
        // two enumerants differ.
        let rest = handle.object_type.strip_prefix("VK_").unwrap_or(&handle.object_type);
        let counterpart = format!("VK_DEBUG_REPORT_{rest}_EXT");
        let known = reports.is_some_and(|reports| reports.enumerants.iter().any(|found| found.name == counterpart));
        let report = ident(if known {
            &counterpart
        } else {
            "VK_DEBUG_REPORT_OBJECT_TYPE_UNKNOWN_EXT"
        });
        let (handle, object) = (ident(&handle.name), ident(&handle.object_type));
        quote!(#handle, #object, #report;)
    });
    File::rust("object_types.rs")
        .doc("Kinds of objects as the two debugging extensions name them: handle, object type, object type of debug report.")
        .items(quote!(
            use crate::messenger::object_types;
        ))
        .rows("object_types", rows)
}
