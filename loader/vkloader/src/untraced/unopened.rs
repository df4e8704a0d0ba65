//! Explains programs that ask for a Vulkan loader and get none: they ask by a wrong name or path, or the file is damaged.

use super::LOADER;
use crate::causes::elf::{Fault, Identity, is_in_variable, locate, replaced_file};
use crate::causes::{self, Unfound};
use crate::crash::Environment;
use crate::events::{Event, Record};
use crate::paths::file_name;
use crate::report::codes;
use crate::shell::{aside, word};
use std::path::{Path, PathBuf};

/// Variable with the folders that the dynamic linker searches before those of the system.
const FOLDERS: &str = "LD_LIBRARY_PATH";

/// Returns `true` for a name by which a program may ask for a Vulkan loader, such as `libvulkan.so.1`. Names of drivers continue with an
/// underscore.
pub(crate) fn is_name_of_loader(file: &str) -> bool {
    let rest = file.strip_prefix("lib").unwrap_or(file).strip_prefix("vulkan");
    rest.is_some_and(|rest| {
        rest.starts_with(|first: char| matches!(first, '.' | '-') || first.is_ascii_digit()) || rest.is_empty()
    })
}

/// Returns the Vulkan loader that a program did not get, according to the lines that the program printed. The dynamic linker's messages begin with
/// the name or path of the file.
pub(crate) fn printed(records: &[Record]) -> Option<Unfound> {
    records.iter().rev().find_map(|record| match &record.event {
        Event::Printed(line) => in_message(line),
        _ => None,
    })
}

/// Returns the Vulkan loader that a message of the dynamic linker is about.
fn in_message(line: &str) -> Option<Unfound> {
    let parts: Vec<&str> = line.split(": ").collect();
    let (_, before) = parts.split_last()?;
    let last_word = |part: &&str| part.split_whitespace().next_back().map(String::from);
    let mut names = before.iter().filter_map(last_word);
    let name = names.find(|name| is_name_of_loader(file_name(name)))?;
    Some(Unfound {
        files: Some(PathBuf::from(&name))
            .filter(|path| path.is_absolute())
            .into_iter()
            .collect(),
        name,
    })
}

/// Returns the reason why a program wrote no trace, if the dynamic linker did not open the loader that the program asked for. After each
/// semicolon follows a remedy. `environments` are those of the program's processes.
pub(crate) fn why(asked: &Unfound, environments: &[Environment]) -> String {
    let own = Identity::of_this_process();
    let name = &asked.name;
    let named = Some(PathBuf::from(name)).filter(|path| path.is_absolute());
    let files = asked.files.iter().chain(&named);
    // The dynamic linker skips files for other processors, so the last file decides.
    let files = files.filter(|file| file.symlink_metadata().is_ok());
    let mut faults = files.filter_map(|file| Some((file, Fault::of(file, own)?)));
    if let Some((file, fault)) = faults.next_back() {
        return damaged(name, file, &fault, environments);
    }
    let installed = locate(LOADER, own);
    if name.contains('/') {
        let state = if Path::new(name).exists() {
            "which cannot be opened"
        } else {
            "which is not there"
        };
        return format!(
            "the program opens the Vulkan loader by the path {name}, {state}; let it open {LOADER} without a folder, which the dynamic linker finds"
        );
    }
    match installed {
        Some(path) if name == causes::LINK => format!(
            "the program opens {name}, which the dynamic linker does not find: only {} is installed; let it open {LOADER}, or {}",
            path.display(),
            causes::TO_LINK
        ),
        Some(path) if !name.starts_with(causes::LINK) => misnamed(name, &path),
        Some(path) => format!(
            "the program opens {name}, and the dynamic linker gives it no such library, although {} exists; to see the reason: LD_DEBUG=libs PROGRAM",
            path.display()
        ),
        None => format!(
            "the program opens {name}, which the dynamic linker does not find; {}",
            codes::LOADER_NOT_OPENED.remedy.trim_end_matches('.')
        ),
    }
}

