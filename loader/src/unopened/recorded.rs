//! Drivers that stay closed because their devices are recorded (DRV-280 to DRV-286).
//!
//! This module decides whether a driver may stay closed, and reads the driver's record. [`super::lazy`] creates an instance of a driver
//! that stays closed.

use super::catalogue::Needed;
use super::{BeforeOpening as _, Known, KnownDrivers, catalogue};
use crate::ffi;
use crate::generated::types::VkExtensionProperties;
use ::catalogue::Opening;
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
    /// Logs why a driver must be opened although a policy keeps drivers closed.
    ///
    /// # Errors
    /// There is not enough memory.
    pub(super) fn of(
        manifest: &DriverManifest,
        known: Option<Known>,
        drivers: &KnownDrivers,
        journal: &mut Journal<'_>,
    ) -> Result<Option<Arc<Self>>, OutOfMemory> {
        if !drivers.is_lazy() {
            return Ok(None);
        }
        match (Self::current(manifest, known, drivers), known) {
            (Ok(bytes), Some(known)) => Self::of_bytes(manifest, (known, bytes), drivers, journal).map(Some),
            (Ok(_), None) => Ok(None),
            (Err(needed), _) => {
                // If memory ran out while the record was read, the Vulkan call fails. In this case, the record is not replaced by opening
                // the driver.
                shortage::check()?;
                needed.tell(manifest, journal);
                Ok(None)
            }
        }
    }

    /// Returns the content of the record of a driver.
    ///
    /// # Errors
    /// The reason why the driver must not stay closed.
    fn current(manifest: &DriverManifest, known: Option<Known>, drivers: &KnownDrivers) -> Result<Vec<u8>, Needed> {
        let (path, of_user, sum) = drivers.record_of(manifest, known)?;
        let bytes = read(&path, of_user, sum).map_err(|reason| Needed::of(reason, &path))?;
        let record = Record::again(&bytes).ok_or(Opening::RecordContent)?;
        check(record, &Environment::process())?;
        Ok(bytes)
    }

    #[cold]
    #[inline(never)]
    fn of_bytes(
        manifest: &DriverManifest,
        (known, bytes): (Known, Vec<u8>),
        drivers: &KnownDrivers,
        journal: &mut Journal<'_>,
    ) -> Result<Arc<Self>, OutOfMemory> {
        let mut extensions = Vec::new();
        drivers.extensions(known, None, |one| extensions.try_push(*one))?;
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
        Ok(Arc::new(Self {
            manifest: manifest.try_copy()?,
            known,
            extensions,
            bytes,
        }))
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
        record.is_some_and(|record| check(record, &Environment::process()).is_ok())
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

    /// Checks that the profiles of the driver do not mention this program: by one of its names, or by the name of its process.
    ///
    /// # Errors
    /// The profiles may mention the name, or the name of the process is unknown.
    pub(super) fn check_names(&self, names: [&[u8]; 2]) -> Result<(), Needed> {
        let key = Key::of(DRIVER, Query::Names);
        let record = self.record().ok_or(Opening::Profile)?;
        let (_, lines) = record.find(key).ok_or(Opening::Profile)?;
        let mut room = [0; 4096];
        let executable = file_of(os::running_executable(&mut room).ok_or(Opening::Profile)?);
        let mut line;
        let started = match os::first_argument() {
            Some(started) => started,
            None => {
                line = [0; 4096];
                let arguments = read_line(c"/proc/self/cmdline", &mut line).ok_or(Opening::Profile)?;
                arguments.split(|&byte| byte == 0).next().unwrap_or_default()
            }
        };
        let [application, engine] = names;
        let names = [application, engine, executable, file_of(started)];
        for (place, name) in names.into_iter().enumerate() {
            // Most programs have no name for Vulkan, and were started by the name of their executable.
            let is_new = !name.is_empty() && !names.iter().take(place).any(|earlier| *earlier == name);
            if is_new && ::record::mentions(lines, name) {
                return Err(Needed::of(Opening::Profile, name));
            }
        }
        Ok(())
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
fn read(path: &[u8], of_user: bool, sum: u64) -> Result<Vec<u8>, Opening> {
    let file = with_terminated(path, File::open_itself).map_err(|_| Opening::RecordFile)?;
    let found = file.status().map_err(|_| Opening::RecordFile)?;
    if !found.is_file() {
        return Err(Opening::RecordFile);
    }
    if !found.is_kept(of_user) {
        return Err(Opening::RecordOwner);
    }
    let bytes = contents(file, &found).map_err(|_| Opening::RecordFile)?;
    Record::read(&bytes, sum).ok_or(Opening::RecordContent)?;
    Ok(bytes)
}

/// Checks that the files, the nodes and the memory on which a record depends have not changed, and that no variable is set that only
/// records depend on. `HOME` is unknown to elevated processes, which never use a record.
///
/// # Errors
/// The first change.
fn check(record: Record<'_>, environment: &Environment<'_>) -> Result<(), Needed> {
    let home = environment.get_non_empty(Variable::Home).ok_or(Opening::Home)?;
    if let Some(name) = catalogue::variable_of_records() {
        return Err(Needed::of(Opening::Variable, &name));
    }
    let own_profiles = render(format_args!("{}/.drirc", os::Raw(&home)));
    if os::exists(&own_profiles) {
        return Err(Needed::of(Opening::UserProfiles, &own_profiles));
    }
    for line in record.each(Key::of(DRIVER, Query::File)) {
        let mut parts = line.splitn(2, |&byte| byte == 0);
        let (path, identity) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        if !catalogue::is_same_file(path, identity) {
            return Err(Needed::of(Opening::File, path));
        }
    }
    let mut nodes = record.each(Key::of(DRIVER, Query::Node));
    if let Some(node) = nodes.find(|node| !os::is_accessible(node)) {
        return Err(Needed::of(Opening::Node, node));
    }
    let mut room = [0; LINE];
    let line = read_line(c"/proc/meminfo", &mut room).ok_or(Opening::Memory)?;
    let now = line.split(|&byte| byte == b'\n').next();
    let recorded = record.find(Key::of(DRIVER, Query::Machine)).map(|(_, memory)| memory);
    if now.is_none() || now != recorded {
        return Err(Opening::Memory.into());
    }
    Ok(())
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
