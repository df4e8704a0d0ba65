//! One request and its answer (LSV-34, LSV-35, LSV-42).

use super::failure::Failure;
use super::reply::{Described, Manifest, described_library, listed_manifests, packet_for, read_reply};
use core::time::Duration;
use discovery::journal::reason::ServiceReason;
use discovery::manifest::json::Document;
use os::memory::{Grow, OutOfMemory};
use os::service::{Connection, Deadline, FileKind, ReceiveError};
use os::{File, since_start};
use promises::limits::MAX_FILE_BYTES;
use rust_alloc::vec::Vec;
use wire::{HEADER_BYTES, Header, MOST_IN_REPLY, MOST_IN_REQUEST, Operation, REPLY_LIMIT};

/// How long all answers to one scan may take together: a service that is just quick enough each time must not hold a program up for
/// minutes.
const PATIENCE: Duration = REPLY_LIMIT.saturating_mul(2);

/// A connection that requests go through, one after the other.
#[derive(Debug)]
pub(super) struct Live {
    connection: Connection,
    /// The process that made it. A copy of that has the same descriptor, and must not use it.
    pub(super) process: u32,
    /// Which connection of the process it is.
    pub(super) number: u32,
    /// The number of the last request.
    request: u32,
    /// How long answers may still take until the manifests are asked for again.
    patience: Duration,
    /// Whether nobody knows any more what comes next.
    pub(super) is_broken: bool,
}

/// An answer: what it says, and the file that came with it.
struct Reply {
    document: Document,
    file: Option<File>,
}

impl Live {
    /// A new connection.
    pub(super) fn new(connection: Connection, process: u32, number: u32) -> Self {
        Self {
            connection,
            process,
            number,
            request: 0,
            patience: Duration::ZERO,
            is_broken: false,
        }
    }

    /// The manifests that the service has, once it knows all its drivers.
    pub(super) fn list(&mut self) -> Result<Vec<Manifest>, Failure> {
        self.patience = PATIENCE;
        let reply = self.ask(Operation::Manifests, wire::MANIFESTS.as_bytes())?;
        let count = reply.document.root().as_object().and_then(|reply| reply.get("count"));
        let file = reply.file.ok_or(ServiceReason::Descriptors("no file"))?;
        if file.kind() != Ok(FileKind::Sealed) {
            return Err(ServiceReason::FileNotTrusted.into());
        }
        listed_manifests(whole(&file)?, count)
    }

    /// The library of a key: what it is said to be, and the file.
    pub(super) fn get(&mut self, key: &[u8]) -> Result<(Described, File), Failure> {
        let reply = self.ask(Operation::Get, &request_for(key)?)?;
        let described = described_library(&reply.document)?;
        let file = reply.file.ok_or(ServiceReason::Descriptors("no file"))?;
        Ok((described, file))
    }

    /// Sends a request and waits for its answer.
    fn ask(&mut self, operation: Operation, payload: &[u8]) -> Result<Reply, Failure> {
        self.is_broken = true;
        self.request = self.request.wrapping_add(1).max(1);
        let asked = Header::request(operation, self.request);
        // Payloads are far shorter than that.
        let length = u32::try_from(payload.len()).unwrap_or(u32::MAX);
        let sent = self.connection.send(&asked.bytes(length), payload);
        // Whatever keeps it from being sent, the connection is of no use.
        sent.map_err(|_| ServiceReason::Lost)?;
        let mut room = Vec::new();
        room.try_exact_room(HEADER_BYTES + MOST_IN_REPLY)?;
        room.resize(HEADER_BYTES + MOST_IN_REPLY, 0);
        let asked_at = since_start();
        let limit = REPLY_LIMIT.min(self.patience);
        let received = self.connection.receive(&mut room, Deadline::after(limit));
        let took = Duration::from_nanos(since_start().saturating_sub(asked_at));
        self.patience = self.patience.saturating_sub(took);
        let received = received.map_err(|error| match error {
            ReceiveError::TimedOut => ServiceReason::TimedOut,
            ReceiveError::Closed | ReceiveError::Failed(_) => ServiceReason::Lost,
            ReceiveError::TooLong => ServiceReason::BadReply("a packet that is too long"),
            ReceiveError::Surplus => {
                // The packet was taken whole.
                self.is_broken = false;
                ServiceReason::Descriptors("more than one file")
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

/// The payload of a request for a library. A key holds any characters but two.
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

/// All bytes of a file that cannot change.
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
