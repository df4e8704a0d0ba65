//! Failures of a run, and the exit code of each kind (GEN-3).

use std::fmt;
use std::path::{Path, PathBuf};

/// Error that ends a run of `vkgen`.
#[derive(Debug)]
pub enum Error {
    /// The command line is invalid.
    Usage(String),
    /// A file could not be read or written.
    File(PathBuf, String),
    /// The registry is invalid. Each mistake has a message with its line and column.
    Registry(Vec<String>),
    /// The policy conflicts with the registry. Each problem has a message.
    Policy(Vec<String>),
    /// The printed report requests this exit code.
    Reported(u8),
    /// `check` found that the listed files differ from the output.
    Differs(Vec<String>),
}

impl Error {
    /// Creates the error for a failed file operation.
    pub fn file(path: &Path, error: &std::io::Error) -> Self {
        Self::File(path.to_owned(), error.to_string())
    }

    /// Returns the exit code.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Reported(code) => *code,
            Self::Differs(_) => 1,
            Self::Registry(_) | Self::Policy(_) => 2,
            Self::Usage(_) | Self::File(..) => 3,
        }
    }
}

/// Upper bound on the number of printed messages (GEN-3).
const MESSAGE_LIMIT: usize = 100;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reported(_) => Ok(()),
            Self::Usage(text) => f.write_str(text),
            Self::File(path, text) => write!(f, "{}: {text}", path.display()),
            Self::Registry(messages) | Self::Policy(messages) | Self::Differs(messages) => {
                let shown: Vec<&str> = messages.iter().take(MESSAGE_LIMIT).map(String::as_str).collect();
                f.write_str(&shown.join("\n"))
            }
        }
    }
}

impl std::error::Error for Error {}
