//! Names of exported functions (LAY-85, LAY-102, LAY-103, LAY-109).

use super::one::{Context, WITH_META_LAYERS};
use super::{LayerFunctions, PreInstanceFunctions};
use crate::journal::{Journal, LogBits};
use crate::manifest::FormatVersion;
use crate::manifest::json::Object;
use crate::text::Text;
use os::memory::OutOfMemory;

/// First version of the manifest format with `pre_instance_functions`.
const WITH_PRE_INSTANCE: FormatVersion = FormatVersion::new(1, 1, 2);

/// Returns the symbol that a member names. An empty name is treated as missing.
fn symbol(functions: Object<'_>, command: &str) -> Result<Option<Text>, OutOfMemory> {
    let symbol = functions.text(command).filter(|symbol| !symbol.is_empty());
    symbol.map(Text::try_new).transpose()
}

/// Returns the names of exported functions from the member `functions`.
pub(super) fn functions(
    object: Object<'_>,
    layer: &Text,
    context: &Context<'_>,
    journal: &Journal<'_>,
) -> Result<LayerFunctions, OutOfMemory> {
    let Some(functions) = object.object("functions") else {
        return Ok(LayerFunctions::default());
    };
    let negotiates = context.format >= WITH_META_LAYERS;
    let found = LayerFunctions {
        negotiate: if negotiates {
            symbol(functions, "vkNegotiateLoaderLayerInterfaceVersion")?
        } else {
            None
        },
        get_instance_proc_addr: symbol(functions, "vkGetInstanceProcAddr")?,
        get_device_proc_addr: symbol(functions, "vkGetDeviceProcAddr")?,
    };
    let deprecated = [
        ("vkGetInstanceProcAddr", &found.get_instance_proc_addr),
        ("vkGetDeviceProcAddr", &found.get_device_proc_addr),
    ];
    for (command, rename) in deprecated {
        if negotiates && found.negotiate.is_none() && rename.is_some() {
            journal.note(
                LogBits::INFO,
                format_args!(
                    "Layer \"{layer}\" using deprecated '{command}' tag which was deprecated starting with JSON file \
                     version 1.1.0. The new vkNegotiateLoaderLayerInterfaceVersion function is preferred, though for \
                     compatibility reasons it may be desirable to continue using the deprecated tag."
                ),
            );
        }
    }
    Ok(found)
}

/// Returns the functions in `pre_instance_functions`, which only implicit layers in files of a recent version may have.
pub(super) fn pre_instance_functions(
    object: Object<'_>,
    context: &Context<'_>,
    journal: &Journal<'_>,
) -> Result<PreInstanceFunctions, OutOfMemory> {
    let Some(functions) = object.object("pre_instance_functions") else {
        return Ok(PreInstanceFunctions::default());
    };
    if context.format < WITH_PRE_INSTANCE {
        journal.note(
            LogBits::ERROR,
            format_args!(
                "Found pre_instance_functions section in layer from \"{}\". This section is only valid in manifest \
                 version 1.1.2 or later. The section will be ignored",
                context.manifest
            ),
        );
        return Ok(PreInstanceFunctions::default());
    }
    if !context.implicit {
        journal.note(
            LogBits::WARN,
            format_args!(
                "Found pre_instance_functions section in explicit layer from \"{}\". This section is only valid in \
                 implicit layers. The section will be ignored",
                context.manifest
            ),
        );
        return Ok(PreInstanceFunctions::default());
    }
    Ok(PreInstanceFunctions {
        enumerate_instance_extension_properties: symbol(functions, "vkEnumerateInstanceExtensionProperties")?,
        enumerate_instance_layer_properties: symbol(functions, "vkEnumerateInstanceLayerProperties")?,
        enumerate_instance_version: symbol(functions, "vkEnumerateInstanceVersion")?,
    })
}
