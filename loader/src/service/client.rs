//! The one connection of a process, and the libraries that came through it (LSV-40, LSV-42).
//!
//! A thread that asks takes the connection out of its place for that long, and others wait: no lock is held while the service thinks. A
//! copy of the process sees whose thread took it, and makes a connection of its own.

use super::address::Address;
use super::exchange::Live;
use super::failure::Failure;
use super::library::check;
use super::reply::{Described, Manifest};
use crate::library::{Library, OpenError};
use core::mem::take;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use discovery::env::Environment;
use discovery::journal::reason::ServiceReason;
use discovery::text::Text;
use os::memory::Grow;
use os::service::LibraryFile;
use os::{CancellationOff, Condvar, Guard, Mutex, current_process, since_start};
use rust_alloc::sync::Arc;
use rust_alloc::vec::Vec;

/// Whether this process was found to ask no service.
static IS_OFF: AtomicBool = AtomicBool::new(false);

/// The connection to the driver service, and the libraries that came through it (LSV-42).
static CLIENT: Mutex<Client> = Mutex::new(Client::new());

/// Where threads wait for the connection.
static RETURNED: Condvar = Condvar::new();

/// How long a service that kept a thread waiting in vain is passed over: a program makes a handful of scans when it starts (LSV-42).
const REST: Duration = Duration::from_secs(30);

/// What a process has of the service.
struct Client {
    /// Where it is, once that was looked for.
    address: Option<Address>,
    /// The process that looked for it.
    process: u32,
    /// The connection, while no thread uses it.
    connection: Option<Live>,
    /// The process whose thread uses it; zero while none does.
    user: u32,
    /// The number of the last connection.
    number: u32,
    /// When the service failed last, and why.
    failed: Option<(u64, ServiceReason)>,
    /// When a thread waited in vain last.
    silent: Option<u64>,
    libraries: Vec<Known>,
}

/// A library that came.
struct Known {
    key: Text,
    /// The connection that it came through.
    connection: u32,
    file: Arc<LibraryFile>,
    /// Keeps it in the process.
    _library: Library,
}

/// Why a library did not open.
pub(super) enum Unopened {
    Failed(Failure),
    Refused(OpenError),
}

impl From<Failure> for Unopened {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl Client {
    const fn new() -> Self {
        Self {
            address: None,
            process: 0,
            connection: None,
            user: 0,
            number: 0,
            failed: None,
            silent: None,
            libraries: Vec::new(),
        }
    }

    /// Why the service failed, if it did after a moment.
    fn failed_since(&self, moment: u64) -> Option<&ServiceReason> {
        let failed = self.failed.as_ref();
        failed.filter(|(when, _)| *when >= moment).map(|(_, reason)| reason)
    }

    /// Whether the service is passed over at a moment.
    fn rests(&self, now: u64) -> bool {
        let silent = self.silent.map(|since| Duration::from_nanos(now.saturating_sub(since)));
        silent.is_some_and(|silent| silent < REST)
    }

    /// The file of a library that came through a connection.
    fn known(&self, key: &Text, connection: u32) -> Option<Arc<LibraryFile>> {
        let known = self.libraries.iter();
        let mut known = known.filter(|known| known.connection == connection && known.key == *key);
        known.next().map(|known| known.file.clone())
    }
}

/// Whether this process was found to ask no service.
#[inline]
pub(crate) fn is_off() -> bool {
    IS_OFF.load(Ordering::Relaxed)
}

/// Ends the connection, and closes what came through it as far as nothing uses it.
pub(crate) fn forget() {
    let Some(mut client) = CLIENT.try_lock() else {
        return;
    };
    let forgotten = (
        client.connection.take(),
        client.address.take(),
        take(&mut client.libraries),
    );
    drop(client);
    // Closing a library runs its code.
    drop(forgotten);
}

/// The manifests that the service has now, and the number of the connection that they came through.
type Listed = Result<(Vec<Manifest>, u32), Failure>;

/// What the service has now, and what messages call it. `None` where there is no service.
pub(super) fn list(environment: &Environment<'_>) -> Option<(Text, Listed)> {
    let address = address(environment)?;
    let began = since_start();
    let listed = match Turn::begin(began) {
        Ok(mut turn) => {
            let listed = turn.list(&address);
            let forgotten = turn.end();
            // Closing a library runs its code.
            drop(forgotten);
            listed
        }
        Err(reason) => Err(reason.into()),
    };
    Some((address.name(), listed))
}

/// Where the service is, which is looked for once in a process and its copies.
fn address(environment: &Environment<'_>) -> Option<Address> {
    if let Some(known) = &CLIENT.lock().address {
        return Some(known.clone());
    }
    let found = Address::find(environment);
    let Some(found) = found else {
        IS_OFF.store(true, Ordering::Relaxed);
        return None;
    };
    let mut client = CLIENT.lock();
    client.process = current_process();
    Some(client.address.get_or_insert(found).clone())
}

/// Opens the library of a key, through the connection of this number. Messages call it by `name`.
pub(super) fn library(key: &Text, connection: u32, name: &Text) -> Result<Library, Unopened> {
    if !wire::is_key(key) {
        return Err(Failure::Because(ServiceReason::BadReply("a key that is none")).into());
    }
    let known = CLIENT.lock().known(key, connection);
    if let Some(file) = known {
        return Library::open_file(name, file).map_err(Unopened::Refused);
    }
    let mut turn = Turn::begin(since_start()).map_err(Failure::Because)?;
    let got = turn.get(key, connection);
    drop(turn.end());
    let (described, file) = got?;
    check(&file, &described)?;
    let file = Arc::new(LibraryFile::from(file));
    let open = || Library::open_file(name, file.clone()).map_err(Unopened::Refused);
    let opened = open()?;
    let kept = Known {
        key: key.clone(),
        connection,
        file: file.clone(),
        // The system counts it twice.
        _library: open()?,
    };
    let mut client = CLIENT.lock();
    let surplus = match client.known(key, connection) {
        // Another thread was faster.
        Some(_) => Some(kept),
        None => {
            client.libraries.push_or_note(kept);
            None
        }
    };
    drop(client);
    drop(surplus);
    Ok(opened)
}

/// The time in which one thread has the connection.
struct Turn {
    connection: Option<Live>,
    process: u32,
    /// What the connection was in use for before it was lost.
    forgotten: Vec<Known>,
    _uncancelled: CancellationOff,
}

impl Turn {
    /// Waits until no other thread of this process has the connection, and takes it. Where the service failed meanwhile, that is the
    /// answer: this thread need not find out again.
    fn begin(began: u64) -> Result<Self, ServiceReason> {
        let uncancelled = CancellationOff::begin();
        let process = current_process();
        let mut client = RETURNED.wait_while(CLIENT.lock(), |client| {
            client.user == process && client.failed_since(began).is_none()
        });
        if let Some(reason) = client.failed_since(began) {
            return Err(reason.clone());
        }
        if client.rests(since_start()) {
            return Err(ServiceReason::TimedOut);
        }
        client.user = process;
        let connection = client.connection.take();
        drop(client);
        Ok(Self {
            // A copy of the process closes the descriptor, which ends nothing for the process that made the connection.
            connection: connection.filter(|connection| connection.process == process),
            process,
            forgotten: Vec::new(),
            _uncancelled: uncancelled,
        })
    }

