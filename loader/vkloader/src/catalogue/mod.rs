//! `vkloader catalogue`: asks the installed drivers once, so that programs can read the answers (docs/catalogue.md).

mod alone;
mod ask;
mod closure;
mod display;
mod file;
mod here;
mod identify;
mod installed;
mod machine;
mod mark;
mod others;
mod reads;
mod records;
mod shared;
mod show;
mod update;

use crate::child::naming;
use clap::{Args, Subcommand};
use file::Catalogue;
use machine::Machine;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
pub(crate) use reads::{profiles, with_entries};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Returns the identity, as a text, of the file or folder at a path; `None` if neither exists.
pub(crate) fn identity_of(path: &Path) -> Option<String> {
    identify::state(path).map(|identity| identity.to_string())
}

/// Exit status after success.
const GOOD: u8 = 0;
/// Exit status if there is no catalogue, or if the drivers' answers differ from the catalogue.
const NOT_GOOD: u8 = 1;

/// Upper bound on the repetitions of an update during which devices appear or disappear, or drivers are installed. The update must repeat
/// itself, because the system service that starts updates does not start a second update while one is running.
const REPEATS: usize = 3;

/// Commands for the driver catalogue.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Asks every installed driver, each in a separate process, and writes the catalogue.
    ///
    /// Without --wake, an update never wakes a sleeping graphics card. While a card sleeps, a driver whose files have not changed keeps its
    /// entry. On a 64-bit system, 32-bit drivers are asked too if the 32-bit library installed its own vkloader.
    Update(Update),
    /// Prints the entries, and the reasons why programs would not use some of them now.
    Show {
        #[command(flatten)]
        place: Place,
        /// Prints the file as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Asks every driver again and prints the differences. Exits with 1 if there are differences.
    Verify {
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        asking: Asking,
    },
    /// Removes the catalogue, so that programs open every driver again.
    Clear {
        #[command(flatten)]
        place: Place,
    },
}

/// Options of an update.
#[derive(Args)]
pub(crate) struct Update {
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    asking: Asking,
    /// Asks only drivers whose files have changed since they were asked on this machine, and drivers without a device or a good answer.
    #[arg(long, conflicts_with = "all")]
    changed: bool,
    /// Asks every driver, including drivers whose entries would be kept while a graphics card sleeps.
    #[arg(long)]
    all: bool,
    /// Asks for devices even if that wakes a sleeping graphics card.
    #[arg(long)]
    wake: bool,
    /// Does not record the answers of devices. Only the policies lazy and lazy-asleep need these records.
    #[arg(long)]
    no_records: bool,
}

/// Selection of a catalogue.
#[derive(Args)]
pub(crate) struct Place {
    /// Works on the user's own catalogue, which programs read if the system has none.
    #[arg(long)]
    user: bool,
    /// The folder that replaces the root of the machine's files.
    #[arg(long, value_name = "FOLDER", default_value = "/", hide = true)]
    root: PathBuf,
}

/// Options for asking drivers.
#[derive(Args)]
pub(crate) struct Asking {
    /// The library that asks, instead of the one that programs on this machine use.
    #[arg(long, value_name = "PATH")]
    library: Option<PathBuf>,
    /// The time limit for asking a driver, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=3600))]
    timeout: u32,
}

impl Place {
    /// Returns the path of the catalogue.
    fn path(&self) -> io::Result<PathBuf> {
        if !self.user {
            return Ok(self.system());
        }
        let caches = user_folder("XDG_CACHE_HOME", ".cache");
        let unknown = || io::Error::other("neither XDG_CACHE_HOME nor HOME names the folder for the user's caches");
        Ok(in_folder(&caches.ok_or_else(unknown)?.join(catalogue::USER_FOLDER)))
    }

    /// Checks that root does not work in a folder of another user, who could have created links to system files in that folder.
    ///
    /// # Errors
    ///
    /// A folder on the path of the catalogue or of its marker file belongs to another user.
    fn check_owner(&self) -> io::Result<()> {
        /// User ID that the system reports for users who have no ID in this namespace.
        const UNKNOWN: u32 = 65_534;
        if !self.user || !rustix::process::geteuid().is_root() {
            return Ok(());
        }
        for path in [self.path().ok(), mark::path()].into_iter().flatten() {
            let mut folders = path.ancestors();
            let is_other = |folder: &&Path| {
                let state = std::fs::symlink_metadata(folder);
                state.is_ok_and(|state| ![0, UNKNOWN].contains(&state.uid()))
            };
            if let Some(folder) = folders.find(is_other) {
                let words = "belongs to another user; run this as that user, without sudo";
                return Err(naming(folder, io::Error::other(words)));
            }
        }
        Ok(())
    }

