//! Driver manifests (DRV-46 to DRV-55).

use super::FormatVersion;
use super::file::{FileError, FileIdentity, read_identified_json};
use super::json::{Document, Object, Value};
use super::library::{Architecture, resolve};
use super::version::api_version;
use crate::journal::reason::{DriverManifestReason, FileReason};
use crate::journal::{Decision, Journal, LogBits, Reason, Source, Subject, Verdict};
use crate::text::Text;
use crate::version::ApiVersion;
use alloc::vec::Vec;
use os::Raw;
use os::memory::OutOfMemory;
use promises::limits::MAX_LIBRARY_PATH;

/// The newest `file_format_version` that this loader knows.
const NEWEST_FORMAT: FormatVersion = FormatVersion::new(1, 0, 1);

/// The content of a driver manifest.
#[derive(Debug, PartialEq, Eq)]
pub struct DriverManifest {
    /// Path of the manifest, in the form that the search assembled.
    pub path: Text,
    /// Origin of the manifest.
    pub source: Source,
    /// Library to open. For a name without a separator, the system searches for the library (DRV-52). In a manifest from a service, the
    /// text is a key of the service instead of a path (LSV-39).
    pub library_path: Text,
    /// The highest API version that the driver supports according to the manifest. The variant is 0.
    pub api_version: ApiVersion,
    /// `true` if the driver's devices are not fully conformant (DRV-98).
    pub is_portability_driver: bool,
    /// Identity of the file, which does not depend on the path (DRV-11).
    pub file: FileIdentity,
}

impl DriverManifest {
    /// Copies the manifest.
    ///
    /// # Errors
    /// Memory ran out.
    pub fn try_copy(&self) -> Result<Self, OutOfMemory> {
        Ok(Self {
            path: Text::try_new(&self.path)?,
            source: self.source,
            library_path: Text::try_new(&self.library_path)?,
            api_version: self.api_version,
            is_portability_driver: self.is_portability_driver,
            file: self.file,
        })
    }
}

/// Result of reading a manifest.
#[derive(Debug, PartialEq, Eq)]
pub enum DriverOutcome {
    /// The manifest describes a usable driver.
    Driver(DriverManifest),
    /// The driver is a portability driver that was not requested. The log reports such a driver if there is no other driver (DRV-99).
    Portability,
    /// The manifest is unusable. The journal has the reason.
    Unusable,
}

/// Reason why a manifest is skipped.
enum Skip {
    Because(DriverManifestReason),
    OutOfMemory,
}

impl From<DriverManifestReason> for Skip {
    fn from(reason: DriverManifestReason) -> Self {
        Self::Because(reason)
    }
}

impl From<OutOfMemory> for Skip {
    fn from(OutOfMemory: OutOfMemory) -> Self {
        Self::OutOfMemory
    }
}

/// Reads one driver manifest, and records faults in the journal. Filters may still exclude the driver. If `with_portability` is `true`,
/// accepts portability drivers.
///
/// A manifest from a service has its text in `published`. Its `library_path` is a key (LSV-39).
///
/// # Errors
/// Memory ran out.
// If the compiler inlined this function into its callers, the shared library would contain the code twice.
#[inline(never)]
pub fn read_driver_manifest(
    path: &Text,
    (source, published): (Source, Option<Vec<u8>>),
    with_portability: bool,
    journal: &mut Journal<'_>,
) -> Result<DriverOutcome, OutOfMemory> {
    let names = if os::kinds::DRIVERS_HAVE_KEYS || published.is_some() {
        LibraryNames::Keys
    } else {
        LibraryNames::Paths
    };
    let read = read_identified_json(path, published, journal.paths());
    understand(read, (path, source, names), with_portability, journal)
}

/// Meaning of library names in manifests.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LibraryNames {
    /// Paths, or names that the system searches.
    Paths,
    /// Keys of a driver service.
    Keys,
}

/// Path of a manifest, origin of the path, and meaning of the library names in the manifest.
type Origin<'a> = (&'a Text, Source, LibraryNames);

