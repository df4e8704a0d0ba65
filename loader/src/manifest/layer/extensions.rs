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

/// Elements for which there is room at once.
const USUAL_LENGTH: usize = 16;

/// The usable elements of `instance_extensions`.
pub(super) fn instance_extensions(object: &Object<'_>) -> Result<Vec<InstanceExtension>, OutOfMemory> {
    let elements = object.array("instance_extensions").unwrap_or_default();
    let mut list = Vec::new();
    list.try_reserve_exact(elements.len().min(USUAL_LENGTH))?;
    for (name, extension) in named(elements) {
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
    let elements = object.array("device_extensions").unwrap_or_default();
    let mut list = Vec::new();
    list.try_reserve_exact(elements.len().min(USUAL_LENGTH))?;
    for (name, extension) in named(elements) {
        list.try_reserve(1)?;
        list.push(DeviceExtension {
            name: Text::try_new(name)?,
            spec_version: spec_version(extension),
            entrypoints: leading_texts(extension, "entrypoints")?,
        });
    }
    Ok(list)
}

/// The objects of an array that have a name which fits the API, the first of each name.
fn named<'a>(elements: &'a [Value<'a>]) -> impl Iterator<Item = (&'a [u8], &'a Object<'a>)> {
    // A single one repeats none.
    let mut seen = (elements.len() > 1).then(BTreeSet::new);
    elements
        .iter()
        .filter_map(Value::as_object)
        .filter_map(move |extension| {
            let name = extension.text("name").filter(|name| name.len() <= MAX_NAME)?;
            let is_new = seen.as_mut().is_none_or(|seen| seen.insert(name));
            is_new.then_some((name, extension))
        })
}

/// A decimal number in a string; anything else counts as 0.
fn spec_version(extension: &Object<'_>) -> u32 {
    extension.text("spec_version").map_or(0, number)
}
