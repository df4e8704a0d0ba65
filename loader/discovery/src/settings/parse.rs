//! Parses the JSON of a settings file (APP-245 to APP-248, APP-250, APP-261).

use super::{Control, DriverPolicies, LayerEntry, Settings, devices};
use crate::journal::reason::{FileReason, SettingsReason};
use crate::journal::{LogBits, Reason};
use crate::manifest::json::{Object, Value};
use crate::search::Executable;
use crate::text::Text;
use alloc::vec::Vec;
use os::memory::{Grow, OutOfMemory};

/// The words that `stderr_log` may contain.
const LOG_WORDS: &[(&[u8], LogBits)] = &[
    (b"all", ALL),
    (b"info", LogBits::INFO),
    (b"warn", LogBits::WARN),
    (b"perf", LogBits::PERF),
    (b"error", LogBits::ERROR),
    (b"debug", LogBits::DEBUG),
    (b"layer", LogBits::LAYER),
    (b"driver", LogBits::DRIVER),
    (b"validation", LogBits::VALIDATION),
];
const ALL: LogBits = LogBits::INFO
    .with(LogBits::WARN)
    .with(LogBits::PERF)
    .with(LogBits::ERROR)
    .with(LogBits::DEBUG)
    .with(LogBits::LAYER)
    .with(LogBits::DRIVER)
    .with(LogBits::VALIDATION);

/// Returns the settings for an executable, or the reason why the file contains none. The outer error makes the whole call fail.
pub(super) fn settings(
    root: Value<'_>,
    path: &Text,
    executable: &Executable,
) -> Result<Result<Settings, Reason>, OutOfMemory> {
    let object = match choose(root, executable) {
        Ok(object) => object,
        Err(reason) => return Ok(Err(reason)),
    };
    let settings = Settings {
        path: path.clone(),
        log_mask: log_mask(object),
        layers: layers(object)?,
        additional_drivers: additional_drivers(object)?,
        additional_drivers_exclusive: object
            .get("additional_drivers_use_exclusively")
            .is_some_and(Value::is_true),
        device_configurations: devices::configurations(object)?,
        visible_devices: devices::visible(object)?,
        driver_policies: driver_policies(object),
        layer_order: layer_order(object)?,
    };
    let active = !settings.log_mask.is_empty()
        || settings.layers.is_some()
        || !settings.additional_drivers.is_empty()
        || settings.device_configurations.is_some()
        || !settings.visible_devices.is_empty()
        || !settings.driver_policies.is_empty()
        || !settings.layer_order.is_empty();
    Ok(active.then_some(settings).ok_or(SettingsReason::Nothing.into()))
}

/// Returns the first object for `executable`, or else the first object for all executables (APP-246).
fn choose<'a>(root: Value<'a>, executable: &Executable) -> Result<Object<'a>, Reason> {
    let root = root.as_object().ok_or(FileReason::InvalidJson(None))?;
    root.text("file_format_version")
        .ok_or(SettingsReason::NoFormatVersion)?;
    let array = root.array("settings_array");
    let single = match array {
        Some(_) => None,
        None => Some(root.object("settings").ok_or(SettingsReason::NoSettings)?),
    };
    let several = array.unwrap_or_default().iter().map_while(Value::as_object);
    let mut for_all = None;
    for candidate in several.chain(single) {
        match candidate.get("app_keys") {
            None => for_all = for_all.or(Some(candidate)),
            Some(keys) if is_for(keys, executable) => return Ok(candidate),
            Some(_) => {}
        }
    }
    for_all.ok_or(SettingsReason::OtherExecutable.into())
}

fn is_for(keys: Value<'_>, executable: &Executable) -> bool {
    let keys = keys.as_array().unwrap_or_default();
    let executable = if keys.is_empty() { None } else { executable.path() };
    executable.is_some_and(|executable| keys.iter().any(|key| key.as_text() == Some(executable.as_bytes())))
}

fn log_mask(object: Object<'_>) -> LogBits {
    let words = object
        .array("stderr_log")
        .unwrap_or_default()
        .iter()
        .filter_map(Value::as_text);
    let bits = words.filter_map(|word| LOG_WORDS.iter().find(|(known, _)| *known == word));
    bits.fold(LogBits::NONE, |mask, (_, bits)| mask | *bits)
}

fn driver_policies(object: Object<'_>) -> DriverPolicies {
    let words = object.array("driver_policy").unwrap_or_default();
    let words = words.iter().filter_map(Value::as_text);
    words.fold(DriverPolicies::default(), DriverPolicies::with)
}

/// Returns the chains of `layer_order`. Ignores elements that are not strings.
fn layer_order(object: Object<'_>) -> Result<Vec<Text>, OutOfMemory> {
    let elements = object.array("layer_order").unwrap_or_default();
    let mut chains = Vec::new();
    for chain in elements.iter().filter_map(Value::as_text) {
        chains.try_push(Text::try_new(chain)?)?;
    }
    Ok(chains)
}

/// Returns the entries of `layers`; `None` if one entry is unusable (LAY-151).
fn layers(object: Object<'_>) -> Result<Option<Vec<LayerEntry>>, OutOfMemory> {
    let Some(elements) = object.array("layers") else {
        return Ok(None);
    };
    let mut entries = Vec::new();
    for element in elements.iter() {
        let Some(entry) = layer_entry(element)? else {
            return Ok(None);
        };
        entries.try_push(entry)?;
    }
    Ok(Some(entries))
}

fn layer_entry(element: Value<'_>) -> Result<Option<LayerEntry>, OutOfMemory> {
    let Some(object) = element.as_object() else {
        return Ok(None);
    };
    let control = match object.text("control") {
        None => return Ok(None),
        Some(b"on") => Control::On,
        Some(b"off") => Control::Off,
        Some(b"unordered_layer_location") => Control::Unordered,
        Some(_) => Control::Auto,
    };
    let (name, path) = match (object.text("name"), object.text("path")) {
        _ if control == Control::Unordered => (&b""[..], &b""[..]),
        (Some(name), Some(path)) => (name, path),
        _ => return Ok(None),
    };
    Ok(Some(LayerEntry {
        control,
        name: Text::try_new(name)?,
        path: Text::try_new(path)?,
        implicit: object.get("treat_as_implicit_manifest").is_some_and(Value::is_true),
    }))
}

/// Returns the manifests of additional drivers; an empty list if one element is unusable.
fn additional_drivers(object: Object<'_>) -> Result<Vec<Text>, OutOfMemory> {
    let elements = object.array("additional_drivers").unwrap_or_default();
    let mut paths = Vec::new();
    for element in elements.iter() {
        let Some(path) = element.as_object().and_then(|driver| driver.text("path")) else {
            return Ok(Vec::new());
        };
        paths.try_push(Text::try_new(path)?)?;
    }
    Ok(paths)
}
