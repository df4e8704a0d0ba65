//! Calls of functions that neither the driver nor a layer offers, for which the loader ends the program.

use super::parts::Parts;
use super::suspect::created_with;
use super::switch::driver_switch;
use super::{Crashed, Who};
use crate::crash::Crash;
use crate::events::{Event, Record};
use crate::introduced::{self, Introduced};
use crate::report::layers::MESAS;
use crate::required::is_of_first_version;

/// Text after the name of the function in the message with which the loader ends the program.
const OFFERED_BY_NONE: &str = ": no layer and no driver offers this function";

/// A function that neither the driver nor a layer offers.
#[derive(Clone, Debug)]
pub(super) struct Lacking {
    command: String,
    /// Driver with which the program created its device.
    driver: Option<String>,
    /// Layers that may hide the function.
    layers: Vec<String>,
}

impl Crashed {
    /// Records the function for which the loader ended the program, because neither the driver nor a layer offers it. Blames the driver if each driver
    /// must have the function.
    pub(super) fn judge_lacking(&mut self, crash: &Crash, parts: &Parts, records: &[Record]) {
        let message = self.rejected.as_ref().map(|rejected| rejected.message.as_str());
        let Some((command, _)) = message.and_then(|message| message.split_once(OFFERED_BY_NONE)) else {
            return;
        };
        let command = command.to_owned();
        let driver = created_with(crash.process, records.iter());
        let part = parts.parts.iter().find(|part| Some(part.library.as_str()) == driver);
        let own = records.iter().filter(|record| record.process == crash.process);
        let mut chains = own.filter_map(|record| match &record.event {
            Event::Chain(chain) if chain.call == "vkCreateDevice" => Some(&chain.layers),
            _ => None,
        });
        let layers = chains.next_back().into_iter().flatten().map(|layer| layer.name.clone());
        let layers: Vec<String> = layers.filter(|name| name != MESAS).collect();
        if let Some(part) = part.filter(|_| is_of_first_version(&command)) {
            self.blame(part, records);
            (self.rejected, self.is_in_loader) = (None, false);
        }
        self.call = Some(command.clone());
        self.lacking = Some(Lacking {
            command,
            driver: driver.map(String::from),
            layers,
        });
    }

    /// Makes the driver the culprit of a call of a function that it lacks, although each driver must have it.
    pub(crate) fn blame_driver_without(&mut self, driver: &str, records: &[&Record]) {
        self.culprit = Who::Driver;
        (self.name, self.library) = (driver.into(), Some(driver.into()));
        self.switch = driver_switch(driver, records);
    }

    /// Returns `true` if the culprit is not certain, because a layer may hide the function, or because the program may not have asked for it.
    pub(super) fn is_lacking_in_doubt(&self) -> bool {
        let lacking = self.lacking.as_ref();
        lacking.is_some_and(|lacking| self.culprit == Who::Program || !lacking.layers.is_empty())
    }

    /// Returns the sentences about the function.
    pub(super) fn reason_of_lacking(&self, program: &str, signal: &str) -> Option<String> {
        let Lacking {
            command,
            driver,
            layers,
        } = self.lacking.as_ref()?;
        let driver = driver.as_deref().unwrap_or("of the device");
        if self.culprit == Who::Driver {
            let hidden = match &layers[..] {
                [] => String::new(),
                layers => format!(
                    " Unless a layer hides it ({}), the driver is at fault.",
                    layers.join(", ")
                ),
            };
            return Some(format!(
                "The driver {driver} lacks {command}, which each driver must have, so the loader ended {program}: {signal}.{hidden}"
            ));
        }
        let why = match introduced::by(command) {
            Some(Introduced::Extension(extension)) => {
                format!("Its extension {extension} is not enabled or not available.")
            }
            Some(Introduced::Version(version)) => format!(
                "It belongs to Vulkan {version}: the program did not ask for that version, or its device does not have it, or the driver {driver} is \
                 faulty."
            ),
            None => "The program called it without a device that has it, or the driver is faulty.".into(),
        };
        Some(format!(
            "The program called {command}, which neither the driver nor a layer offers, so the loader ended {program}: {signal}. {why}"
        ))
    }

    /// Returns the function that neither the driver nor a layer offers, if the program is the culprit.
    pub(crate) fn unoffered(&self) -> Option<&str> {
        let lacking = self.lacking.as_ref().filter(|_| self.culprit == Who::Program);
        lacking.map(|lacking| lacking.command.as_str())
    }
}
