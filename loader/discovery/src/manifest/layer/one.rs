//! Reads the fields of one layer, in the order of the checks (LAY-90 to LAY-101, LAY-107 to LAY-110).

use super::extensions::{device_extensions, instance_extensions};
use super::functions::{functions, pre_instance_functions};
use super::{
    EnvironmentPair, LayerBody, LayerManifest, ManifestOrder, OVERRIDE_LAYER, OverrideFields, Skip, copied,
    leading_texts,
};
use crate::journal::reason::LayerReason;
use crate::journal::{Journal, LogBits, Source};
use crate::manifest::FormatVersion;
use crate::manifest::json::{Object, Value};
use crate::manifest::library::{Architecture, resolve};
use crate::manifest::version::{self, number};
use crate::text::Text;
use alloc::vec::Vec;
use os::memory::OutOfMemory;
use promises::limits::MAX_LAYER_NAME;

/// First version of the manifest format with meta-layers, and with an entry for the negotiation function.
pub(super) const WITH_META_LAYERS: FormatVersion = FormatVersion::new(1, 1, 0);

/// Data that all layers of a file share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Context<'a> {
    pub(super) manifest: &'a Text,
    pub(super) source: Source,
    pub(super) implicit: bool,
    pub(super) format: FormatVersion,
}

/// Reads one layer.
pub(super) fn read_layer(
    object: Object<'_>,
    context: &Context<'_>,
    journal: &Journal<'_>,
) -> Result<LayerManifest, Skip> {
    let name = required(object, "name")?;
    note_name(&name, journal);
    check_type(object)?;
    let api_version = version::api_version(required_text(object, "api_version")?);
    if api_version.variant() != 0 {
        return Err(LayerReason::Variant(api_version.variant()).into());
    }
    let implementation_version = number(required_text(object, "implementation_version")?);
    let description = required(object, "description")?;
    let body = body(object, &name, context, journal)?;
    let is_override = name == OVERRIDE_LAYER;
    let mut overrides = override_fields(object, &name, is_override, context, journal)?;
    let disable_environment = if context.implicit {
        Some(disable_environment(object)?)
    } else {
        None
    };
    let functions = functions(object, &name, context, journal)?;
    let instance_extensions = instance_extensions(object)?;
    let device_extensions = device_extensions(object)?;
    let enable_environment = if context.implicit {
        first_pair(object, "enable_environment")?
    } else {
        None
    };
    let pre_instance_functions = pre_instance_functions(object, context, journal)?;
    overrides.app_keys = app_keys(object, &name, is_override, journal)?;
    if !architecture(object).is_none_or(Architecture::is_ours) {
        return Err(LayerReason::Architecture.into());
    }
    Ok(LayerManifest {
        manifest: context.manifest.clone(),
        source: context.source,
        implicit: context.implicit,
        name,
        api_version,
        implementation_version,
        description,
        body,
        functions,
        instance_extensions,
        device_extensions,
        disable_environment,
        enable_environment,
        pre_instance_functions,
        overrides,
        order: order(object)?,
    })
}

fn required_text<'a>(object: Object<'a>, field: &'static str) -> Result<&'a [u8], LayerReason> {
    object.text(field).ok_or(LayerReason::NoField(field))
}

/// Returns a required string. The API limits its length, so a longer string is treated as missing (LAY-92).
fn required(object: Object<'_>, field: &'static str) -> Result<Text, Skip> {
    let text = required_text(object, field)?;
    if text.len() > MAX_LAYER_NAME {
        return Err(LayerReason::NoField(field).into());
    }
    Ok(Text::try_new(text)?)
}

fn note_name(name: &Text, journal: &Journal<'_>) {
    if !name.starts_with(b"VK_LAYER_") {
        journal.note(
            LogBits::WARN,
            format_args!("Layer name {name} does not conform to naming standard (Policy #LLP_LAYER_3)"),
        );
    }
}

fn check_type(object: Object<'_>) -> Result<(), LayerReason> {
    match required_text(object, "type")? {
        b"INSTANCE" | b"GLOBAL" => Ok(()),
        b"DEVICE" => Err(LayerReason::DeviceLayer),
        _ => Err(LayerReason::UnknownType),
    }
}

