//! Finds the library and the 32-bit `vkloader` that are installed with this program. `vkloader` examines machines with this library if
//! their programs use another Vulkan loader or no loader.

use crate::itself;
use crate::regular;
use std::fs;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Folder of the library and the 32-bit `vkloader`, relative to the folder in which this program is installed.
const FOLDER: &str = "libexec/vulkan-loader-rs";

/// Names of the library in the folder of this program: in the one-file form of `vkloader`, and in a build folder.
const BESIDE: [&str; 2] = ["libvulkan.so.1", "libvulkan.so"];

/// Returns the library that came with this program: the installed library, or else the library in the folder of the program.
pub(crate) fn library() -> Option<PathBuf> {
    let program = Program::this()?;
    let beside = || BESIDE.map(|name| program.path.with_file_name(name));
    let installed = program.installed("libvulkan.so.1");
    installed.or_else(|| beside().into_iter().find(|library| program.has_file(library)))
}

/// Returns the installed 32-bit `vkloader`, which has its own library.
pub(crate) fn program_of_32_bits() -> Option<PathBuf> {
    Program::this()?.installed("32/bin/vkloader")
}

/// Variable that the libraries of this project read, and no other loader.
const OF_TRACE: &[u8] = b"VK_LOADER_TRACE";
/// Upper bound on the size in bytes of a library that is searched for words.
const LARGEST: u64 = 64 << 20;

/// Returns `true` for a library of this project, which writes a trace.
pub(crate) fn writes_trace(library: &Path) -> bool {
    contains(library, LARGEST, OF_TRACE)
}

/// Returns `true` if the first `size` bytes of a file contain `word`.
pub(crate) fn contains(file: &Path, size: u64, word: &[u8]) -> bool {
    let mut bytes = Vec::new();
    let is_file = fs::metadata(file).is_ok_and(|status| status.is_file());
    let opened = is_file.then(|| regular::open(file).ok()).flatten();
    let read = opened.map(|file| file.take(size).read_to_end(&mut bytes));
    matches!(read, Some(Ok(_))) && bytes.windows(word.len()).any(|part| part == word)
}

/// A program and the user who owns its file.
struct Program {
    path: PathBuf,
    owner: u32,
}

impl Program {
    /// Returns this program and its owner; `None` if the program's file is unknown.
    fn this() -> Option<Self> {
        let path = itself::path().ok()?;
        let owner = fs::metadata(&path).ok()?.uid();
        Some(Self { path, owner })
    }

    /// Returns a file of the installation that the program belongs to. Ignores a file in unsafe folders: in a folder for temporary files,
    /// any user can create folders with the names that an installation has.
    fn installed(&self, name: &str) -> Option<PathBuf> {
        let root = self.path.parent()?.parent()?;
        let path = root.join(FOLDER).join(name);
        let mut folders = path.ancestors().skip(1).take_while(|folder| *folder != root);
        let is_safe = self.has_file(&path) && folders.all(|folder| self.has_folder(folder));
        is_safe.then_some(path)
    }

    /// Returns `true` if a folder belongs to root or to the owner of the program, and not all users may write to it.
    fn has_folder(&self, folder: &Path) -> bool {
        const OTHERS_WRITE: u32 = 0o002;
        fs::metadata(folder)
            .is_ok_and(|state| [0, self.owner].contains(&state.uid()) && state.mode() & OTHERS_WRITE == 0)
    }

    /// Returns `true` if a file belongs to the owner of the program. In a folder that other users may write to, any user could have created
    /// the file.
    fn has_file(&self, file: &Path) -> bool {
        fs::metadata(file).is_ok_and(|state| state.is_file() && state.uid() == self.owner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_libraries_with_a_trace_are_of_this_project() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("libx.so");
        for (text, expected) in [
            (&b"\0VK_LOADER_TRACE\0"[..], true),
            (b"\0VK_LOADER_DEBUG\0", false),
            (b"", false),
        ] {
            fs::write(&file, text).expect("written");
            assert_eq!(writes_trace(&file), expected);
        }
        assert!(!writes_trace(folder.path()) && !writes_trace(Path::new("/nowhere")));
    }
}
