//! A settings file for executables whose environment is cleared.

use crate::regular;
use crate::{child, signals};
use serde_json::json;
use std::ffi::OsStr;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;

/// Path of the file, relative to each folder that the library searches.
const PLACE: &str = "vulkan/loader_settings.d/vk_loader_settings.json";

/// Name of a member with the ID of the process that wrote the file. The library ignores this member.
const WRITER: &str = "vkloader-run";

/// Delay between two checks of the program.
const STEP: Duration = Duration::from_millis(20);

/// A settings file. Dropping this value removes the file.
///
/// The file is locked until it is removed, so other runs see that the file is in use, even in another PID namespace.
pub(super) struct SettingsFile {
    path: PathBuf,
    file: File,
}

impl SettingsFile {
    /// Writes the settings file for `executables`. Replaces the file of a run that was killed.
    ///
    /// # Errors
    /// The file cannot be written, or another settings file exists.
    pub(super) fn write(words: &OsStr, executables: &[PathBuf]) -> io::Result<Self> {
        let folders = Folders::of(|name| std::env::var_os(name));
        let path = folders
            .own()
            .ok_or_else(|| {
                io::Error::other("neither XDG_CONFIG_HOME nor HOME is set, so there is no place for a settings file")
            })?
            .join(PLACE);
        remove_left_behind(&path);
        if let Some(other) = folders
            .all()
            .map(|folder| folder.join(PLACE))
            .find(|file| file.exists())
        {
            let words = "is a settings file already; add visible_devices to it, or leave --executable out";
            return Err(io::Error::other(format!("{} {words}", other.display())));
        }
        let text = text(words, executables)?;
        let folder = path.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(folder).map_err(|error| child::naming(folder, error))?;
        // If two runs begin at the same time, one of them fails here, because the file already exists.
        let file = File::create_new(&path).map_err(|error| child::naming(&path, error))?;
        // On a file system without locks, the call fails. Even then, other runs do not remove the file: they cannot lock the file either,
        // and never remove an empty file.
        let _ = lock(&file);
        let mut written = Self { path, file };
        written
            .file
            .write_all(text.as_bytes())
            .map_err(|error| child::naming(&written.path, error))?;
        Ok(written)
    }

    /// Runs a command and removes the file after the command has ended. Forwards signals that ask this process to end.
    ///
    /// # Errors
    /// The command cannot be started.
    pub(super) fn keep_while(self, mut command: Command) -> io::Result<ExitStatus> {
        signals::note_requests_to_end();
        signals::leave_those_of_the_terminal();
        let mut child = command.spawn()?;
        let mut is_asked = false;
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(status);
            }
            if signals::is_unwanted() && !is_asked {
                is_asked = true;
                ask_to_end(&child);
            }
            std::thread::sleep(STEP);
        }
    }
}

impl Drop for SettingsFile {
    fn drop(&mut self) {
        remove_same(&self.path, &self.file);
    }
}

fn ask_to_end(child: &Child) {
    let process = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
    if let Some(process) = process {
        // This process has not yet waited for the child, so the process ID cannot belong to another process.
        let _ = rustix::process::kill_process(process, rustix::process::Signal::TERM);
    }
}

/// Returns the content of a settings file that shows only the devices in `words` to the programs `executables`.
fn text(words: &OsStr, executables: &[PathBuf]) -> io::Result<String> {
    let words = words
        .to_str()
        .ok_or_else(|| io::Error::other("the words for devices are not text"))?;
    let keys = executables.iter().map(|path| {
        let path = fs::canonicalize(path).map_err(|error| child::naming(path, error))?;
        let text = path.to_str().map(String::from);
        text.ok_or_else(|| io::Error::other(format!("the path {} is not text", path.display())))
    });
    let keys = keys.collect::<io::Result<Vec<String>>>()?;
    // Removes blanks before a word, as the library does for the variable.
    let words = words.split(',').map(str::trim_ascii_start);
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let file = json!({
        "file_format_version": "1.0.0",
        "settings_array": [{"app_keys": keys, "visible_devices": words}],
        WRITER: std::process::id(),
    });
    serde_json::to_string_pretty(&file).map_err(io::Error::other)
}

/// Locks a file; fails if another process holds the lock. The lock ends with this process.
fn lock(file: &File) -> io::Result<()> {
    rustix::fs::flock(file, rustix::fs::FlockOperation::NonBlockingLockExclusive).map_err(io::Error::from)
}

