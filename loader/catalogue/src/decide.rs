//! Decides whether an entry is used, and what the loader does with its driver.

use crate::closure::{self, Mount, Process};
use crate::{Catalogue, Entry, Hardware, Json, LINKER_CACHE, MachineState, Outcome};

/// `VK_ERROR_INCOMPATIBLE_DRIVER`, which drivers return from `vkCreateInstance` if their hardware is missing.
const INCOMPATIBLE: i32 = -9;

/// Reason why an entry is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// The file was replaced, changed or removed after the driver was asked.
    Library,
    /// The file has the constant times of a reproducible image, and no build ID, so a change could go unnoticed.
    Times,
    /// The system denies this process read access to the file, or execution of its code.
    Unreadable,
    /// The dynamic linker would load another file in this process.
    Shadowed,
    /// The dynamic linker's cache has changed, so a name may resolve to another library.
    LinkerCache,
    /// The entry has no list of the driver's files.
    Unknown,
}

impl Doubt {
    /// All doubts. Each row has the word that stands for the doubt in a trace, and the end of a message that begins with the file's path.
    const ALL: [(Self, &'static str, &'static str); 6] = [
        (Self::Library, "library", "has changed"),
        (Self::Times, "times", "has times that prove nothing, and no build id"),
        (
            Self::Unreadable,
            "unreadable",
            "cannot be read or executed by this process",
        ),
        (
            Self::Shadowed,
            "shadowed",
            "is not what the dynamic linker would take in this process",
        ),
        (Self::LinkerCache, "linker-cache", "has changed"),
        (Self::Unknown, "unknown", "has an entry without a list of its files"),
    ];

    /// Returns the word that stands for this doubt in a trace, and the end of a message that begins with the file's path.
    pub fn words(self) -> (&'static str, &'static str) {
        let found = Self::ALL.iter().find(|(known, ..)| *known == self);
        found.map_or(("", ""), |(_, word, words)| (word, words))
    }
}

/// The loader's decision about a driver in `vkCreateInstance`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usability {
    /// The loader opens the driver.
    Open,
    /// The loader skips the driver, because the driver has no device on this machine.
    NoDevice,
    /// The loader skips the driver, because the driver crashed or hung when it was asked.
    Broken,
}

impl<'a, J: Json<'a>> Catalogue<'a, J> {
    /// Returns the path of the file that a doubt from [`Entry::check`] is about.
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
    /// Returns `true` if the manifest names the library without a path, so that the dynamic linker searches for it.
    pub fn is_searched(self) -> bool {
        !self.named.contains(&b'/')
    }

    /// Checks that the driver's answer is still valid in this process. `doubts` has the results of [`closure::look`] for the catalogue's
    /// files. `mount` is for all checks of one call. `same_search` is `true` if the dynamic linker's cache has not changed.
    ///
    /// # Errors
    /// The doubt, and the index of the file that the doubt is about; the index is `None` for the driver's own library.
    pub fn check(
        self,
        process: &impl Process,
        doubts: &[Option<Doubt>],
        mount: &mut Mount,
        same_search: Option<bool>,
    ) -> Result<(), (Doubt, Option<u16>)> {
        let own = if self.is_searched() { self.path } else { self.named };
        let written = (self.identity, self.build_id);
        let found = process.opened(own);
        closure::check(process, own, found, written).map_err(|doubt| (doubt, None))?;
        if !mount.may_execute(process, own, found) {
            return Err((Doubt::Unreadable, None));
        }
        let mut is_searched = self.is_searched();
        for number in self.files().ok_or((Doubt::Unknown, None))? {
            let doubt = number.and_then(|number| doubts.get(usize::from(number)).copied());
            doubt
                .unwrap_or(Some(Doubt::Unknown))
                .map_or(Ok(()), |doubt| Err((doubt, number)))?;
            is_searched = true;
        }
        let leads_there = same_search.unwrap_or(!self.is_searched());
        if leads_there || !is_searched {
            Ok(())
        } else {
            Err((Doubt::LinkerCache, None))
        }
    }

    /// Returns the decision about the driver of a valid entry when an instance is created. `machine` is called only if the decision depends
    /// on its result.
    ///
    /// If the hardware is present, the next boot may bring a device although the kernel's lists stay the same. For example, the firmware of
    /// the card was installed, or the host of a virtual machine offers more to its virtual card.
    pub fn at_creation(self, machine: impl FnOnce() -> MachineState) -> Usability {
        let found = match self.outcome {
            Outcome::Crashed(_) | Outcome::Ended(_) | Outcome::Hung(_) => Usability::Broken,
            Outcome::Answered if self.devices() == Some(0) => Usability::NoDevice,
            Outcome::Failed(INCOMPATIBLE) if self.extensions().is_some() => Usability::NoDevice,
            _ => Usability::Open,
        };
        let is_valid = match (found, self.hardware()) {
            (Usability::Open, _) => true,
            (Usability::NoDevice, Hardware::Present) => machine() == MachineState::SameBoot,
            (Usability::Broken, _) | (_, Hardware::Absent) => machine() != MachineState::Changed,
            _ => false,
        };
        if is_valid { found } else { Usability::Open }
    }
}
