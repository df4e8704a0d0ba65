//! The reason why a command failed, or why the service does not start.

use crate::package::Fault;
use std::fmt;
use std::path::Path;

/// A text for administrators. If the failure is about a file, the text names the file.
#[derive(Debug, PartialEq, Eq)]
pub struct Failure(pub String);

impl Failure {
    /// Returns a function that converts the reason of a failure into a failure of the file at `path`.
    pub fn at<R: fmt::Display>(path: &Path) -> impl FnOnce(R) -> Self + '_ {
        move |reason| Self(format!("{}: {reason}", path.display()))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for Failure {}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Self(fault.to_string())
    }
}
