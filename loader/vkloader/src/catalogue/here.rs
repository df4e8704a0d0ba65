//! Checks a catalogue from the point of view of a program that is started from this process.

use super::identify;
use super::machine::each_name;
use crate::causes::elf;
use crate::objects;
use catalogue::closure::{self, Checked, Found, Mount, Object, Place, Process};
use catalogue::{Catalogue, Doubt, Entry, HEAD_BYTES, Json, Look};
use serde_json::Value;
use std::ffi::{CStr, OsStr};
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A JSON value of `serde_json`, for the trait through which `loader/catalogue` reads values.
#[derive(Clone, Copy)]
pub(super) struct Seen<'a>(pub(super) &'a Value);

impl<'a> Json<'a> for Seen<'a> {
    fn member(self, name: &str) -> Option<Self> {
        self.0.get(name).map(Seen)
    }

    fn text(self) -> Option<&'a [u8]> {
        self.0.as_str().map(str::as_bytes)
    }

    fn number(self) -> Option<f64> {
        self.0.as_f64()
    }

    fn elements(self) -> Option<(usize, impl Iterator<Item = Self> + Clone)> {
        self.0.as_array().map(|array| (array.len(), array.iter().map(Seen)))
    }
}

/// This process and its machine, for the checks of `loader/catalogue`.
pub(super) struct Here;

fn path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

impl Look for Here {
    fn names(&self, folder: &[u8], take: &mut dyn FnMut(&[u8])) -> bool {
        each_name(path(folder), take)
    }

    fn link(&self, link: &[u8], take: &mut dyn FnMut(&[u8])) {
        if let Ok(target) = fs::read_link(path(link)) {
            take(target.as_os_str().as_bytes());
        }
    }

    fn text(&self, file: &[u8], take: &mut dyn FnMut(&[u8])) {
        self.read(file, HEAD_BYTES, take);
    }

    fn device_number(&self, file: &[u8]) -> Option<u64> {
        identify::device_number(path(file))
    }
}

impl Process for Here {
    type Folder = PathBuf;

    fn folder(&self, folder: &[u8]) -> Place<PathBuf> {
        if self.exists(folder) {
            Place::Open(path(folder).into())
        } else {
            Place::Missing
        }
    }

    fn file_in(&self, folder: &PathBuf, name: &[u8]) -> Option<Found> {
        self.file(folder.join(path(name)).as_os_str().as_bytes())
    }

    fn file(&self, file: &[u8]) -> Option<Found> {
        let mode = fs::metadata(path(file)).ok()?.permissions().mode();
        Some(Found {
            identity: identify::state(path(file))?,
            is_open: mode & 0o444 == 0o444,
            mount: identify::mount(path(file)),
        })
    }

    fn may_execute(&self, file: &[u8]) -> bool {
        identify::may_execute(path(file))
    }

    fn opened(&self, file: &[u8]) -> Option<Found> {
        let found = self.file(file)?;
        Some(Found {
            is_open: File::open(path(file)).is_ok(),
            ..found
        })
    }

    fn read(&self, file: &[u8], most: usize, take: &mut dyn FnMut(&[u8])) -> bool {
        let Ok(file) = File::open(path(file)) else {
            return false;
        };
        let mut content = Vec::new();
        // Ignores an error, and compares the bytes that were read before the error.
        let _ = file.take(most as u64).read_to_end(&mut content);
        content.chunks(HEAD_BYTES).for_each(take);
        true
    }

    fn objects(&self, take: &mut dyn FnMut(&Object<'_>)) {
        for path in objects::loaded() {
            let needs = elf::read(Path::new(&path)).unwrap_or_default();
            take(&Object {
                path: path.as_bytes(),
                name: needs.own.as_deref().unwrap_or_default().as_bytes(),
                // Omits search paths, because an update does not know the search paths of the programs that will use the catalogue.
                search: b"",
                own_search: b"",
                is_audited: false,
                // An empty `head` means that the file at `path` is the loaded one, because a program that starts now loads the present
                // files.
                head: b"",
            });
        }
    }

    fn c_library(&self) -> &'static [u8] {
        // SAFETY: `dlsym` needs a name that ends with a null byte, and a C string literal does.
        let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"gnu_get_libc_version".as_ptr()) };
        if found.is_null() {
            return b"";
        }
        // SAFETY: only the GNU C library defines this symbol: a function without parameters that returns a static string with a null byte
        // at its end.
        unsafe {
            let version =
                std::mem::transmute::<*mut libc::c_void, unsafe extern "C" fn() -> *const libc::c_char>(found);
            CStr::from_ptr(version()).to_bytes()
        }
    }

    fn exports(&self, symbol: &CStr) -> bool {
        // SAFETY: `dlsym` needs a name that ends with a null byte, and every `CStr` does.
        !unsafe { libc::dlsym(libc::RTLD_DEFAULT, symbol.as_ptr()) }.is_null()
    }
}

/// Checks the entries of a catalogue from the point of view of a program.
pub(super) struct Judge<'a> {
    catalogue: Catalogue<'a, Seen<'a>>,
    doubts: Vec<Option<Doubt>>,
    same_search: Option<bool>,
}

impl<'a> Judge<'a> {
    /// Checks all files to which a catalogue refers.
    pub(super) fn new(catalogue: Catalogue<'a, Seen<'a>>) -> Self {
        let search = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
        let mut files: Vec<Checked<'_>> = catalogue.files().map(Checked::from).collect();
        closure::look(&Here, search.as_bytes(), &mut files, &mut Mount::default());
        Self {
            catalogue,
            doubts: files.iter().map(|file| file.doubt).collect(),
            same_search: catalogue.has_same_linker_cache(&Here),
        }
    }

    /// Returns the reason why a program would not use the entry for a manifest; `None` if it would use the entry.
    pub(super) fn doubt(&self, manifest: &str) -> Option<String> {
        let is = |entry: &Entry<'_, Seen<'_>>| entry.manifest == manifest.as_bytes();
        let Some(entry) = self.catalogue.entries().find(is) else {
            return Some("it is not an entry that programs can read".into());
        };
        let checked = entry.check(&Here, &self.doubts, &mut Mount::default(), self.same_search);
        let doubt = checked.err()?;
        let file = String::from_utf8_lossy(self.catalogue.file_of(entry, doubt)).into_owned();
        Some(format!("{file} {}", doubt.0.words().1))
    }

    /// Returns the first variable whose value differs from the recorded value.
    pub(super) fn variable(&self) -> Option<String> {
        let mut set = 0;
        let other = std::env::vars_os().find(|(name, value)| {
            let (is_allowed, is_recorded) = self.catalogue.judges(name.as_bytes(), value.as_bytes());
            set += usize::from(is_recorded);
            !is_allowed
        });
        match other {
            Some((name, _)) => Some(name.to_string_lossy().into_owned()),
            None => (set < self.catalogue.variables().count()).then(|| "a variable".into()),
        }
    }
}
