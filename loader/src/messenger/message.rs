//! A message in the forms of `VK_EXT_debug_utils` and `VK_EXT_debug_report` (APP-193 to APP-194).

use super::object_types;
use crate::generated::types::{
    VkDebugReportFlagBitsEXT as ReportBit, VkDebugReportFlagsEXT, VkDebugReportObjectTypeEXT,
    VkDebugUtilsMessageSeverityFlagBitsEXT as Severity, VkDebugUtilsMessageTypeFlagBitsEXT as Type,
    VkDebugUtilsMessageTypeFlagsEXT, VkDebugUtilsMessengerCallbackDataEXT, VkDebugUtilsMessengerCallbackDataFlagsEXT,
    VkDebugUtilsObjectNameInfoEXT, VkObjectType,
};
use crate::handle::{App, InstanceHandle};
use core::ffi::{CStr, c_char};
use discovery::journal::LogBits;

/// Identifier of the loader's own messages (APP-194).
const LOADER_MESSAGE: &CStr = c"Loader Message";

/// The parameters of a debug-report callback.
#[derive(Clone, Copy)]
pub(crate) struct ReportFields {
    /// Type of the object that the message is about.
    pub object_type: VkDebugReportObjectTypeEXT,
    /// Handle of the object that the message is about.
    pub object: u64,
    /// Location with a meaning that only the sender knows.
    pub location: usize,
    /// Number of the message.
    pub code: i32,
    /// Name of the sender.
    pub prefix: *const c_char,
    /// Text of the message.
    pub text: *const c_char,
}

/// A message, ready for callbacks of either kind.
pub(crate) struct Message {
    /// Severity, for messengers.
    pub severity: Severity,
    /// Types, for messengers.
    pub types: VkDebugUtilsMessageTypeFlagsEXT,
    /// Structure for messengers: the sender's own, if it supplied one (APP-193a).
    pub data: *const VkDebugUtilsMessengerCallbackDataEXT,
    /// Flags, for report callbacks.
    pub flags: VkDebugReportFlagsEXT,
    /// Parameters, for report callbacks.
    pub report: ReportFields,
}

impl Message {
    /// Creates a message from the structure of debug utils.
    ///
    /// # Safety
    /// `data` is valid as long as the message is used.
    pub(crate) unsafe fn from_utils(
        severity: Severity,
        types: VkDebugUtilsMessageTypeFlagsEXT,
        data: *const VkDebugUtilsMessengerCallbackDataEXT,
    ) -> Self {
        // SAFETY: the caller promises valid data.
        let fields = unsafe { &*data };
        let has_object = fields.objectCount > 0 && !fields.pObjects.is_null();
        // SAFETY: the count of a valid structure is above zero, so the array has a first object.
        let first = has_object.then(|| unsafe { &*fields.pObjects });
        let report = ReportFields {
            object_type: first.map_or(VkDebugReportObjectTypeEXT(0), |object| {
                object_types::to_report(object.objectType)
            }),
            object: first.map_or(0, |object| object.objectHandle),
            location: 0,
            code: fields.messageIdNumber,
            prefix: fields.pMessageIdName,
            text: fields.pMessage,
        };
        Self {
            severity,
            types,
            data,
            flags: report_flags(severity, types),
            report,
        }
    }

    /// Creates a message from the parameters of debug report; `data` is [`ReportFields::data`] of the same fields.
    pub(crate) fn from_report(
        flags: VkDebugReportFlagsEXT,
        report: ReportFields,
        data: &VkDebugUtilsMessengerCallbackDataEXT,
    ) -> Self {
        let (severity, types) = utils_flags(flags);
        Self {
            severity,
            types,
            data,
            flags,
            report,
        }
    }
}

impl ReportFields {
    /// Returns the object in the form of debug utils (APP-193a).
    pub(crate) fn object_info(&self) -> VkDebugUtilsObjectNameInfoEXT {
        object_info(object_types::to_object(self.object_type), self.object)
    }

    /// Returns the message in the form of debug utils, about `object`.
    pub(crate) fn data(&self, object: &VkDebugUtilsObjectNameInfoEXT) -> VkDebugUtilsMessengerCallbackDataEXT {
        data(self.prefix, self.code, self.text, object)
    }
}

/// Returns the application's instance as the object of a message (APP-194).
pub(crate) fn instance_object(instance: InstanceHandle<App>) -> VkDebugUtilsObjectNameInfoEXT {
    object_info(VkObjectType::VK_OBJECT_TYPE_INSTANCE, instance.raw() as usize as u64)
}

/// Returns the structure for the loader's own messages (APP-194).
pub(crate) fn loader_data(text: &CStr, object: &VkDebugUtilsObjectNameInfoEXT) -> VkDebugUtilsMessengerCallbackDataEXT {
    data(LOADER_MESSAGE.as_ptr(), 0, text.as_ptr(), object)
}

