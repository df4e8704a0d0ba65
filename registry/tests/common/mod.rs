//! What the tests of this crate share.

use std::path::{Path, PathBuf};

/// The folder of the crate.
pub fn crate_root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The committed snapshot as `(file name, text)`.
pub fn snapshot_files() -> Vec<(&'static str, String)> {
    let read = |name| {
        let path: PathBuf = crate_root().join("snapshot").join(name);
        (
            name,
            std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())),
        )
    };
    vk_registry::snapshot::FILES.map(read).into()
}
