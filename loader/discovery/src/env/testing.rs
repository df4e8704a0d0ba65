//! A replacement for the process environment in tests.

use super::VariableSource;
use core::ffi::CStr;

/// A table of values that replaces the process environment in tests.
#[derive(Debug, Default)]
pub struct Fixed {
    values: Vec<(Vec<u8>, Vec<u8>)>,
    elevated: bool,
}

impl Fixed {
    /// Returns a table with the variables in `values`, for a process without elevated privileges.
    pub fn new<V: AsRef<std::ffi::OsStr>>(values: &[(&str, V)]) -> Self {
        let values = values
            .iter()
            .map(|(name, value)| (name.as_bytes().to_vec(), value.as_ref().as_encoded_bytes().to_vec()))
            .collect();
        Self {
            values,
            elevated: false,
        }
    }

    /// Changes the environment to that of an elevated process.
    pub fn elevated(mut self) -> Self {
        self.elevated = true;
        self
    }
}

impl VariableSource for Fixed {
    fn plain_value(&self, name: &CStr) -> Option<Vec<u8>> {
        self.values
            .iter()
            .find(|(known, _)| known == name.to_bytes())
            .map(|(_, value)| value.clone())
    }

    fn secure_value(&self, name: &'static CStr) -> Option<Vec<u8>> {
        if self.elevated { None } else { self.plain_value(name) }
    }
}
