//! When an entry counts, and what follows from it.

use crate::{Entry, Hardware, Identity, Json, Outcome};

/// `VK_ERROR_INCOMPATIBLE_DRIVER`, with which drivers refuse an instance when their hardware is not there.
const INCOMPATIBLE: i32 = -9;

/// What an entry is compared with.
#[derive(Clone, Copy, Debug)]
pub struct Question {
    /// The library file now: of a path in the manifest what it leads to, of a bare name the file that was opened before.
    pub library: Option<Identity>,
    /// The dynamic linker's cache now, which decides what a bare name leads to.
    pub linker_cache: Option<Identity>,
}

/// Why an entry does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// The library is another file than the one that was asked, was changed, or is gone.
    Library,
    /// The times of the file are those of an image, and say nothing; nor is there a build id that does.
    Times,
    /// The dynamic linker may find another library under that name.
    LinkerCache,
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

impl<'a, J: Json<'a>> Entry<'a, J> {
    /// Whether the manifest names its library by a bare name, which the dynamic linker looks for.
    pub fn is_searched(self) -> bool {
        !self.named.contains(&b'/')
    }

    /// Whether what the driver answered is what it would answer now. `same_build` says whether the library has this build id, if it has
    /// one, and is asked only where there is one and times prove nothing: it takes reading the file.
    ///
    /// # Errors
    /// Why it is not known to be.
    pub fn check(
        self,
        question: &Question,
        linker_cache: &[u8],
        same_build: impl FnOnce(&[u8]) -> Option<bool>,
    ) -> Result<(), Doubt> {
        let library = question.library.ok_or(Doubt::Library)?;
        if !library.is_written(self.identity) {
            return Err(Doubt::Library);
        }
        if !library.proves() {
            let written = Some(self.build_id).filter(|id| !id.is_empty());
            match written.and_then(same_build) {
                Some(true) => {}
                Some(false) => return Err(Doubt::Library),
                None => return Err(Doubt::Times),
            }
        }
        let same_search = || match question.linker_cache {
            Some(now) => now.proves() && now.is_written(linker_cache),
            None => false,
        };
        match !self.is_searched() || same_search() {
            true => Ok(()),
            false => Err(Doubt::LinkerCache),
        }
    }

    /// What to do with the driver of an entry that counts, when an instance is made. `same_machine` says whether devices and kernel are
    /// as they were, and is asked only where that matters.
    pub fn at_creation(self, same_machine: impl FnOnce() -> bool) -> Decision {
        let found = match self.outcome {
            Outcome::Crashed(_) | Outcome::Hung(_) => Decision::Broken,
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
