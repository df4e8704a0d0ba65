//! The variables of the program that a report is about.

use crate::child::Finished;
use crate::crash::Environment;
use crate::events::Event;
use crate::library_folder;
use promises::variable::TABLE;
use std::collections::BTreeMap;
use std::env;
use std::process::Command;

/// Variables that this program sets for the processes that it starts.
const OWN: [&str; 4] = ["VK_LOADER_TRACE", "LD_DEBUG", "LD_DEBUG_OUTPUT", "LSAN_OPTIONS"];

/// The variables that have other values in a program than in this process.
#[derive(Debug, Default)]
pub(crate) struct Variables(BTreeMap<String, Option<String>>);

impl Variables {
    /// Returns the variables of the process that the report is about. The trace has the variables that the library reads. All other
    /// variables are known if the process was supervised and did not overwrite them. Otherwise, assumes that the program has the values of
    /// this process.
    pub(crate) fn of(finished: &Finished) -> Self {
        let records = crate::report::busiest(&finished.records);
        let loaded = records.iter().rev().find_map(|record| match &record.event {
            Event::Loaded(loaded) => Some(&loaded.variables),
            _ => None,
        });
        let Some(loaded) = loaded else { return Self::default() };
        // The trace replaces bytes that are not UTF-8, so the values of this process are converted in the same way.
        let text = |value: std::ffi::OsString| value.to_string_lossy().into_owned();
        let own: BTreeMap<String, String> = env::vars_os().map(|(name, value)| (text(name), text(value))).collect();
        let mut values: BTreeMap<String, Option<String>> = BTreeMap::new();
        // The folder by which the program finds the traced library is in front of the value of this process.
        let given = |name: &str, value: &str| {
            let value = match name {
                library_folder::VARIABLE => library_folder::without(value)?,
                _ => value,
            };
            Some(value.to_owned())
        };
        if let Some(set) = finished.started().and_then(Environment::of_traced) {
            values.extend(own.keys().map(|name| (name.clone(), None)));
            values.extend(set.iter().map(|(name, value)| (name.clone(), given(name, value))));
        }
        values.extend(TABLE.iter().map(|row| {
            let value = loaded.iter().find(|variable| variable.name == row.name);
            (row.name.into(), value.map(|variable| variable.value.clone()))
        }));
        values.retain(|name, value| !OWN.contains(&name.as_str()) && own.get(name) != value.as_ref());
        Self(values)
    }

    /// Returns the variables of a program that has another value of one variable than this process.
    pub(crate) fn with(name: &str, value: &str) -> Self {
        Self([(name.to_owned(), Some(value.to_owned()))].into())
    }

    /// Returns the value of a variable in the program.
    pub(crate) fn get(&self, name: &str) -> Option<String> {
        match self.0.get(name) {
            Some(value) => value.clone(),
            None => env::var_os(name).map(|value| value.to_string_lossy().into_owned()),
        }
    }

    /// Gives a command the variables of the program: sets or removes each variable that has another value in the program.
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
        self.0.get(name).is_some_and(Option::is_some)
    }
}
