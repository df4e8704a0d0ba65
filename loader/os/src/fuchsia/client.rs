//! Requests to Fuchsia's loader service, their order, and the names of failures (LSV-5, LSV-22, LSV-23).

use super::wire::{self, Message};
use crate::memory::{Grow, copy_or_note};
use crate::raw::Raw;
use crate::sync::{Mutex, SetOnce};
use alloc::vec::Vec;
use core::ffi::{CStr, c_void};
use core::fmt;
use core::ptr::NonNull;

/// A handle of the kernel.
pub(super) type Handle = u32;

/// Result code of the kernel; negative for a failure.
pub(super) type Status = i32;

/// Path of the folder of manifests in the namespace of the process.
pub(super) const MANIFESTS: &CStr = c"/loader-manifests";

/// Path by which drivers name the folder of devices (LSV-23).
const DEVICES: &[u8] = b"/loader-gpu-devices";

/// Upper bound on the number of handles in an answer. The client expects one handle and closes further ones.
const MOST_HANDLES: usize = 4;

/// Code for a path at which nothing exists.
const NOT_FOUND: Status = -25;

/// A library in this process. Libraries are never unloaded (LSV-23).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Opened(pub(super) NonNull<c_void>);

// SAFETY: any thread may use a handle of the system's linker.
unsafe impl Send for Opened {}
// SAFETY: any thread may use a handle of the system's linker.
unsafe impl Sync for Opened {}

/// Functions of the system for the client. A function that gets a handle owns it from then on, unless its documentation says otherwise.
pub(super) trait Kernel {
    /// Connects to the service.
    fn connect(&self) -> Result<Handle, Status>;
    /// Sends a request and waits for its answer. Returns the numbers of bytes and handles in the answer. The service stays open.
    fn call(
        &self,
        service: Handle,
        request: &[u8],
        answer: &mut [u8],
        handles: &mut [Handle],
    ) -> Result<(usize, usize), Status>;
    /// Sends a message with a handle. The service stays open.
    fn send(&self, service: Handle, message: &[u8], handle: Handle) -> Result<(), Status>;
    /// Creates a channel and returns both ends.
    fn channel(&self) -> Result<[Handle; 2], Status>;
    /// Closes a handle.
    fn close(&self, handle: Handle);
    /// Loads the library from memory that the caller continues to own; on failure, returns the system's error text.
    fn map(&self, memory: Handle) -> Result<Opened, Vec<u8>>;
    /// Passes a driver the callback through which the driver opens entries of the namespace. Returns the driver's result; `None` if the
    /// driver takes no callback.
    fn initialize(&self, driver: Opened) -> Option<i32>;
    /// Adds a folder to the namespace.
    fn bind(&self, path: &CStr, folder: Handle) -> Result<(), Status>;
    /// Opens an entry on a channel: the entry at `path` below `folder`, or in the namespace if `folder` is `None`. The folder stays open.
    fn open(&self, folder: Option<Handle>, path: &CStr, channel: Handle) -> Result<(), Status>;
}

/// Reason why the service did not supply a library: the step that failed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// The name is longer than the service allows.
    LongName,
    /// The connection failed.
    NoConnection(Status),
    /// The call failed.
    NoAnswer(Status),
    /// The answer is malformed.
    Malformed,
    /// The service has no library with the requested name.
    NotThere,
    /// The system's linker refused the library with this error text.
    NotMapped(Vec<u8>),
    /// The driver refused the callback, with this result.
    Refused(i32),
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LongName => write!(out, "the loader service takes names of {} bytes", wire::LONGEST_NAME),
            Self::NoConnection(status) => write!(out, "no connection to the loader service (status {status})"),
            Self::NoAnswer(status) => write!(out, "the call of the loader service failed (status {status})"),
            Self::Malformed => out.write_str("the answer of the loader service is malformed"),
            Self::NotThere => out.write_str("the loader service has no such library"),
            Self::NotMapped(words) => write!(out, "the library of the loader service was not mapped: {}", Raw(words)),
            Self::Refused(result) => write!(out, "the driver did not take its namespace (result {result})"),
        }
    }
}

/// A library that the service supplied: the open library, or the result with which the driver refused the callback.
struct SuppliedLibrary {
    name: Vec<u8>,
    outcome: Result<Opened, i32>,
}

/// The only client of a process. Connects once and stays connected, which keeps the names of libraries stable (LSV-5).
pub(super) struct Client<K> {
    kernel: K,
    service: SetOnce<Result<Handle, Status>>,
    devices: SetOnce<Result<Handle, Status>>,
    /// `true` if the folder of manifests is in the namespace; `None` before the first attempt. If two threads try at once, one waits: the
    /// namespace would refuse a second folder at the same path, and that refusal would look like a missing folder.
    has_manifests: Mutex<Option<bool>>,
    libraries: Mutex<Vec<SuppliedLibrary>>,
}

impl<K: Kernel> Client<K> {
    /// Returns a client that has not connected yet.
    pub(super) const fn new(kernel: K) -> Self {
        Self {
            kernel,
            service: SetOnce::new(),
            devices: SetOnce::new(),
            has_manifests: Mutex::new(None),
            libraries: Mutex::new(Vec::new()),
        }
    }

    /// Returns the driver that the service has under a name. The driver gets the callback before any other of its functions runs (LSV-23).
    pub(super) fn driver(&self, name: &[u8]) -> Result<Opened, Failure> {
        self.library(name, |opened| match self.kernel.initialize(opened) {
            Some(result) if result != 0 => Err(result),
            _ => Ok(opened),
        })
    }

    /// Returns the layer that the service has under a name.
    pub(super) fn layer(&self, name: &[u8]) -> Result<Opened, Failure> {
        self.library(name, Ok)
    }