fn body(object: Object<'_>, name: &Text, context: &Context<'_>, journal: &Journal<'_>) -> Result<LayerBody, Skip> {
    let library_path = object.text("library_path");
    match (library_path, object.get("component_layers")) {
        (Some(path), None) => Ok(LayerBody::Library(resolve(context.manifest, path)?)),
        (None, Some(components)) if components.children().all(|component| component.as_text().is_some()) => {
            if context.format < WITH_META_LAYERS {
                journal.note(
                    LogBits::WARN,
                    format_args!(
                        "Layer \"{name}\" contains meta-layer-specific component_layers, but using older JSON file \
                         version."
                    ),
                );
            }
            journal.note(
                LogBits::INFO | LogBits::LAYER,
                format_args!("Encountered meta-layer \"{name}\""),
            );
            let names = components.children().filter_map(Value::as_text);
            Ok(LayerBody::Components(copied(names, components.children().count())?))
        }
        (Some(_), Some(_)) => Err(LayerReason::LibraryAndComponents.into()),
        (None, _) => Err(LayerReason::NoLibraryNorComponents.into()),
    }
}

fn override_fields(
    object: Object<'_>,
    name: &Text,
    is_override: bool,
    context: &Context<'_>,
    journal: &Journal<'_>,
) -> Result<OverrideFields, OutOfMemory> {
    if !is_override {
        return Ok(OverrideFields::default());
    }
    let blacklisted_layers = leading_texts(object, "blacklisted_layers")?;
    let paths = leading_texts(object, "override_paths")?;
    if !paths.is_empty() && context.format < WITH_META_LAYERS {
        journal.note(
            LogBits::WARN,
            format_args!(
                "Layer \"{name}\" contains meta-layer-specific override paths, but using older JSON file version."
            ),
        );
    }
    Ok(OverrideFields {
        paths,
        blacklisted_layers,
        app_keys: Vec::new(),
    })
}

fn app_keys(
    object: Object<'_>,
    name: &Text,
    is_override: bool,
    journal: &Journal<'_>,
) -> Result<Vec<Text>, OutOfMemory> {
    if is_override {
        return leading_texts(object, "app_keys");
    }
    if object.get("app_keys").is_some() {
        journal.note(
            LogBits::WARN | LogBits::LAYER,
            format_args!(
                "Layer {name} contains app_keys, but any app_keys can only be provided by the override meta layer. \
                 These will be ignored."
            ),
        );
    }
    Ok(Vec::new())
}

fn disable_environment(object: Object<'_>) -> Result<EnvironmentPair, Skip> {
    if object.get("disable_environment").is_none() {
        return Err(LayerReason::NoDisableEnvironment.into());
    }
    first_pair(object, "disable_environment")?.ok_or_else(|| LayerReason::BadDisableEnvironment.into())
}

/// Returns the first member of an object, if its value is a string.
fn first_pair(object: Object<'_>, field: &str) -> Result<Option<EnvironmentPair>, OutOfMemory> {
    let Some((name, value)) = object.object(field).and_then(Object::first) else {
        return Ok(None);
    };
    let Some(value) = Value::as_text(value) else {
        return Ok(None);
    };
    Ok(Some(EnvironmentPair {
        name: Text::try_new(name)?,
        value: Text::try_new(value)?,
    }))
}

/// Returns the words for the layers that are above or below this layer according to `order` (LAY-333).
fn order(object: Object<'_>) -> Result<ManifestOrder, OutOfMemory> {
    let Some(order) = object.object("order") else {
        return Ok(ManifestOrder::default());
    };
    Ok(ManifestOrder {
        above: leading_texts(order, "above")?,
        below: leading_texts(order, "below")?,
    })
}

fn architecture(object: Object<'_>) -> Option<Architecture> {
    match object.text("library_arch")? {
        [b'3', b'2', ..] => Some(Architecture::Bits32),
        [b'6', b'4', ..] => Some(Architecture::Bits64),
        _ => None,
    }
}
