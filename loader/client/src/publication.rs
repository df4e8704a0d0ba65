//! The service's manifests for a scan, and requests for the libraries of these manifests (LSV-38, LSV-39).

use crate::address::Address;
use crate::failure::Failure;
use crate::library;
use crate::reply::{List, Listed, Manifest, Sum};
use crate::session::Session;
use alloc::vec::Vec;
use core::mem::take;
use core::sync::atomic::{AtomicBool, Ordering};
use discovery::env::Environment;
use discovery::journal::reason::{Fault, ServiceReason};
use discovery::journal::{Decision, Journal, Source, Subject, Verdict};
use discovery::manifest::DriverManifest;
use discovery::text::Text;
use discovery::trace;
use os::memory::{Grow, OutOfMemory, copy, shortage};
use os::service::SharedLibrary;
use os::{File, Mutex, OpenError, Raw, render, since_start};

/// Prefix of names of the service's manifests and libraries in messages.
const PREFIX: &str = "service:";

/// Nanoseconds for which scans skip the service after a thread waited for it until the time limit. A program makes a few scans when
/// it starts (LSV-42).
const REST: u64 = 30_000_000_000;

/// `true` if this process never asks a service.
static IS_OFF: AtomicBool = AtomicBool::new(false);

/// Address of the service that this process uses, and the time until which scans skip the service.
static PLACE: Mutex<Place> = Mutex::new(Place {
    address: None,
    rests_until: 0,
});

/// Address of a service, and the time until which scans skip it.
struct Place {
    /// The address, after the first look-up.
    address: Option<Address>,
    /// Time until which scans skip the service, because a thread waited for it until the time limit; zero if no thread has waited that
    /// long.
    rests_until: u64,
}

impl Place {
    /// Notes that a thread waited for the service until the time limit.
    fn rest(&mut self, now: u64) {
        self.rests_until = now.saturating_add(REST);
    }

    /// Returns `true` if scans skip the service at this time.
    fn rests(&self, now: u64) -> bool {
        now < self.rests_until
    }
}

/// The library of a driver that is wanted.
pub struct Sent {
    name: Text,
    library: Result<Received, ServiceReason>,
}

/// The answer to a request for a library.
enum Received {
    /// The library is already open in this process.
    Open(SharedLibrary),
    /// The library must be opened from files: the checksum, and the files with their names. The driver's own file comes last, without a
    /// name, after the libraries that must be opened first.
    Files(Sum, Vec<(Vec<u8>, File)>),
}

impl Sent {
    /// Returns the name of the library for messages.
    pub fn name(&self) -> &Text {
        &self.name
    }

    /// Returns the library if it is already open.
    ///
    /// # Errors
    /// The reason why there is no library.
    pub fn is_open(&self) -> Result<Option<&SharedLibrary>, &ServiceReason> {
        match &self.library {
            Ok(Received::Open(library)) => Ok(Some(library)),
            Ok(Received::Files(..)) => Ok(None),
            Err(reason) => Err(reason),
        }
    }

    /// Opens the library from its files.
    ///
    /// # Errors
    /// The system's error text.
    #[inline(never)]
    pub fn open(&self) -> Result<SharedLibrary, OpenError> {
        let Ok(Received::Files(sum, files)) = &self.library else {
            return Err(OpenError::NotAPath);
        };
        let opened = SharedLibrary::open(files, *sum)?;
        library::keep(opened.clone());
        Ok(opened)
    }
}

/// A function that reads a manifest. The second parameter is the path of the manifest in messages. Returns `None` if the driver is not wanted.
pub type Choose<'c> =
    dyn FnMut(Manifest<'_>, Text, &mut Journal<'_>) -> Result<Option<DriverManifest>, OutOfMemory> + 'c;

/// Returns `true` if this process never asks a service.
#[inline]
pub fn is_off() -> bool {
    IS_OFF.load(Ordering::Relaxed)
}

/// Asks the service for its manifests, and fetches the libraries of the drivers that are wanted. The connection ends before a driver is
/// opened (LSV-42). Reports faults to the journal.
///
/// # Errors
/// Memory ran out.
#[inline(never)]
pub fn deliver(
    environment: &Environment<'_>,
    choose: &mut Choose<'_>,
    journal: &mut Journal<'_>,
) -> Result<Vec<(DriverManifest, Sent)>, OutOfMemory> {
    let mut wanted = Vec::new();
    let Some((mut session, list)) = ask(environment, journal)? else {
        return Ok(wanted);
    };
    for manifest in list.manifests() {
        shortage::check()?;
        if let Some(chosen) = choose(manifest, named(manifest.name), journal)? {
            let sent = Sent {
                name: named(&chosen.library_path),
                library: session.fetch(manifest, &chosen.library_path),
            };
            wanted.try_push((chosen, sent))?;
        }
    }
    Ok(wanted)
}

