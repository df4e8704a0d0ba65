//! Opening the library of one driver (DRV-56 to DRV-73).

use super::negotiation::{GET_INSTANCE_PROC_ADDR, Interface, NegotiationError};
use crate::library::{Library, OpenError, RealPath, loaded_path, log_open_error};
use discovery::journal::reason::DriverLibraryReason;
use discovery::journal::{Decision, Journal, LogBits, Reason, Subject, Verdict};
use discovery::manifest::DriverManifest;
use discovery::text::Text;
use discovery::trace::Step;
use discovery::version::ApiVersion;

/// An open library of a driver, after the negotiation.
pub(crate) struct DriverLibrary {
    /// Open library of the driver.
    pub library: Library,
    /// Path of the library as the system reports it, or a substitute name (DRV-242).
    pub path: Text,
    /// Functions that need no instance.
    pub interface: Interface,
}

/// Way in which the loader finds the library that a manifest names.
#[derive(Clone, Copy)]
pub(crate) enum LibraryPlace<'a> {
    /// The manifest contains a path, or a name for which the system searches.
    Path,
    /// The manifest contains a name for messages only. The function opens the library, or returns the reason why the library does not open
    /// (LSV-39).
    Sent(&'a dyn Fn(&Journal<'_>) -> Result<Library, Reason>),
}

impl LibraryPlace<'_> {
    /// Opens the library of the driver.
    fn open(self, manifest: &DriverManifest, journal: &Journal<'_>) -> Result<Library, Reason> {
        match self {
            Self::Path => open_path(manifest).map_err(|error| DriverLibrary::reason_of(error, journal)),
            Self::Sent(open) => open(journal),
        }
    }

    /// Returns the real path of the library, found by the address of one of its functions. A library that a service sent keeps its name.
    fn real_name(self, name: &Text, function: *const (), journal: &Journal<'_>) -> Text {
        match self {
            Self::Path => loaded_path(name, function, journal),
            Self::Sent(_) => name.clone(),
        }
    }
}

/// Opens the library at the path, or with the bare name, in a manifest. In a bundle, the system may find another library for a bare name,
/// because the system searches the bundle's folders first. If that library does not open, tries the libraries beside the manifest
/// (DRV-56a).
///
/// # Errors
/// The system's error text for the library that the manifest names.
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

impl DriverLibrary {
    /// Opens the library that a manifest names, and negotiates with the driver. Messages call the library `path`. Records a failure and
    /// returns `None`.
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
        // SAFETY: a library that a driver manifest names exports functions with the types that the driver interface gives their names
        // (DRV-75).
        let negotiated = unsafe { Interface::of_library(|name| library.function(name)) };
        step.end_with(|record| record.flag("agreed", negotiated.is_ok()));
        let interface = match negotiated {
            Ok(interface) => interface,
            Err(error) => {
                give_up(refusal(error, &library).into(), path, journal);
                // Tools recognise by this second message that the driver was refused.
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
            library,
            path,
            interface,
        })
    }

    /// Logs the system's error text for a library that did not open. Returns the reason for the journal.
    pub(crate) fn reason_of(error: OpenError, journal: &Journal<'_>) -> Reason {
        log_open_error(&error, journal);
        Reason::from(match error {
            OpenError::WrongClass(words) => DriverLibraryReason::WrongArchitecture(words.into()),
            OpenError::Failed(words) => DriverLibraryReason::NotOpened(words.into()),
            OpenError::NotAPath => DriverLibraryReason::NotOpened(Text::default()),
        })
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
