//! The extensions a layer adds (LAY-104 to LAY-106).

use rust_alloc::collections::BTreeSet;
use rust_alloc::vec::Vec;

use super::one::MAX_NAME;
use super::{DeviceExtension, InstanceExtension, leading_texts};
use crate::alloc::OutOfMemory;
use crate::generated::extensions;
use crate::manifest::Text;
use crate::manifest::json::{Object, Value};
use crate::manifest::version::number;
use crate::wsi;

/// The usable elements of `instance_extensions`.
pub(super) fn instance_extensions(object: &Object<'_>) -> Result<Vec<InstanceExtension>, OutOfMemory> {
    let mut list = Vec::new();
    for (name, extension) in named(object, "instance_extensions") {
        if extensions::InstanceExtension::find(name).is_some_and(wsi::lacks_window_system) {
            continue;
        }
        list.try_reserve(1)?;
        list.push(InstanceExtension {
            name: Text::try_new(name)?,
            spec_version: spec_version(extension),
        });
    }
    Ok(list)
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
