//! Drivers that a scan found and did not open.

use super::{BeforeOpening, Known, KnownDrivers, Reserve};
use crate::generated::types::VkExtensionProperties;
use core::mem::take;
use discovery::manifest::DriverManifest;
use discovery::text::Text;
use os::memory::{Grow, OutOfMemory, shortage};
use rust_alloc::vec::Vec;

/// Number of texts that a [`Told`] keeps.
const TOLD: usize = 64;

/// Texts of extensions that were passed to a caller: the addresses and lengths of the texts. Drivers have mostly the same extensions, and a
/// catalogue stores equal texts once, so that most of them need not be read again. A new text may replace another one, which is then passed
/// on once more.
pub(crate) struct Told([(usize, usize); TOLD]);

impl Told {
    /// Adds a text, and returns `true` unless the same text was added before.
    #[cfg_attr(
        not(all(feature = "catalogue", target_os = "linux")),
        expect(dead_code, reason = "no driver has known extensions without a catalogue")
    )]
    pub(crate) fn add(&mut self, text: &[u8]) -> bool {
        let one = (text.as_ptr().addr(), text.len());
        core::mem::replace(&mut self.0[one.0 / 8 % TOLD], one) != one
    }
}

impl Default for Told {
    fn default() -> Self {
        Self([(0, 0); TOLD])
    }
}

/// Drivers that were not opened because their extensions are known.
#[derive(Default)]
pub(crate) struct Answered {
    /// The drivers in scan order, each with the number of open drivers before it.
    list: Vec<(usize, Known)>,
    /// Number of drivers at the beginning of `list` whose extensions were already passed to a caller.
    passed: usize,
    told: Told,
}

impl Answered {
    /// Adds a driver that the scan found after the first `place` open drivers.
    pub(crate) fn add(&mut self, place: usize, known: Known) -> Result<(), OutOfMemory> {
        self.list.try_push((place, known))
    }

    /// Passes the extensions of the drivers that come before the open driver at `place` to `add`, each driver once. May leave out extensions
    /// that were passed before.
    ///
    /// # Errors
    /// The error of `add`.
    #[inline]
    pub(crate) fn extensions_before(
        &mut self,
        place: usize,
        known: &KnownDrivers,
        mut add: impl FnMut(&VkExtensionProperties) -> Result<(), OutOfMemory>,
    ) -> Result<(), OutOfMemory> {
        while let Some(&(before, one)) = self.list.get(self.passed) {
            if before > place {
                break;
            }
            known.extensions(one, Some(&mut self.told), &mut add)?;
            self.passed += 1;
        }
        Ok(())
    }
}

/// Drivers that are not opened as long as other drivers suffice.
#[derive(Default)]
pub(crate) struct Reserves(Vec<(DriverManifest, Known, Reserve)>);

impl Reserves {
    /// Returns an empty list.
    pub(crate) const fn new() -> Self {
        Self(Vec::new())
    }

    /// Adds a driver in reserve.
    pub(crate) fn add(&mut self, manifest: &DriverManifest, known: Known, reserve: Reserve) -> Result<(), OutOfMemory> {
        self.0.try_push((manifest.try_copy()?, known, reserve))
    }

    /// Returns `true` if there is no driver in reserve.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the paths of the libraries of all drivers in reserve.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &Text> {
        self.0.iter().map(|(manifest, ..)| &manifest.library_path)
    }

    /// Returns `true` if a policy left out drivers that have devices.
    pub(crate) fn have_devices(&self) -> bool {
        self.0.iter().any(|(.., reserve)| *reserve != Reserve::NoDevice)
    }

    /// Passes the extensions of all drivers in reserve to `add`.
    ///
    /// # Errors
    /// The error of `add`.
    pub(crate) fn extensions(
        &self,
        known: &KnownDrivers,
        mut add: impl FnMut(&VkExtensionProperties) -> Result<(), OutOfMemory>,
    ) -> Result<(), OutOfMemory> {
        self.0
            .iter()
            .try_for_each(|(_, one, _)| known.extensions(*one, None, &mut add))
    }

    /// Removes the drivers that are in reserve for this reason, and passes them to `open`.
    ///
    /// # Errors
    /// The error of `open`, or there is not enough memory.
    pub(crate) fn open(
        &mut self,
        reason: Reserve,
        mut open: impl FnMut(&DriverManifest, Known) -> Result<(), OutOfMemory>,
    ) -> Result<(), OutOfMemory> {
        let mut rest = Vec::new();
        for (manifest, known, reserve) in take(&mut self.0) {
            shortage::check()?;
            if reserve == reason {
                open(&manifest, known)?;
            } else {
                rest.try_push((manifest, known, reserve))?;
            }
        }
        self.0 = rest;
        Ok(())
    }

    /// Removes all drivers in reserve, and passes them to `open`.
    ///
    /// # Errors
    /// The error of `open`.
    pub(crate) fn open_all(
        self,
        mut open: impl FnMut(&DriverManifest, Known) -> Result<(), OutOfMemory>,
    ) -> Result<(), OutOfMemory> {
        self.0
            .iter()
            .try_for_each(|(manifest, known, _)| open(manifest, *known))
    }
}

#[cfg(all(test, feature = "catalogue", target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_new_once() {
        let text = b"VK_KHR_surface 25";
        let mut told = Told::default();
        assert_eq!([text, text].map(|text| told.add(text)), [true, false]);
        // In a faulty file, one text can be the beginning of another.
        assert!(told.add(&text[..16]) && told.add(text));
    }

    #[test]
    fn a_text_may_be_forgotten_for_another() {
        let texts = [0; 8 * TOLD + 1];
        let mut told = Told::default();
        assert!(told.add(&texts[..1]) && told.add(&texts[8 * TOLD..]) && told.add(&texts[..1]));
    }
}
