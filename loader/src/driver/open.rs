//! Opening one driver (DRV-56 to DRV-73).

use super::interface::{GET_INSTANCE_PROC_ADDR, Interface, NegotiationError};
use crate::catalogue::Known;
use crate::library::{Library, OpenError, RealPath, loaded_path, log_open_error};
use crate::recorded::Closed;
use crate::service::{Fetched, Unopened};
use discovery::journal::reason::DriverLibraryReason;
use discovery::journal::{Decision, Journal, LogBits, Reason, Source, Subject, Verdict};
use discovery::manifest::DriverManifest;
use discovery::text::Text;
use discovery::trace::Step;
use discovery::version::ApiVersion;
use rust_alloc::sync::Arc;

/// A driver whose library is open, before an instance is made of it.
pub(crate) struct OpenDriver {
    /// The library; `None` for a driver that the application supplied directly and continues to own (DRV-238).
    pub library: Option<Library>,
    /// Path of its library as the system reports it, or a substitute (DRV-242).
    pub path: Text,
    /// API version in its manifest, or the version that a direct driver reports (DRV-84).
    pub claimed_version: ApiVersion,
    /// Functions that need no instance.
    pub interface: Interface,
    /// Origin of the driver.
    pub source: Source,
    /// Entry of the driver catalogue for it.
    pub known: Option<Known>,
    /// Record of a driver that is not open; the functions are then the loader's own.
    pub closed: Option<Arc<Closed>>,
}

/// Meaning of the library's name in a manifest.
#[derive(Clone, Copy)]
pub(crate) enum LibraryPlace<'a> {
    /// A path, or a name for the system's own search.
    Path,
    /// A key of the service, for which this came (LSV-39).
    Service(&'a Fetched),
}

impl LibraryPlace<'_> {
    /// Opens the library.
    fn open(self, manifest: &DriverManifest, journal: &Journal<'_>) -> Result<Library, Reason> {
        let opened = match self {
            Self::Path => open_path(manifest),
            Self::Service(fetched) => match fetched.open() {
                Ok(library) => Ok(library),
                Err(Unopened::Refused(error)) => Err(error),
                Err(Unopened::NotSent(reason)) => return Err(reason.into()),
            },
        };
        opened.map_err(|error| {
            log_open_error(&error, journal);
            Reason::from(match error {
                OpenError::WrongClass(words) => DriverLibraryReason::WrongArchitecture(words.into()),
                OpenError::Failed(words) => DriverLibraryReason::NotOpened(words.into()),
                OpenError::NotAPath => DriverLibraryReason::NotOpened(Text::default()),
            })
        })
    }

    /// Returns the real name of the library, found through one of its functions.
    fn real_name(self, name: &Text, function: *const (), journal: &Journal<'_>) -> Text {
        match self {
            Self::Path => loaded_path(name, function, journal),
            Self::Service(_) => name.clone(),
        }
    }
}

/// Opens the library at the path, or of the bare name, in a manifest. In a bundle, the system may find another library for a bare name,
/// because it searches the bundle's folders first. If that library does not open, the libraries beside the manifest are tried (DRV-56a).
///
/// # Errors
/// The system's, in its words for the library that the manifest names.
fn open_path(manifest: &DriverManifest) -> Result<Library, OpenError> {
    let named: &[u8] = &manifest.library_path;
    let opened = Library::open_driver(named);
    #[cfg(vkl_steps_aside)]
    if opened.is_err() && !named.iter().any(|&byte| os::is_separator(byte)) {
        let beside = discovery::bundle::beside(&manifest.path, named, |path| Library::open_driver(path).ok());
        return beside.map_or(opened, Ok);
    }
    opened
}

