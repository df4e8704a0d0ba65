//! A folder for the files of one target.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// An empty folder, in `TMPDIR`. libFuzzer leaves the process without running destructors, so the script that set that
/// variable removes the folder.
#[derive(Debug)]
pub struct Files(PathBuf);

impl Files {
    /// A folder for this process.
    ///
    /// # Panics
    /// When it cannot be made.
    pub fn create() -> Self {
        let root = std::env::temp_dir().join(format!("vk-loader-fuzz-{}", std::process::id()));
        fs::create_dir_all(&root).expect("a folder for the files of the target");
        Self(root)
    }

    /// The path of something in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Returns the path of a file as text.
    pub fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.0
    }

    /// The bytes of its path.
    pub fn root_bytes(&self) -> &[u8] {
        self.0.as_os_str().as_bytes()
    }

    /// Writes a file, and makes the folders above when they are missing.
    ///
    /// # Panics
    /// When that fails.
    pub fn write(&self, name: &str, content: &[u8]) {
        let path = self.path(name);
        if fs::write(&path, content).is_err() {
            let folder = path.parent().expect("the path has a folder");
            fs::create_dir_all(folder).expect("the folder can be made");
            fs::write(&path, content).expect("the file can be written");
        }
    }
}
