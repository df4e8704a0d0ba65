//! Finds, checks and keeps the file of a driver catalogue.

use super::{INFO, ignore, sight};
use ::catalogue::closure::Mount;
use ::catalogue::{
    ARCHITECTURE, Catalogue, Doubt, Entry, MOST_BYTES, MOST_ENTRIES, Packed, Problem, Reader, SYSTEM_FILE, USER_FOLDER,
};
use core::ffi::CStr;
use core::sync::atomic::{AtomicU32, Ordering};
use discovery::env::{Environment, Variable};
use discovery::index::Key;
use discovery::journal::reason::{CatalogueReason, FileReason};
use discovery::journal::{Journal, Reason};
use discovery::manifest::file::{FileError, contents};
use discovery::text::Text;
use os::memory::{Grow, shortage};
use os::{File, Mutex, render, with_terminated};
use rust_alloc::sync::Arc;
use rust_alloc::vec::Vec;

/// The driver catalogue of this process, after a scan for drivers has searched for it.
static CATALOGUE: Mutex<Slot> = Mutex::new(Slot::Unread);

/// Value of `VK_LOADER_CATALOGUE` when the library was loaded.
static MODE: AtomicU32 = AtomicU32::new(USUAL);
/// Reads the system's catalogue. If the system has no catalogue, or if no entry of that catalogue applies, reads the user's catalogue. The
/// user's catalogue needs a marker file in a folder of manifests.
const USUAL: u32 = 0;
/// Reads no catalogue.
const OFF: u32 = 1;
/// Reads the user's own catalogue or, if there is none, the system's catalogue.
const ON: u32 = 2;
/// Reads the same file as [`ON`], but opens every driver and compares the driver's answers with the driver's entry.
const VERIFY: u32 = 3;

/// Stores the mode that `VK_LOADER_CATALOGUE` selects. Ignores unknown values.
pub(crate) fn read_mode(environment: &Environment<'_>) {
    let mode = match environment.get(Variable::Catalogue).as_deref() {
        Some(b"off") => OFF,
        Some(b"on") => ON,
        Some(b"verify") => VERIFY,
        _ => return,
    };
    MODE.store(mode, Ordering::Relaxed);
}

/// Number of 32-bit words with a bit for each entry.
const WORDS: usize = MOST_ENTRIES.div_ceil(32);

/// The loader for which a catalogue must have been written.
const READER: Reader<'static> = Reader {
    loader: env!("CARGO_PKG_VERSION"),
    architecture: ARCHITECTURE,
};

/// State of the search for a catalogue.
enum Slot {
    Unread,
    /// The system has no valid catalogue. The user's own catalogue is read when a scan finds the marker file.
    Unmarked,
    /// There is no valid catalogue, or `VK_LOADER_CATALOGUE` turns catalogues off.
    Absent,
    Here(Arc<Loaded>),
}

/// A catalogue whose outermost members are valid. Each entry is checked when it is used.
pub(super) struct Loaded {
    /// Path of the file.
    pub(super) path: Text,
    /// `true` if every driver is opened and the driver's answers are compared with the driver's entry.
    pub(super) verifies: bool,
    bytes: Vec<u8>,
    /// Hash of the path of each manifest, with which entries are found quickly.
    manifests: Vec<Key>,
    /// A bit for each entry, which is set if the entry turned out to be wrong.
    doubts: [AtomicU32; WORDS],
    looked: Mutex<Option<Arc<Looked>>>,
}

/// Results of examining the files that drivers depend on.
pub(super) struct Looked {
    /// Result of [`os::loads_and_unloads`] when the files were examined.
    pub(super) loads: (u64, u64),
    /// Indices of entries whose own library was loaded, and then replaced by another file.
    pub(super) replaced: Vec<u16>,
    /// `true` if the dynamic linker searches folders with relative paths.
    pub(super) is_relative: bool,
    /// The current folder when the files were examined, if `is_relative` is `true`; `None` also if the process may not examine the folder.
    pub(super) folder: Option<(u64, u64)>,
    /// Reason for doubt about each file, if there is one.
    pub(super) doubts: Vec<Option<Doubt>>,
    /// `true` if the dynamic linker's cache has not changed; `None` if there is no cache.
    pub(super) same_search: Option<bool>,
}

