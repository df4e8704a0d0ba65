//! Paths as texts, such as those in a trace.

/// Returns the part of a path after its last slash.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