fn object_info(kind: VkObjectType, handle: u64) -> VkDebugUtilsObjectNameInfoEXT {
    VkDebugUtilsObjectNameInfoEXT {
        sType: VkDebugUtilsObjectNameInfoEXT::STRUCTURE_TYPE,
        pNext: core::ptr::null(),
        objectType: kind,
        objectHandle: handle,
        pObjectName: core::ptr::null(),
    }
}

fn data(
    id_name: *const c_char,
    id_number: i32,
    text: *const c_char,
    object: &VkDebugUtilsObjectNameInfoEXT,
) -> VkDebugUtilsMessengerCallbackDataEXT {
    VkDebugUtilsMessengerCallbackDataEXT {
        sType: VkDebugUtilsMessengerCallbackDataEXT::STRUCTURE_TYPE,
        pNext: core::ptr::null(),
        flags: VkDebugUtilsMessengerCallbackDataFlagsEXT(0),
        pMessageIdName: id_name,
        messageIdNumber: id_number,
        pMessage: text,
        queueLabelCount: 0,
        pQueueLabels: core::ptr::null(),
        cmdBufLabelCount: 0,
        pCmdBufLabels: core::ptr::null(),
        objectCount: 1,
        pObjects: object,
    }
}

/// Converts the bits of a log line to severity and types of debug utils: the first row whose bit is set decides the severity (APP-194).
pub(super) fn severity_and_types(bits: LogBits) -> (Severity, VkDebugUtilsMessageTypeFlagsEXT) {
    const SEVERITIES: [(LogBits, Severity); 4] = [
        (LogBits::ERROR, Severity::VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT),
        (LogBits::WARN, Severity::VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT),
        (LogBits::INFO, Severity::VK_DEBUG_UTILS_MESSAGE_SEVERITY_INFO_BIT_EXT),
        (
            LogBits::DEBUG,
            Severity::VK_DEBUG_UTILS_MESSAGE_SEVERITY_VERBOSE_BIT_EXT,
        ),
    ];
    let severity = SEVERITIES.iter().find(|(bit, _)| bits.intersects(*bit)).map_or(
        Severity::VK_DEBUG_UTILS_MESSAGE_SEVERITY_INFO_BIT_EXT,
        |(_, severity)| *severity,
    );
    let general = Type::VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT.0;
    let types = if bits.intersects(LogBits::PERF) {
        Type::VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT.0
    } else if bits.intersects(LogBits::VALIDATION) {
        general | Type::VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT.0
    } else {
        general
    };
    (severity, VkDebugUtilsMessageTypeFlagsEXT(types))
}

/// Converts severity and types of debug utils to flags of debug report (APP-193).
fn report_flags(severity: Severity, types: VkDebugUtilsMessageTypeFlagsEXT) -> VkDebugReportFlagsEXT {
    let has = |bit: Severity| severity.0 & bit.0 != 0;
    let flag = if has(Severity::VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT) {
        ReportBit::VK_DEBUG_REPORT_ERROR_BIT_EXT.0
    } else if has(Severity::VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT) {
        if types.0 & Type::VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT.0 != 0 {
            ReportBit::VK_DEBUG_REPORT_PERFORMANCE_WARNING_BIT_EXT.0
        } else {
            ReportBit::VK_DEBUG_REPORT_WARNING_BIT_EXT.0
        }
    } else if has(Severity::VK_DEBUG_UTILS_MESSAGE_SEVERITY_INFO_BIT_EXT) {
        ReportBit::VK_DEBUG_REPORT_INFORMATION_BIT_EXT.0
    } else if has(Severity::VK_DEBUG_UTILS_MESSAGE_SEVERITY_VERBOSE_BIT_EXT) {
        ReportBit::VK_DEBUG_REPORT_DEBUG_BIT_EXT.0
    } else {
        0
    };
    VkDebugReportFlagsEXT(flag)
}