impl Looked {
    /// Returns `true` if the process has loaded and unloaded no library since the files were examined, and has the same current folder if
    /// the results depend on the current folder.
    fn is_current(&self, loads: (u64, u64)) -> bool {
        self.loads == loads && (!self.is_relative || self.folder.is_some() && self.folder == sight::current_folder())
    }

    /// Checks that the entry with an index is valid in this process. On failure, returns the doubt, and the index of the file that the doubt is
    /// about; the index is `None` for the driver's own library.
    pub(super) fn check(
        &self,
        number: u16,
        entry: Entry<'_, Seen<'_>>,
        mount: &mut Mount,
    ) -> Result<(), (Doubt, Option<u16>)> {
        // The linker would use the loaded library, not the recorded file at its path.
        if self.replaced.contains(&number) {
            return Err((Doubt::Shadowed, None));
        }
        entry.check(&sight::Kernel, &self.doubts, mount, self.same_search)
    }
}

/// Type of a value in the catalogue's file.
pub(super) type Seen<'a> = Packed<'a>;

impl Loaded {
    /// Returns the catalogue.
    pub(super) fn catalogue(&self) -> Option<Catalogue<'_, Seen<'_>>> {
        Catalogue::of_valid(Packed::of_valid(&self.bytes)?)
    }

    /// Returns the entry at an index.
    pub(super) fn entry(&self, number: u16) -> Option<Entry<'_, Seen<'_>>> {
        self.catalogue()?.entry(number)
    }

    /// Returns the entries with their indices.
    pub(super) fn entries(&self) -> impl Iterator<Item = (u16, Entry<'_, Seen<'_>>)> {
        let numbers = (0..).zip(&self.manifests).map(|(number, _)| number);
        numbers.filter_map(|number| Some((number, self.entry(number)?)))
    }

    /// Returns the entry for the library of a manifest, and its index.
    pub(super) fn find(&self, manifest: &[u8], library: &[u8]) -> Option<(u16, Entry<'_, Seen<'_>>)> {
        let key = Key::of(&[manifest]);
        let mut all = (0..).zip(&self.manifests).filter(|(_, known)| **known == key);
        all.find_map(|(number, _)| {
            let entry = self.entry(number)?;
            (*entry.manifest == *manifest && *entry.named == *library).then_some((number, entry))
        })
    }

    /// Returns the results of examining the files that drivers depend on. Computes the results again after the process has loaded or
    /// unloaded a library, or has changed its current folder if the results depend on that folder.
    #[cold]
    #[inline(never)]
    pub(super) fn looked(&self, mount: &mut Mount) -> Option<Arc<Looked>> {
        let loads = os::loads_and_unloads();
        if let Some(looked) = self.looked.lock().as_ref().filter(|looked| looked.is_current(loads)) {
            return Some(looked.clone());
        }
        let looked = Arc::new(sight::look(self, loads, mount)?);
        let before = self.looked.lock().replace(looked.clone());
        drop(before);
        Some(looked)
    }

    /// Returns `true` if the catalogue has an entry that applies in this process, even if variables that drivers read have other values
    /// than the catalogue recorded.
    fn has_valid_entry(&self) -> bool {
        let mut mount = Mount::default();
        let Some(looked) = self.looked(&mut mount) else {
            return true;
        };
        let mut all = self.entries();
        all.any(|(number, entry)| looked.check(number, entry, &mut mount).is_ok())
    }

    fn bit(&self, number: u16) -> Option<(&AtomicU32, u32)> {
        Some((self.doubts.get(usize::from(number / 32))?, 1 << (number % 32)))
    }

    /// Returns `true` if an entry was found to be wrong.
    pub(super) fn is_doubted(&self, number: u16) -> bool {
        self.bit(number)
            .is_none_or(|(word, bit)| word.load(Ordering::Relaxed) & bit != 0)
    }

    /// Marks an entry as wrong, so it is not used again in this process.
    pub(super) fn doubt(&self, number: u16) {
        if let Some((word, bit)) = self.bit(number) {
            word.fetch_or(bit, Ordering::Relaxed);
        }
    }
}

/// Sizes of a catalogue, which fuzz targets compare with the limits.
#[cfg(fuzzing)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Content {
    /// Number of drivers.
    pub entries: usize,
    /// Bytes of the longest name of an extension.
    pub longest_name: usize,
    /// Largest number of extensions of one driver.
    pub most_extensions: usize,
    /// Largest number of devices of one driver.
    pub most_devices: usize,
    /// Number of drivers that the creation of an instance would skip.
    pub left_out: usize,
}

