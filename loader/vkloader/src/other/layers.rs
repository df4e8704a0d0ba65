//! Finds the layer that makes the loader that programs use crash.

use super::{KEPT, Other};
use crate::child::{self, Ending};
use crate::commands::Library;
use crate::explain::tell_of_tries;
use crate::filters::leave_out;
use crate::manifests;
use crate::probe::{self, Seen};
use crate::report::{ActiveLayer, WITHOUT_LAYERS};
use std::io;
use std::path::Path;
use std::process::Command;

/// Layers without which the loader that programs use does not crash.
pub(crate) struct Culprits {
    /// Names of the layers. There are several only if no layer alone is the reason.
    pub(crate) names: Vec<String>,
    /// Names of the devices that programs can use without the layers.
    pub(crate) usable: Vec<String>,
}

impl Other {
    /// If a signal ended the probe with the loader that programs use, repeats the probe without `layers`, first without all of them, and then
    /// without each one. A layer without which most devices are usable is the culprit.
    ///
    /// # Errors
    ///
    /// The probe cannot be run.
    pub(super) fn try_layers(&mut self, library: &Library, layers: &[ActiveLayer]) -> io::Result<()> {
        if layers.is_empty() || !matches!(self.finished.ending, Ending::Signal(_)) {
            return Ok(());
        }
        let all: Vec<&ActiveLayer> = layers.iter().collect();
        let Some(mut found) = without(library, &all)? else {
            return Ok(());
        };
        let mut alone: Option<Culprits> = None;
        for layer in all {
            let Some(next) = without(library, &[layer])? else {
                continue;
            };
            if alone.as_ref().is_none_or(|best| next.usable.len() > best.usable.len()) {
                alone = Some(next);
            }
        }
        if let Some(alone) = alone {
            found = alone;
        }
        self.culprits = Some(found);
        Ok(())
    }
}

/// Runs the probe with the loader that programs use, and without `layers`. Returns `None` if the probe does not end by itself.
fn without(library: &Library, layers: &[&ActiveLayer]) -> io::Result<Option<Culprits>> {
    tell_of_tries();
    let mut command = Command::new(crate::itself::path()?);
    command.arg(probe::ARGUMENT).arg(probe::library(None));
    for layer in layers {
        leave_out(&mut command, WITHOUT_LAYERS, &layer.name);
        // Older loaders know only the layer's own variable.
        if let Some((name, value)) = manifests::own_switch(Path::new(&layer.manifest), &layer.name) {
            command.env(name, value);
        }
    }
    let finished = child::run(command, library.limit(), KEPT)?;
    if finished.ending != Ending::Status(0) {
        return Ok(None);
    }
    let seen = Seen::last(&finished.output).unwrap_or_default();
    Ok(Some(Culprits {
        names: layers.iter().map(|layer| layer.name.clone()).collect(),
        usable: seen.usable().map(|device| device.name.clone()).collect(),
    }))
}
