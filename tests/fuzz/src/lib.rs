//! Functions for the fuzz targets: a folder for files, an environment and a log for each target, and checks for any
//! text.

mod files;
mod json;
mod lines;
mod variables;

pub use files::Files;
pub use json::check_json;
pub use lines::Lines;
pub use variables::Variables;

/// Runs `look` twice and returns its result. Both results must be equal.
pub fn twice<T: PartialEq + std::fmt::Debug>(mut look: impl FnMut() -> T) -> T {
    let first = look();
    assert_eq!(first, look(), "the same question has one answer");
    first
}
