//! The chains of layers that intercept the global queries (LAY-270 to LAY-277).

use crate::alloc::OutOfMemory;
use crate::discovery;
use crate::driver::log_open_error;
use crate::env::Environment;
use crate::ffi::layer_interface::{PreInstanceNode, VkChainHeader};
use crate::journal::reason::{LayerLibraryProblem, LayerLibraryReason};
use crate::journal::{Decision, Journal, Reason, Subject, Verdict};
use crate::library::Library;
use crate::manifest::{LayerManifest, PreInstanceFunction, Text};
use crate::settings::Settings;
use crate::table;
use std::ffi::CString;

/// Which query a chain is for.
#[derive(Clone, Copy)]
pub(super) struct Query {
    /// The function in the manifests.
    pub function: PreInstanceFunction,
    /// The number in the node's header.
    pub kind: u32,
}

/// Layers whose libraries are open for one query, in discovery order.
pub(super) struct Interceptors {
    kind: u32,
    functions: Vec<*mut ()>,
    // Keeps the functions valid.
    _libraries: Vec<Library>,
}

impl Interceptors {
    /// Opens the libraries of the active implicit layers that intercept `query`.
    ///
    /// # Errors
    /// Only when memory runs out; a layer that does not open is recorded and skipped.
    pub(super) fn open(
        query: Query,
        environment: &Environment<'_>,
        settings: Option<&Settings>,
        journal: &mut Journal<'_>,
    ) -> Result<Self, OutOfMemory> {
        let mut opened = Self {
            kind: query.kind,
            functions: Vec::new(),
            _libraries: Vec::new(),
        };
        for layer in discovery::layers::implicit_for_queries(environment, settings, journal)? {
            let Some(symbol) = layer.pre_instance_function(query.function) else {
                continue;
            };
            let Ok(symbol) = CString::new(symbol.as_bytes()) else {
                continue;
            };
            let Some(path) = layer.library_path().filter(|path| !path.is_empty()) else {
                continue;
            };
            let library = match Library::open(path) {
                Ok(library) => library,
                Err(error) => {
                    log_open_error(&error, journal);
                    skip(&layer, LayerLibraryProblem::NotOpened, journal);
                    continue;
                }
            };
            let Some(function) = library.function(&symbol) else {
                skip(
                    &layer,
                    LayerLibraryProblem::NoPreInstanceFunction(Text::from(symbol.as_bytes())),
                    journal,
                );
                continue;
            };
            opened.functions.try_reserve(1)?;
            opened.functions.push(table::to_word(Some(function)));
            opened._libraries.try_reserve(1)?;
            opened._libraries.push(library);
        }
        Ok(opened)
    }

    /// Calls the head of the chain. The last discovered layer is called first; `bottom` is the loader's own answer.
    ///
    /// # Errors
    /// When memory runs out.
    ///
    /// # Safety
    /// `F` is the C function type that the manifests' symbols of this query have, and `call` passes the node it is
    /// given as the function's first argument.
    pub(super) unsafe fn call<F: Copy, R>(
        &self,
        bottom: F,
        call: impl FnOnce(F, *const PreInstanceNode<F>) -> R,
    ) -> Result<R, OutOfMemory> {
        const { assert!(size_of::<F>() == size_of::<*mut ()>()) };
        let header = VkChainHeader {
            r#type: self.kind,
            version: 1,
            size: u32::try_from(size_of::<PreInstanceNode<F>>()).unwrap_or_default(),
        };
        let mut nodes = Vec::new();
        nodes.try_reserve_exact(self.functions.len() + 1)?;
        nodes.push(PreInstanceNode {
            header,
            pfnNextLayer: bottom,
            pNextLink: std::ptr::null(),
        });
        for word in &self.functions {
            // SAFETY: by this function's contract the word is a function of type `F`.
            let function = unsafe { std::mem::transmute_copy::<*mut (), F>(word) };
            let next: *const PreInstanceNode<F> = &raw const nodes[nodes.len() - 1];
            nodes.push(PreInstanceNode {
                header,
                pfnNextLayer: function,
                pNextLink: next,
            });
        }
        let head = &nodes[nodes.len() - 1];
        Ok(call(head.pfnNextLayer, head.pNextLink))
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
