//! A view of a whole catalogue. Its outermost members are checked once, and each entry when it is used.

use crate::closure::{File, Process};
use crate::entry::extension;
use crate::machine::Hash;
use crate::{
    Entry, Extension, Json, LINKER_CACHE, MOST_CARDS, MOST_ENTRIES, MOST_EXTENSIONS, MOST_FILES, MOST_LINKER_CACHE,
    MOST_VARIABLES, SCHEMA, variables, words, written::is_hexadecimal,
};
use core::fmt;
use core::marker::PhantomData;

/// Word in the last element of a file's entry in a catalogue, if the linker found the file through `LD_LIBRARY_PATH`.
pub const SEARCHED: &str = "path";

/// Word in the last element of a file's entry in a catalogue, if the search path of the file contains `$ORIGIN`.
pub const WITH_ORIGIN: &str = "origin";

/// Word for a file with an access control list.
pub const WITH_LIST: &str = "list";

/// The loader that reads the catalogue.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'r> {
    /// Version of the loader. Another version may handle drivers differently.
    pub loader: &'r str,
    /// Architecture that the loader was compiled for.
    pub architecture: &'r str,
}

/// Reason why a whole catalogue is ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    /// The file is not an object with the members of a catalogue, or it exceeds a limit.
    NotACatalogue,
    /// The catalogue's schema version differs from the version that this loader reads.
    OtherSchema,
    /// Another version of the loader wrote the catalogue.
    OtherLoader,
    /// The catalogue is for another architecture than this loader.
    OtherArchitecture,
}

/// A catalogue whose outermost members are valid.
#[derive(Clone, Copy, Debug)]
pub struct Catalogue<'a, J> {
    root: J,
    machine: J,
    has_variables: bool,
    _text: PhantomData<&'a [u8]>,
}

