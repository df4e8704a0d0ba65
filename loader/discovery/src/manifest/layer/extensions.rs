//! The extensions that a layer adds (LAY-104 to LAY-106).

use alloc::vec::Vec;

use super::{DeviceExtension, InstanceExtension, leading_texts};
use crate::extension;
use crate::index::{Key, NameIndex};
use crate::manifest::json::{Elements, Object, Value};
use crate::manifest::version::number;
use crate::text::Text;
use os::memory::{Grow, OutOfMemory};
use promises::limits::MAX_LAYER_NAME;

/// Expected number of elements, for the initial allocation.
const USUAL_LENGTH: usize = 16;

/// Returns the usable elements of `instance_extensions`.
pub(super) fn instance_extensions(object: Object<'_>) -> Result<Vec<InstanceExtension>, OutOfMemory> {
    let elements = object.array("instance_extensions").unwrap_or_default();
    let mut list = Vec::new();
    list.try_exact_room(elements.len().min(USUAL_LENGTH))?;
    for named in named(elements) {
        let (name, extension) = named?;
        if extension::InstanceExtension::find(name).is_some_and(extension::lacks_window_system) {
            continue;
        }
        list.try_push(InstanceExtension {
            name: Text::try_new(name)?,
            spec_version: spec_version(extension),
        })?;
    }
    Ok(list)
}

/// Returns the usable elements of `device_extensions`.
pub(super) fn device_extensions(object: Object<'_>) -> Result<Vec<DeviceExtension>, OutOfMemory> {
    let elements = object.array("device_extensions").unwrap_or_default();
    let mut list = Vec::new();
    list.try_exact_room(elements.len().min(USUAL_LENGTH))?;
    for named in named(elements) {
        let (name, extension) = named?;
        list.try_push(DeviceExtension {
            name: Text::try_new(name)?,
            spec_version: spec_version(extension),
            entrypoints: leading_texts(extension, "entrypoints")?,
        })?;
    }
    Ok(list)
}

/// Returns the objects of an array whose name has a length that the API allows. Returns only the first of several objects with the same
/// name.
fn named<'a>(elements: Elements<'a>) -> impl Iterator<Item = Result<(&'a [u8], Object<'a>), OutOfMemory>> {
    // An array with one element has no repeated name.
    let repeats = elements.len() > 1;
    let mut known = NameIndex::default();
    let mut names = Vec::new();
    elements
        .iter()
        .filter_map(Value::as_object)
        .filter_map(move |extension| {
            let name = extension.text("name").filter(|name| name.len() <= MAX_LAYER_NAME)?;
            if !repeats {
                return Some(Ok((name, extension)));
            }
            let key = Key::of(&[name]);
            if known.find(key, |place| names[place] == name).is_some() {
                return None;
            }
            let added = known.add(key, names.len()).and_then(|()| names.try_push(name));
            Some(added.map(|()| (name, extension)))
        })
}

/// Returns the revision: a decimal number in a string. Any other value is treated as 0.
fn spec_version(extension: Object<'_>) -> u32 {
    extension.text("spec_version").map_or(0, number)
}
