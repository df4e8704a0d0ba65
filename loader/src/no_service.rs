//! What stands in for the client of a driver service where there is none.

use crate::journal::Reason;
use crate::text::Text;
use os::service::LibraryFile;
use rust_alloc::sync::Arc;

/// A driver manifest that a service published: there is none.
#[derive(Debug)]
pub enum Publication {}

impl Publication {
    /// What messages call the library.
    pub fn library_name(&self, _: &Text) -> Text {
        match *self {}
    }

    /// The file with the library.
    ///
    /// # Errors
    /// Why there is none.
    pub fn library(&self, _: &Text) -> Result<Arc<LibraryFile>, Reason> {
        match *self {}
    }
}
