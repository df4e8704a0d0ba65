//! Chains of layers that intercept the global queries (LAY-270 to LAY-277).

use super::global;
use crate::ffi::layer_interface::{PreInstanceNode, VkChainHeader};
use crate::generated::types::{PFN_vkVoidFunction, VkExtensionProperties, VkLayerProperties, VkResult};
use crate::layer::open_library;
use crate::library::Library;
use crate::table;
use core::ffi::{CStr, c_char};
use discovery::journal::reason::{LayerLibraryProblem, LayerLibraryReason};
use discovery::journal::{Decision, Journal, LogBits, Reason, Subject, Verdict};
use discovery::log;
use discovery::manifest::{LayerManifest, PreInstanceFunction};
use discovery::text::Text;
use os::memory::{Grow, OutOfMemory};
use rust_alloc::vec::Vec;

const DETAIL: LogBits = LogBits::DEBUG.with(LogBits::LAYER);

/// The global query that a chain answers.
#[derive(Clone, Copy)]
pub(super) struct Query {
    /// Function of the query, as manifests name it.
    pub function: PreInstanceFunction,
    /// Number of the query in the header of a node.
    pub kind: u32,
}

/// Layers whose libraries are open for one query, in discovery order.
pub(super) struct Interceptors {
    kind: u32,
    functions: Vec<*mut ()>,
    /// Libraries that contain the functions, each with the path in its manifest.
    libraries: Vec<(Text, Library)>,
}

impl Interceptors {
    /// Opens the libraries of the layers in `active`, in discovery order, that intercept `query`.
    ///
    /// # Errors
    /// There is not enough memory. A layer that does not open is recorded and skipped.
    pub(super) fn open<'a>(
        query: Query,
        active: impl Iterator<Item = &'a LayerManifest>,
        journal: &mut Journal<'_>,
    ) -> Result<Self, OutOfMemory> {
        let mut opened = Self {
            kind: query.kind,
            functions: Vec::new(),
            libraries: Vec::new(),
        };
        for layer in active {
            let Some(symbol) = layer.pre_instance_function(query.function) else {
                continue;
            };
            // A meta-layer has no library, even if its manifest lists functions.
            let Some(path) = layer.library_path() else {
                continue;
            };
            let library = match open_library(path, journal) {
                Ok(library) => library,
                Err(problem) => {
                    skip(layer, problem, journal);
                    continue;
                }
            };
            journal.note(DETAIL, format_args!("Loading layer library {path}"));
            let Some(function) = library.function_named(symbol) else {
                skip(
                    layer,
                    LayerLibraryProblem::NoPreInstanceFunction(query.function.name(), symbol.clone()),
                    journal,
                );
                continue;
            };
            opened.functions.try_push(table::to_word(Some(function)))?;
            opened.libraries.try_push((path.clone(), library))?;
        }
        Ok(opened)
    }

    /// Returns `true` if no layer intercepts the query.
    pub(super) fn is_empty(&self) -> bool {
        self.functions.is_empty()
    }

    /// Calls the head of the chain, and closes the libraries. The layer that was discovered last is called first; `terminator` is the
    /// loader's own answer.
    ///
    /// # Errors
    /// There is not enough memory.
    ///
    /// # Safety
    /// `F` is the C function type of the manifests' symbols for this query, and `call` passes the node that it gets as the function's first
    /// argument.
    pub(super) unsafe fn call<F: Copy, R>(
        self,
        terminator: F,
        call: impl FnOnce(F, *const PreInstanceNode<F>) -> R,
    ) -> Result<R, OutOfMemory> {
        const { assert!(size_of::<F>() == size_of::<*mut ()>()) };
        let header = VkChainHeader {
            r#type: self.kind,
            version: 1,
            size: u32::try_from(size_of::<PreInstanceNode<F>>()).unwrap_or_default(),
        };
        let mut nodes = Vec::new();
        nodes.try_exact_room(self.functions.len() + 1)?;
        nodes.push(PreInstanceNode {
            header,
            pfnNextLayer: terminator,
            pNextLink: core::ptr::null(),
        });
        for word in &self.functions {
            // SAFETY: the caller promises that the symbols, and so this word, are functions of type `F`.
            let function = unsafe { core::mem::transmute_copy::<*mut (), F>(word) };
            let next: *const PreInstanceNode<F> = &raw const nodes[nodes.len() - 1];
            nodes.push(PreInstanceNode {
                header,
                pfnNextLayer: function,
                pNextLink: next,
            });
        }
        let head = &nodes[nodes.len() - 1];
        let result = call(head.pfnNextLayer, head.pNextLink);
        for (path, library) in self.libraries {
            log::message(DETAIL, format_args!("Unloading layer library {path}"));
            drop(library);
        }
        Ok(result)
    }
}

fn skip(layer: &LayerManifest, problem: LayerLibraryProblem, journal: &mut Journal<'_>) {
    journal.decide(Decision {
        subject: Subject::LayerLibrary,
        name: layer.name.clone(),
        path: layer.library_path().cloned().unwrap_or_default(),
        verdict: Verdict::Dropped(Reason::from(LayerLibraryReason {
            problem,
            requested: false,
        })),
        source: layer.source,
    });
}

/// Returns the end of the chain for one of the three global queries: a function with the Vulkan signature that calls no layer (LAY-240).
/// Returns `None` for every other name.
pub(crate) fn terminator_of_global(name: &CStr) -> PFN_vkVoidFunction {
    let function = match name.to_bytes() {
        b"vkEnumerateInstanceVersion" => version as *mut (),
        b"vkEnumerateInstanceLayerProperties" => layers as *mut (),
        b"vkEnumerateInstanceExtensionProperties" => extensions as *mut (),
        _ => return None,
    };
    // SAFETY: each arm of the match above returns the address of a function.
    unsafe { table::from_word(function) }
}

unsafe extern "system" fn version(version: *mut u32) -> VkResult {
    // SAFETY: the caller passes a writable version; the node is not read.
    unsafe { global::version_terminator(core::ptr::null(), version) }
}

unsafe extern "system" fn layers(count: *mut u32, properties: *mut VkLayerProperties) -> VkResult {
    // SAFETY: the caller passes a valid count and array; the node is not read.
    unsafe { global::layers_terminator(core::ptr::null(), count, properties) }
}

unsafe extern "system" fn extensions(
    layer: *const c_char,
    count: *mut u32,
    properties: *mut VkExtensionProperties,
) -> VkResult {
    // SAFETY: the caller passes a valid name, count and array; the node is not read.
    unsafe { global::extensions_terminator(core::ptr::null(), layer, count, properties) }
}