/// Returns the reason and the remedy for a name that the Vulkan loader has on no Linux system. `path` is the loader of this system.
fn misnamed(name: &str, path: &Path) -> String {
    let (path, link) = (word(&path.display().to_string()), word(name));
    format!(
        "the program opens {name}, which is not the name of the Vulkan loader on Linux: that is {LOADER}; correct the name in the program; until \
         then, give the loader this name too: mkdir -p ~/.local/lib && ln -sf {path} ~/.local/lib/{link} && {FOLDERS}=~/.local/lib PROGRAM"
    )
}

/// Returns the reason and the remedy for a damaged loader. `name` is the name by which the program asked for it.
fn damaged(name: &str, file: &Path, fault: &Fault, environments: &[Environment]) -> String {
    let shown = file.display().to_string();
    let folder = file.parent().unwrap_or(Path::new("/"));
    let values = environments.iter().filter_map(|one| one.variables.as_ref());
    let values = values.flatten().filter(|(name, _)| name == FOLDERS);
    let leads = |value: &&str| value.split([':', ';']).any(|one| Path::new(one) == folder);
    let value = values.map(|(_, value)| value.as_str()).find(leads);
    let leading = value.map_or_else(String::new, |value| {
        let origin = causes::origin_of(FOLDERS, value).map_or_else(String::new, |words| format!(": {words}"));
        format!(", and {FOLDERS} leads there{origin}")
    });
    let reason = format!(
        "the program opens {name}, and the dynamic linker cannot use the file that it finds: {}{leading}",
        fault.finding
    );
    if let Some(advice) = &fault.advice {
        return format!("{reason}; {}", advice.trim_end_matches('.'));
    }
    let own = Identity::of_this_process();
    let other = replaced_file(file, own).filter(|other| Fault::of(other, own).is_none());
    let aside = other.map(|other| {
        let command = aside(file);
        format!("move it away, so that the program gets {}: {command}", other.display())
    });
    let whole = match causes::to_reinstall(&shown) {
        Some(words) => words,
        None => format!("replace {shown} by a whole file for this processor"),
    };
    // A file of a package is needed by others, so it stays in its place.
    let remedies = match aside {
        Some(aside) if value.is_some() || is_in_variable(folder) => format!("{aside}; or {whole}"),
        _ => whole,
    };
    format!("{reason}; {remedies}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_loaders_are_told_from_those_of_drivers() {
        for (name, expected) in [
            ("libvulkan.so.1", true),
            ("libvulkan.so", true),
            ("libvulkan.1.so", true),
            ("libvulkan-1.so", true),
            ("libvulkan1.so", true),
            ("vulkan.so.1", true),
            ("libvulkan.dylib", true),
            ("vulkan", true),
            ("libvulkan_radeon.so", false),
            ("libvulkanlayer.so", false),
            ("libGL.so.1", false),
        ] {
            assert_eq!(is_name_of_loader(name), expected, "{name}");
        }
    }

    #[test]
    fn messages_of_the_dynamic_linker_name_the_loader() {
        for (line, expected) in [
            (
                "app: /opt/a/libvulkan.so.1: file too short",
                Some(("/opt/a/libvulkan.so.1", 1)),
            ),
            (
                "libvulkan.so.1: cannot open shared object file: No such file or directory",
                Some(("libvulkan.so.1", 0)),
            ),
            (
                "./app: error while loading shared libraries: libvulkan.so.1: invalid ELF header",
                Some(("libvulkan.so.1", 0)),
            ),
            (
                "Error loading shared library libvulkan.so.1: Exec format error (needed by ./app)",
                Some(("libvulkan.so.1", 0)),
            ),
            ("/usr/lib/libvulkan_intel.so: cannot open shared object file", None),
            ("no libvulkan.so.1 here", None),
        ] {
            let found = in_message(line);
            let found = found.as_ref().map(|found| (found.name.as_str(), found.files.len()));
            assert_eq!(found, expected, "{line}");
        }
    }
}