/// Converts flags of debug report to severity and types of debug utils; several flags become several bits (APP-193).
fn utils_flags(flags: VkDebugReportFlagsEXT) -> (Severity, VkDebugUtilsMessageTypeFlagsEXT) {
    const GENERAL: u32 = Type::VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT.0;
    /// A flag, its severity, and the type that it adds.
    const ROWS: [(ReportBit, Severity, u32); 5] = [
        (
            ReportBit::VK_DEBUG_REPORT_INFORMATION_BIT_EXT,
            Severity::VK_DEBUG_UTILS_MESSAGE_SEVERITY_INFO_BIT_EXT,
            GENERAL,
        ),
        (
            ReportBit::VK_DEBUG_REPORT_WARNING_BIT_EXT,
            Severity::VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT,
            0,
        ),
        (
            ReportBit::VK_DEBUG_REPORT_PERFORMANCE_WARNING_BIT_EXT,
            Severity::VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT,
            Type::VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT.0,
        ),
        (
            ReportBit::VK_DEBUG_REPORT_ERROR_BIT_EXT,
            Severity::VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
            0,
        ),
        (
            ReportBit::VK_DEBUG_REPORT_DEBUG_BIT_EXT,
            Severity::VK_DEBUG_UTILS_MESSAGE_SEVERITY_VERBOSE_BIT_EXT,
            GENERAL,
        ),
    ];
    let set = ROWS.iter().filter(|(flag, ..)| flags.0 & flag.0 != 0);
    let (severity, types) = set.fold((0, 0), |(severities, types), (_, severity, kind)| {
        (severities | severity.0, types | kind)
    });
    // A message without a type has the general type.
    (
        Severity(severity),
        VkDebugUtilsMessageTypeFlagsEXT(if types == 0 { GENERAL } else { types }),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const ERROR: u32 = 4096;
    const WARNING: u32 = 256;
    const INFO: u32 = 16;
    const VERBOSE: u32 = 1;

    #[test]
    fn app_193_utils_to_report() {
        let cases = [
            (ERROR, 1, 8),
            (ERROR, 4, 8),
            (WARNING, 1, 2),
            (WARNING, 2, 2),
            (WARNING, 4, 4),
            (WARNING, 5, 4),
            (INFO, 4, 1),
            (VERBOSE, 1, 16),
            (0, 1, 0),
        ];
        for (severity, types, expected) in cases {
            let flags = report_flags(Severity(severity), VkDebugUtilsMessageTypeFlagsEXT(types));
            assert_eq!(flags.0, expected, "severity {severity}, types {types}");
        }
    }

    #[test]
    fn app_193_report_to_utils() {
        let cases = [
            (1, INFO, 1),
            (2, WARNING, 1),
            (4, WARNING, 4),
            (6, WARNING, 4),
            (8, ERROR, 1),
            (16, VERBOSE, 1),
            (12, ERROR | WARNING, 4),
            (0, 0, 1),
        ];
        for (flags, severity, types) in cases {
            let converted = utils_flags(VkDebugReportFlagsEXT(flags));
            assert_eq!((converted.0.0, converted.1.0), (severity, types), "flags {flags}");
        }
    }

    #[test]
    fn app_194_log_lines() {
        let cases = [
            (LogBits::INFO, INFO, 1),
            (LogBits::LAYER, INFO, 1),
            (LogBits::DRIVER, INFO, 1),
            (LogBits::WARN | LogBits::DRIVER, WARNING, 1),
            (LogBits::ERROR, ERROR, 1),
            (LogBits::DEBUG | LogBits::LAYER, VERBOSE, 1),
            (LogBits::WARN | LogBits::PERF, WARNING, 4),
            (LogBits::ERROR | LogBits::VALIDATION, ERROR, 3),
        ];
        for (bits, severity, types) in cases {
            let converted = severity_and_types(bits);
            assert_eq!((converted.0.0, converted.1.0), (severity, types), "{bits:?}");
        }
    }

    #[test]
    fn app_193a_fields_carry_over_from_report() {
        let fields = ReportFields {
            object_type: VkDebugReportObjectTypeEXT::VK_DEBUG_REPORT_OBJECT_TYPE_QUEUE_EXT,
            object: 77,
            location: 5,
            code: -3,
            prefix: c"prefix".as_ptr(),
            text: c"text".as_ptr(),
        };
        let object = fields.object_info();
        let data = fields.data(&object);
        let message = Message::from_report(VkDebugReportFlagsEXT(8), fields, &data);
        assert_eq!(
            (message.severity.0, message.types.0, message.report.location),
            (ERROR, 1, 5)
        );
        assert_eq!((data.pMessageIdName, data.messageIdNumber), (fields.prefix, -3));
        assert_eq!((data.pMessage, data.objectCount), (fields.text, 1));
        assert_eq!((data.flags.0, data.queueLabelCount, data.cmdBufLabelCount), (0, 0, 0));
        assert_eq!(
            (object.objectType, object.objectHandle),
            (VkObjectType::VK_OBJECT_TYPE_QUEUE, 77)
        );
    }

    #[test]
    fn app_193a_a_message_without_objects_names_none() {
        let object = object_info(VkObjectType::VK_OBJECT_TYPE_QUEUE, 9);
        let mut data = data(c"id".as_ptr(), 4, c"text".as_ptr(), &object);
        // SAFETY: the data is valid until the end of the test.
        let with = unsafe { Message::from_utils(Severity(ERROR), VkDebugUtilsMessageTypeFlagsEXT(1), &data) };
        assert_eq!(
            with.report.object_type,
            VkDebugReportObjectTypeEXT::VK_DEBUG_REPORT_OBJECT_TYPE_QUEUE_EXT
        );
        assert_eq!((with.report.object, with.report.location, with.report.code), (9, 0, 4));
        assert_eq!(with.report.prefix, data.pMessageIdName);
        data.objectCount = 0;
        // SAFETY: the data is valid until the end of the test.
        let without = unsafe { Message::from_utils(Severity(ERROR), VkDebugUtilsMessageTypeFlagsEXT(1), &data) };
        assert_eq!((without.report.object_type.0, without.report.object), (0, 0));
    }
}
