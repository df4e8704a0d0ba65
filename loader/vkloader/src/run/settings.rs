//! A settings file for executables whose environment is cleared.

use crate::{child, signals};
use serde_json::json;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;

/// Path of the file, relative to each folder that the library searches.
const PLACE: &str = "vulkan/loader_settings.d/vk_loader_settings.json";

/// Member with the number of the process that wrote the file. The library ignores it.
const WRITER: &str = "vkloader-run";

/// Delay between two checks of the program.
const STEP: Duration = Duration::from_millis(20);

/// A settings file that is removed when this value is dropped.
pub(super) struct SettingsFile {
    path: PathBuf,
}

impl SettingsFile {
    /// Writes the file for these executables. Replaces a file that a killed run left.
    ///
    /// # Errors
    /// The file cannot be written, or another settings file exists.
    pub(super) fn write(words: &OsStr, executables: &[PathBuf]) -> io::Result<Self> {
        let folders = folders();
        let path = folders
            .first()
            .ok_or_else(|| {
                io::Error::other("neither XDG_CONFIG_HOME nor HOME is set, so there is no place for a settings file")
            })?
            .join(PLACE);
        if is_left_behind(&path) {
            fs::remove_file(&path)?;
        }
        if let Some(other) = folders
            .iter()
            .map(|folder| folder.join(PLACE))
            .find(|file| file.exists())
        {
            let words = "is a settings file already; add visible_devices to it, or leave --executable out";
            return Err(io::Error::other(format!("{} {words}", other.display())));
        }
        let text = text(words, executables)?;
        let folder = path.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(folder).map_err(|error| child::naming(folder, error))?;
        // If two runs start at the same time, this fails in one of them.
        let mut file = fs::File::create_new(&path).map_err(|error| child::naming(&path, error))?;
        let written = Self { path };
        file.write_all(text.as_bytes())
            .map_err(|error| child::naming(&written.path, error))?;
        Ok(written)
    }

    /// Runs a command, and removes the file after the command's end. Passes on signals that ask this process to end.
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
        // The user may have removed the file.
        let _ = fs::remove_file(&self.path);
    }
}

fn ask_to_end(child: &Child) {
    let process = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
    if let Some(process) = process {
        // The child has not been waited for, so the number cannot belong to another process.
        let _ = rustix::process::kill_process(process, rustix::process::Signal::TERM);
    }
}

/// Returns the content of the file.
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
    let words: Vec<&str> = words.split(',').filter(|word| !word.is_empty()).collect();
    let file = json!({
        "file_format_version": "1.0.0",
        "settings_array": [{"app_keys": keys, "visible_devices": words}],
        WRITER: std::process::id(),
    });
    serde_json::to_string_pretty(&file).map_err(io::Error::other)
}

/// Returns `true` if the file was written by a `vkloader run` that has ended.
fn is_left_behind(path: &Path) -> bool {
    let written = fs::read(path).ok();
    let written = written.and_then(|text| serde_json::from_slice::<serde_json::Value>(&text).ok());
    let writer = written.and_then(|file| file.get(WRITER)?.as_u64());
    writer.is_some_and(|process| !Path::new("/proc").join(process.to_string()).exists())
}

/// Returns the folders in which the library searches for a settings file, in its order.
fn folders() -> Vec<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let home = set("HOME").map(PathBuf::from);
    let below_home = |folder: &str| home.as_ref().map(|home| home.join(folder)).into_iter().collect();
    let list = |value: std::ffi::OsString| std::env::split_paths(&value).collect::<Vec<_>>();
    let mut all: Vec<PathBuf> = set("XDG_CONFIG_HOME").map_or_else(|| below_home(".config"), list);
    all.extend(set("XDG_DATA_HOME").map_or_else(|| below_home(".local/share"), list));
    all.extend(set("XDG_CONFIG_DIRS").map_or_else(|| vec!["/etc/xdg".into()], list));
    all.extend(["/usr/local/etc", "/etc"].map(PathBuf::from));
    let data = || vec!["/usr/local/share".into(), "/usr/share".into()];
    all.extend(set("XDG_DATA_DIRS").map_or_else(data, list));
    all
}
