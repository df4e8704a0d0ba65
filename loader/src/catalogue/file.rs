//! The file of a catalogue: finding it, whether it may be believed, and keeping it.

use super::{INFO, ignore, sight};
use ::catalogue::{
    ARCHITECTURE, Catalogue, Doubt, Entry, Json, MOST_BYTES, MOST_ENTRIES, Problem, Reader, SYSTEM_FILE, USER_FOLDER,
};
use core::ffi::CStr;
use core::sync::atomic::{AtomicU32, Ordering};
use discovery::env::{Environment, Variable};
use discovery::journal::reason::{CatalogueReason, FileReason};
use discovery::journal::{Journal, Reason};
use discovery::manifest::file::{FileError, contents, parse_json};
use discovery::manifest::json::{Document, Elements, Value};
use discovery::text::Text;
use os::memory::{Grow, shortage};
use os::{File, Mutex, render, with_terminated};
use rust_alloc::sync::Arc;
use rust_alloc::vec::Vec;

/// The driver catalogue of this process, once a scan for drivers wanted it.
static CATALOGUE: Mutex<Slot> = Mutex::new(Slot::Unread);

/// What the variable asked for when the library was loaded.
static MODE: AtomicU32 = AtomicU32::new(USUAL);
/// The system's catalogue, or else the user's own where a folder of manifests has its mark.
const USUAL: u32 = 0;
/// None.
const OFF: u32 = 1;
/// The user's own, or else the system's.
const ON: u32 = 2;
/// The same, but every driver is opened and held against it.
const VERIFY: u32 = 3;

/// Notes what the variable asks for.
pub(crate) fn read_mode(environment: &Environment<'_>) {
    let mode = match environment.get(Variable::Catalogue).as_deref() {
        Some(b"off") => OFF,
        Some(b"on") => ON,
        Some(b"verify") => VERIFY,
        _ => return,
    };
    MODE.store(mode, Ordering::Relaxed);
}

/// Words of 32 bits that have a bit for each entry.
const WORDS: usize = MOST_ENTRIES.div_ceil(32);

/// Who reads.
const READER: Reader<'static> = Reader {
    loader: env!("CARGO_PKG_VERSION"),
    architecture: ARCHITECTURE,
};

/// What is known of it.
enum Slot {
    Unread,
    /// The system has none that counts. The user's own is looked for when a scan finds the mark of one.
    Unmarked,
    /// There is none, or none that counts, or it is switched off.
    Absent,
    Here(Arc<Loaded>),
}

/// A catalogue that counts as a whole.
pub(super) struct Loaded {
    /// Where it lies.
    pub(super) path: Text,
    /// Every driver is opened, and held against it.
    pub(super) verifies: bool,
    document: Document,
    /// A number for the path of each manifest, by which its entry is found among many.
    manifests: Vec<u32>,
    /// A bit for each entry that turned out to be wrong.
    doubts: [AtomicU32; WORDS],
    looked: Mutex<Option<Arc<Looked>>>,
}

/// Results of looking at the files that drivers depend on.
pub(super) struct Looked {
    /// Number of libraries that the process had loaded by then.
    pub(super) loads: u64,
    /// The doubt about each file, if any.
    pub(super) doubts: Vec<Option<Doubt>>,
    /// `true` if the dynamic linker's cache is as it was, where there is one.
    pub(super) same_search: Option<bool>,
}

/// A number for a path, which few others have.
fn sum_of(path: &[u8]) -> u32 {
    let add = |sum: u32, &byte: &u8| sum.wrapping_mul(31).wrapping_add(byte.into());
    path.iter().fold(0, add)
}

/// A value of the loader's own JSON.
#[derive(Clone, Copy)]
pub(super) struct Seen<'a>(Value<'a>);

impl<'a> Json<'a> for Seen<'a> {
    fn member(self, name: &str) -> Option<Self> {
        self.0.as_object()?.get(name).map(Seen)
    }

    fn text(self) -> Option<&'a [u8]> {
        self.0.as_raw_text()
    }

    fn number(self) -> Option<f64> {
        self.0.as_number()
    }

    fn elements(self) -> Option<(usize, impl Iterator<Item = Self> + Clone)> {
        let elements: Elements<'a> = self.0.as_array()?;
        Some((elements.len(), elements.iter().map(Seen)))
    }
}

impl Loaded {
    /// The catalogue.
    pub(super) fn catalogue(&self) -> Option<Catalogue<'_, Seen<'_>>> {
        Catalogue::of_valid(Seen(self.document.root()))
    }

    /// The entry of this number.
    pub(super) fn entry(&self, number: u16) -> Option<Entry<'_, Seen<'_>>> {
        self.catalogue()?.entry(number)
    }

    /// The entry about the library of a manifest, and its number.
    pub(super) fn find(&self, manifest: &[u8], library: &[u8]) -> Option<(u16, Entry<'_, Seen<'_>>)> {
        let sum = sum_of(manifest);
        let mut all = (0..).zip(&self.manifests).filter(|(_, known)| **known == sum);
        all.find_map(|(number, _)| {
            let entry = self.entry(number)?;
            (*entry.manifest == *manifest && *entry.named == *library).then_some((number, entry))
        })
    }

    /// Results of looking at the files that drivers depend on, as long as no library has been loaded since.
    #[cold]
    #[inline(never)]
    pub(super) fn looked(&self) -> Option<Arc<Looked>> {
        let loads = os::loads();
        if let Some(looked) = self.looked.lock().as_ref().filter(|looked| looked.loads == loads) {
            return Some(looked.clone());
        }
        let looked = Arc::new(sight::look(self, loads)?);
        let before = self.looked.lock().replace(looked.clone());
        drop(before);
        Some(looked)
    }

