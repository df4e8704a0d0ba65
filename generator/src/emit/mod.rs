//! Emits the files of the plan. Each kind of file has a module.
//!
//! The output consists of rows of tables, types and signatures: all text that another registry or policy would change. The loader contains
//! the code that uses the rows, and the declarations of the emitted files.

mod chains;
mod dispatch;
mod exports;
mod extensions;
mod file;
mod lookup;
mod manifest;
mod object_types;
mod pfn;
mod queries;
mod signature;
mod terminator;
mod trampoline;
mod types;

pub use file::File;
pub use manifest::{Input, MANIFEST, listed, manifest};

use crate::plan::Plan;

/// Returns all emitted files except the manifest, sorted by path.
pub fn all(plan: &Plan<'_>) -> Vec<File> {
    let mut files = types::files(plan);
    files.push(pfn::file(plan));
    files.extend(dispatch::files(plan));
    files.extend(trampoline::files(plan));
    files.extend(terminator::files(plan));
    files.push(lookup::file(plan));
    files.push(chains::file(plan));
    files.push(queries::file(plan));
    files.push(extensions::file(plan));
    files.push(object_types::file(plan));
    files.extend(exports::files(plan));
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}
