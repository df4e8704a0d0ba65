//! A connection to the service, and requests with their answers (LSV-34, LSV-35, LSV-42).

use super::address::Address;
use super::failure::Failure;
use super::reply::{Described, Manifest, described_library, listed_manifests, packet_for, read_reply};
use core::time::Duration;
use discovery::journal::reason::ServiceReason;
use discovery::manifest::json::Document;
use os::memory::{Grow, OutOfMemory};
use os::service::{Connection, Deadline, FileKind, ReceiveError};
use os::{CancellationOff, File};
use promises::limits::MAX_FILE_BYTES;
use rust_alloc::vec::Vec;
use wire::{CONNECT_LIMIT, HEADER_BYTES, Header, MOST_IN_REPLY, MOST_IN_REQUEST, Operation, REPLY_LIMIT, status};

/// Time limit for all answers to one scan together. Without it a service that answers each request just in time could delay a program for
/// minutes.
const PATIENCE: Duration = REPLY_LIMIT.saturating_mul(2);

/// The pause before a client repeats a request for which the service was too busy. Each further pause is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(4);

/// Upper bound on the pause between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_millis(256);

/// A connection for one scan, through which requests go one after the other.
pub(super) struct Session {
    connection: Connection,
    /// The number of the last request.
    request: u32,
    /// Time at which all answers must have come.
    deadline: Deadline,
    /// `true` if the next packet may belong to an earlier request, so that the connection cannot be used any longer.
    is_broken: bool,
    /// Delays the cancellation of the thread, so that a cancelled thread leaves no connection open.
    _uncancelled: CancellationOff,
}

/// An answer: its document, and the file that came with it.
struct Reply {
    document: Document,
    file: Option<File>,
}

impl Session {
    /// Connects, and asks for the manifests, which the service sends once it knows all its drivers. A service that is full ends a new
    /// connection before it answers. The client then tries again, for as long as connecting may take.
    ///
    /// # Errors
    /// The reason why there is no list; [`Failure::Silent`] if no answer came in time.
    pub(super) fn begin(address: &Address) -> Result<(Self, Vec<Manifest>), Failure> {
        let uncancelled = CancellationOff::begin();
        let mut pauses = None;
        let mut session = Self {
            connection: address.connect()?,
            request: 0,
            deadline: Deadline::after(PATIENCE),
            is_broken: false,
            _uncancelled: uncancelled,
        };
        loop {
            match session.list() {
                // The time limit starts with the first connection that the service ended, because the answer on that connection may itself
                // have taken long.
                Err(Failure::Because(ServiceReason::Lost))
                    if pauses
                        .get_or_insert_with(|| Pauses::until(session.deadline.min(Deadline::after(CONNECT_LIMIT))))
                        .next() =>
                {
                    session.connection = address.connect()?;
                    session.is_broken = false;
                }
                listed => return listed.map(|list| (session, list)),
            }
        }
    }

    fn list(&mut self) -> Result<Vec<Manifest>, Failure> {
        let reply = self.ask(Operation::Manifests, wire::MANIFESTS.as_bytes())?;
        let count = reply.document.root().as_object().and_then(|reply| reply.get("count"));
        let file = reply.file.ok_or(ServiceReason::Descriptors("no file"))?;
        if file.kind() != Ok(FileKind::Sealed) {
            return Err(ServiceReason::FileNotTrusted.into());
        }
        listed_manifests(whole(&file)?, count)
    }

    /// Asks for the library of a key, and returns its description and file.
    ///
    /// # Errors
    /// The reason why there is no library.
    pub(super) fn get(&mut self, key: &[u8]) -> Result<(Described, File), Failure> {
        let reply = self.ask(Operation::Get, &request_for(key)?)?;
        let described = described_library(&reply.document)?;
        let file = reply.file.ok_or(ServiceReason::Descriptors("no file"))?;
        Ok((described, file))
    }

    /// Sends a request and waits for its answer. Repeats a request if the service was too busy for it.
    fn ask(&mut self, operation: Operation, payload: &[u8]) -> Result<Reply, Failure> {
        let until = self.deadline.min(Deadline::after(REPLY_LIMIT));
        let mut pauses = Pauses::until(until);
        loop {
            match self.ask_once(operation, payload, until) {
                Err(Failure::Because(ServiceReason::Refused(word))) if *word == *status::BUSY.as_bytes() => {
                    if !pauses.next() {
                        return Err(ServiceReason::Refused(word).into());
                    }
                }
                answered => return answered,
            }
        }
    }

