//! An environment that is not that of the process.

use std::ffi::{CStr, OsStr, OsString};
use std::os::unix::ffi::OsStringExt;

use vulkan::env::Source;

/// Names and values.
#[derive(Debug, Default)]
pub struct Variables(Vec<(&'static str, OsString)>);

impl Variables {
    /// No variables at all.
    pub fn none() -> Self {
        Self::default()
    }

    /// The same with one more. A NUL ends the value, as it does in a process.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<Vec<u8>>) -> Self {
        let mut value = value.into();
        let end = value.iter().position(|&byte| byte == 0).unwrap_or(value.len());
        value.truncate(end);
        self.0.push((name, OsString::from_vec(value)));
        self
    }
}

impl Source for Variables {
    fn value(&self, name: &OsStr) -> Option<OsString> {
        self.0
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| value.clone())
    }

    fn secure_value(&self, name: &CStr) -> Option<OsString> {
        self.value(OsStr::new(name.to_str().ok()?))
    }
}
