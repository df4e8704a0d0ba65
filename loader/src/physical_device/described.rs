//! Devices in the trace (docs/trace.md).

use super::facts;
use super::walk::Device;
use crate::generated::types::VkPhysicalDeviceType;
use core::fmt::{Display, Formatter};
use discovery::trace;
use discovery::version::ApiVersion;
use os::Show;

/// Returns the trace's word for a device type.
pub(super) fn type_word(kind: VkPhysicalDeviceType) -> &'static str {
    match kind {
        VkPhysicalDeviceType::VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU => "discrete",
        VkPhysicalDeviceType::VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU => "integrated",
        VkPhysicalDeviceType::VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU => "virtual",
        VkPhysicalDeviceType::VK_PHYSICAL_DEVICE_TYPE_CPU => "cpu",
        _ => "other",
    }
}

/// Writes the devices to the trace in their order, each with the rule that positioned the device.
pub(super) fn describe<'a>(devices: impl Iterator<Item = &'a Device<'a>>, rule: impl Fn(usize) -> &'static str) {
    if !trace::is_on() {
        return;
    }
    for (place, device) in devices.enumerate() {
        let properties = facts::properties(device);
        let identifiers = facts::uuids_by_any(device);
        trace::write("device", |record| {
            record.number("place", place as u64);
            record.text("name", &facts::name_of(&properties));
            record.shown("driver", format_args!("{}", device.driver.name()));
            record.word("type", type_word(properties.deviceType));
            record.number("vendor", properties.vendorID.into());
            record.number("device", properties.deviceID.into());
            record.version("api-version", ApiVersion(properties.apiVersion));
            if let Some((of_device, of_driver)) = identifiers {
                record.shown("device-uuid", format_args!("{}", digits(&of_device)));
                record.shown("driver-uuid", format_args!("{}", digits(&of_driver)));
            }
            record.word("rule", rule(place));
        });
    }
}

/// Returns the bytes of an identifier as hexadecimal digits.
fn digits(uuid: &[u8; 16]) -> impl Display {
    Show(move |out: &mut Formatter<'_>| uuid.iter().try_for_each(|byte| write!(out, "{byte:02x}")))
}
