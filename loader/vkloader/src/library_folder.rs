//! A folder in which a program finds one library under every name by which programs open a Vulkan loader.
//!
//! Preloading the library would not do: a program that opens `libvulkan.so` then gets the system's loader as a second one, whose calls of
//! its own functions end in the first, and crashes.

use crate::causes::elf::{Identity, folders_before_variable};
use crate::child::{self, naming};
use crate::events::{Event, Record};
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// The names by which programs open a Vulkan loader.
const NAMES: [&str; 2] = ["libvulkan.so.1", "libvulkan.so"];

/// The variable with the folders in which the dynamic linker looks before it looks in those of the system.
const VARIABLE: &str = "LD_LIBRARY_PATH";

/// Characters that have a meaning in the variable, so that no folder with one of them can be named there.
const MEANT: &[u8] = b":;$";

/// The folder, which goes with the value.
pub(crate) struct LibraryFolder {
    folder: TempDir,
    /// An absolute path.
    library: PathBuf,
}

impl LibraryFolder {
    /// Makes the folder for a library.
    ///
    /// # Errors
    /// The system's; that the library is not a file, since a program would get the system's loader without a word.
    pub(crate) fn of(library: &Path) -> io::Result<Self> {
        let library = std::path::absolute(library)?;
        let status = fs::metadata(&library).map_err(|error| naming(&library, error))?;
        if !status.is_file() {
            return Err(naming(&library, io::Error::other("not a file")));
        }
        let folder = child::scratch(&place(&env::temp_dir())?)?;
        for name in NAMES {
            symlink(&library, folder.path().join(name))?;
        }
        Ok(Self { folder, library })
    }

    /// Lets a command look in the folder before all others.
    pub(crate) fn search_first(&self, command: &mut Command) {
        let mut folders = self.folder.path().as_os_str().to_owned();
        // An empty part of the list would mean the current folder.
        if let Some(others) = env::var_os(VARIABLE).filter(|others| !others.is_empty()) {
            folders.push(":");
            folders.push(others);
        }
        command.env(VARIABLE, folders);
    }

    /// Gives the library the path by which it was named, in place of that of a link which will be gone.
    pub(crate) fn name_library(&self, records: &mut [Record]) {
        for record in records {
            if let Event::Loaded(loaded) = &mut record.event
                && loaded.library.as_deref().is_some_and(|path| self.has(path))
            {
                loaded.library = Some(self.library.display().to_string());
            }
        }
    }

    /// Why a program did not get the library, in words for people; `None` where it did. `records` have been through `name_library`.
    pub(crate) fn missed_by(&self, program: &OsStr, records: &[Record]) -> Option<String> {
        let loaded = || {
            records.iter().filter_map(|record| match &record.event {
                Event::Loaded(loaded) => Some(loaded),
                _ => None,
            })
        };
        let library = self.library.display();
        if loaded().any(|loaded| loaded.library.as_deref() == library.to_string().as_str().into()) {
            return None;
        }
        let other = loaded().next();
        let got = match other.and_then(|other| other.library.as_deref()) {
            Some(path) => format!("the program opened {path} and not {library}"),
            None => format!("the program did not open {library}"),
        };
        let executable = other.and_then(|other| other.executable.as_deref().map(PathBuf::from));
        let why = executable
            .or_else(|| found(program))
            .and_then(|program| self.obstacle(&program));
        Some(match why {
            Some(why) => format!("{got}: {why}"),
            None => format!(
                "{got}: it opens no Vulkan loader, or names one with a folder, changes {VARIABLE}, runs with raised privileges, or in a \
                 sandbox, which must see the folder for temporary files (TMPDIR) or the trace (--descriptor)"
            ),
        })
    }

    /// What stands in the file of a program that keeps the library away from it.
    fn obstacle(&self, program: &Path) -> Option<String> {
        let name = program.display();
        let (its, own) = (Identity::of(program)?, Identity::of(&self.library)?);
        if its != own {
            return Some(format!("{name} is for {its}, the library for {own}"));
        }
        let folders = folders_before_variable(program);
        let mut paths = folders.iter().flat_map(|folder| NAMES.map(|name| folder.join(name)));
        let first = paths.find(|path| path.exists())?;
        Some(format!(
            "{name} looks for libraries in folders of its own first (DT_RPATH), and finds {}",
            first.display()
        ))
    }

    fn has(&self, path: &str) -> bool {
        let real = |path: &Path| fs::canonicalize(path).ok();
        Path::new(path).starts_with(self.folder.path())
            || real(Path::new(path)).is_some_and(|path| Some(path) == real(&self.library))
    }
}

/// The folder for temporary files, or the usual one where the dynamic linker would misread its name.
///
/// # Errors
/// That the folder does not exist.
fn place(usual: &Path) -> io::Result<PathBuf> {
    let usual = std::path::absolute(usual)?;
    let is_plain = !usual.as_os_str().as_bytes().iter().any(|byte| MEANT.contains(byte));
    Ok(if is_plain { usual } else { "/tmp".into() })
}

/// The file that a command means.
fn found(program: &OsStr) -> Option<PathBuf> {
    if program.as_bytes().contains(&b'/') {
        return Some(program.into());
    }
    let folders = env::var_os("PATH")?;
    env::split_paths(&folders)
        .map(|folder| folder.join(program))
        .find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_the_dynamic_linker_would_misread_is_not_taken() {
        for (usual, place_) in [
            ("/var/tmp", "/var/tmp"),
            ("/a:b", "/tmp"),
            ("/a;b", "/tmp"),
            ("/$LIB", "/tmp"),
        ] {
            assert_eq!(place(Path::new(usual)).ok(), Some(place_.into()), "{usual}");
        }
    }
}