/// Removes a file that an earlier run of this command left, if the lock is free, which means that no run uses the file.
fn remove_left_behind(path: &Path) {
    let Ok(mut file) = regular::open(path) else { return };
    let mut text = Vec::new();
    let is_ours = file.read_to_end(&mut text).is_ok() && {
        let written = serde_json::from_slice::<serde_json::Value>(&text).ok();
        written.is_some_and(|file| file.get(WRITER).is_some())
    };
    if is_ours && lock(&file).is_ok() {
        remove_same(path, &file);
    }
}

/// Removes a file, unless another file is now at the path. Ignores errors, because the next run also removes the file.
fn remove_same(path: &Path, file: &File) {
    let place = |state: fs::Metadata| (state.dev(), state.ino());
    let there = fs::symlink_metadata(path).map(place).ok();
    if there.is_some() && there == file.metadata().map(place).ok() {
        let _ = fs::remove_file(path);
    }
}

/// The folders in which the library searches for a settings file.
struct Folders {
    /// Folders that belong to the user.
    homes: Vec<PathBuf>,
    /// Folders that belong to the system.
    others: Vec<PathBuf>,
}

impl Folders {
    /// Reads the variables that name folders. Ignores empty items in a list, as the library does.
    fn of(get: impl Fn(&str) -> Option<OsString>) -> Self {
        let set = |name: &str| get(name).filter(|value| !value.is_empty());
        let home = set("HOME").map(PathBuf::from);
        let below_home = |folder: &str| home.as_ref().map(|home| home.join(folder)).into_iter().collect();
        let list = |value: OsString| {
            let items = std::env::split_paths(&value);
            items.filter(|item| !item.as_os_str().is_empty()).collect::<Vec<_>>()
        };
        let mut homes: Vec<PathBuf> = set("XDG_CONFIG_HOME").map_or_else(|| below_home(".config"), list);
        homes.extend(set("XDG_DATA_HOME").map_or_else(|| below_home(".local/share"), list));
        let mut others = set("XDG_CONFIG_DIRS").map_or_else(|| vec!["/etc/xdg".into()], list);
        others.extend(["/usr/local/etc", "/etc"].map(PathBuf::from));
        let data = || vec!["/usr/local/share".into(), "/usr/share".into()];
        others.extend(set("XDG_DATA_DIRS").map_or_else(data, list));
        Self { homes, others }
    }

    /// Returns the folder for a settings file of the user.
    fn own(&self) -> Option<&Path> {
        self.homes.first().map(PathBuf::as_path)
    }

    /// Returns all folders.
    fn all(&self) -> impl Iterator<Item = &PathBuf> {
        self.homes.iter().chain(&self.others)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_belongs_into_a_folder_of_the_user() {
        let own = |config: &str, data: &str, home: &str| {
            let folders = Folders::of(|name| match name {
                "XDG_CONFIG_HOME" => Some(config.into()),
                "XDG_DATA_HOME" => Some(data.into()),
                "HOME" => Some(home.into()),
                _ => None,
            });
            assert!(folders.all().all(|folder| !folder.as_os_str().is_empty()));
            folders.own().map(Path::to_owned)
        };
        assert_eq!(own("", "", "/home/a"), Some("/home/a/.config".into()));
        assert_eq!(own(":/config:", "", "/home/a"), Some("/config".into()));
        assert_eq!(own(":", "/data", "/home/a"), Some("/data".into()));
        assert_eq!(
            own(":", "::", "/home/a"),
            None,
            "a folder of the system is not the user's"
        );
    }

    #[test]
    fn a_file_of_another_run_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("settings.json");
        let write = |text: &str| {
            fs::write(&path, text).expect("a file");
            File::open(&path).expect("the file")
        };
        let ours = r#"{"vkloader-run": 1}"#;
        let user = write(r#"{"settings": {}}"#);
        remove_left_behind(&path);
        assert!(path.exists(), "the user's own file");
        drop(user);
        let used = write(ours);
        lock(&used).expect("a lock");
        remove_left_behind(&path);
        assert!(path.exists(), "a run uses the file, wherever that process is");
        drop(used);
        let before = write(ours);
        let newer = folder.path().join("newer");
        fs::write(&newer, ours)
            .and_then(|()| fs::rename(&newer, &path))
            .expect("another file");
        remove_same(&path, &before);
        assert!(path.exists(), "the path has another file by now");
        remove_left_behind(&path);
        assert!(!path.exists(), "nobody uses the file");
    }
}
