//! The variables of the program that a report is about.

use crate::child::Finished;
use crate::crash::Environment;
use crate::events::Event;
use crate::library_folder;
use promises::variable::TABLE;
use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::process::Command;

/// Variables that this program sets for the processes that it starts.
const OWN: [&str; 4] = ["VK_LOADER_TRACE", "LD_DEBUG", "LD_DEBUG_OUTPUT", "LSAN_OPTIONS"];

/// The variables that have other values in a program than in this process.
#[derive(Debug, Default)]
pub(crate) struct Variables(BTreeMap<String, Option<String>>);

/// Returns the variables of this process. The trace replaces bytes that are not UTF-8, and so does this function.
fn own() -> BTreeMap<String, String> {
    let text = |value: OsString| value.to_string_lossy().into_owned();
    env::vars_os().map(|(name, value)| (text(name), text(value))).collect()
}

/// Returns the value of a variable of this process; `None` for an unset or empty variable.
pub(crate) fn nonempty_here(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

/// Returns the values of a process that was started with the variables `set`, and `None` for each other variable of this process. The folder by which
/// the program finds the traced library is left out.
fn given(set: &[(String, String)]) -> BTreeMap<String, Option<String>> {
    let value = |name: &str, value: &str| {
        let value = match name {
            library_folder::VARIABLE => library_folder::without(value)?,
            _ => value,
        };
        Some(value.to_owned())
    };
    let mut values: BTreeMap<String, Option<String>> = own().into_keys().map(|name| (name, None)).collect();
    values.extend(set.iter().map(|(name, set)| (name.clone(), value(name, set))));
    values
}

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
        let set = finished.started().and_then(Environment::of_traced);
        let mut values = set.map(given).unwrap_or_default();
        values.extend(TABLE.iter().map(|row| {
            let value = loaded.iter().find(|variable| variable.name == row.name);
            (row.name.into(), value.map(|variable| variable.value.clone()))
        }));
        Self::changed(values)
    }

    /// Returns the variables of a process that was started with the variables `set`.
    pub(crate) fn of_started(set: &[(String, String)]) -> Self {
        Self::changed(given(set))
    }

    /// Keeps the values that differ from those of this process.
    fn changed(mut values: BTreeMap<String, Option<String>>) -> Self {
        let own = own();
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

    /// Returns the value of a variable in the program; `None` for an unset or empty variable.
    pub(crate) fn nonempty(&self, name: &str) -> Option<String> {
        self.get(name).filter(|value| !value.is_empty())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_variable_has_no_value_that_counts() {
        let value = |value: &str| Variables::with("VKLOADER_CASE", value).nonempty("VKLOADER_CASE");
        assert_eq!(value(""), None);
        assert_eq!(value("a").as_deref(), Some("a"));
    }
}
