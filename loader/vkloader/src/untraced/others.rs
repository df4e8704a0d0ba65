//! Explains programs that get a Vulkan loader of others, because the system has that loader in place of this project's library.

use super::LOADER;
use crate::carried::{contains, writes_trace};
use crate::causes::elf::{Identity, locate, read, usual_folders};
use crate::shell::word;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Function that each Vulkan loader exports.
const OF_LOADERS: &[u8] = b"vkGetInstanceProcAddr";
/// Number of bytes at the beginning of a library in which the names of its functions usually are.
const BEGINNING: u64 = 256 << 10;
/// Upper bound on the number of files that are examined in one folder.
const MOST: usize = 8192;
/// Folders of libraries that were installed without a package.
const LOCAL: [&str; 2] = ["/usr/local/lib", "/usr/local/lib64"];

/// Returns a library of this project in `folder`, or in a folder that the dynamic linker searches.
fn installed(folder: &Path) -> Option<PathBuf> {
    let own = Identity::of_this_process();
    let is_it = |path: &PathBuf| {
        contains(path, BEGINNING, OF_LOADERS)
            && Identity::of(path) == Some(own)
            && writes_trace(path)
            && read(path).and_then(|needs| needs.own).as_deref() == Some(LOADER)
    };
    if let Some(usual) = locate(LOADER, own).filter(is_it) {
        return Some(usual);
    }
    let mut known = BTreeSet::new();
    let usual = LOCAL.into_iter().chain(usual_folders()).map(PathBuf::from);
    let folders = std::iter::once(folder.to_path_buf()).chain(usual);
    let folders = folders.filter_map(|folder| fs::canonicalize(folder).ok());
    folders
        .filter(|folder| known.insert(folder.clone()))
        .find_map(|folder| {
            let entries = fs::read_dir(folder).ok()?.flatten().take(MOST);
            let names = entries.filter(|entry| entry.file_name().to_string_lossy().contains(".so"));
            let mut paths: Vec<PathBuf> = names.map(|entry| entry.path()).filter(|path| path.is_file()).collect();
            paths.sort();
            paths.into_iter().find(is_it)
        })
}

/// Returns the command that runs a program under a library of this project, with its path if the library is in `folder` or in a folder of the
/// system.
pub(super) fn with_library(folder: &Path) -> String {
    let library = installed(folder).map(|path| word(&path.display().to_string()));
    format!(
        "vkloader explain --library {} -- PROGRAM",
        library.as_deref().unwrap_or("LIBRARY")
    )
}

/// Returns the reason why a program that opened the loader `path` in a folder of the system wrote no trace, with remedies after semicolons.
pub(super) fn why(path: &str, folder: &Path) -> String {
    let Some(own) = installed(folder) else {
        return format!(
            "the Vulkan loader of this system, {path}, is another one, which writes no trace; name a library of this project, which does: vkloader \
             explain --library LIBRARY -- PROGRAM; the package of vkloader, and vkloader as one file, bring such a library"
        );
    };
    if fs::canonicalize(path).is_ok_and(|real| fs::canonicalize(&own).is_ok_and(|own| own == real)) {
        return format!(
            "it opened {path}, which writes a trace, but could not open the file of the trace: it may have too many open files (ulimit -n), or a sandbox hides \
             the file; pass the trace as an open descriptor: vkloader explain --descriptor -- PROGRAM"
        );
    }
    let own = own.display().to_string();
    let link = folder.join(LOADER).display().to_string();
    let (file, link) = (word(&own), word(&link));
    format!(
        "the Vulkan loader of this system, {path}, is another one, which writes no trace, although {own} is there too; to run the program with that \
         library: vkloader explain --library {file} -- PROGRAM; or to let all programs get it again: ln -sf {file} {link} (ldconfig, which \
         package managers run, makes this link lead to the file with the highest version)"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loader_of_others_comes_with_the_option_that_names_a_library() {
        let folder = tempfile::tempdir().expect("a folder");
        let words = why("/lib/libvulkan.so.1.4", folder.path());
        assert!(
            words.starts_with("the Vulkan loader of this system, /lib/libvulkan.so.1.4, is another one"),
            "{words}"
        );
        assert!(words.contains("vkloader explain --library "), "{words}");
    }
}
