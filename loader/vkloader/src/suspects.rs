//! Finds the driver or layer that crashed the probe. Repeats the probe under a supervisor, and then without one layer at a time.

use crate::beside::Beside;
use crate::causes;
use crate::child::{self, Ending, Finished, Watched};
use crate::commands::Library;
use crate::crash;
use crate::explain::{KEPT, tell_of_tries};
use crate::filters::{ALL, leave_out};
use crate::probe::{self, Seen};
use crate::report::{self, Report, WITHOUT_LAYERS};
use std::io;
use std::time::Duration;

/// Time limit for a run without one layer. A successful run takes only a fraction of this time.
const ENOUGH: Duration = Duration::from_secs(10);
/// Time limit for a run without one layer, after a program of the user that may have been ended because it did not return.
const SOON: Duration = Duration::from_secs(4);

impl Library {
    /// Repeats the probe under a supervisor, if a fault or a failure ended the probe and no library was being opened. Returns the second run if it also
    /// crashed, because only that run contains the location of the crash. Otherwise, returns the first run.
    ///
    /// # Errors
    /// The probe cannot be run.
    pub(crate) fn locate_crash(&self, finished: Finished) -> io::Result<Finished> {
        let is_fault = match finished.ending {
            Ending::Signal(signal) => crash::is_fault(signal),
            Ending::Status(status) => status != 0,
            Ending::TooLong(_) => false,
        };
        if !is_fault || report::is_opening(&finished.records) {
            return Ok(finished);
        }
        let arguments = [probe::ARGUMENT.into(), self.path().into_os_string()];
        let command = crash::command(&crate::itself::path()?.into_os_string(), &arguments)?;
        let watched = Watched {
            is_supervised: true,
            ..KEPT
        };
        let again = child::run(command, self.limit(), watched)?;
        Ok(if again.crashes.is_empty() { finished } else { again })
    }

    /// Names the culprit in the report if the process ended in an unknown layer, or in a driver that a layer may have called wrongly. The culprit is the first layer whose removal makes the probe
    /// end normally. If another process ended the program, the probe must fail with all layers. `beside` is the probe that imitates the program, if the report is about a program.
    ///
    /// # Errors
    ///
    /// The probe cannot be run.
    pub(crate) fn name_layer(&self, report: &mut Report, beside: Option<&Beside<'_>>) -> io::Result<()> {
        let run = |layer: &str| match beside {
            Some(beside) => beside.run_within(layer, self.limit().min(SOON)),
            None => {
                let mut command = self.probe()?;
                if !layer.is_empty() {
                    leave_out(&mut command, WITHOUT_LAYERS, layer);
                }
                child::run(command, self.limit().min(ENOUGH), KEPT)
            }
        };
        let is_below_layers = report.is_ended_below_layers();
        let layers: Vec<String> = if is_below_layers || report.is_ended_in_unknown_layer() {
            report.layers.iter().map(|layer| layer.name.clone()).collect()
        } else {
            Vec::new()
        };
        let works = |layer: &str| -> io::Result<bool> {
            tell_of_tries();
            let finished = run(layer)?;
            let has_instance = Seen::last(&finished.output).is_some_and(|seen| seen.instance.is_some());
            Ok(finished.ending == Ending::Status(0) && has_instance)
        };
        if !layers.is_empty() && beside.is_some() && report.is_ended_by_another() && works("")? {
            return Ok(());
        }
        // The layer is at fault only if the probe fails like the program, and not without layers.
        if is_below_layers && (works("")? || !works(ALL)?) {
            return Ok(());
        }
        for layer in &layers {
            if works(layer)? {
                report.blame_layer(layer);
                causes::symbol_of_layer(report);
                break;
            }
        }
        Ok(())
    }
}
