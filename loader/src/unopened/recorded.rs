//! Drivers that stay closed because their devices are recorded (DRV-280 to DRV-286).
//!
//! This module decides whether a driver may stay closed, and reads the driver's record. [`super::lazy`] creates an instance of a driver
//! that stays closed.

use super::{BeforeOpening as _, Known, KnownDrivers, catalogue};
use crate::ffi;
use crate::generated::types::VkExtensionProperties;
use ::record::{DRIVER, Key, Query, Record};
use discovery::env::{Environment, Variable};
use discovery::journal::{Decision, Journal, LogBits, Subject, Verdict};
use discovery::manifest::DriverManifest;
use discovery::manifest::file::contents;
use os::memory::{Grow, OutOfMemory, shortage};
use os::{File, render, with_terminated};
use rust_alloc::sync::Arc;
use rust_alloc::vec::Vec;

/// Upper bound on the number of bytes of the first line of `/proc/meminfo` that are compared.
const LINE: usize = 64;

/// A driver that is not open, with its record.
pub(super) struct Closed {
    /// The manifest, by which the driver is opened later.
    pub manifest: DriverManifest,
    /// Entry of the driver in the driver catalogue.
    pub known: Known,
    /// Instance extensions of the driver itself.
    pub extensions: Vec<VkExtensionProperties>,
    bytes: Vec<u8>,
}

impl Closed {
    /// Returns the driver of a manifest if a policy lets the driver stay closed, and everything on which its record depends is unchanged.
    ///
    /// # Errors
    /// There is not enough memory.
    pub(super) fn of(
        manifest: &DriverManifest,
        known: Known,
        drivers: &KnownDrivers,
        journal: &mut Journal<'_>,
    ) -> Result<Option<Arc<Self>>, OutOfMemory> {
        if !drivers.is_lazy() {
            return Ok(None);
        }
        match drivers
            .record_of(known)
            .and_then(|(path, of_user, sum)| read(&path, of_user, sum))
        {
            Some(bytes) => Self::of_bytes(manifest, (known, bytes), drivers, journal),
            // If memory runs out during the reading of the file, the call fails, and the driver is not opened instead.
            None => shortage::check().map(|()| None),
        }
    }

    #[cold]
    #[inline(never)]
    fn of_bytes(
        manifest: &DriverManifest,
        (known, bytes): (Known, Vec<u8>),
        drivers: &KnownDrivers,
        journal: &mut Journal<'_>,
    ) -> Result<Option<Arc<Self>>, OutOfMemory> {
        let valid = Record::again(&bytes).filter(|record| is_current(*record, &Environment::process()));
        if valid.is_none() {
            return Ok(None);
        }
        let mut extensions = Vec::new();
        drivers.extensions(known, |one| extensions.try_push(*one))?;
        let library = &manifest.library_path;
        journal.note(
            LogBits::INFO | LogBits::DRIVER,
            format_args!("Not opening driver {library} yet: its devices are listed from the record"),
        );
        journal.keep(|| Decision {
            subject: Subject::DriverLibrary,
            name: library.clone(),
            path: manifest.path.clone(),
            verdict: Verdict::Kept,
            source: manifest.source,
        });
        catalogue::trace_record(manifest);
        Ok(Some(Arc::new(Self {
            manifest: manifest.try_copy()?,
            known,
            extensions,
            bytes,
        })))
    }

    /// Returns a driver that is not open, with a record of the content `bytes`, which may be invalid. The library of the driver does not
    /// exist.
    #[cfg(any(test, fuzzing))]
    pub(super) fn of_any(bytes: Vec<u8>) -> Self {
        Self {
            manifest: DriverManifest {
                path: "/nowhere".into(),
                source: discovery::journal::Source::BuildTime,
                library_path: "/nowhere/libvulkan_none.so".into(),
                api_version: discovery::version::ApiVersion::V1_1,
                is_portability_driver: false,
                file: Default::default(),
            },
            known: Known::default(),
            extensions: Vec::new(),
            bytes,
        }
    }