fn understand(
    read: Result<(Document, FileIdentity), FileError>,
    origin: Origin<'_>,
    with_portability: bool,
    journal: &mut Journal<'_>,
) -> Result<DriverOutcome, OutOfMemory> {
    let (path, source, _) = origin;
    let reason = match read {
        Ok((document, file)) => match document.root().as_object() {
            Some(root) => match parse(root, file, origin, with_portability, journal) {
                Ok(driver) => return Ok(DriverOutcome::Driver(driver)),
                Err(Skip::Because(reason)) => Reason::from(reason),
                Err(Skip::OutOfMemory) => return Err(OutOfMemory),
            },
            None => FileReason::InvalidJson(None).into(),
        },
        Err(FileError::Unusable(reason)) => reason.into(),
        Err(FileError::OutOfMemory) => return Err(OutOfMemory),
    };
    let outcome = match reason {
        Reason::DriverManifest(DriverManifestReason::Portability) => DriverOutcome::Portability,
        _ => DriverOutcome::Unusable,
    };
    journal.decide(Decision {
        subject: Subject::DriverManifest,
        name: path.clone(),
        path: Text::default(),
        verdict: Verdict::Dropped(reason),
        source,
    });
    Ok(outcome)
}

/// Reads the members of a manifest, in the order of the table in DRV-51.
fn parse(
    root: Object<'_>,
    file: FileIdentity,
    (path, source, names): Origin<'_>,
    with_portability: bool,
    journal: &Journal<'_>,
) -> Result<DriverManifest, Skip> {
    let version = root
        .text("file_format_version")
        .ok_or(DriverManifestReason::NoFormatVersion)?;
    note_format(version, path, journal);
    let icd = root.object("ICD").ok_or_else(|| match root.get("ICD") {
        None if root.get("layer").is_some() || root.get("layers").is_some() => DriverManifestReason::LayerManifest,
        _ => DriverManifestReason::NoIcd,
    })?;
    let library_path = library_path(icd, path, names, journal)?;
    let api_version = icd.text("api_version").ok_or(DriverManifestReason::NoApiVersion)?;
    let api_version = self::api_version(api_version);
    if api_version.variant() != 0 {
        return Err(DriverManifestReason::Variant(api_version.variant()).into());
    }
    let is_portability_driver = icd.get("is_portability_driver").is_some_and(Value::is_true);
    if is_portability_driver && !with_portability {
        return Err(DriverManifestReason::Portability.into());
    }
    if !architecture(icd).is_none_or(Architecture::is_ours) {
        return Err(DriverManifestReason::Architecture.into());
    }
    Ok(DriverManifest {
        path: Text::try_new(path)?,
        source,
        library_path,
        api_version,
        is_portability_driver,
        file,
    })
}

fn note_format(version: &[u8], path: &Text, journal: &Journal<'_>) {
    journal.note(
        LogBits::DRIVER,
        format_args!("Found ICD manifest file {path}, version {}", Raw(version)),
    );
    let version = FormatVersion::parse(version);
    if version > NEWEST_FORMAT {
        journal.note(
            LogBits::INFO | LogBits::DRIVER,
            format_args!(
                "loader_parse_icd_manifest: {path} has unknown icd manifest file version {version}. May cause errors."
            ),
        );
    }
}

fn library_path(icd: Object<'_>, manifest: &Text, names: LibraryNames, journal: &Journal<'_>) -> Result<Text, Skip> {
    let value = icd.get("library_path").and_then(Value::as_raw_text);
    let value = value.ok_or(DriverManifestReason::NoLibraryPath)?;
    if value.is_empty() {
        return Err(DriverManifestReason::EmptyLibraryPath.into());
    }
    journal.note(
        LogBits::DEBUG | LogBits::DRIVER,
        format_args!("Searching for ICD drivers named {}", Raw(value)),
    );
    let resolved = match names {
        LibraryNames::Keys => Text::try_new(value)?,
        LibraryNames::Paths => resolve(manifest, value)?,
    };
    // If a path is truncated or not UTF-8, it could refer to another file than the manifest's author meant.
    let usable = !value.contains(&0) && core::str::from_utf8(value).is_ok() && resolved.len() <= MAX_LIBRARY_PATH;
    if usable {
        Ok(resolved)
    } else {
        Err(DriverManifestReason::UnusableLibraryPath.into())
    }
}

fn architecture(icd: Object<'_>) -> Option<Architecture> {
    match icd.text("library_arch")? {
        b"32" => Some(Architecture::Bits32),
        b"64" => Some(Architecture::Bits64),
        _ => None,
    }
}

#[cfg(all(test, unix))]
#[path = "driver_tests.rs"]
mod tests;
