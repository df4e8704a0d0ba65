//! What all files of types begin with.

use crate::emit::file::File;
use crate::plan::Plan;
use quote::quote;

/// A file of types, which may use all other types.
pub(super) fn file(plan: &Plan<'_>, name: &str, doc: &str) -> File {
    File::rust(plan, &format!("types/{name}.rs")).doc(doc).items(quote!(
        use super::*;
    ))
}