/// Asks the service for its current manifests. Returns `None` if there is no service or no answer (LSV-37, LSV-38). Reports faults to the
/// journal. The session can request the libraries of the manifests until it ends.
///
/// # Errors
/// Memory ran out.
fn ask(environment: &Environment<'_>, journal: &mut Journal<'_>) -> Result<Option<(Session, List)>, OutOfMemory> {
    let Some((address, rests)) = address(environment)? else {
        return Ok(None);
    };
    let mut session = Session::at(address);
    let asked = if rests {
        Err(Fault::TimedOut.into())
    } else {
        session.list()
    };
    let list = asked.as_ref().ok();
    library::keep_only(list);
    trace::write("searched", |record| {
        record.word("for", "driver");
        record.text("folder", &session.address.path);
        Source::Service.describe(record);
        record.number("manifests", list.map_or(0, List::count) as u64);
    });
    match asked {
        Ok(list) => Ok(Some((session, list))),
        Err(Failure::OutOfMemory) => Err(OutOfMemory),
        Err(failure) => {
            let reason = session.reason(failure);
            journal.decide(Decision {
                subject: Subject::Service,
                name: session.address.path,
                path: Text::default(),
                verdict: Verdict::Dropped(reason.into()),
                source: Source::Service,
            });
            Ok(None)
        }
    }
}

/// Returns the address of the service, and `true` if scans skip the service now. The first call looks up the address; the process and its
/// forked copies keep the result.
fn address(environment: &Environment<'_>) -> Result<Option<(Address, bool)>, OutOfMemory> {
    let mut place = PLACE.lock();
    if place.address.is_none() {
        place.address = Address::find(environment)?;
    }
    let Some(address) = &place.address else {
        // If memory runs out while a variable is read, the result looks like an empty variable.
        shortage::check()?;
        IS_OFF.store(true, Ordering::Relaxed);
        return Ok(None);
    };
    Ok(Some((address.try_copy()?, place.rests(since_start()))))
}

impl Session {
    /// Returns the library of a published driver by its key: an open library with the same checksum, or else a library that the service
    /// sends (LSV-39, LSV-40).
    ///
    /// # Errors
    /// The reason why there is no library.
    fn fetch(&mut self, published: Manifest<'_>, key: &[u8]) -> Result<Received, ServiceReason> {
        match library::known(published.library.sum) {
            Some(library) => Ok(Received::Open(library)),
            None => self.receive(published, key).map_err(|failure| self.reason(failure)),
        }
    }

    fn receive(&mut self, published: Manifest<'_>, key: &[u8]) -> Result<Received, Failure> {
        if !library::fits(published.library) {
            return self.lacks(published.library);
        }
        let mut files = Vec::new();
        for need in published.needs() {
            match library::is_wanted(&need) {
                Some(true) => {
                    let file = self.get(need.key, need.library.sum)?;
                    files.try_push((copy(need.name())?, file))?;
                }
                Some(false) => {}
                None => return self.lacks(need.library),
            }
        }
        let sum = published.library.sum;
        files.try_push((Vec::new(), self.get(key, sum)?))?;
        Ok(Received::Files(*sum, files))
    }

    /// Fails because the C library of this process is too old for a library.
    fn lacks(&mut self, library: Listed<'_>) -> Result<Received, Failure> {
        self.words = Text::try_new(library.c_library())?;
        Err(Fault::OldCLibrary.into())
    }

    /// Returns the reason of a failure. Scans skip the service for a while if a thread waited until the time limit.
    fn reason(&mut self, failure: Failure) -> ServiceReason {
        if failure == Failure::Silent {
            PLACE.lock().rest(since_start());
        }
        failure.reason(take(&mut self.words))
    }
}

/// Returns the name that messages use for an object of the service.
fn named(name: &[u8]) -> Text {
    render(format_args!("{PREFIX}{}", Raw(name))).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lsv_42_a_silent_service_is_not_asked_for_a_while() {
        let second = 1_000_000_000;
        let mut place = Place {
            address: None,
            rests_until: 0,
        };
        assert!(!place.rests(0));
        place.rest(5 * second);
        assert!(place.rests(5 * second) && place.rests(34 * second));
        assert!(!place.rests(35 * second));
    }
}
