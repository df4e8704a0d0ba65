//! The service's manifests for a scan, and requests for the libraries of these manifests (LSV-38, LSV-39).

use crate::address::Address;
use crate::failure::Failure;
use crate::library;
use crate::reply::{List, Manifest, Sum};
use crate::session::Session;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use discovery::env::Environment;
use discovery::journal::reason::ServiceReason;
use discovery::journal::{Decision, Journal, Source, Subject, Verdict};
use discovery::text::Text;
use discovery::trace;
use os::memory::{Grow, OutOfMemory, shortage};
use os::service::SharedLibrary;
use os::{File, Mutex, Raw, render, since_start};

/// Prefix of names of the service's manifests and libraries in messages.
const PREFIX: &str = "service:";

/// Time for which scans skip the service after a thread waited without an answer until the time limit. A program makes a few scans when it
/// starts (LSV-42).
const REST: Duration = Duration::from_secs(30);

/// `true` if this process never asks a service.
static IS_OFF: AtomicBool = AtomicBool::new(false);

/// The service of this process.
static PLACE: Mutex<Place> = Mutex::new(Place {
    address: None,
    silent: None,
});

/// Address of a service, and the time at which the service last failed to answer.
struct Place {
    /// The address, after the first look-up.
    address: Option<Address>,
    /// Time at which a thread last waited for the service until the time limit.
    silent: Option<u64>,
}

impl Place {
    /// Returns `true` if scans skip the service at this time.
    fn rests(&self, now: u64) -> bool {
        let silent = self.silent.map(|since| Duration::from_nanos(now.saturating_sub(since)));
        silent.is_some_and(|silent| silent < REST)
    }
}

/// The answer to a request for a library.
pub enum Received {
    /// The library is already open in this process.
    Open(SharedLibrary),
    /// The library must be opened from this file: the file, its checksum, and the files of the libraries that must be opened first.
    File(File, Sum, Vec<(Text, File)>),
}

/// Returns `true` if this process never asks a service.
#[inline]
pub fn is_off() -> bool {
    IS_OFF.load(Ordering::Relaxed)
}

/// Asks the service for its current manifests. Returns `None` if there is no service or no answer (LSV-37, LSV-38). Reports faults to the
/// journal. The session can request the libraries of the manifests until it ends.
///
/// # Errors
/// Memory ran out.
pub fn ask(environment: &Environment<'_>, journal: &mut Journal<'_>) -> Result<Option<(Session, List)>, OutOfMemory> {
    let Some(address) = address(environment)? else {
        return Ok(None);
    };
    let name = address.name();
    let mut session = Session::at(address);
    let asked = if PLACE.lock().rests(since_start()) {
        Err(ServiceReason::TimedOut.into())
    } else {
        Ok(())
    };
    let asked = asked.and_then(|()| session.list());
    if let Err(failure) = &asked {
        note_silence(failure);
    }
    let list = asked.as_ref().ok();
    library::keep_only(list);
    trace::write("searched", |record| {
        record.word("for", "driver");
        record.text("folder", &name);
        Source::Service.describe(record);
        record.number("manifests", list.map_or(0, List::count) as u64);
    });
    match asked {
        Ok(list) => Ok(Some((session, list))),
        Err(failure) => {
            journal.decide(Decision {
                subject: Subject::Service,
                name,
                path: Text::default(),
                verdict: Verdict::Dropped(failure.reason()?.into()),
                source: Source::Service,
            });
            Ok(None)
        }
    }
}

/// Records the current time if a thread waited for the service until the time limit.
fn note_silence(failure: &Failure) {
    if matches!(failure, Failure::Silent) {
        PLACE.lock().silent = Some(since_start());
    }
}

/// Returns the address of the service. The first call looks up the address; the process and its forked copies keep the result.
fn address(environment: &Environment<'_>) -> Result<Option<Address>, OutOfMemory> {
    if let Some(known) = &PLACE.lock().address {
        return known.try_copy().map(Some);
    }
    let found = Address::find(environment)?;
    match &found {
        Some(found) => PLACE.lock().address = Some(found.try_copy()?),
        None => {
            // If memory runs out while a variable is read, the result looks like an empty variable.
            shortage::check()?;
            IS_OFF.store(true, Ordering::Relaxed);
        }
    }
    Ok(found)
}

impl Session {
    /// Returns the library of a published driver by its key: an open library with the same checksum, or else a library that the service
    /// sends (LSV-39, LSV-40).
    ///
    /// # Errors
    /// The reason why there is no library.
    pub fn fetch(&mut self, published: Manifest<'_>, key: &Text) -> Result<Received, ServiceReason> {
        match library::known(published.library.sum) {
            Some(library) => Ok(Received::Open(library)),
            None => self.receive(published, key).map_err(|failure| {
                note_silence(&failure);
                failure.noted()
            }),
        }
    }

    fn receive(&mut self, published: Manifest<'_>, key: &Text) -> Result<Received, Failure> {
        library::fits(published.library)?;
        let mut needs = Vec::new();
        for need in published.needs() {
            if library::is_wanted(&need)? {
                let file = self.get(&Text::try_new(need.key)?, need.library.sum)?;
                needs.try_push((Text::try_new(need.name())?, file))?;
            }
        }
        let sum = *published.library.sum;
        Ok(Received::File(self.get(key, &sum)?, sum, needs))
    }
}

/// Returns the name that messages use for an object of the service.
pub fn named(name: &[u8]) -> Text {
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
            silent: None,
        };
        assert!(!place.rests(0));
        place.silent = Some(5 * second);
        assert!(place.rests(5 * second) && place.rests(34 * second));
        assert!(!place.rests(35 * second));
    }
}
