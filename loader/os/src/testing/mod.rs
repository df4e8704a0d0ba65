//! A folder for the files of one test, and a time limit for tests.

pub(crate) mod time_limit;

use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// A temporary folder. Dropping this value deletes the folder and its content.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn create() -> Self {
        Self(steady::new_folder("vk-loader-os"))
    }

    /// Returns the path of an entry in the folder.
    pub(crate) fn path(&self, name: &str) -> Vec<u8> {
        self.0.join(name).into_os_string().into_vec()
    }

    pub(crate) fn folder(&self, name: &str) -> Vec<u8> {
        std::fs::create_dir_all(self.0.join(name)).unwrap();
        self.path(name)
    }

    pub(crate) fn file(&self, name: &str, content: &[u8]) -> Vec<u8> {
        std::fs::write(self.0.join(name), content).unwrap();
        self.path(name)
    }

    /// Creates a link to `target` in the folder.
    pub(crate) fn link(&self, name: &str, target: &str) -> Vec<u8> {
        std::os::unix::fs::symlink(self.0.join(target), self.0.join(name)).unwrap();
        self.path(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