    /// Returns the library called `name`. Requests each library only once, and passes it to `first` at that time.
    fn library(&self, name: &[u8], first: impl FnOnce(Opened) -> Result<Opened, i32>) -> Result<Opened, Failure> {
        let known = {
            let libraries = self.libraries.lock();
            let known = libraries.iter().find(|known| known.name == name);
            known.map(|known| known.outcome)
        };
        let outcome = match known {
            Some(outcome) => outcome,
            None => {
                let outcome = first(self.get(name)?);
                let name = copy_or_note(name);
                self.libraries.lock().push_or_note(SuppliedLibrary { name, outcome });
                outcome
            }
        };
        outcome.map_err(Failure::Refused)
    }

    /// Requests a library and loads it.
    fn get(&self, name: &[u8]) -> Result<Opened, Failure> {
        let request = wire::get(name).ok_or(Failure::LongName)?;
        let service = self.service().map_err(Failure::NoConnection)?;
        let answer = Answer::to(&self.kernel, service, &request).map_err(Failure::NoAnswer)?;
        match wire::library(answer.bytes(), answer.handles().len()) {
            Ok(true) => self.kernel.map(answer.handles()[0]).map_err(Failure::NotMapped),
            Ok(false) => Err(Failure::NotThere),
            Err(wire::Malformed) => Err(Failure::Malformed),
        }
    }

    /// Returns the folder of manifests, if the service has one; the folder is in the namespace from then on.
    pub(super) fn manifests(&self) -> Option<&'static CStr> {
        let mut known = self.has_manifests.lock();
        let has = known.get_or_insert_with(|| {
            let bound = self.folder(wire::CAN_CONNECT_TO_MANIFESTS, wire::connect_to_manifests());
            bound.and_then(|folder| self.kernel.bind(MANIFESTS, folder)).is_ok()
        });
        has.then_some(MANIFESTS)
    }

    /// Opens a path that a driver passed, on a channel: an entry in the namespace of the process, or a device (LSV-23).
    pub(super) fn open_in_namespace(&self, name: &CStr, channel: Handle) -> Result<(), Status> {
        let Some(rest) = name.to_bytes_with_nul().strip_prefix(DEVICES) else {
            return self.kernel.open(None, name, channel);
        };
        // The text below the folder keeps the terminator of the name.
        let below = rest
            .strip_prefix(b"/")
            .and_then(|rest| CStr::from_bytes_with_nul(rest).ok());
        let Some(below) = below.filter(|below| !below.is_empty()) else {
            return self.kernel.open(None, name, channel);
        };
        match self.devices() {
            Ok(devices) => self.kernel.open(Some(devices), below, channel),
            Err(status) => {
                self.kernel.close(channel);
                Err(status)
            }
        }
    }

    /// Returns the folder of devices.
    fn devices(&self) -> Result<Handle, Status> {
        self.once(&self.devices, || {
            self.folder(wire::CAN_CONNECT_TO_DEVICES, wire::connect_to_devices())
        })
    }

    /// Returns the connection to the service.
    fn service(&self) -> Result<Handle, Status> {
        self.once(&self.service, || self.kernel.connect())
    }

    /// Returns the result of the first call of `make`. If two threads call `make` at once, the handle of the later thread
    /// is closed.
    fn once(
        &self,
        place: &SetOnce<Result<Handle, Status>>,
        make: impl FnOnce() -> Result<Handle, Status>,
    ) -> Result<Handle, Status> {
        if let Some(made) = place.get() {
            return *made;
        }
        if let Err(Ok(late)) = place.set(make()) {
            self.kernel.close(late);
        }
        // The value was set above, or earlier by another thread.
        place.get().copied().unwrap_or(Err(NOT_FOUND))
    }

    /// Requests a folder from the service, if the service has the feature.
    fn folder(&self, feature: u64, request: Message) -> Result<Handle, Status> {
        let service = self.service()?;
        let answer = Answer::to(&self.kernel, service, &wire::supported_features())?;
        let features = wire::features(answer.bytes(), answer.handles().len());
        if !features.is_ok_and(|features| features & feature != 0) {
            return Err(NOT_FOUND);
        }
        let [ours, theirs] = self.kernel.channel()?;
        match self.kernel.send(service, request.bytes(), theirs) {
            Ok(()) => Ok(ours),
            Err(status) => {
                self.kernel.close(ours);
                Err(status)
            }
        }
    }
}

/// An answer of the service; dropping the value closes the handles in the answer.
struct Answer<'k, K: Kernel> {
    kernel: &'k K,
    bytes: [u8; wire::LONGEST],
    handles: [Handle; MOST_HANDLES],
    counts: (usize, usize),
}

impl<'k, K: Kernel> Answer<'k, K> {
    /// Sends a request and returns the answer.
    fn to(kernel: &'k K, service: Handle, request: &Message) -> Result<Self, Status> {
        let mut answer = Self {
            kernel,
            bytes: [0; wire::LONGEST],
            handles: [0; MOST_HANDLES],
            counts: (0, 0),
        };
        let counts = kernel.call(service, request.bytes(), &mut answer.bytes, &mut answer.handles)?;
        // Limits the counts to the size of the buffers, in case the system reports more.
        answer.counts = (counts.0.min(answer.bytes.len()), counts.1.min(MOST_HANDLES));
        Ok(answer)
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes[..self.counts.0]
    }

    fn handles(&self) -> &[Handle] {
        &self.handles[..self.counts.1]
    }
}

impl<K: Kernel> Drop for Answer<'_, K> {
    fn drop(&mut self) {
        self.handles().iter().for_each(|&handle| self.kernel.close(handle));
    }
}

#[cfg(test)]
mod tests;
