//! Files that are installed with this program for machines whose programs have another Vulkan loader or none: the library, and the 32-bit `vkloader`.

use crate::itself;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Folder of these files, in the folder that this program is installed in.
const FOLDER: &str = "libexec/vulkan-loader-rs";

/// Names of the library beside this program, in the one-file form of `vkloader` and in a build folder.
const BESIDE: [&str; 2] = ["libvulkan.so.1", "libvulkan.so"];

/// Returns the library that came with this program: the installed one, or the one beside this program.
pub(crate) fn library() -> Option<PathBuf> {
    let program = itself::path().ok()?;
    let folder = program.parent()?;
    let installed = installed(&program, "libvulkan.so.1");
    let beside = || BESIDE.map(|name| folder.join(name));
    installed.or_else(|| beside().into_iter().find(|library| has_owner_of(library, &program)))
}

/// Returns the installed 32-bit `vkloader`, which has a library of its own.
pub(crate) fn program_of_32_bits() -> Option<PathBuf> {
    installed(&itself::path().ok()?, "32/bin/vkloader")
}

/// Returns a file of the installation that this program belongs to. A program in a folder for temporary files belongs to no installation, because
/// anybody could have created the folders beside it.
fn installed(program: &Path, name: &str) -> Option<PathBuf> {
    let root = program.parent()?.parent()?;
    let path = root.join(FOLDER).join(name);
    let folders = path.ancestors().skip(1).take_while(|folder| *folder != root);
    let is_safe = has_owner_of(&path, program) && folders.into_iter().all(|folder| is_of_owner(folder, program));
    is_safe.then_some(path)
}

/// Returns `true` if a folder belongs to the owner of the program or to root, and no others may write to it.
fn is_of_owner(folder: &Path, program: &Path) -> bool {
    const OTHERS_WRITE: u32 = 0o002;
    let (Ok(folder), Ok(program)) = (fs::metadata(folder), fs::metadata(program)) else {
        return false;
    };
    [0, program.uid()].contains(&folder.uid()) && folder.mode() & OTHERS_WRITE == 0
}

/// Returns `true` if a file belongs to the owner of the program. In a folder that others may write to, anybody could have created a file of that
/// name.
fn has_owner_of(library: &Path, program: &Path) -> bool {
    let owner = |path: &Path| {
        fs::metadata(path)
            .ok()
            .filter(fs::Metadata::is_file)
            .map(|status| status.uid())
    };
    owner(library).is_some_and(|uid| Some(uid) == owner(program))
}
