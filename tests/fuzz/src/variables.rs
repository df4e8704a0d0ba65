//! An environment with the variables of a test, separate from the environment of the process.

use std::ffi::CStr;

use discovery::env::VariableSource;

/// Names and values of variables.
#[derive(Debug, Default)]
pub struct Variables(Vec<(&'static str, Vec<u8>)>);

impl Variables {
    /// Creates an environment without variables.
    pub fn none() -> Self {
        Self::default()
    }

    /// Returns the environment with one more variable. A null byte ends the value, like in a process.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<Vec<u8>>) -> Self {
        let mut value = value.into();
        let end = value.iter().position(|&byte| byte == 0).unwrap_or(value.len());
        value.truncate(end);
        self.0.push((name, value));
        self
    }
}

impl VariableSource for Variables {
    fn plain_value(&self, name: &CStr) -> Option<Vec<u8>> {
        self.0
            .iter()
            .find(|(known, _)| known.as_bytes() == name.to_bytes())
            .map(|(_, value)| value.clone())
    }

    fn secure_value(&self, name: &CStr) -> Option<Vec<u8>> {
        self.plain_value(name)
    }
}
