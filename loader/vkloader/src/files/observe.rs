//! Runs a process that uses one driver, and observes this process.

use super::choose::Candidate;
use super::watch::{Touch, Touched, Watcher};
use super::work::{self, Device, Said};
use crate::child::{self, Finished, Watched};
use crate::events::{ChainLayer, Event};
use crate::paths::file_name;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Variables for the caches of compiled shaders. The process uses a temporary folder for these caches, so that the observation leaves no
/// files.
const CACHES: [&str; 3] = ["XDG_CACHE_HOME", "MESA_SHADER_CACHE_DIR", "__GL_SHADER_DISK_CACHE_PATH"];

/// The observations of a process.
pub(super) struct Observed {
    pub(super) finished: Finished,
    /// Paths that the process accessed; `None` if the process could not be observed.
    seen: Option<Touched>,
    /// Reason why the process could not be observed.
    pub(super) not_watched: Option<String>,
    pub(super) devices: Vec<Device>,
    /// Paths that the process had mapped or open at several points in time. The first set is from the time before the driver was opened.
    held: Vec<BTreeSet<PathBuf>>,
}

/// Runs the process with one driver. Either excludes all layers, or includes the layers that are active in every program.
///
/// # Errors
/// The process cannot be run.
pub(super) fn observe(library: &Path, limit: Duration, candidate: &Candidate, layers: bool) -> io::Result<Observed> {
    let scratch = crate::scratch::folder()?;
    let (ours, theirs) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    let mut command = Command::new(crate::itself::path()?);
    command.arg(work::ARGUMENT).arg(library).stdin(Stdio::from(theirs));
    for cache in CACHES {
        command.env(cache, scratch.path());
    }
    for other in ["VK_ADD_DRIVER_FILES", "VK_ICD_FILENAMES"] {
        command.env_remove(other);
    }
    if candidate.manifest.contains(':') {
        // The value of this variable is a list of file names. `VK_DRIVER_FILES` is a list of paths, in which a colon would end the path.
        command.env("VK_LOADER_DRIVERS_SELECT", file_name(&candidate.manifest));
    } else {
        command.env("VK_DRIVER_FILES", &candidate.manifest);
    }
    if !layers {
        command.env("VK_LOADER_LAYERS_DISABLE", "~all~");
    }
    let watcher = Watcher::start(ours);
    let watched = Watched {
        keeps_output: true,
        ..Watched::default()
    };
    let finished = child::run(command, limit, watched);
    let seen = watcher.finish();
    Ok(Observed::read(finished?, seen))
}

impl Observed {
    fn read(finished: Finished, seen: Option<Touched>) -> Self {
        let mut observed = Self {
            finished,
            seen,
            not_watched: None,
            devices: Vec::new(),
            held: Vec::new(),
        };
        // A crash may have truncated the last line, and a driver may have printed other lines.
        let lines = observed.finished.output.split(|&byte| byte == b'\n');
        let said: Vec<Said> = lines.filter_map(|line| serde_json::from_slice(line).ok()).collect();
        for said in said {
            match said {
                Said::NotOpened { words } | Said::NotWatched { words } => observed.not_watched = Some(words),
                Said::Holds { files } => observed.held.push(files.into_iter().map(PathBuf::from).collect()),
                Said::Device(device) => observed.devices.push(device),
            }
        }
        observed
    }

    /// Returns the file with the name of `path` that the process used. The folder may differ, because the dynamic linker may choose an
    /// unexpected file. Returns `None` if the process used no such file, or ended before it reported its files.
    pub(super) fn used_as(&self, path: &Path) -> Option<PathBuf> {
        let opened = self.seen.iter().flatten().filter(|&(_, &touch)| touch == Touch::Read);
        let used = opened.map(|(path, _)| path).chain(self.held.iter().flatten());
        let named: Vec<&PathBuf> = used
            .filter(|other| other.file_name() == path.file_name() && other.is_file())
            .collect();
        // Several paths may refer to the same file through symbolic links.
        let real = fs::canonicalize(path).ok();
        if named.iter().any(|other| fs::canonicalize(other).ok() == real) {
            Some(path.into())
        } else {
            named.first().map(|other| other.to_path_buf())
        }
    }

    /// Returns the paths that the process accessed after the driver was opened. Paths that it accessed earlier do not belong to the driver.
    pub(super) fn touched(&self) -> impl Iterator<Item = (PathBuf, Touch)> {
        let before = self.held.first();
        let later = self.held.iter().skip(1).flatten();
        let held = later.filter(move |path| before.is_none_or(|before| !before.contains(*path)));
        let held = held.map(|path| (path.clone(), Touch::Read));
        let seen = self.seen.iter().flatten();
        seen.map(|(path, &touch)| (path.clone(), touch)).chain(held)
    }

    /// Returns the layers of the instance.
    pub(super) fn layers(&self) -> &[ChainLayer] {
        let chains = self
            .finished
            .records
            .iter()
            .rev()
            .find_map(|record| match &record.event {
                Event::Chain(chain) if chain.call == "vkCreateInstance" => Some(&chain.layers[..]),
                _ => None,
            });
        chains.unwrap_or_default()
    }
}
