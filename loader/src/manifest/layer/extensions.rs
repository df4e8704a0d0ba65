//! The extensions a layer adds (LAY-104 to LAY-106).

use std::collections::BTreeSet;

use super::one::MAX_NAME;
use super::{DeviceExtension, InstanceExtension, leading_texts};
use crate::alloc::OutOfMemory;
use crate::manifest::Text;
use crate::manifest::json::{Object, Value};
use crate::manifest::version::number;

/// Surface extensions of windowing systems, and whether this loader is built for them (DRV-105).
const WINDOWING: &[(&[u8], bool)] = &[
    (b"VK_KHR_wayland_surface", cfg!(all(unix, not(target_vendor = "apple")))),
    (b"VK_KHR_xcb_surface", cfg!(all(unix, not(target_vendor = "apple")))),
    (b"VK_KHR_xlib_surface", cfg!(all(unix, not(target_vendor = "apple")))),
    (b"VK_EXT_directfb_surface", false),
    (b"VK_QNX_screen_surface", cfg!(target_os = "nto")),
];

/// The usable elements of `instance_extensions`.
pub(super) fn instance_extensions(object: &Object<'_>) -> Result<Vec<InstanceExtension>, OutOfMemory> {
    let mut extensions = Vec::new();
    for (name, extension) in named(object, "instance_extensions") {
        if WINDOWING.contains(&(name, false)) {
            continue;
        }
        extensions.try_reserve(1)?;
        extensions.push(InstanceExtension {
            name: Text::try_new(name)?,
            spec_version: spec_version(extension),
        });
    }
    Ok(extensions)
}

/// The usable elements of `device_extensions`.
pub(super) fn device_extensions(object: &Object<'_>) -> Result<Vec<DeviceExtension>, OutOfMemory> {
    let mut extensions = Vec::new();
    for (name, extension) in named(object, "device_extensions") {
        extensions.try_reserve(1)?;
        extensions.push(DeviceExtension {
            name: Text::try_new(name)?,
            spec_version: spec_version(extension),
            entrypoints: leading_texts(extension, "entrypoints")?,
        });
    }
    Ok(extensions)
}

/// The objects of an array that have a name which fits the API, the first of each name.
fn named<'a>(object: &'a Object<'a>, field: &str) -> impl Iterator<Item = (&'a [u8], &'a Object<'a>)> {
    let mut seen = BTreeSet::new();
    let elements = object.array(field).unwrap_or_default();
    elements
        .iter()
        .filter_map(Value::as_object)
        .filter_map(move |extension| {
            let name = extension.text("name").filter(|name| name.len() <= MAX_NAME)?;
            seen.insert(name).then_some((name, extension))
        })
}

/// A decimal number in a string; anything else counts as 0.
fn spec_version(extension: &Object<'_>) -> u32 {
    extension.text("spec_version").map_or(0, number)
}