    /// Returns the path of the system's catalogue.
    fn system(&self) -> PathBuf {
        in_folder(&self.root.join(catalogue::SYSTEM_FOLDER.trim_start_matches('/')))
    }
}

/// Returns the path of the catalogue in a folder.
fn in_folder(folder: &Path) -> PathBuf {
    folder.join(format!("catalogue-{}.bin", catalogue::ARCHITECTURE))
}

/// Returns a folder of the user: the value of a variable, or else a default folder in the home folder.
fn user_folder(variable: &str, usual: &str) -> Option<PathBuf> {
    let set =
        |name| std::env::var_os(name).and_then(|value| std::env::split_paths(&value).find(|path| path.is_absolute()));
    set(variable).or_else(|| set("HOME").map(|home| home.join(usual)))
}

/// `true` if programs of this program's architecture can list devices from records.
const HAS_RECORDS: bool = cfg!(all(
    target_pointer_width = "64",
    any(target_arch = "x86_64", target_arch = "aarch64")
));

impl Update {
    /// Asks the drivers and writes the catalogue. Returns the exit status.
    fn run(self) -> io::Result<u8> {
        let path = self.place.path()?;
        self.place.check_owner()?;
        file::check(&path, self.place.user)?;
        let before = if self.all { None } else { file::read(&path).ok() };
        let mut installed = installed::now();
        let mut made = self.write(&path, before, self.changed)?;
        for _ in 0..REPEATS {
            let now = installed::now();
            // Only the service starts no second update, and it updates the system's catalogue.
            if self.place.user || now == installed && path.exists() {
                break;
            }
            installed = now;
            made = self.write(&path, Some(made), true)?;
        }
        show::summary(&path, &made)?;
        Ok(GOOD)
    }

    /// Asks the drivers, and writes their answers to the catalogue at `path`. Keeps the valid entries of `before` if `changed` is `true`.
    fn write(&self, path: &Path, before: Option<Catalogue>, changed: bool) -> io::Result<Catalogue> {
        let Self { place, asking, .. } = self;
        let folder = path.parent();
        let records = folder.filter(|_| HAS_RECORDS && !self.no_records);
        let extent = |before, changed| update::Extent {
            before,
            changed,
            wake: self.wake,
            records,
        };
        let mut made = update::make(place, asking, extent(before, changed))?;
        for _ in 0..REPEATS {
            if made.is_of_one_machine() {
                break;
            }
            let before = Some(made);
            made = update::make(place, asking, extent(before, true))?;
        }
        file::write(path, &mut made)?;
        if let Some(folder) = folder {
            records::clean(folder, Some(&made))?;
        }
        if place.user {
            mark::put();
        }
        // A library that the user names has the word size of this program, so drivers of the other word size are skipped.
        if asking.library.is_none() {
            let flags = [
                (self.changed, "--changed"),
                (self.all, "--all"),
                (self.wake, "--wake"),
                (self.no_records, "--no-records"),
            ];
            let flags = flags.into_iter().filter(|(is_set, _)| *is_set);
            let words: Vec<&str> = ["update"].into_iter().chain(flags.map(|(_, word)| word)).collect();
            others::run(place, &words);
        }
        Ok(made)
    }
}

impl Command {
    /// Runs the command.
    pub(crate) fn run(self) -> io::Result<ExitCode> {
        let code = match self {
            Self::Update(update) => update.run()?,
            Self::Show { place, json } => show(&place.path()?, &place, json)?,
            Self::Verify { place, asking } => {
                let path = place.path()?;
                let known = file::read(&path)?;
                let everything = update::Extent {
                    before: None,
                    changed: false,
                    wake: true,
                    records: None,
                };
                let found = update::make(&place, &asking, everything)?;
                let differences = show::differences(&known, &found);
                show::verified(&path, &known, &place, &differences)?;
                if differences.is_empty() { GOOD } else { NOT_GOOD }
            }
            Self::Clear { place } => clear(&place)?,
        };
        Ok(ExitCode::from(code))
    }
}

/// Removes the catalogue and its marker file.
fn clear(place: &Place) -> io::Result<u8> {
    let path = place.path()?;
    place.check_owner()?;
    others::run(place, &["clear"]);
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(naming(&path, error)),
        _ => {}
    }
    file::remove_older(&path)?;
    if let Some(folder) = path.parent() {
        records::clean(folder, None)?;
        if place.user {
            mark::remove(folder)?;
        }
    }
    Ok(GOOD)
}

fn show(path: &Path, place: &Place, json: bool) -> io::Result<u8> {
    let known: Catalogue = match file::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            show::none(path)?;
            return Ok(NOT_GOOD);
        }
        known => known?,
    };
    if json {
        show::json(&known)?
    } else {
        show::all(path, &known, place, &Machine::observe(&place.root))?
    }
    Ok(GOOD)
}
