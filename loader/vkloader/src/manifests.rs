//! Reads the manifests of drivers and layers.

use crate::regular;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Returns the content of a manifest; `None` if the file is not valid JSON, or no regular file. Opening a named pipe might wait for ever.
pub(crate) fn read(path: &Path) -> Option<Value> {
    let bytes = regular::read(path).ok()?;
    // Loaders accept a byte order mark of UTF-8.
    serde_json::from_slice(bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes)).ok()
}

/// Returns the value of `library_path` in a driver's manifest, without changes.
pub(crate) fn named(path: &Path) -> Option<String> {
    let content = read(path)?;
    content.get("ICD")?.get("library_path")?.as_str().map(String::from)
}

/// Returns the path of a library that a manifest names. A relative path starts at the manifest's folder. A file name without a folder is
/// returned unchanged.
pub(crate) fn found(manifest: &Path, library: &str) -> PathBuf {
    if library.contains('/') {
        manifest.parent().unwrap_or(Path::new("/")).join(library)
    } else {
        library.into()
    }
}

/// Returns the path of the library that a manifest names for the layer called `name`.
pub(crate) fn library_of_layer(path: &Path, name: &str) -> Option<PathBuf> {
    let content = read(path)?;
    let layer = layers(&content).find(|layer| layer.get("name").and_then(Value::as_str) == Some(name))?;
    Some(found(path, layer.get("library_path")?.as_str()?))
}

/// Returns the objects in a manifest that describe layers.
pub(crate) fn layers(content: &Value) -> impl Iterator<Item = &Value> {
    let several = content.get("layers").and_then(Value::as_array).into_iter().flatten();
    content.get("layer").into_iter().chain(several)
}

/// Returns the variable that disables a layer, according to the layer's manifest, and a value for the variable.
pub(crate) fn own_switch(path: &Path, name: &str) -> Option<(String, String)> {
    let (variable, value) = switch(path, name, "disable_environment")?;
    Some((variable, if value.is_empty() { "1".into() } else { value }))
}

/// Returns the variable that enables an implicit layer, according to the layer's manifest, and the value that the variable must have.
pub(crate) fn enabling_switch(path: &Path, name: &str) -> Option<(String, String)> {
    switch(path, name, "enable_environment")
}

/// Returns the first variable in a member of a layer's description, with its value.
fn switch(path: &Path, name: &str, member: &str) -> Option<(String, String)> {
    let content = read(path)?;
    let layer = layers(&content).find(|layer| layer.get("name").and_then(Value::as_str) == Some(name))?;
    let (variable, value) = layer.get(member)?.as_object()?.iter().next()?;
    Some((variable.clone(), value.as_str().unwrap_or_default().into()))
}
