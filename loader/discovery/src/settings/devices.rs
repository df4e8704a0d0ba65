//! The devices that a settings file configures (APP-258).

use super::{DeviceConfiguration, ShortName};
use crate::env::device_select::END_OF_WORD;
use crate::manifest::json::{Object, Value};
use crate::text::Text;
use alloc::vec::Vec;
use os::memory::{Grow, OutOfMemory};

/// Returns the usable elements of `device_configurations`; `None` if the member is missing or contains other values than objects.
pub(super) fn configurations(object: Object<'_>) -> Result<Option<Vec<DeviceConfiguration>>, OutOfMemory> {
    let Some(elements) = object.array("device_configurations") else {
        return Ok(None);
    };
    let mut configurations = Vec::new();
    for element in elements.iter() {
        let Some(object) = element.as_object() else {
            return Ok(None);
        };
        if let Some(configuration) = configuration(object) {
            configurations.try_push(configuration)?;
        }
    }
    Ok(Some(configurations))
}

/// Returns the elements of `visible_devices` as one list, with [`END_OF_WORD`] after each element. An element that is not a text becomes a
/// word that matches no device, because ignoring the element could show a hidden device.
pub(super) fn visible(object: Object<'_>) -> Result<Text, OutOfMemory> {
    let mut list = Vec::new();
    for element in object.array("visible_devices").unwrap_or_default().iter() {
        let word = element.as_text().unwrap_or(b"(not a text)");
        // A text of the JSON parser contains no null byte (LAY-74).
        for &byte in word.iter().chain(&[END_OF_WORD]) {
            list.try_push(byte)?;
        }
    }
    Ok(list.into())
}

fn configuration(object: Object<'_>) -> Option<DeviceConfiguration> {
    let name = |field| ShortName::new(object.text(field).unwrap_or_default());
    Some(DeviceConfiguration {
        device_uuid: uuid(object, "deviceUUID")?,
        driver_uuid: uuid(object, "driverUUID")?,
        // The conversion saturates, so a number that is not a 32-bit version does not match another device by accident.
        driver_version: object.get("driverVersion").and_then(Value::as_number)? as u32,
        device_name: name("deviceName"),
        driver_name: name("driverName"),
    })
}

fn uuid(object: Object<'_>, field: &str) -> Option<[u8; 16]> {
    let elements = object.array(field)?;
    let mut uuid = [0; 16];
    if elements.len() != uuid.len() {
        return None;
    }
    for (byte, element) in uuid.iter_mut().zip(elements.iter()) {
        *byte = byte_of(element.as_number()?)?;
    }
    Some(uuid)
}

fn byte_of(number: f64) -> Option<u8> {
    // The cast truncates and saturates, so the comparison rejects all numbers that are not integers from 0 to 255.
    let byte = number as u8;
    (f64::from(byte) == number).then_some(byte)
}
