//! Negotiation with a layer, and its three lookup functions (LAY-210 to LAY-215).

use crate::ffi::layer_interface::{
    GetDeviceProcAddr, GetInstanceProcAddr, LAYER_NEGOTIATE_INTERFACE_STRUCT, NegotiateLayerInterface,
    VkNegotiateLayerInterface,
};
use crate::generated::types::{PFN_vkVoidFunction, VkResult};
use crate::library::{Library, typed};
use discovery::journal::reason::LayerLibraryProblem;
use discovery::text::Text;

/// Name of a layer's function for the negotiation, unless the manifest names another one.
const NEGOTIATE: &str = "vkNegotiateLoaderLayerInterfaceVersion";

/// Lookup functions of a layer.
#[derive(Clone, Copy)]
pub(crate) struct LayerFunctions {
    /// Instance-level lookup.
    pub get_instance_proc_addr: GetInstanceProcAddr,
    /// Device-level lookup; a layer without one is not in device chains (LAY-281).
    pub get_device_proc_addr: Option<GetDeviceProcAddr>,
    /// Lookup of physical-device functions, since interface version 2 (LAY-214).
    pub get_physical_device_proc_addr: Option<GetInstanceProcAddr>,
}

/// Exported names that a manifest may replace (LAY-102).
#[derive(Clone, Copy, Default)]
pub(crate) struct Renames<'a> {
    /// Name that replaces `vkNegotiateLoaderLayerInterfaceVersion`.
    pub negotiate: Option<&'a Text>,
    /// Name that replaces `vkGetInstanceProcAddr`.
    pub get_instance_proc_addr: Option<&'a Text>,
    /// Name that replaces `vkGetDeviceProcAddr`.
    pub get_device_proc_addr: Option<&'a Text>,
}

impl LayerFunctions {
    /// Negotiates with the open library of a layer.
    ///
    /// # Errors
    /// The library offers no usable `vkGetInstanceProcAddr`: [`LayerLibraryProblem::NegotiationRefused`] if the layer refused the negotiation,
    /// and else [`LayerLibraryProblem::NoSymbol`].
    pub(crate) fn of(library: &Library, renames: Renames<'_>) -> Result<Self, LayerLibraryProblem> {
        let reply = negotiate(library, renames);
        let refusal = reply.as_ref().err().copied();
        let reply = reply.ok().flatten();
        let negotiated = reply.filter(|reply| reply.loaderLayerInterfaceVersion >= 2);
        let (gipa, gdpa, gpdpa) = negotiated.map_or((None, None, None), |reply| {
            (
                reply.pfnGetInstanceProcAddr,
                reply.pfnGetDeviceProcAddr,
                reply.pfnGetPhysicalDeviceProcAddr,
            )
        });
        let exported = || {
            // SAFETY: the export is the layer's `vkGetInstanceProcAddr`, under its own name or the manifest's.
            unsafe { typed(named(library, renames.get_instance_proc_addr, "vkGetInstanceProcAddr")) }
        };
        let Some(get_instance_proc_addr) = gipa.or_else(exported) else {
            let missing = symbol(renames.get_instance_proc_addr, "vkGetInstanceProcAddr");
            return Err(match refusal {
                None => LayerLibraryProblem::NoSymbol(missing),
                Some(result) => LayerLibraryProblem::NegotiationRefused {
                    negotiate: symbol(renames.negotiate, NEGOTIATE),
                    result: result.0,
                    symbol: missing,
                },
            });
        };
        let exported = || {
            // SAFETY: the export is the layer's `vkGetDeviceProcAddr`, under its own name or the manifest's.
            unsafe { typed(named(library, renames.get_device_proc_addr, "vkGetDeviceProcAddr")) }
        };
        Ok(Self {
            get_instance_proc_addr,
            get_device_proc_addr: gdpa.or_else(exported),
            get_physical_device_proc_addr: gpdpa,
        })
    }
}

fn symbol(rename: Option<&Text>, name: &str) -> Text {
    rename.cloned().unwrap_or_else(|| Text::from(name))
}

fn named(library: &Library, rename: Option<&Text>, name: &str) -> PFN_vkVoidFunction {
    library.function_named(rename.map_or(name.as_bytes(), |text| text.as_bytes()))
}

/// Negotiates the interface with the layer. Returns `None` if the layer lacks the function. Then, and if the layer reports an error, the
/// loader uses the library's exports (LAY-212).
///
/// # Errors
/// The result of the layer's function.
fn negotiate(library: &Library, renames: Renames<'_>) -> Result<Option<VkNegotiateLayerInterface>, VkResult> {
    let function = named(library, renames.negotiate, NEGOTIATE);
    // SAFETY: the export is the layer's negotiation function, which has this type.
    let Some(function): Option<NegotiateLayerInterface> = (unsafe { typed(function) }) else {
        return Ok(None);
    };
    let mut interface = VkNegotiateLayerInterface {
        sType: LAYER_NEGOTIATE_INTERFACE_STRUCT,
        pNext: core::ptr::null_mut(),
        loaderLayerInterfaceVersion: promises::LAYER_INTERFACE,
        pfnGetInstanceProcAddr: None,
        pfnGetDeviceProcAddr: None,
        pfnGetPhysicalDeviceProcAddr: None,
    };
    // SAFETY: the structure is writable; this is the first call of the layer since its library was loaded.
    let result = unsafe { function(&mut interface) };
    match result {
        VkResult::VK_SUCCESS => Ok(Some(interface)),
        refusal => Err(refusal),
    }
}
