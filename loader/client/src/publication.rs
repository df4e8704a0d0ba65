//! The drivers of the service for a scan, and requests for their libraries (LSV-38, LSV-39).

use crate::address::Address;
use crate::copied;
use crate::library;
use crate::list::{Libraries, Sum};
use crate::session::Session;
use alloc::boxed::Box;
use core::mem::take;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use discovery::env::Environment;
use discovery::journal::reason::{Fault, ServiceReason};
use discovery::journal::{Decision, Journal, Source, Subject, Verdict};
use discovery::manifest::DriverManifest;
use discovery::search::{ManifestKind, Place, trace_searched};
use discovery::text::Text;
use discovery::trace;
use os::memory::{OutOfMemory, shortage};
use os::service::{SentFile, SharedLibrary};
use os::{OpenError, Raw, render, since_start};
use wire::Listed;

/// Prefix of names of the service's manifests and libraries in messages.
pub const PREFIX: &str = "service:";

/// Nanoseconds in a second.
const SECOND: u64 = 1_000_000_000;

/// Seconds for which scans skip the service after a thread waited for the service until the time limit. Without this pause, each of the few
/// scans of a starting program could wait until the time limit (LSV-42).
const REST: u32 = 30;

/// `true` if this process never asks a service.
static IS_OFF: AtomicBool = AtomicBool::new(false);

/// `true` after a scan found the address of a service.
static WAS_FOUND: AtomicBool = AtomicBool::new(false);

/// Time, in seconds since the process started, until which scans skip the service; zero if no thread has waited for the service until the
/// time limit.
static RESTS_UNTIL: AtomicU32 = AtomicU32::new(0);

/// A driver that the scan uses, and the driver's library.
pub struct Sent {
    manifest: DriverManifest,
    /// The name by which messages refer to the library.
    name: Text,
    sum: Sum,
    /// The library, if it is already open in this process.
    opened: Option<SharedLibrary>,
    /// The files from which the library is opened.
    files: Option<Box<SentFile>>,
    /// The drivers after this one.
    next: Option<Box<Sent>>,
}

impl Sent {
    /// Returns the manifest of the driver.
    pub fn manifest(&self) -> &DriverManifest {
        &self.manifest
    }

    /// Returns the name by which messages refer to the library.
    pub fn name(&self) -> &Text {
        &self.name
    }

    /// Removes the drivers after this one, and returns them.
    pub fn take_next(&mut self) -> Option<Box<Self>> {
        self.next.take()
    }

    /// Returns the library if it is already open.
    pub fn opened(&self) -> Option<&SharedLibrary> {
        self.opened.as_ref()
    }

    /// Opens the library from its files.
    ///
    /// # Errors
    /// The system's error text.
    #[inline(never)]
    pub fn open(&self) -> Result<SharedLibrary, OpenError> {
        let opened = SharedLibrary::open(self.files.as_deref(), self.sum)?;
        library::keep(opened.clone());
        Ok(opened)
    }
}

/// A function that reads the text of a manifest. The second parameter is the name of the manifest in messages, which begins with
/// [`PREFIX`]. Returns `None` if the driver is not wanted.
pub type Choose<'c> = dyn FnMut(&[u8], &Text, &mut Journal<'_>) -> Result<Option<DriverManifest>, OutOfMemory> + 'c;

/// Returns `true` if this process never asks a service.
#[inline]
pub fn is_off() -> bool {
    IS_OFF.load(Ordering::Relaxed)
}

