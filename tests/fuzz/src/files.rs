//! Creates the folder for the files of one fuzz target.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Folder in `TMPDIR` that is empty at first. libFuzzer ends the process without running destructors, so the script that set `TMPDIR`
/// removes the folder.
#[derive(Debug)]
pub struct Files(PathBuf);

impl Files {
    /// Creates a folder for this process.
    ///
    /// # Panics
    /// Panics if the folder cannot be created.
    pub fn create() -> Self {
        let root = std::env::temp_dir().join(format!("vk-loader-fuzz-{}", std::process::id()));
        fs::create_dir_all(&root).expect("a folder for the files of the target");
        Self(root)
    }

    /// Returns the path of a file or folder in this folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Returns the path of a file as text.
    pub fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    /// Returns the path of this folder.
    pub fn root(&self) -> &Path {
        &self.0
    }

    /// Returns the bytes of this folder's path.
    pub fn root_bytes(&self) -> &[u8] {
        self.0.as_os_str().as_bytes()
    }

    /// Writes a file, and creates missing folders above it.
    ///
    /// # Panics
    /// Panics if the file cannot be written.
    pub fn write(&self, name: &str, content: &[u8]) {
        let path = self.path(name);
        if fs::write(&path, content).is_err() {
            let folder = path.parent().expect("the path has a folder");
            fs::create_dir_all(folder).expect("the folder can be made");
            fs::write(&path, content).expect("the file can be written");
        }
    }
}
