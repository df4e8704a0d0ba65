//! Reads from a trace the variables that a program passed to the library.

use crate::events::{Event, Record};
use promises::variable::TABLE;
use std::env;
use std::process::Command;

/// Variable that this program sets for every traced process.
const TRACE: &str = "VK_LOADER_TRACE";

/// The variables of the library that have other values in a program than in this process.
#[derive(Debug, Default)]
pub(crate) struct Variables(Vec<(&'static str, Option<String>)>);

impl Variables {
    /// Returns the variables of the process that the report is about. The trace lists all variables that are set and that the library
    /// reads.
    pub(crate) fn of(records: &[Record]) -> Self {
        let loaded = crate::report::busiest(records)
            .into_iter()
            .rev()
            .find_map(|record| match &record.event {
                Event::Loaded(loaded) => Some(&loaded.variables),
                _ => None,
            });
        let Some(loaded) = loaded else { return Self::default() };
        let rows = TABLE.iter().filter(|row| row.name != TRACE);
        let values = rows.map(|row| {
            let value = loaded.iter().find(|variable| variable.name == row.name);
            (row.name, value.map(|variable| variable.value.clone()))
        });
        // The trace replaces bytes that are not UTF-8, so the own values are converted in the same way.
        let own = |name: &str| env::var_os(name).map(|value| value.to_string_lossy().into_owned());
        Self(values.filter(|(name, value)| own(name) != *value).collect())
    }

    /// Sets the variables for a command, or removes them.
    pub(crate) fn give_to(&self, command: &mut Command) {
        for (name, value) in &self.0 {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
    }

    /// Returns `true` if the program set or changed the variable `name`.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(own, value)| *own == name && value.is_some())
    }
}