    fn bit(&self, number: u16) -> Option<(&AtomicU32, u32)> {
        Some((self.doubts.get(usize::from(number / 32))?, 1 << (number % 32)))
    }

    /// Whether an entry was found to be wrong.
    pub(super) fn is_doubted(&self, number: u16) -> bool {
        self.bit(number)
            .is_none_or(|(word, bit)| word.load(Ordering::Relaxed) & bit != 0)
    }

    /// Lets an entry count no longer.
    pub(super) fn doubt(&self, number: u16) {
        if let Some((word, bit)) = self.bit(number) {
            word.fetch_or(bit, Ordering::Relaxed);
        }
    }
}

/// Contents of a text that is a catalogue. Fuzz targets compare them with the limits.
#[cfg(fuzzing)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Content {
    /// Drivers.
    pub entries: usize,
    /// Bytes of the longest name of an extension.
    pub longest_name: usize,
    /// Extensions of the driver that has most.
    pub most_extensions: usize,
    /// Devices of the driver that has most.
    pub most_devices: usize,
    /// Drivers that an instance would be made without.
    pub left_out: usize,
}

/// Looks at all of a text, if it counts as a catalogue.
#[cfg(fuzzing)]
pub(crate) fn parse(text: Vec<u8>) -> Option<Content> {
    let document = Document::parse(text).ok()?;
    let catalogue = Catalogue::read(Seen(document.root()), READER).ok()?;
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
        content.left_out += usize::from(entry.at_creation(|| true) != ::catalogue::Decision::Open);
    }
    Some(content)
}

/// The catalogue of this process. The file is looked for by the first scan.
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
    // Lines are logged meanwhile, so the lock is not held. Another thread may look at the same time, and the first one counts: numbers of
    // entries must go on meaning the same.
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

/// The user's own catalogue, which a scan found the mark of (DRV-274). `None` if the system has one, or the user's was looked for before.
#[cold]
#[inline(never)]
pub(super) fn of_mark(environment: &Environment<'_>, journal: &mut Journal<'_>) -> Option<Arc<Loaded>> {
    if !matches!(&*CATALOGUE.lock(), Slot::Unmarked) {
        return None;
    }
    keep(of_user(environment, false, journal), Slot::Absent)
}

/// Makes a catalogue the one of this process, unless another thread was faster. `otherwise` says what is known without one.
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

/// The user's own. An elevated process does not know where that would be.
fn of_user(environment: &Environment<'_>, verifies: bool, journal: &mut Journal<'_>) -> Option<Arc<Loaded>> {
    let home = |variable| environment.get_non_empty(variable).filter(|path| os::is_absolute(path));
    let (folder, below) = match home(Variable::XdgCacheHome) {
        Some(caches) => (caches, ""),
        None => (home(Variable::Home)?, "/.cache"),
    };
    let path = render(format_args!(
        "{}{below}/{USER_FOLDER}/catalogue-{ARCHITECTURE}.json",
        os::Raw(&folder)
    ));
    let loaded = with_terminated(&path, |path| Ok(load(path, true, verifies, journal)));
    loaded.ok().flatten()
}

/// What it is now, without looking for it.
pub(super) fn loaded() -> Option<Arc<Loaded>> {
    match &*CATALOGUE.lock() {
        Slot::Here(loaded) => Some(loaded.clone()),
        Slot::Unread | Slot::Unmarked | Slot::Absent => None,
    }
}

/// Whether every driver is opened, and held against it.
pub(super) fn verifies() -> bool {
    MODE.load(Ordering::Relaxed) == VERIFY
}

/// Frees what the process keeps of it.
pub(crate) fn forget() {
    let kept = core::mem::replace(&mut *CATALOGUE.lock(), Slot::Unread);
    drop(kept);
}

fn load(path: &CStr, of_user: bool, verifies: bool, journal: &mut Journal<'_>) -> Option<Arc<Loaded>> {
    match read(path, of_user) {
        Ok((document, manifests)) => Some(Arc::new(Loaded {
            path: path.to_bytes().into(),
            verifies,
            document,
            manifests,
            doubts: [const { AtomicU32::new(0) }; WORDS],
            looked: Mutex::new(None),
        })),
        Err(Some(reason)) => {
            ignore(&path.to_bytes().into(), reason, journal);
            None
        }
        // There is none, or no memory, which ends the call.
        Err(None) => None,
    }
}

/// The file, if it counts as a whole, with the numbers of its manifests.
///
/// # Errors
/// Why not, unless there is none.
fn read(path: &CStr, of_user: bool) -> Result<(Document, Vec<u32>), Option<Reason>> {
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
    let document = parse_json(bytes).map_err(file_problem)?;
    let mut manifests = Vec::new();
    let catalogue = Catalogue::read(Seen(document.root()), READER).map_err(|problem| {
        Some(Reason::from(match problem {
            Problem::NotACatalogue | Problem::OtherArchitecture => CatalogueReason::Invalid,
            Problem::OtherSchema => CatalogueReason::OtherSchema,
            Problem::OtherLoader => CatalogueReason::OtherLoader,
        }))
    })?;
    for manifest in catalogue.manifests() {
        manifests.try_push(sum_of(manifest)).map_err(|_| out_of_memory())?;
    }
    Ok((document, manifests))
}

fn file_problem(error: FileError) -> Option<Reason> {
    match error {
        FileError::Unusable(reason) => Some(reason.into()),
        FileError::OutOfMemory => out_of_memory(),
    }
}

/// The whole call ends for want of memory; the file is not what is wrong.
fn out_of_memory() -> Option<Reason> {
    shortage::note();
    None
}
