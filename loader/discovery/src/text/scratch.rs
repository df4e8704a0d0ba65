//! A folder for the files of one test.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::{Text, join};

impl Text {
    /// Returns the text as a path, for the standard library in tests.
    pub fn as_path(&self) -> &Path {
        Path::new(OsStr::from_bytes(self.as_bytes()))
    }
}

/// A temporary folder. Dropping this value deletes the folder and its content.
#[derive(Debug)]
pub struct Scratch(PathBuf);

impl Scratch {
    /// Creates an empty folder for one test.
    pub fn create() -> Self {
        Self(steady::new_folder("vk-loader-unit"))
    }

    /// Returns the path of the folder.
    pub fn root(&self) -> &Path {
        &self.0
    }

    /// Returns the path for a name in the folder.
    pub fn path(&self, name: &str) -> Text {
        join(self.0.as_os_str().as_bytes(), name.as_bytes()).unwrap()
    }

    /// Creates a folder inside the temporary folder, with its parent folders.
    pub fn folder(&self, name: &str) -> Text {
        let path = self.path(name);
        std::fs::create_dir_all(path.as_path()).unwrap();
        path
    }

    /// Writes a file, and creates its parent folders.
    pub fn file(&self, name: &str, content: &[u8]) -> Text {
        let path = self.path(name);
        if let Some(folder) = path.as_path().parent() {
            std::fs::create_dir_all(folder).unwrap();
        }
        std::fs::write(path.as_path(), content).unwrap();
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
