//! Explains why programs cannot open their Vulkan loader, or crash because the file of the loader is damaged.

use super::closure::{self, Identity, locate, usual_folders};
use super::damage::damaged;
use super::{About, elsewhere, of_file, owned, refused, shown, words_of_the_linker};
use crate::report::Dropped;
use std::path::{Path, PathBuf};

/// Part of the probe's message about a library without the function that each Vulkan loader exports.
const NO_LOADER: &str = "exports no vkGetInstanceProcAddr";

/// Adds the reason why the loader of programs does not open. The message of the finding contains the path of a damaged file.
pub(super) fn not_opened(dropped: &mut Dropped, library: &str, own: Identity, about: &About<'_>) {
    let words = words_of_the_linker(dropped).unwrap_or_default();
    // The folder of the traced library comes first in the variables of the program, but only if `vkloader` starts the program.
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    let is_traced = |path: &Path| about.loader.is_some_and(|loader| real(loader) == real(path));
    let found = locate(library, own).filter(|path| !is_traced(path));
    let skipped =
        || closure::unreadable(library, Path::new("")).or_else(|| in_folder_of(library, usual_folders(), own));
    let Some(path) = found.or_else(|| refused::named_path(&words)).or_else(skipped) else {
        if let Some((link, target)) = elsewhere::dangling(library) {
            let words = format!("{link} is a link to {target}, which is not there");
            dropped.findings.insert(0, words);
            dropped.advice = format!("Reinstall {}.", owned(&link));
        }
        return;
    };
    if words.contains(NO_LOADER) {
        no_loader(dropped, &path)
    } else {
        of_file(dropped, &path, own, about)
    }
}

/// Returns the library for another processor or word size that stands in a folder for programs with the identity `own` alone. `folders` are the usual
/// ones. The dynamic linker skips such a file.
fn in_folder_of<'a>(name: &str, folders: impl Iterator<Item = &'a str>, own: Identity) -> Option<PathBuf> {
    let is_own = |folder: &&str| folder.ends_with("-linux-gnu") && own.searches(folder);
    let mut paths = folders.filter(is_own).map(|folder| Path::new(folder).join(name));
    paths.find(|path| Identity::of(path).is_some_and(|found| found != own))
}

/// Returns the file of the loader that a finding is about. The name of the finding may be the path. Otherwise, the message of the dynamic linker
/// may name the file.
pub(in crate::causes) fn file_of(dropped: &Dropped, own: Identity) -> Option<PathBuf> {
    let named = Some(PathBuf::from(&dropped.name)).filter(|path| path.is_absolute());
    let printed = || refused::named_path(&words_of_the_linker(dropped)?);
    named.or_else(printed).or_else(|| locate(&dropped.name, own))
}

/// Adds the remedy for a library that only has the name of a Vulkan loader.
fn no_loader(dropped: &mut Dropped, path: &Path) {
    dropped
        .findings
        .insert(0, format!("{} is not a Vulkan loader", shown(path)));
    let folder = path.parent().filter(|folder| closure::is_in_variable(folder));
    dropped.advice = match folder {
        Some(folder) => format!(
            "Take {} out of LD_LIBRARY_PATH, or replace {}.",
            shown(folder),
            shown(path)
        ),
        None => format!("Reinstall {}.", owned(&shown(path))),
    };
}

/// Adds to the finding that the loader of programs fails that its file is damaged: a process that uses a page beyond the end of the file
/// receives SIGBUS.
pub(super) fn failed(dropped: &mut Dropped, own: Identity) {
    let name = dropped.name.clone();
    if let Some(path) = locate(&name, own) {
        damaged(dropped, &path, &path, own);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_loader_of_another_word_size_is_named_only_in_a_folder_for_one_architecture() {
        let root = tempfile::tempdir().expect("a folder");
        let own = Identity::of_this_process();
        let mut bytes = fs::read("/proc/self/exe").expect("this program");
        bytes[4] = if cfg!(target_pointer_width = "64") { 1 } else { 2 };
        for (folder, is_named) in [("x86_64-linux-gnu", cfg!(target_arch = "x86_64")), ("lib", false)] {
            let folder = root.path().join(folder);
            fs::create_dir(&folder).expect("a folder");
            fs::write(folder.join("libx.so"), &bytes).expect("written");
            let folders = [folder.to_str().expect("plain")];
            let found = in_folder_of("libx.so", folders.into_iter(), own);
            assert_eq!(found.is_some(), is_named, "{folder:?}");
        }
    }
}
