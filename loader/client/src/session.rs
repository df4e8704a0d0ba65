//! A connection to the service, and requests with their answers (LSV-34, LSV-35, LSV-42).

use super::address::Address;
use super::failure::Failure;
use super::reply::{List, Sum, packet_for, read_reply};
use core::time::Duration;
use discovery::journal::reason::{Fault, Problem};
use discovery::manifest::file::{FileError, contents};
use discovery::manifest::json::Document;
use discovery::text::Text;
use os::service::{Connection, Deadline, FileKind, ReceiveError};
use os::{CancellationOff, File};
use wire::{CONNECT_LIMIT, HEADER_BYTES, Header, MOST_IN_REQUEST, Operation, REPLY_LIMIT, status};

/// Time limit for all answers to the requests of one scan together. Without this limit, a service that answers each request shortly before
/// its time limit could delay a program for minutes.
const PATIENCE: Duration = REPLY_LIMIT.saturating_mul(2);

/// The pause before a client repeats a request for which the service was too busy, in milliseconds. Each further pause is twice as long.
const FIRST_PAUSE: u32 = 4;

/// Upper bound on the pause before a repeated request, in milliseconds.
const LONGEST_PAUSE: u32 = 256;

/// Upper bound on the bytes of an answer to this client. The list is in a file, so answers are short.
const MOST_IN_ANSWER: usize = MOST_IN_REQUEST;

/// The requests of one scan, which are sent one after the other.
pub(crate) struct Session {
    pub address: Address,
    /// The connection; `None` before the first request, and after an answer that was missing or malformed.
    connection: Option<Connection>,
    /// The number of the last request.
    request: u32,
    /// Time until which all answers must arrive.
    deadline: Deadline,
    /// `true` after an answer that missed the time limit: the session waits for no further answer.
    is_silent: bool,
    /// Text of the last failure that had a text.
    pub words: Text,
    /// Delays the cancellation of the thread, so that a cancelled thread leaves no connection open.
    _uncancelled: CancellationOff,
}

/// An answer: its JSON document, and the file that came with it.
struct Reply {
    document: Document,
    file: Option<File>,
}

impl Session {
    /// Returns a session without a connection. The first request makes the connection.
    pub(crate) fn at(address: Address) -> Self {
        Self {
            address,
            connection: None,
            request: 0,
            deadline: Deadline::after(PATIENCE),
            is_silent: false,
            words: Text::default(),
            _uncancelled: CancellationOff::begin(),
        }
    }

    /// Asks for the manifests, which the service sends when it has found all its drivers.
    ///
    /// # Errors
    /// The reason why there is no list; [`Failure::Silent`] if no answer came within the time limit.
    pub(crate) fn list(&mut self) -> Result<List, Failure> {
        let reply = self.ask(Operation::Manifests, [wire::MANIFESTS.as_bytes(), b"", b""])?;
        let file = reply.file.ok_or(Fault::NoFile)?;
        let (FileKind::Sealed, Ok(status)) = (file.kind(), file.status()) else {
            return Err(Fault::FileNotTrusted.into());
        };
        match contents(file, &status) {
            Ok(text) => List::read(text),
            Err(FileError::OutOfMemory) => Err(Failure::OutOfMemory),
            Err(FileError::Unusable(_)) => Err(Problem::Unreadable.into()),
        }
    }

    /// Asks for the library of a key, and returns its file. A running service never changes the library of a key.
    ///
    /// # Errors
    /// The reason why there is no library.
    pub(crate) fn get(&mut self, key: &[u8], sum: &Sum) -> Result<File, Failure> {
        if !wire::is_key(key) {
            return Err(Problem::Key.into());
        }
        let reply = self.ask(Operation::Get, [br#"{"name":""#, key, br#""}"#])?;
        let object = reply.document.root().as_object();
        if object.and_then(|reply| reply.text("sha256")) != Some(sum) {
            return Err(Fault::OtherSum.into());
        }
        let file = reply.file.ok_or(Fault::NoFile)?;
        match file.kind() {
            FileKind::Sealed | FileKind::OfSuperuser => Ok(file),
            FileKind::Untrusted => Err(Fault::FileNotTrusted.into()),
        }
    }

    /// Sends a request and waits for its answer. Repeats a request for which the service was too busy. A service that is full, or was
    /// restarted, ends a connection before it answers; the client then connects again until the time limit for connections.
    fn ask(&mut self, operation: Operation, payload: [&[u8]; 3]) -> Result<Reply, Failure> {
        let until = self.deadline.min(Deadline::after(REPLY_LIMIT));
        // The time limit starts with the first connection that the service ended, because waiting for the answer on that connection may
        // have taken a long time.
        let (mut pause, mut lost) = (FIRST_PAUSE, None);
        loop {
            let answered = self.ask_once(operation, payload, until);
            let waits = match &answered {
                Err(Failure::Because(Fault::Refused)) if self.words == *status::BUSY => until,
                Err(Failure::Because(Fault::Lost)) => {
                    *lost.get_or_insert_with(|| until.min(Deadline::after(CONNECT_LIMIT)))
                }
                _ => return answered,
            };
            if !waits.pause(pause) {
                return answered;
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    fn ask_once(&mut self, operation: Operation, payload: [&[u8]; 3], until: Deadline) -> Result<Reply, Failure> {
        if self.is_silent {
            return Err(Failure::Silent);
        }
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.address.connect()?,
        };
        self.request = self.request.wrapping_add(1);
        let asked = Header::request(operation, self.request);
        // A payload is a constant or has a key, so it is far shorter than `u32::MAX`.
        let length = payload.iter().map(|part| part.len() as u32).sum();
        let [first, second, third] = payload;
        // After a failed send, the connection cannot be used, no matter which error occurred.
        if !connection.send([&asked.bytes(length), first, second, third]) {
            return Err(Fault::Lost.into());
        }
        let mut room = [0; HEADER_BYTES + MOST_IN_ANSWER];
        let received = connection.receive(&mut room, until).map_err(|error| match error {
            ReceiveError::TimedOut => {
                self.is_silent = true;
                Failure::Silent
            }
            ReceiveError::Closed => Fault::Lost.into(),
            ReceiveError::TooLong => Problem::LongPacket.into(),
            ReceiveError::Surplus => Fault::MoreFiles.into(),
        })?;
        let packet = packet_for(&room[..received.length], asked)?;
        self.connection = Some(connection);
        Ok(Reply {
            document: read_reply(packet, &mut self.words)?,
            file: received.file,
        })
    }
}