/// Asks the service for its list, and fetches the libraries of the drivers that are wanted. The connection ends before a driver is opened
/// (LSV-42). Reports faults to the journal. Returns the first driver.
///
/// # Errors
/// Memory ran out.
#[inline(never)]
pub fn deliver(
    environment: &Environment<'_>,
    choose: &mut Choose<'_>,
    journal: &mut Journal<'_>,
) -> Result<Option<Box<Sent>>, OutOfMemory> {
    let mut first = None;
    let Some(address) = Address::find(environment, WAS_FOUND.load(Ordering::Relaxed))? else {
        IS_OFF.store(true, Ordering::Relaxed);
        return Ok(first);
    };
    if !address.is_named {
        WAS_FOUND.store(true, Ordering::Relaxed);
    }
    let mut session = Session::at(address);
    let listed = session.list();
    library::keep_only(listed.as_ref().ok());
    if trace::is_on() {
        let place = Place {
            path: &session.address.path,
            source: Source::Service,
        };
        let drivers = listed.as_ref().map_or(0, |list| list.drivers);
        trace_searched(ManifestKind::Driver, &place, drivers, None);
    }
    let list = match listed {
        Ok(list) => list,
        Err(fault) => {
            let name = take(&mut session.address.path);
            session.leave_out(Subject::Service, name, Text::default(), fault, journal)?;
            return Ok(first);
        }
    };
    let mut last = &mut first;
    let mut libraries = list.libraries();
    let mut needs = libraries;
    while let Some(library) = libraries.next() {
        if !library.is_driver() {
            continue;
        }
        let path = named(library.key, ".json");
        if let Some(manifest) = choose(library.manifest, &path, journal)? {
            let mut sent = Box::new(Sent {
                manifest,
                name: named(library.key, ""),
                sum: *library.sum,
                opened: library::known(library.sum),
                files: None,
                next: None,
            });
            match session.fetch(&library, needs, &mut sent) {
                Ok(()) => last = &mut last.insert(sent).next,
                Err(fault) => session.leave_out(Subject::DriverLibrary, take(&mut sent.name), path, fault, journal)?,
            }
        }
        needs = libraries;
    }
    Ok(first)
}

/// Returns the time in seconds since the process started.
fn seconds() -> u32 {
    // The seconds of more than a hundred years fit in 32 bits.
    (since_start() / SECOND) as u32
}

/// Returns `true` if scans skip the service at this time.
pub(crate) fn rests() -> bool {
    seconds() < RESTS_UNTIL.load(Ordering::Relaxed)
}

/// Makes scans skip the service for [`REST`] seconds, because a thread waited for the service until the time limit.
#[cold]
pub(crate) fn rest() {
    RESTS_UNTIL.store(seconds() + REST, Ordering::Relaxed);
}

impl Session {
    /// Receives the files for a driver, unless its library is open (LSV-39, LSV-40). `needs` begins with the libraries that the driver
    /// needs.
    ///
    /// # Errors
    /// The reason why there is no library.
    fn fetch(&mut self, driver: &Listed<'_>, needs: Libraries<'_>, sent: &mut Sent) -> Result<(), Fault> {
        if sent.opened.is_some() {
            return Ok(());
        }
        if !library::fits(driver) {
            return Err(self.lacks(driver));
        }
        let mut last = &mut sent.files;
        for need in needs.take_while(|library| !library.is_driver()) {
            match library::is_wanted(&need) {
                Some(true) => last = self.receive(&need, need.name(), last)?,
                Some(false) => {}
                None => return Err(self.lacks(&need)),
            }
        }
        self.receive(driver, b"", last).map(drop)
    }

    /// Receives the file of a library from the service, and stores it in `place`, the empty end of a linked list. Returns the new end of
    /// the list.
    #[inline(never)]
    fn receive<'p>(
        &mut self,
        library: &Listed<'_>,
        name: &[u8],
        place: &'p mut Option<Box<SentFile>>,
    ) -> Result<&'p mut Option<Box<SentFile>>, Fault> {
        let file = self.get(library)?;
        let sent = SentFile {
            name: copied(name),
            file,
            next: None,
        };
        Ok(&mut place.insert(Box::new(sent)).next)
    }

    /// Returns the fault of a library that needs a newer C library than this process has.
    fn lacks(&mut self, library: &Listed<'_>) -> Fault {
        self.words = copied(library.c_library).into();
        Fault::OldCLibrary
    }

    /// Reports that the service, or one of its drivers, is not used.
    ///
    /// # Errors
    /// Memory ran out.
    #[cold]
    #[inline(never)]
    fn leave_out(
        &mut self,
        subject: Subject,
        name: Text,
        path: Text,
        fault: Fault,
        journal: &mut Journal<'_>,
    ) -> Result<(), OutOfMemory> {
        shortage::check()?;
        let words = take(&mut self.words);
        journal.decide(Decision {
            subject,
            name,
            path,
            verdict: Verdict::Dropped(ServiceReason { fault, words }.into()),
            source: Source::Service,
        });
        Ok(())
    }
}

/// Returns the name that messages use for the service's library or manifest with this key.
#[inline(never)]
fn named(key: &[u8], suffix: &str) -> Text {
    render(format_args!("{PREFIX}{}{suffix}", Raw(key))).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lsv_42_a_silent_service_is_not_asked_for_a_while() {
        assert!(!rests());
        rest();
        assert!(rests());
        RESTS_UNTIL.store(seconds(), Ordering::Relaxed);
        assert!(!rests());
    }
}
