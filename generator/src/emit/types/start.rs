//! The imports with which every file of types starts.

use crate::emit::file::File;
use quote::quote;

/// Returns a file of types that imports all other types.
pub(super) fn file(name: &str, doc: &str) -> File {
    File::rust(&format!("types/{name}.rs")).doc(doc).items(quote!(
        use super::*;
    ))
}