/// Reads all entries of the catalogue in `text`, and returns the catalogue's sizes. Returns `None` if `text` is not a valid catalogue.
#[cfg(fuzzing)]
pub(crate) fn parse(text: Vec<u8>) -> Option<Content> {
    let catalogue = Catalogue::read(Packed::read(&text).ok()?, READER).ok()?;
    let mut content = Content::default();
    for entry in catalogue.entries() {
        content.entries += 1;
        let mut extensions = 0;
        for extension in entry.extensions().into_iter().flatten() {
            extensions += 1;
            content.longest_name = content.longest_name.max(extension.name.len());
        }
        content.most_extensions = content.most_extensions.max(extensions);
        content.most_devices = content.most_devices.max(entry.devices().unwrap_or_default());
        content.left_out +=
            usize::from(entry.at_creation(|| ::catalogue::MachineState::SameBoot) != ::catalogue::Usability::Open);
    }
    Some(content)
}

/// Returns the catalogue of this process. The first scan searches for the file.
#[inline]
pub(super) fn of_process(environment: &Environment<'_>, journal: &mut Journal<'_>) -> Option<Arc<Loaded>> {
    match &*CATALOGUE.lock() {
        Slot::Absent | Slot::Unmarked => return None,
        Slot::Here(loaded) => return Some(loaded.clone()),
        Slot::Unread => {}
    }
    look(environment, journal)
}

#[cold]
#[inline(never)]
fn look(environment: &Environment<'_>, journal: &mut Journal<'_>) -> Option<Arc<Loaded>> {
    // The lock is not held here, because log messages are written. If another thread was faster, its catalogue is used, because indices of
    // entries must keep their meaning.
    let mode = MODE.load(Ordering::Relaxed);
    let found = match mode {
        OFF => {
            journal.note(INFO, format_args!("The driver catalogue is switched off"));
            None
        }
        USUAL => load(SYSTEM_FILE, false, false, journal),
        mode => {
            let verifies = mode == VERIFY;
            of_user(environment, verifies, journal).or_else(|| load(SYSTEM_FILE, false, verifies, journal))
        }
    };
    keep(found, if mode == USUAL { Slot::Unmarked } else { Slot::Absent })
}

/// Returns the user's own catalogue after a scan has found its marker file (DRV-274). Returns `None` if an entry of the system's catalogue
/// applies, or if the user's catalogue was searched for before.
#[cold]
#[inline(never)]
pub(super) fn of_mark(environment: &Environment<'_>, journal: &mut Journal<'_>) -> Option<Arc<Loaded>> {
    let systems = match &*CATALOGUE.lock() {
        Slot::Unmarked => None,
        Slot::Here(loaded) if *loaded.path == *SYSTEM_FILE.to_bytes() && MODE.load(Ordering::Relaxed) == USUAL => {
            Some(loaded.clone())
        }
        _ => return None,
    };
    let Some(systems) = systems else {
        return keep(of_user(environment, false, journal), Slot::Absent);
    };
    if systems.has_valid_entry() {
        return None;
    }
    let found = of_user(environment, false, journal)?;
    // No entry of the replaced catalogue applies, so no index of its entries is in use.
    let is_replaced = |kept: &Slot| matches!(kept, Slot::Here(kept) if Arc::ptr_eq(kept, &systems));
    let mut slot = CATALOGUE.lock();
    let before = is_replaced(&slot).then(|| core::mem::replace(&mut *slot, Slot::Here(found)));
    let kept = match &*slot {
        Slot::Here(kept) => Some(kept.clone()),
        _ => None,
    };
    drop(slot);
    drop(before);
    kept
}

/// Stores a catalogue for this process unless another thread was faster. `otherwise` is the state without a catalogue.
fn keep(found: Option<Arc<Loaded>>, otherwise: Slot) -> Option<Arc<Loaded>> {
    if shortage::check().is_err() {
        return None;
    }
    let mut slot = CATALOGUE.lock();
    if let Slot::Here(first) = &*slot {
        let first = first.clone();
        drop(slot);
        return Some(first);
    }
    *slot = found.clone().map_or(otherwise, Slot::Here);
    found
}