    fn ask_once(&mut self, operation: Operation, payload: &[u8], until: Deadline) -> Result<Reply, Failure> {
        if core::mem::replace(&mut self.is_broken, true) {
            return Err(ServiceReason::Lost.into());
        }
        self.request = self.request.wrapping_add(1);
        let asked = Header::request(operation, self.request);
        // Payloads are far shorter than `u32::MAX`.
        let length = u32::try_from(payload.len()).unwrap_or(u32::MAX);
        let sent = self.connection.send(&asked.bytes(length), payload);
        // After a failed send the connection cannot be used, whatever the error.
        sent.map_err(|_| ServiceReason::Lost)?;
        let mut room = Vec::new();
        room.try_exact_room(HEADER_BYTES + MOST_IN_REPLY)?;
        room.resize(HEADER_BYTES + MOST_IN_REPLY, 0);
        let received = self.connection.receive(&mut room, until).map_err(|error| match error {
            ReceiveError::TimedOut => Failure::Silent,
            ReceiveError::Closed | ReceiveError::Failed(_) => ServiceReason::Lost.into(),
            ReceiveError::TooLong => ServiceReason::BadReply("a packet that is too long").into(),
            ReceiveError::Surplus => {
                // The whole answer was received, so the connection can be used again.
                self.is_broken = false;
                ServiceReason::Descriptors("more than one file").into()
            }
        })?;
        let packet = packet_for(&room[..received.length], asked)?;
        self.is_broken = false;
        Ok(Reply {
            document: read_reply(packet)?,
            file: received.file,
        })
    }
}

/// Pauses between attempts, each longer than the one before.
struct Pauses {
    until: Deadline,
    next: Duration,
}

impl Pauses {
    fn until(until: Deadline) -> Self {
        Self {
            until,
            next: FIRST_PAUSE,
        }
    }

    /// Waits for the next pause. Returns `false` if the time is over.
    fn next(&mut self) -> bool {
        let pause = self.next;
        self.next = (pause * 2).min(LONGEST_PAUSE);
        self.until.pause(pause)
    }
}

/// Returns the payload of a request for a library. Escapes the characters of the key that JSON requires.
fn request_for(key: &[u8]) -> Result<Vec<u8>, OutOfMemory> {
    const HEAD: &[u8] = br#"{"name":""#;
    const TAIL: &[u8] = br#""}"#;
    const LONGEST_CHARACTER: usize = br"\u0000".len();
    const { assert!(HEAD.len() + wire::LONGEST_KEY * LONGEST_CHARACTER + TAIL.len() <= MOST_IN_REQUEST) };
    let mut text = Vec::new();
    text.try_exact_room(HEAD.len() + key.len() * LONGEST_CHARACTER + TAIL.len())?;
    text.extend_from_slice(HEAD);
    for &byte in key {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        match byte {
            b'"' | b'\\' => text.extend_from_slice(&[b'\\', byte]),
            0..0x20 => {
                text.extend_from_slice(br"\u00");
                text.extend_from_slice(&[DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
            }
            _ => text.push(byte),
        }
    }
    text.extend_from_slice(TAIL);
    Ok(text)
}

/// Returns all bytes of a file whose content cannot change.
fn whole(file: &File) -> Result<Vec<u8>, Failure> {
    const ODD: ServiceReason = ServiceReason::BadReply("a list that cannot be read");
    let length = file.status().map_err(|_| ODD)?.len();
    let length = match usize::try_from(length) {
        Ok(room) if length <= MAX_FILE_BYTES => room,
        _ => return Err(ServiceReason::BadReply("a list that is too long").into()),
    };
    let mut bytes = Vec::new();
    bytes.try_exact_room(length)?;
    bytes.resize(length, 0);
    let mut read = 0;
    while read < length {
        match file.read_at(&mut bytes[read..], read as u64) {
            Ok(more @ 1..) => read += more,
            Ok(0) | Err(_) => return Err(ODD.into()),
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lsv_34_keys_are_written_as_json() {
        let written = |key: &[u8]| String::from_utf8(request_for(key).unwrap()).unwrap();
        assert_eq!(written(b"0-libvulkan.so"), r#"{"name":"0-libvulkan.so"}"#);
        assert_eq!(
            written("a\"\\\n\u{e4}".as_bytes()),
            "{\"name\":\"a\\\"\\\\\\u000a\u{e4}\"}"
        );
    }
}