impl OpenDriver {
    /// Opens the library that a manifest names, and negotiates with it. Messages call it `path`. Records a failure and returns `None`.
    pub(crate) fn open(
        manifest: &DriverManifest,
        path: &Text,
        place: LibraryPlace<'_>,
        journal: &mut Journal<'_>,
    ) -> Option<Self> {
        let source = manifest.source;
        let give_up = |reason: Reason, name: &Text, journal: &mut Journal<'_>| {
            journal.decide(Decision {
                subject: Subject::DriverLibrary,
                name: name.clone(),
                path: manifest.path.clone(),
                verdict: Verdict::Dropped(reason),
                source,
            });
        };
        let library = match place.open(manifest, journal) {
            Ok(library) => library,
            Err(reason) => {
                give_up(reason, path, journal);
                return None;
            }
        };
        let step = Step::Driver(path).begin(b"vk_icdNegotiateLoaderICDInterfaceVersion");
        // SAFETY: a library that a driver manifest names exports driver functions under these names (DRV-75).
        let negotiated = unsafe { Interface::of_library(|name| library.function(name)) };
        step.end_with(|record| record.flag("agreed", negotiated.is_ok()));
        let interface = match negotiated {
            Ok(interface) => interface,
            Err(error) => {
                give_up(refusal(error, &library).into(), path, journal);
                // Tools recognise the refusal by this second line.
                journal.note(
                    LogBits::ERROR | LogBits::DRIVER,
                    format_args!(
                        "loader_icd_scan: Failed loading library associated with ICD JSON {path}. Ignoring this JSON"
                    ),
                );
                return None;
            }
        };
        let path = place.real_name(path, interface.get_instance_proc_addr as *const (), journal);
        warn_about_interface(&path, manifest, &interface, journal);
        journal.keep(|| Decision {
            subject: Subject::DriverLibrary,
            name: RealPath(&path).resolve().into(),
            path: manifest.path.clone(),
            verdict: Verdict::Kept,
            source,
        });
        Some(Self {
            library: Some(library),
            path,
            claimed_version: manifest.api_version,
            interface,
            source,
            known: None,
            closed: None,
        })
    }

    /// Opens the driver of a manifest, and compares it with its catalogue entry.
    #[inline(never)]
    pub(crate) fn open_known(
        manifest: &DriverManifest,
        known: Option<Known>,
        journal: &mut Journal<'_>,
    ) -> Option<Self> {
        let mut driver = Self::open(manifest, &manifest.library_path, LibraryPlace::Path, journal)?;
        driver.known = known;
        Some(driver)
    }

    /// Returns a driver that stays closed.
    pub(crate) fn of_closed(closed: Arc<Closed>) -> Self {
        let manifest = &closed.manifest;
        Self {
            library: None,
            path: manifest.library_path.clone(),
            claimed_version: manifest.api_version,
            interface: Interface::of_closed(),
            source: manifest.source,
            known: Some(closed.known),
            closed: Some(closed),
        }
    }

    /// Returns `true` if its library is open and was not given to an instance.
    pub(crate) fn is_open(&self) -> bool {
        self.library.is_some()
    }

    /// Name of the driver in messages.
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
                // Tools expect this line for any version with this minor number, although it is meant for 1.0 only.
                if version.minor() == 0 {
                    warn("vkEnumerateInstanceVersion returned 1.0, treating as a 1.0 ICD");
                }
                // The result includes the patch number (DRV-90).
                if version.minor() != 0 || version.without_patch() >= ONE_ZERO {
                    return version;
                }
            }
        }
        ONE_ZERO
    }
}

fn refusal(error: NegotiationError, library: &Library) -> DriverLibraryReason {
    match error {
        NegotiationError::Refused(_) => DriverLibraryReason::NegotiationRefused,
        NegotiationError::NoLookup(version) => DriverLibraryReason::NoGetInstanceProcAddr(version),
        NegotiationError::Missing(name) => {
            let text = name.to_str().unwrap_or_default();
            if name == c"vkGetInstanceProcAddr" {
                DriverLibraryReason::NoEntryPoint
            } else if library.function(GET_INSTANCE_PROC_ADDR).is_some() {
                DriverLibraryReason::NoGlobalFunction(text)
            } else {
                DriverLibraryReason::NoExport(text)
            }
        }
    }
}

fn warn_about_interface(path: &Text, manifest: &DriverManifest, interface: &Interface, journal: &Journal<'_>) {
    if interface.version == 0 {
        journal.note(
            LogBits::WARN,
            format_args!(
                "loader_scanned_icd_add: Using deprecated ICD interface of 'vkGetInstanceProcAddr' instead of \
                 'vk_icdGetInstanceProcAddr' for ICD {}",
                RealPath(path)
            ),
        );
    }
    if interface.version <= 4 && manifest.api_version.without_patch() >= ApiVersion::V1_1 {
        journal.note(
            LogBits::WARN,
            format_args!(
                "loader_scanned_icd_add: Driver {} supports Vulkan {}.{}, but only supports loader interface version \
                 {}. Interface version 5 or newer required to support this version of Vulkan (Policy #LDP_DRIVER_7)",
                RealPath(path),
                manifest.api_version.major(),
                manifest.api_version.minor(),
                interface.version
            ),
        );
    }
}
