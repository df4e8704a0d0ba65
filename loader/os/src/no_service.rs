//! What stands in for the client of a driver service where there is none.

use crate::{Library, OpenError};

/// The file that a library is opened from: there is none.
#[derive(Debug)]
pub enum LibraryFile {}

impl LibraryFile {
    /// Opens the library in the file.
    ///
    /// # Errors
    /// The system's, in its words.
    pub fn open(&self) -> Result<Library, OpenError> {
        match *self {}
    }
}
