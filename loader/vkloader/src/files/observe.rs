//! A process that uses one driver, and what it was seen to do.

use super::choose::Candidate;
use super::watch::{Touch, Touched, Watcher};
use super::work::{self, Device, Said};
use crate::child::{self, Finished, Watched};
use crate::events::{ChainLayer, Event};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Where drivers keep what they compiled: not where a look at them leaves something.
const CACHES: [&str; 3] = ["XDG_CACHE_HOME", "MESA_SHADER_CACHE_DIR", "__GL_SHADER_DISK_CACHE_PATH"];

/// What a process was seen to do.
pub(super) struct Observed {
    pub(super) finished: Finished,
    /// What it touched; nothing where it could not be watched.
    seen: Option<Touched>,
    /// Why it could not be watched.
    pub(super) not_watched: Option<String>,
    pub(super) devices: Vec<Device>,
    /// What it had mapped and open, first before it opened the driver.
    held: Vec<BTreeSet<PathBuf>>,
}

/// Runs the process with one driver and no layer, or those that every program gets.
///
/// # Errors
/// The system's, where it cannot be run.
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
    match candidate.manifest.contains(':') {
        false => command.env("VK_DRIVER_FILES", &candidate.manifest),
        // In a list of paths it would be two.
        true => command.env(
            "VK_LOADER_DRIVERS_SELECT",
            super::choose::file_name(&candidate.manifest),
        ),
    };
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
        // The last line may be cut, and a driver may print what it likes.
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

    /// The file of this name that the process used, in whatever folder: the dynamic linker has the last word on which it takes.
    /// Nothing where it used none, or did not live to tell.
    pub(super) fn used_as(&self, path: &Path) -> Option<PathBuf> {
        let opened = self.seen.iter().flatten().filter(|&(_, &touch)| touch == Touch::Read);
        let used = opened.map(|(path, _)| path).chain(self.held.iter().flatten());
        let named: Vec<&PathBuf> = used
            .filter(|other| other.file_name() == path.file_name() && other.is_file())
            .collect();
        // Links lead there by more than one path.
        let real = fs::canonicalize(path).ok();
        match named.iter().any(|other| fs::canonicalize(other).ok() == real) {
            true => Some(path.into()),
            false => named.first().map(|other| other.to_path_buf()),
        }
    }

    /// What the process touched after it was given the driver. What was open all along is the process's own.
    pub(super) fn touched(&self) -> impl Iterator<Item = (PathBuf, Touch)> {
        let before = self.held.first();
        let later = self.held.iter().skip(1).flatten();
        let held = later.filter(move |path| before.is_none_or(|before| !before.contains(*path)));
        let held = held.map(|path| (path.clone(), Touch::Read));
        let seen = self.seen.iter().flatten();
        seen.map(|(path, &touch)| (path.clone(), touch)).chain(held)
    }

    /// The layers of the instance.
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