impl<'a, J: Json<'a>> Catalogue<'a, J> {
    /// Checks the outermost members. Entries are checked one by one when they are used.
    ///
    /// # Errors
    /// The reason why the whole catalogue is ignored.
    pub fn read(root: J, reader: Reader<'_>) -> Result<Self, Problem> {
        let schema = root.member_count("schema").ok_or(Problem::NotACatalogue)?;
        if schema != SCHEMA {
            return Err(Problem::OtherSchema);
        }
        let is = |name, value: &str| match root.member_text(name) {
            Some(text) => Ok(text == value.as_bytes()),
            None => Err(Problem::NotACatalogue),
        };
        if !is("loader", reader.loader)? {
            return Err(Problem::OtherLoader);
        }
        if !is("architecture", reader.architecture)? {
            return Err(Problem::OtherArchitecture);
        }
        let found = Self::of_valid(root).ok_or(Problem::NotACatalogue)?;
        let bounded = root.few("drivers", MOST_ENTRIES).is_some()
            && root.few("files", MOST_FILES).is_some()
            && found.machine.few("cards", MOST_CARDS).is_some();
        if bounded {
            Ok(found)
        } else {
            Err(Problem::NotACatalogue)
        }
    }

    /// Returns the catalogue of a document that [`Self::read`] has accepted.
    #[inline(never)]
    pub fn of_valid(root: J) -> Option<Self> {
        Some(Self {
            root,
            machine: root.member("machine")?,
            has_variables: root.few("variables", MOST_VARIABLES)?.next().is_some(),
            _text: PhantomData,
        })
    }

    /// Returns the time of the update in seconds since 1970.
    pub fn made(self) -> u64 {
        self.root.member_count("made").unwrap_or_default()
    }

    /// Returns the entries, in the order in which the drivers were found.
    pub fn entries(self) -> impl Iterator<Item = Entry<'a, J>> {
        self.root
            .few("drivers", MOST_ENTRIES)
            .into_iter()
            .flatten()
            .filter_map(Entry::read)
    }

    /// Returns the variables that affect answers ([`variables`]) and that were set when the drivers were asked, with their values.
    pub fn variables(self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> {
        let all = self.root.few("variables", MOST_VARIABLES).into_iter().flatten();
        all.filter_map(|one| Some((one.member_text("name")?, one.member_text("value")?)))
    }

    /// Returns the manifest paths of all entries by index; empty for an invalid entry.
    pub fn manifests(self) -> impl Iterator<Item = &'a [u8]> {
        let all = self.root.few("drivers", MOST_ENTRIES).into_iter().flatten();
        all.map(|one| {
            let manifest = one.member("manifest").and_then(|manifest| manifest.member_text("path"));
            manifest.unwrap_or_default()
        })
    }

    /// Returns the entry at an index.
    #[inline(never)]
    pub fn entry(self, number: u16) -> Option<Entry<'a, J>> {
        let mut all = self.root.few("drivers", MOST_ENTRIES)?;
        all.nth(number.into()).and_then(Entry::read)
    }

    /// Returns the library that each manifest names, and its build ID, by index; empty for an invalid entry.
    pub fn libraries(self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> {
        let all = self.root.few("drivers", MOST_ENTRIES).into_iter().flatten();
        all.map(|one| {
            let library = one.member("library");
            let text = |name| {
                library
                    .and_then(|library| library.member_text(name))
                    .unwrap_or_default()
            };
            (text("named"), text("build-id"))
        })
    }

    /// Returns the instance extensions of the entry at an index whose texts `is_wanted` accepts. A text has an extension's name and version.
    /// Equal texts of a file are the same memory. The caller has checked that [`Entry::extensions`] returns the extensions.
    pub fn valid_extensions(
        self,
        number: u16,
        mut is_wanted: impl FnMut(&'a [u8]) -> bool,
    ) -> impl Iterator<Item = Extension<'a>> {
        let entry = self
            .root
            .few("drivers", MOST_ENTRIES)
            .and_then(|mut all| all.nth(number.into()));
        let all = entry.and_then(|entry| entry.few("extensions", MOST_EXTENSIONS));
        let texts = all.into_iter().flatten().filter_map(J::text);
        texts.filter(move |text| is_wanted(text)).filter_map(extension)
    }

    /// Returns the value that a variable had when the drivers were asked, if it was set.
    fn value_of(self, name: &[u8]) -> Option<&'a [u8]> {
        if self.has_variables {
            self.written_value(name)
        } else {
            None
        }
    }

    #[inline(never)]
    fn written_value(self, name: &[u8]) -> Option<&'a [u8]> {
        let mut all = self.root.few("variables", MOST_VARIABLES)?;
        all.find(|one| one.member_text("name") == Some(name))?
            .member_text("value")
    }

    /// Returns `true` if a variable of the process has the recorded value, or does not affect drivers.
    pub fn allows(self, name: &[u8], value: &[u8]) -> bool {
        self.judges(name, value).0
    }

    /// Returns the result of [`Self::allows`], and as the second value `true` if the variable is recorded.
    pub fn judges(self, name: &[u8], value: &[u8]) -> (bool, bool) {
        match self.value_of(name) {
            Some(known) => (known == value, true),
            None => (!variables::matters(name, value), false),
        }
    }

    /// Returns a recorded text about the machine; empty if there is no text of this name.
    pub(crate) fn of_machine(self, name: &str) -> &'a [u8] {
        self.machine.member_text(name).unwrap_or_default()
    }

    /// Returns the PCI addresses of the recorded graphics cards.
    pub(crate) fn cards(self) -> impl Iterator<Item = &'a [u8]> {
        let all = self.machine.few("cards", MOST_CARDS).into_iter().flatten();
        all.filter_map(|card| card.member_text("address"))
    }

    /// Returns the files that drivers depend on, to which entries refer by index. An invalid file never matches a file on disk.
    pub fn files(self) -> impl Iterator<Item = File<'a>> {
        let all = self.root.few("files", MOST_FILES).into_iter().flatten();
        all.map(|one| {
            let mut texts = [None; 5];
            if let Some((_, parts)) = one.elements() {
                texts.iter_mut().zip(parts).for_each(|(text, part)| *text = part.text());
            }
            let [path, identity, names, build_id, way] = texts;
            let is = |word: &str| words(way.unwrap_or_default()).any(|one| one == word.as_bytes());
            File {
                path: path.unwrap_or_default(),
                identity: identity.unwrap_or(b"unknown"),
                names: names.unwrap_or_default(),
                build_id: build_id.unwrap_or_default(),
                is_searched: is(SEARCHED),
                has_origin: is(WITH_ORIGIN),
                has_list: is(WITH_LIST),
            }
        })
    }

    /// Returns `true` if the dynamic linker's cache is the same file as at the update, or has the same content. Returns `None` if there was
    /// no cache at the update and there is none now.
    pub fn has_same_linker_cache(self, process: &impl Process) -> Option<bool> {
        let written = self.root.member_text("linker-cache").unwrap_or_default();
        match process.file(LINKER_CACHE) {
            None if written.is_empty() => None,
            None => Some(false),
            Some(now) if now.identity.proves() && now.identity.is_written(written) => Some(true),
            Some(_) => {
                let known = self.root.member_text("linker-cache-sum");
                Some(known.is_some_and(|known| LinkerCacheSum::of(process).is_written(known)))
            }
        }
    }
}

/// Checksum of the dynamic linker's cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkerCacheSum(u64);

impl LinkerCacheSum {
    /// Reads the dynamic linker's cache, and computes the checksum of its content.
    pub fn of(process: &impl Process) -> Self {
        let mut hash = Hash::new();
        process.read(LINKER_CACHE, MOST_LINKER_CACHE, &mut |piece| hash.take(piece));
        Self(hash.mixed())
    }

    fn is_written(self, text: &[u8]) -> bool {
        is_hexadecimal(text, &self.0.to_be_bytes())
    }
}

/// Writes the checksum as sixteen hexadecimal digits.
impl fmt::Display for LinkerCacheSum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}
