//! Layer manifests (LAY-70 to LAY-110).
//!
//! [`read_layer_manifest`] reads one file, which may describe several layers. A fault in one layer drops only that layer. Everything that
//! is dropped is reported to the journal.

mod extensions;
mod file;
mod functions;
mod one;
mod types;

use alloc::vec::Vec;
pub use file::read_layer_manifest;
pub use types::{
    DeviceExtension, EnvironmentPair, InstanceExtension, LayerBody, LayerFunctions, LayerManifest, ManifestOrder,
    OVERRIDE_LAYER, OverrideFields, PreInstanceFunction, PreInstanceFunctions,
};

use super::json::{Object, Value};
use crate::journal::reason::LayerReason;
use crate::text::Text;
use os::memory::{Grow, OutOfMemory};

/// Reason why a layer is skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Skip {
    Because(LayerReason),
    OutOfMemory,
}

impl From<LayerReason> for Skip {
    fn from(reason: LayerReason) -> Self {
        Self::Because(reason)
    }
}

impl From<OutOfMemory> for Skip {
    fn from(OutOfMemory: OutOfMemory) -> Self {
        Self::OutOfMemory
    }
}

/// Returns the member called `name` if it is a string.
fn text(object: Object<'_>, name: &str) -> Result<Option<Text>, OutOfMemory> {
    object.text(name).map(Text::try_new).transpose()
}

/// Expected number of strings, for the initial allocation.
const USUAL_TEXTS: usize = 16;

/// Returns the strings of an array member, up to the first element of another type (BI-39). Returns an empty list if the member is not an
/// array.
fn leading_texts(object: Object<'_>, name: &str) -> Result<Vec<Text>, OutOfMemory> {
    let elements = object.array(name).unwrap_or_default();
    copied(elements.iter().map_while(Value::as_text), elements.len())
}

/// Copies the strings; `most` is an upper bound on their number.
fn copied<'a>(strings: impl Iterator<Item = &'a [u8]>, most: usize) -> Result<Vec<Text>, OutOfMemory> {
    let mut texts = Vec::new();
    texts.try_exact_room(most.min(USUAL_TEXTS))?;
    for string in strings {
        texts.try_push(Text::try_new(string)?)?;
    }
    Ok(texts)
}

#[cfg(all(test, unix))]
mod tests;
