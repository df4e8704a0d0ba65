//! A temporary folder with links to one library. The links have the names that programs use to open a Vulkan loader.
//!
//! Preloading the library is not enough: a program that opens `libvulkan.so` would then use the system's loader as a second loader. Calls
//! between the functions of that second loader would reach the preloaded library, and the program would crash.

use crate::causes::elf::{Identity, folders_before_variable};
use crate::child::naming;
use crate::events::{Event, Record};
use crate::shell::{aside, word};
use crate::variables::nonempty_here;
use crate::{carried, itself, scratch};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Names that programs use to open a Vulkan loader.
const NAMES: [&str; 2] = ["libvulkan.so.1", "libvulkan.so"];

/// Variable with the folders that the dynamic linker searches before those of the system.
pub(crate) const VARIABLE: &str = "LD_LIBRARY_PATH";

/// The temporary folder with the links. Dropping this value removes the folder.
pub(crate) struct LibraryFolder {
    folder: TempDir,
    /// The absolute path of the library.
    library: PathBuf,
}

/// The reason why a program did not load the library.
pub(crate) struct Missed {
    got: String,
    /// Property of the program's file that prevents the program from loading the library.
    why: Option<String>,
}

impl Missed {
    /// Returns the reason as text. `opened` is a sentence about the libraries that the program opened instead.
    pub(crate) fn words(self, opened: Option<String>) -> String {
        let got = self.got;
        match self.why.or(opened) {
            Some(why) => format!("{got}: {why}"),
            None => format!(
                "{got}: it opens no Vulkan loader, or names one with a folder, changes {VARIABLE}, runs with raised privileges, or in a \
                 sandbox, which must see the folder for temporary files (TMPDIR) or the trace (--descriptor)"
            ),
        }
    }
}

/// Returns the value of [`VARIABLE`] without the folder of a [`LibraryFolder`] at its beginning; `None` if nothing else is in it.
pub(crate) fn without(value: &str) -> Option<&str> {
    let (first, rest) = value.split_once(':').unwrap_or((value, ""));
    let folder = Path::new(first);
    let is_temporary = folder
        .file_name()
        .is_some_and(|name| name.to_string_lossy().starts_with(".tmp"));
    let is_own = is_temporary && NAMES.iter().all(|name| folder.join(name).is_symlink());
    if is_own {
        Some(rest).filter(|rest| !rest.is_empty())
    } else {
        Some(value)
    }
}

/// Returns the reason why a program does not load a library through [`VARIABLE`], with remedies after semicolons, if the program's own folders
/// come first and have a Vulkan loader.
pub(crate) fn before_variable(program: &Path) -> Option<String> {
    let folders = folders_before_variable(program);
    let mut paths = folders.iter().flat_map(|folder| NAMES.map(|name| folder.join(name)));
    let path = paths.find(|path| path.exists())?;
    let first = word(&path.display().to_string());
    let name = program.display();
    let writes_trace = carried::writes_trace(&path);
    let look = writes_trace.then(|| {
        let name = word(&name.to_string());
        format!("; or look at the program's own loader: vkloader explain --library {first} -- {name}")
    });
    let without = if writes_trace { "" } else { ", which writes no trace" };
    Some(format!(
        "{name} first searches its own folders for libraries (DT_RPATH), and finds {first}{without}; to let the program use the system's loader: \
         {}{}",
        aside(&path),
        look.unwrap_or_default()
    ))
}

impl LibraryFolder {
    /// Creates the folder with links to a library.
    ///
    /// # Errors
    /// Returns the system's error, or an error if the library is not a file. Without this check, the program would silently use the
    /// system's loader.
    pub(crate) fn of(library: &Path) -> io::Result<Self> {
        let library = std::path::absolute(library)?;
        let status = fs::metadata(&library).map_err(|error| naming(&library, error))?;
        if !status.is_file() {
            return Err(naming(&library, io::Error::other("not a file")));
        }
        let folder = scratch::folder()?;
        // The program may run as another user, so all users must be able to read the folder.
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755))?;
        for name in NAMES {
            symlink(&library, folder.path().join(name))?;
        }
        Ok(Self { folder, library })
    }

    /// Sets [`VARIABLE`] for a command, so that its process searches this folder before all other folders.
    pub(crate) fn search_first(&self, command: &mut Command) {
        let mut folders = self.folder.path().as_os_str().to_owned();
        // An empty item in the list would mean the current folder.
        if let Some(others) = nonempty_here(VARIABLE) {
            folders.push(":");
            folders.push(others);
        }
        command.env(VARIABLE, folders);
    }

    /// Replaces the paths of the temporary links in `records` by the path of the library, and stores the names of the links.
    pub(crate) fn name_library(&self, records: &mut [Record]) {
        for record in records {
            if let Event::Loaded(loaded) = &mut record.event
                && loaded.library.as_deref().is_some_and(|path| self.has(path))
            {
                let link = loaded.library.take().map(PathBuf::from);
                let link = link.filter(|link| link.starts_with(self.folder.path()));
                loaded.opened_as = link.and_then(|link| Some(link.file_name()?.to_str()?.to_owned()));
                loaded.library = Some(self.library.display().to_string());
            }
        }
    }

    /// Returns the reason why a program did not load the library; `None` if the program loaded it. `name_library` must have been called on
    /// `records`.
    pub(crate) fn missed_by(&self, program: &OsStr, records: &[Record]) -> Option<Missed> {
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
            .or_else(|| itself::find(program))
            .and_then(|program| self.obstacle(&program));
        Some(Missed { got, why })
    }

    /// Returns the property of a program's file that prevents the program from loading the library, if there is one.
    fn obstacle(&self, program: &Path) -> Option<String> {
        let name = program.display();
        let (its, own) = (Identity::of(program)?, Identity::of(&self.library)?);
        if its != own {
            return Some(format!("{name} is for {its}, the library for {own}"));
        }
        before_variable(program)
    }

    fn has(&self, path: &str) -> bool {
        let real = |path: &Path| fs::canonicalize(path).ok();
        Path::new(path).starts_with(self.folder.path())
            || real(Path::new(path)).is_some_and(|path| Some(path) == real(&self.library))
    }
}