/// Returns the user's own catalogue; `None` in an elevated process, which ignores the folders of the user.
fn of_user(environment: &Environment<'_>, verifies: bool, journal: &mut Journal<'_>) -> Option<Arc<Loaded>> {
    let home = |variable| environment.get_non_empty(variable).filter(|path| os::is_absolute(path));
    let (folder, below) = match home(Variable::XdgCacheHome) {
        Some(caches) => (caches, ""),
        None => (home(Variable::Home)?, "/.cache"),
    };
    let path = render(format_args!(
        "{}{below}/{USER_FOLDER}/catalogue-{ARCHITECTURE}.bin",
        os::Raw(&folder)
    ));
    let loaded = with_terminated(&path, |path| Ok(load(path, true, verifies, journal)));
    loaded.ok().flatten()
}

/// Returns the stored catalogue without searching for one.
pub(super) fn loaded() -> Option<Arc<Loaded>> {
    match &*CATALOGUE.lock() {
        Slot::Here(loaded) => Some(loaded.clone()),
        Slot::Unread | Slot::Unmarked | Slot::Absent => None,
    }
}

/// Returns `true` if every driver is opened and the driver's answers are compared with the driver's entry.
pub(super) fn verifies() -> bool {
    MODE.load(Ordering::Relaxed) == VERIFY
}

/// Frees the stored catalogue.
pub(crate) fn forget() {
    let kept = core::mem::replace(&mut *CATALOGUE.lock(), Slot::Unread);
    drop(kept);
}

fn load(path: &CStr, of_user: bool, verifies: bool, journal: &mut Journal<'_>) -> Option<Arc<Loaded>> {
    match read(path, of_user) {
        Ok((bytes, manifests)) => Some(Arc::new(Loaded {
            path: path.to_bytes().into(),
            verifies,
            bytes,
            manifests,
            doubts: [const { AtomicU32::new(0) }; WORDS],
            looked: Mutex::new(None),
        })),
        Err(Some(reason)) => {
            ignore(&path.to_bytes().into(), reason, journal);
            None
        }
        // The file does not exist, or memory ran out. A lack of memory was noted, and ends the whole call.
        Err(None) => None,
    }
}

/// Reads a catalogue if the whole file is valid. Also returns the hashes of the paths of the manifests in the catalogue.
///
/// # Errors
/// The reason why the file is not valid; `None` if there is no file, or if memory ran out.
fn read(path: &CStr, of_user: bool) -> Result<(Vec<u8>, Vec<Key>), Option<Reason>> {
    let unusable = |reason: FileReason| Some(Reason::from(reason));
    let file = File::open_itself(path).map_err(|error| match error {
        _ if error.is_absence() => None,
        _ if error.is_shortage() => out_of_memory(),
        _ => unusable(FileReason::NotOpened),
    })?;
    let found = file.status().map_err(|_| unusable(FileReason::NotRead))?;
    if !found.is_file() {
        return Err(unusable(FileReason::NotRegular));
    }
    if !found.is_kept(of_user) {
        return Err(Some(CatalogueReason::NotKept.into()));
    }
    if found.len() > MOST_BYTES {
        return Err(unusable(FileReason::TooLarge(MOST_BYTES)));
    }
    let bytes = contents(file, &found).map_err(file_problem)?;
    let mut manifests = Vec::new();
    let catalogue = Packed::read(&bytes).and_then(|root| Catalogue::read(root, READER));
    let catalogue = catalogue.map_err(|problem| {
        Some(Reason::from(match problem {
            Problem::NotACatalogue | Problem::OtherArchitecture => CatalogueReason::Invalid,
            Problem::OtherSchema => CatalogueReason::OtherSchema,
            Problem::OtherLoader => CatalogueReason::OtherLoader,
        }))
    })?;
    for manifest in catalogue.manifests() {
        manifests.try_push(Key::of(&[manifest])).map_err(|_| out_of_memory())?;
    }
    Ok((bytes, manifests))
}

fn file_problem(error: FileError) -> Option<Reason> {
    match error {
        FileError::Unusable(reason) => Some(reason.into()),
        FileError::OutOfMemory => out_of_memory(),
    }
}

/// Records that memory ran out, so that the whole call fails. Returns no reason, because the file may be valid.
fn out_of_memory() -> Option<Reason> {
    shortage::note();
    None
}
