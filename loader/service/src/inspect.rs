//! The state of the service, which administrators read (LSV-43 to LSV-45), as one JSON text and as files. The text and the files never
//! identify a client.

use crate::drivers::{Drivers, Identity, State};
use crate::library::Library;
use crate::package::{Metadata, Published};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, Gid, Mode, OFlags, Uid};
use rustix::io::Errno;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::io;
use std::path::Path;

/// Returns the state as a JSON value (LSV-44). `config` holds the settings.
pub fn state(drivers: &Drivers<Library>, config: &Value, clients: usize) -> Value {
    let devices = drivers.served().iter().map(|served| {
        let packages = served.packages.iter();
        let device = json!({
            "driver": served.identity.driver,
            "active_icds": served.active.iter().map(u64::to_string).collect::<Vec<_>>(),
            "icds": packages.map(|package| json!({"package": package, "flags": 1})).collect::<Vec<_>>(),
        });
        (format!("drm-{}", served.node), device)
    });
    let icds = drivers
        .instances()
        .map(|(package, instance)| (instance.number.to_string(), icd(package, &instance.state)));
    json!({"core/vulkan_loader": {
        "health": if drivers.was_ready() { "OK" } else { "STARTING_UP" },
        "config": config,
        "devices": devices.collect::<Map<_, _>>(),
        "icds": icds.collect::<Map<_, _>>(),
        "clients": clients,
    }})
}

fn icd(package: &str, state: &State<Library>) -> Value {
    let status = state.name();
    match state {
        State::Initialized(driver) => {
            let mut paths = driver.libraries.iter().map(|(_, handed)| handed.about.path.as_str());
            let library = driver.libraries.first().map(|(_, handed)| &handed.library);
            json!({
                "package": package,
                "status": status,
                "bits": driver.class.bits(),
                "version": Metadata::VERSION,
                "file_path": paths.next(),
                "needs": paths.collect::<Vec<_>>(),
                "library_path": driver.published.key,
                "manifest_contents": driver.published.contents,
                "size": library.map(|library| library.size),
                "sha256": library.map(|library| &library.sha256),
                "error": "",
            })
        }
        State::Failed(fault) => json!({"package": package, "status": status, "error": fault.to_string()}),
        State::Uninitialized => json!({"package": package, "status": status, "error": ""}),
    }
}

/// The folder into which the service writes its state.
#[derive(Debug)]
pub struct Debug {
    folder: OwnedFd,
    manifests: OwnedFd,
    devices: OwnedFd,
}

impl Debug {
    /// Creates the folder and its subfolders. Only root and `user`, which this process becomes, may read the state (LSV-45), so only these
    /// users can read the folder.
    ///
    /// # Errors
    /// Returns the error that the system reported.
    pub fn new(folder: &Path, user: u32) -> io::Result<Self> {
        let is_given = user != 0 && rustix::process::geteuid().is_root();
        let owner = is_given.then(|| (Uid::from_raw(user), Gid::from_raw(user)));
        let open = |at: BorrowedFd<'_>, path: &Path| -> io::Result<OwnedFd> {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let opened = rustix::fs::openat(at, path, flags, Mode::empty())?;
            rustix::fs::fchmod(&opened, Mode::from_raw_mode(0o700))?;
            if let Some((user, group)) = owner {
                rustix::fs::fchown(&opened, Some(user), Some(group))?;
            }
            Ok(opened)
        };
        // The folder of an earlier service belongs to its user, who may have put links into it.
        let inner = |at: OwnedFd, name: &str| match rustix::fs::mkdirat(&at, name, Mode::from_raw_mode(0o700)) {
            Ok(()) | Err(Errno::EXIST) => open(at.as_fd(), name.as_ref()),
            Err(error) => Err(error.into()),
        };
        std::fs::create_dir_all(folder)?;
        let folder = open(CWD, folder)?;
        Ok(Self {
            manifests: inner(folder.try_clone()?, "manifest-fs")?,
            devices: ["device-fs", "class", "gpu"]
                .into_iter()
                .try_fold(folder.try_clone()?, inner)?,
            folder,
        })
    }

    /// Writes the state.
    ///
    /// # Errors
    /// Returns the error that the system reported.
    pub fn write<L>(&self, drivers: &Drivers<L>, state: &Value) -> io::Result<()> {
        let manifests = drivers.published_for(None).map(|driver| {
            let Published { name, contents, .. } = &driver.published;
            (name.clone(), contents.clone())
        });
        fill(&self.manifests, manifests.collect())?;
        let devices = drivers.served().iter();
        let devices = devices.map(|served| (served.node.clone(), identity(&served.identity)));
        fill(&self.devices, devices.collect())?;
        replace(&self.folder, "inspect.json", state.to_string().as_bytes())
    }
}

/// Returns the properties of a device as the text of a file, with one property per line.
fn identity(identity: &Identity) -> String {
    let id =
        |name: &str, number: Option<u16>| number.map_or(String::new(), |number| format!("{name}=0x{number:04x}\n"));
    let Identity { driver, vendor, device } = identity;
    format!("driver={driver}\n{}{}", id("vendor", *vendor), id("device", *device))
}

/// Writes files into a folder and removes all other files from it.
fn fill(folder: &OwnedFd, files: Vec<(String, String)>) -> io::Result<()> {
    let mut wanted = BTreeSet::new();
    for (name, contents) in files {
        replace(folder, &name, contents.as_bytes())?;
        wanted.insert(name);
    }
    for entry in rustix::fs::Dir::read_from(folder)? {
        let name = entry?.file_name().to_owned();
        let is_wanted =
            matches!(name.to_bytes(), b"." | b"..") || name.to_str().is_ok_and(|name| wanted.contains(name));
        if !is_wanted {
            rustix::fs::unlinkat(folder, &name, AtFlags::empty())?;
        }
    }
    Ok(())
}

/// Replaces a file in one step, so that readers see either the old or the new content.
fn replace(folder: &OwnedFd, name: &str, bytes: &[u8]) -> io::Result<()> {
    const NEW: &str = ".new";
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::openat(folder, NEW, flags, Mode::from_raw_mode(0o600))?;
    rustix::fs::fchmod(&file, Mode::from_raw_mode(0o600))?;
    io::Write::write_all(&mut std::fs::File::from(file), bytes)?;
    Ok(rustix::fs::renameat(folder, NEW, folder, name)?)
}
