//! Decides whether an implicit layer is active (LAY-130, APP-224).

use crate::env::Environment;
use crate::env::layer_filters::LayerFilters;
use crate::journal::{Journal, LogBits};
use crate::manifest::{LayerManifest, Names};
use crate::trace;
use reasons::Code;

/// Decision about an implicit layer, and the filter that made the decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ImplicitState {
    pub(super) active: bool,
    forced: Option<Forced>,
    /// Reason why the layer is inactive; `None` for an active layer.
    inactive: Option<Code>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Forced {
    Enabled,
    Disabled,
}

impl ImplicitState {
    /// Evaluates the layer's own variables and the filters, in order of precedence. `overriding` names the components of the override layer
    /// that is active for the instance. The components of an active override layer are always active.
    pub(super) fn of(
        layer: &LayerManifest,
        environment: &Environment<'_>,
        filters: &LayerFilters,
        overriding: Option<&Names>,
    ) -> Self {
        let own = match &layer.enable_environment {
            Some(pair) => environment
                .named_by_manifest(&pair.name)
                .is_some_and(|value| pair.value == value[..]),
            None => true,
        };
        let enabled = filters.enables(&layer.name);
        if own && !enabled && filters.disables(&layer.name, true) {
            return Self {
                active: false,
                forced: Some(Forced::Disabled),
                inactive: Some(Code::LayerDisabled),
            };
        }
        let disable = layer.disable_environment.as_ref();
        let switched_off = disable.is_some_and(|pair| environment.named_by_manifest(&pair.name).is_some());
        let active = (own || enabled) && !switched_off || overriding.is_some_and(|names| names.has(&layer.name));
        let why_not = if switched_off {
            Code::LayerSwitchedOff
        } else {
            Code::LayerNotSwitchedOn
        };
        Self {
            active,
            forced: (enabled && !own).then_some(Forced::Enabled),
            inactive: (!active).then_some(why_not),
        }
    }

    /// Logs the filter that changed the decision about the layer, if there is one.
    pub(super) fn note(self, layer: &LayerManifest, journal: &Journal<'_>) {
        let warn = LogBits::WARN | LogBits::LAYER;
        let name = &layer.name;
        if let Some(code) = self.inactive {
            trace::write("layer", |record| {
                record.text("name", name);
                record.text("path", &layer.manifest);
                record.word("code", code.name());
                let pair = match code {
                    Code::LayerNotSwitchedOn => layer.enable_environment.as_ref().map(|pair| &pair.name),
                    Code::LayerSwitchedOff => layer.disable_environment.as_ref().map(|pair| &pair.name),
                    _ => None,
                };
                if let Some(variable) = pair {
                    record.text("variable", variable);
                }
            });
        }
        match self.forced {
            None => {}
            Some(Forced::Enabled) => journal.note(
                warn,
                format_args!("Implicit layer \"{name}\" forced enabled due to env var 'VK_LOADER_LAYERS_ENABLE'."),
            ),
            Some(Forced::Disabled) => journal.note(
                warn,
                format_args!(
                    "Implicit layer \"{name}\" forced disabled because name matches filter of env var \
                     'VK_LOADER_LAYERS_DISABLE'."
                ),
            ),
        }
    }
}
