//! When an entry counts, and what follows from it.

use crate::closure::{self, Process};
use crate::{Catalogue, Entry, Hardware, Json, LINKER_CACHE, Outcome};

/// `VK_ERROR_INCOMPATIBLE_DRIVER`, with which drivers refuse an instance when their hardware is not there.
const INCOMPATIBLE: i32 = -9;

/// Why an entry does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// The file is another one than when the driver was asked, was changed, or is gone.
    Library,
    /// The times of the file are those of an image, and say nothing; nor is there a build id that does.
    Times,
    /// This process may not read the file.
    Unreadable,
    /// The dynamic linker would take another file in this process.
    Shadowed,
    /// The dynamic linker may find another library under a name.
    LinkerCache,
    /// The entry does not say of which files the driver consists.
    Unknown,
}

impl Doubt {
    /// All doubts, each with its word in a trace and what is the matter with the file.
    const ALL: [(Self, &'static str, &'static str); 6] = [
        (Self::Library, "library", "has changed"),
        (Self::Times, "times", "has times that prove nothing, and no build id"),
        (Self::Unreadable, "unreadable", "cannot be read by this process"),
        (
            Self::Shadowed,
            "shadowed",
            "is not what the dynamic linker would take in this process",
        ),
        (Self::LinkerCache, "linker-cache", "has changed"),
        (Self::Unknown, "unknown", "has an entry without a list of its files"),
    ];

    /// Returns its word in a trace, and what is the matter with the file.
    pub fn words(self) -> (&'static str, &'static str) {
        let found = Self::ALL.iter().find(|(known, ..)| *known == self);
        found.map_or(("", ""), |(_, word, words)| (word, words))
    }
}

/// What `vkCreateInstance` does with a driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It opens it.
    Open,
    /// It leaves it out: the driver has no device here.
    NoDevice,
    /// It leaves it out: the driver crashed or hung.
    Broken,
}

impl<'a, J: Json<'a>> Catalogue<'a, J> {
    /// Returns the path of the file that a doubt of [`Entry::check`] is about.
    pub fn file_of(self, entry: Entry<'a, J>, doubt: (Doubt, Option<u16>)) -> &'a [u8] {
        match doubt {
            (_, Some(number)) => self.files().nth(number.into()).map_or(b"", |file| file.path),
            (Doubt::LinkerCache, None) => LINKER_CACHE,
            (_, None) if entry.is_searched() => entry.path,
            (_, None) => entry.named,
        }
    }
}

impl<'a, J: Json<'a>> Entry<'a, J> {
    /// Whether the manifest names its library by a bare name, which the dynamic linker looks for.
    pub fn is_searched(self) -> bool {
        !self.named.contains(&b'/')
    }

    /// Checks that what the driver answered is what it would answer in this process. `doubts` are those of the catalogue's files, after
    /// [`closure::look`], and `same_search` whether the dynamic linker's cache is as it was, where there is one.
    ///
    /// # Errors
    /// The doubt, and the number of the file that it is about, where that is not the driver's own.
    pub fn check(
        self,
        process: &impl Process,
        doubts: &[Option<Doubt>],
        same_search: Option<bool>,
    ) -> Result<(), (Doubt, Option<u16>)> {
        let own = if self.is_searched() { self.path } else { self.named };
        closure::check(process, own, self.identity, self.build_id).map_err(|doubt| (doubt, None))?;
        let mut is_searched = self.is_searched();
        for number in self.files().ok_or((Doubt::Unknown, None))? {
            let doubt = number.and_then(|number| doubts.get(usize::from(number)).copied());
            doubt
                .unwrap_or(Some(Doubt::Unknown))
                .map_or(Ok(()), |doubt| Err((doubt, number)))?;
            is_searched = true;
        }
        let leads_there = same_search.unwrap_or(!self.is_searched());
        match leads_there || !is_searched {
            true => Ok(()),
            false => Err((Doubt::LinkerCache, None)),
        }
    }

    /// What to do with the driver of an entry that counts, when an instance is made. `same_machine` says whether devices and kernel are
    /// as they were, and is asked only where that matters.
    pub fn at_creation(self, same_machine: impl FnOnce() -> bool) -> Decision {
        let found = match self.outcome {
            Outcome::Crashed(_) | Outcome::Ended(_) | Outcome::Hung(_) => Decision::Broken,
            Outcome::Answered if self.devices() == Some(0) => Decision::NoDevice,
            Outcome::Failed(INCOMPATIBLE) if self.extensions().is_some() => Decision::NoDevice,
            _ => Decision::Open,
        };
        let shows = matches!(self.hardware(), Hardware::Present | Hardware::Absent);
        match found {
            Decision::Open => Decision::Open,
            Decision::NoDevice if !shows => Decision::Open,
            found => match same_machine() {
                true => found,
                false => Decision::Open,
            },
        }
    }
}
