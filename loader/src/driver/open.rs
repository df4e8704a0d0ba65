//! A driver that is ready for use, and that no instance uses yet.

use crate::driver_interface::{DriverLibrary, Interface, LibraryPlace};
use crate::library::{Library, RealPath};
use crate::unopened::{Known, StandIn};
use discovery::journal::{Journal, LogBits, Source};
use discovery::manifest::DriverManifest;
use discovery::text::Text;
use discovery::trace::Step;
use discovery::version::ApiVersion;
use rust_alloc::sync::Arc;

/// A driver that no instance uses yet. Either its library is open, or a stand-in takes the place of the library.
pub(crate) struct OpenDriver {
    /// The library; `None` for a driver that the application supplied directly and continues to own (DRV-238).
    pub library: Option<Library>,
    /// Path of the driver's library as the system reports it, or a substitute name (DRV-242).
    pub path: Text,
    /// API version in the driver's manifest, or the version that a direct driver reports (DRV-84).
    pub claimed_version: ApiVersion,
    /// Functions that need no instance.
    pub interface: Interface,
    /// Origin of the driver.
    pub source: Source,
    /// Facts that were known before the driver was opened. The loader compares the driver's answers with these facts.
    pub known: Option<Known>,
    /// Stand-in for a driver that is not open yet; `None` for an open driver. With a stand-in, `interface` contains the loader's own
    /// functions.
    pub closed: Option<Arc<dyn StandIn>>,
}

impl OpenDriver {
    /// Opens the library that a manifest names, and negotiates with the driver. Messages call the library `path`. Records a failure and
    /// returns `None`. The driver's answers are compared with `known`.
    #[inline(never)]
    pub(crate) fn open(
        manifest: &DriverManifest,
        (path, place): (&Text, LibraryPlace<'_>),
        known: Option<Known>,
        journal: &mut Journal<'_>,
    ) -> Option<Self> {
        let opened = DriverLibrary::open(manifest, path, place, journal)?;
        Some(Self {
            library: Some(opened.library),
            path: opened.path,
            claimed_version: manifest.api_version,
            interface: opened.interface,
            source: manifest.source,
            known,
            closed: None,
        })
    }

    /// Returns a value of this type for a driver that is not open yet. The driver's stand-in opens the driver when a program needs it.
    pub(crate) fn of_closed(known: Known, closed: Arc<dyn StandIn>) -> Self {
        let manifest = closed.manifest();
        Self {
            library: None,
            path: manifest.library_path.clone(),
            claimed_version: manifest.api_version,
            interface: closed.interface(),
            source: manifest.source,
            known: Some(known),
            closed: Some(closed),
        }
    }

    /// Returns `true` if the driver's library is open and no instance owns it.
    pub(crate) fn is_open(&self) -> bool {
        self.library.is_some()
    }

    /// Returns the name by which messages refer to the driver.
    pub(crate) fn name(&self) -> RealPath<'_> {
        RealPath(&self.path)
    }

    /// Returns the API version to assume for the driver (DRV-88, DRV-89): never above the version in its manifest.
    pub(crate) fn api_version(&self, journal: &Journal<'_>) -> ApiVersion {
        const ONE_ZERO: ApiVersion = ApiVersion::V1_0;
        let claim = "contained a 1.1 or greater API version, but";
        if self.claimed_version.without_patch() < ApiVersion::V1_1 {
            return ONE_ZERO;
        }
        let warn = |ending: &str| {
            journal.note(
                LogBits::WARN | LogBits::DRIVER,
                format_args!(
                    "terminator_CreateInstance: Manifest ICD for \"{}\" {claim} {ending}",
                    self.name()
                ),
            );
        };
        let step = Step::Driver(&self.path).begin(b"vkEnumerateInstanceVersion");
        let answered = match &self.closed {
            Some(closed) => Some(Ok(closed.version())),
            None => self.interface.instance_version(),
        };
        step.end_with(|_| ());
        match answered {
            None => warn("does not support vkEnumerateInstanceVersion, treating as a 1.0 ICD"),
            Some(Err(_)) => journal.note(
                LogBits::DEBUG | LogBits::DRIVER,
                format_args!(
                    "terminator_CreateInstance: ICD \"{}\" vkEnumerateInstanceVersion returned error. The ICD will be \
                     treated as a 1.0 ICD",
                    self.name()
                ),
            ),
            Some(Ok(version)) => {
                let version = ApiVersion(version);
                // Tools expect this message for every version whose minor number is 0, although the message is meant for 1.0 only.
                if version.minor() == 0 {
                    warn("vkEnumerateInstanceVersion returned 1.0, treating as a 1.0 ICD");
                }
                // Only the comparison ignores the patch number; the returned version includes it (DRV-90).
                if version.minor() != 0 || version.without_patch() >= ONE_ZERO {
                    return version;
                }
            }
        }
        ONE_ZERO
    }
}