    /// Returns the record.
    pub(super) fn record(&self) -> Option<Record<'_>> {
        Record::again(&self.bytes)
    }

    /// Returns `true` if everything on which the record depends is unchanged.
    #[cfg(fuzzing)]
    pub(super) fn is_current(&self) -> bool {
        let record = self.record();
        record.is_some_and(|record| is_current(record, &Environment::process()))
    }

    /// Returns the number at index `place` of the driver's record: the interface version, the version of Vulkan, or the presence of a
    /// look-up of physical-device functions.
    fn number(&self, place: usize) -> u32 {
        let found = self
            .record()
            .and_then(|record| record.find(Key::of(DRIVER, Query::Versions)));
        found
            .and_then(|(_, numbers)| ::record::number(numbers, place * 4))
            .unwrap_or(0)
    }

    /// Returns the interface version that the driver agreed on.
    pub(super) fn interface(&self) -> u32 {
        self.number(0)
    }

    /// Returns the version of Vulkan that the driver reported.
    pub(super) fn version(&self) -> u32 {
        self.number(1)
    }

    /// Returns `true` if the driver has a look-up of physical-device functions.
    pub(super) fn has_physical_device_look_up(&self) -> bool {
        self.number(2) != 0
    }

    /// Returns `true` if the profiles of a driver may mention this program: by one of its names, or by the name of its process.
    pub(super) fn is_mentioned(&self, names: [&[u8]; 2]) -> bool {
        let key = Key::of(DRIVER, Query::Names);
        let Some((_, lines)) = self.record().and_then(|record| record.find(key)) else {
            return true;
        };
        let mut room = [0; 4096];
        let mut mentioned = names.into_iter().any(|name| ::record::mentions(lines, name));
        match os::running_executable(&mut room) {
            Some(path) => mentioned |= ::record::mentions(lines, file_of(path)),
            None => return true,
        }
        let first = |line: &[u8]| {
            let end = line.iter().position(|&byte| byte == 0).unwrap_or(line.len());
            ::record::mentions(lines, file_of(line.get(..end).unwrap_or_default()))
        };
        mentioned || read_line(c"/proc/self/cmdline", &mut room).is_none_or(first)
    }
}

/// Returns the last component of a path of this system or of Wine.
fn file_of(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| b"/\\".contains(byte)).next().unwrap_or_default()
}

/// Reads the beginning of a file.
fn read_line<'r>(path: &core::ffi::CStr, room: &'r mut [u8]) -> Option<&'r [u8]> {
    let length = File::open(path).ok()?.read(room).ok()?;
    room.get(..length)
}

/// Reads a record. The file must belong to the superuser, or to this user if the catalogue is the user's own.
fn read(path: &[u8], of_user: bool, sum: u64) -> Option<Vec<u8>> {
    let file = with_terminated(path, File::open_itself).ok()?;
    let found = file.status().ok()?;
    if !found.is_file() || !found.is_kept(of_user) {
        return None;
    }
    let bytes = contents(file, &found).ok()?;
    Record::read(&bytes, sum)?;
    Some(bytes)
}

/// Returns `true` if the files, the nodes and the memory on which a record depends have not changed, and no variable is set that only
/// records depend on. `HOME` is unknown to elevated processes, which never use a record.
fn is_current(record: Record<'_>, environment: &Environment<'_>) -> bool {
    let Some(home) = environment.get_non_empty(Variable::Home) else {
        return false;
    };
    let own_profiles = render(format_args!("{}/.drirc", os::Raw(&home)));
    let is_same_file = |line: &[u8]| {
        let mut parts = line.splitn(2, |&byte| byte == 0);
        let (path, identity) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        catalogue::is_same_file(path, identity)
    };
    let mut room = [0; LINE];
    let mut same_memory = || {
        let key = Key::of(DRIVER, Query::Machine);
        let now = read_line(c"/proc/meminfo", &mut room)?
            .split(|&byte| byte == b'\n')
            .next()?;
        Some(record.find(key)?.1 == now)
    };
    catalogue::variables_allow_records()
        && !os::exists(&own_profiles)
        && record.each(Key::of(DRIVER, Query::File)).all(is_same_file)
        && record.each(Key::of(DRIVER, Query::Node)).all(os::is_accessible)
        && same_memory() == Some(true)
}

/// Returns the properties of the extension `name` with the version `version`.
pub(super) fn extension(name: &[u8], version: u32) -> VkExtensionProperties {
    let mut properties = VkExtensionProperties {
        extensionName: [0; 256],
        specVersion: version,
    };
    ffi::set_fixed_text(&mut properties.extensionName, name);
    properties
}