    /// Puts the connection back, and gives what is to be closed.
    fn end(mut self) -> Vec<Known> {
        take(&mut self.forgotten)
    }

    fn client() -> Guard<'static, Client> {
        CLIENT.lock()
    }

    /// Asks for all manifests. A connection that is found to be lost is made anew, once.
    fn list(&mut self, address: &Address) -> Listed {
        let is_old = self.connection.is_some();
        let mut listed = self.ask(address, Live::list);
        if is_old && listed == Err(ServiceReason::Lost.into()) {
            listed = self.ask(address, Live::list);
        }
        if let Err(Failure::Because(reason)) = &listed {
            Self::client().failed = Some((since_start(), reason.clone()));
        }
        let number = self.connection.as_ref().map_or(0, |connection| connection.number);
        Ok((listed?, number))
    }

    /// Asks for a library. Its key is worth nothing to another connection than the one of this number.
    fn get(&mut self, key: &Text, number: u32) -> Result<(Described, os::File), Failure> {
        match &mut self.connection {
            Some(connection) if connection.number == number => {
                let got = connection.get(key);
                self.let_go_if_broken(&got);
                got
            }
            _ => Err(ServiceReason::Lost.into()),
        }
    }

    /// Asks through the connection, which is made if there is none.
    fn ask<T>(
        &mut self,
        address: &Address,
        question: impl FnOnce(&mut Live) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let answered = match &mut self.connection {
            Some(connection) => question(connection),
            none => connect(address, self.process, &mut self.forgotten)
                .map_err(Failure::Because)
                .and_then(|connection| question(none.insert(connection))),
        };
        self.let_go_if_broken(&answered);
        answered
    }

    /// Closes a connection on which nobody knows what comes next, and notes when nothing came. A service that says itself that it needs
    /// more time is not silent.
    fn let_go_if_broken<T>(&mut self, answered: &Result<T, Failure>) {
        self.connection.take_if(|connection| connection.is_broken);
        if self.connection.is_none() && matches!(answered, Err(Failure::Because(ServiceReason::TimedOut))) {
            Self::client().silent = Some(since_start());
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut client = Self::client();
        client.user = 0;
        client.connection = self.connection.take();
        drop(client);
        RETURNED.notify_all();
    }
}

/// A new connection. The keys of the one before are forgotten.
fn connect(address: &Address, process: u32, forgotten: &mut Vec<Known>) -> Result<Live, ServiceReason> {
    if matches!(address, Address::Inherited(_)) && CLIENT.lock().process != process {
        return Err(ServiceReason::NotReached(
            "the connection belongs to the process that this one is a copy of".into(),
        ));
    }
    let connection = address.connect()?;
    let mut client = CLIENT.lock();
    *forgotten = take(&mut client.libraries);
    client.number = client.number.wrapping_add(1).max(1);
    Ok(Live::new(connection, process, client.number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lsv_42_a_silent_service_is_passed_over_for_a_while() {
        let second = 1_000_000_000;
        let mut client = Client::new();
        assert!(!client.rests(0));
        client.silent = Some(5 * second);
        assert!(client.rests(5 * second) && client.rests(34 * second));
        assert!(!client.rests(35 * second));
    }
}
