//! Texts of policy files, and error messages that name a line and column of a policy file.

use super::rows::{GateException, SlotException, Treatment};
use crate::error::Error;
use serde::de::DeserializeOwned;
use std::path::Path;

/// Name and text of a policy file, for messages that name a line and column of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyFile {
    /// Name of the file as the user gave it.
    pub name: String,
    /// Content of the file.
    pub text: String,
}

impl PolicyFile {
    pub(super) fn read(path: &Path) -> Result<Self, Error> {
        Ok(Self {
            name: path.display().to_string(),
            text: std::fs::read_to_string(path).map_err(|error| Error::file(path, &error))?,
        })
    }

    /// Returns the tables of the file in JSON, in which comments and blanks of the file have no effect.
    pub fn content(&self) -> Result<String, Error> {
        let tables: toml::Table = syntax(&self.name, &self.text).map_err(|line| Error::Policy(vec![line]))?;
        serde_json::to_string(&tables).map_err(|error| Error::Policy(vec![format!("{}: {error}", self.name)]))
    }
}

/// Parses TOML. Error messages contain the line and column in the file.
pub(super) fn syntax<T: DeserializeOwned>(file: &str, text: &str) -> Result<T, String> {
    toml::from_str(text).map_err(|error| {
        let (line, column) = place(text, error.span().map_or(0, |span| span.start));
        let message = error.message().replace('\n', "; ");
        format!("{file}:{line}:{column}: error[policy-syntax]: {message}")
    })
}

/// Checks that every row has a reason.
pub(super) fn reasons(
    file: &str,
    text: &str,
    treatments: &[Treatment],
    gates: &[GateException],
    slots: &[SlotException],
) -> Result<(), String> {
    let treatments = treatments.iter().map(|row| (row.commands.first(), &row.reason));
    let gates = gates.iter().map(|row| (row.commands.first(), &row.reason));
    let slots = slots.iter().map(|row| (Some(&row.command), &row.reason));
    let mut rows = treatments.chain(gates).chain(slots);
    match rows.find(|(_, reason)| reason.trim().is_empty()) {
        None => Ok(()),
        Some((command, _)) => {
            let command = command.map_or("", String::as_str);
            let (line, column) = place(text, text.find(&format!("\"{command}\"")).unwrap_or(0));
            Err(format!(
                "{file}:{line}:{column}: error[policy-reason]: {command}: the row has no reason"
            ))
        }
    }
}

/// Returns the line and column of a byte offset, both counted from one.
pub fn place(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or_default();
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    (before.matches('\n').count() + 1, before.len() - line_start + 1)
}
