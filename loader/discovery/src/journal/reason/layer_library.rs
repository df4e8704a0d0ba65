//! Reasons why the library of an active layer does not join the chain (LAY-204, LAY-275).

use core::fmt;

use super::{LAYER_ERROR, LAYER_INFO, LAYER_WARN, LogBits};
use crate::text::Text;
use reasons::Code;

/// Reason why an active layer is not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayerLibraryReason {
    /// Fault of the layer's library.
    pub problem: LayerLibraryProblem,
    /// `true` if the application named this layer. The call of the application then fails.
    pub requested: bool,
}

/// Fault of a layer's library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LayerLibraryProblem {
    /// The system could not open the library, and reported this error, which was logged before.
    NotOpened(Text),
    /// The library is for another architecture, and the system reported this error, which was logged before.
    WrongArchitecture(Text),
    /// The library does not export this symbol, and the loader knows no other way to find the function.
    NoSymbol(Text),
    /// The layer refuses the negotiation, and the loader knows no other way to find the function.
    NegotiationRefused {
        /// Name of the layer's function for the negotiation.
        negotiate: Text,
        /// `VkResult` of the negotiation.
        result: i32,
        /// Symbol that the library does not export, and that the loader would use without a negotiation.
        symbol: Text,
    },
    /// The library does not export this symbol, which the manifest names for this query.
    NoPreInstanceFunction(&'static str, Text),
}

impl LayerLibraryReason {
    pub(super) fn code(&self) -> Code {
        match &self.problem {
            LayerLibraryProblem::NotOpened(_) => Code::LayerLibraryNotOpened,
            LayerLibraryProblem::WrongArchitecture(_) => Code::LayerLibraryWrongArchitecture,
            LayerLibraryProblem::NoSymbol(_) => Code::LayerLibraryNoSymbol,
            LayerLibraryProblem::NegotiationRefused { .. } => Code::LayerLibraryNegotiationRefused,
            LayerLibraryProblem::NoPreInstanceFunction(..) => Code::LayerLibraryNoPreInstanceFunction,
        }
    }

    pub(super) fn bits(&self) -> Option<LogBits> {
        Some(match &self.problem {
            LayerLibraryProblem::NoSymbol(_) | LayerLibraryProblem::NegotiationRefused { .. } => LAYER_ERROR,
            LayerLibraryProblem::NoPreInstanceFunction(..) => LAYER_WARN,
            LayerLibraryProblem::NotOpened(_) | LayerLibraryProblem::WrongArchitecture(_) => {
                if self.requested {
                    LAYER_ERROR
                } else {
                    LAYER_INFO
                }
            }
        })
    }

    pub(super) fn write(&self, out: &mut fmt::Formatter<'_>, name: &Text, path: &Text) -> fmt::Result {
        let end = if self.requested { '!' } else { '.' };
        match &self.problem {
            LayerLibraryProblem::NotOpened(_) => write!(out, "Requested layer \"{name}\" failed to load{end}"),
            LayerLibraryProblem::WrongArchitecture(_) => {
                write!(out, "Requested layer \"{name}\" was wrong bit-type{end}")
            }
            LayerLibraryProblem::NoSymbol(symbol) => write!(
                out,
                "loader_create_instance_chain: Failed to find '{symbol}' in layer \"{path}\""
            ),
            LayerLibraryProblem::NegotiationRefused {
                negotiate,
                result,
                symbol,
            } => write!(
                out,
                "loader_create_instance_chain: Failed to find '{symbol}' in layer \"{path}\", whose {negotiate} returned VkResult {result}"
            ),
            LayerLibraryProblem::NoPreInstanceFunction(query, symbol) => write!(
                out,
                "{query}: Unable to resolve symbol \"{symbol}\" in implicit layer library \"{path}\""
            ),
        }
    }
}
