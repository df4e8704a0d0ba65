//! A connection to the service, and requests with their answers (LSV-34, LSV-35, LSV-42).

use crate::address::Address;
use crate::list::List;
use crate::{copied, publication};
use discovery::journal::reason::Fault;
use discovery::manifest::file::{FileError, contents};
use discovery::text::Text;
use os::memory::shortage;
use os::service::{Connection, Patience, Received};
use os::{CancellationOff, File};
use wire::{HEADER_BYTES, Header, Listed, Operation, REPLY_LIMIT, status};

/// The pause before a client repeats a request, in milliseconds. Each further pause is twice as long.
const FIRST_PAUSE: u32 = 4;

/// Upper bound on the pause before a request is repeated, in milliseconds. If connections end before an answer arrives, the client stops
/// repeating the request after this pause.
const LONGEST_PAUSE: u32 = 512;

/// Upper bound on the bytes of an answer to this client. The list is in a file, so answers are short.
const MOST_IN_ANSWER: usize = 512;

/// The requests of one scan, which are sent one after the other.
pub(crate) struct Session {
    pub address: Address,
    /// The connection; `None` before the first request, and after an answer that was missing or malformed.
    connection: Option<Connection>,
    /// Time for which the session still waits for the connection and all answers. With a time limit for each answer, a service that answers
    /// each request shortly before its time limit could delay a program for minutes.
    patience: Patience,
    /// Number of requests that were sent. An answer has the number of its request, so a second answer to one request is not taken for the
    /// answer to the next.
    requests: u32,
    /// Text of the last answer with which the service refused a request.
    pub words: Text,
    /// Delays the cancellation of the thread, so that a cancelled thread leaves no connection open.
    _uncancelled: CancellationOff,
}

impl Session {
    /// Returns a session without a connection. The first request makes the connection.
    pub(crate) fn at(address: Address) -> Self {
        Self {
            address,
            connection: None,
            patience: Patience::of(REPLY_LIMIT),
            requests: 0,
            words: Text::default(),
            _uncancelled: CancellationOff::begin(),
        }
    }

    /// Asks for the list of drivers, which the service sends when it has found all its drivers.
    ///
    /// # Errors
    /// The reason why there is no list.
    pub(crate) fn list(&mut self) -> Result<List, Fault> {
        let file = self.ask(Operation::Manifests, &[wire::MANIFESTS.as_bytes(), b"", b"", b"", b""])?;
        let status = file.status().map_err(|_| Fault::BadReply)?;
        match contents(file, &status) {
            Ok(text) => List::read(text).ok_or(Fault::BadReply),
            Err(error) => {
                // After a lack of memory, the API call fails, and the fault is not reported.
                if error == FileError::OutOfMemory {
                    shortage::note();
                }
                Err(Fault::BadReply)
            }
        }
    }

    /// Asks for a library of the list, and returns its file. If the key now belongs to another library, the service answers that it does
    /// not have the library.
    ///
    /// # Errors
    /// The reason why there is no library.
    pub(crate) fn get(&mut self, library: &Listed<'_>) -> Result<File, Fault> {
        let (name, sum): (&[u8], &[u8]) = (br#"{"name":""#, br#"","sha256":""#);
        self.ask(Operation::Get, &[name, library.key, sum, library.sum, br#""}"#])
    }

    /// Sends a request, and returns the file that comes with the answer. Repeats a request for which the service was too busy. A service
    /// that is full, or was restarted, ends a connection before it answers; the client then connects again for about a second.
    fn ask(&mut self, operation: Operation, payload: &[&[u8]; 5]) -> Result<File, Fault> {
        let mut pause = FIRST_PAUSE;
        loop {
            let answered = self.ask_once(operation, payload);
            let is_repeated = match answered {
                Err(Fault::Refused) => self.words == *status::BUSY,
                // The pauses limit the repetitions, not the elapsed time, because waiting for the answer on a connection that ended may
                // have taken a long time.
                Err(Fault::Lost) => pause <= LONGEST_PAUSE,
                _ => false,
            };
            if !is_repeated {
                return answered;
            }
            if !self.patience.pause(pause) {
                publication::rest();
                return answered;
            }
            pause = (pause * 2).min(LONGEST_PAUSE * 2);
        }
    }

    fn ask_once(&mut self, operation: Operation, payload: &[&[u8]; 5]) -> Result<File, Fault> {
        let connection = match self.connection.take() {
            // An open connection is used even while scans skip the service because another thread waited until its time limit.
            Some(connection) => connection,
            None if publication::rests() => return Err(Fault::TimedOut),
            None => self.address.connect(&mut self.patience)?,
        };
        self.requests += 1;
        let asked = Header::request(operation, self.requests);
        // A payload is a constant or has a key, so it is far shorter than `u32::MAX`.
        let length = payload.iter().map(|part| part.len() as u32).sum();
        let [first, second, third, fourth, fifth] = *payload;
        // After a failed send, the connection cannot be used.
        if !connection.send([&asked.bytes(length), first, second, third, fourth, fifth]) {
            return Err(Fault::Lost);
        }
        let mut room = [0; HEADER_BYTES + MOST_IN_ANSWER];
        let Received { length, file } = match connection.receive(&mut room, &mut self.patience) {
            Ok(received) if received.length > 0 => received,
            Err(error) if error.is_lack_of_time() => {
                publication::rest();
                return Err(Fault::TimedOut);
            }
            _ => return Err(Fault::Lost),
        };
        // The header has the length of the payload, so the comparison fails for a packet that is longer than the buffer.
        let header = asked.reply().bytes(length.saturating_sub(HEADER_BYTES) as u32);
        let answer = room.get(..length).and_then(|answer| answer.strip_prefix(&header[..]));
        let word = answer.and_then(wire::status_of).ok_or(Fault::BadReply)?;
        self.connection = Some(connection);
        if word == status::NOT_FOUND.as_bytes() {
            return Err(Fault::NoLibrary);
        }
        if word == status::WORD_SIZE.as_bytes() {
            return Err(Fault::WordSize);
        }
        if word != status::OK.as_bytes() {
            self.words = copied(word).into();
            return Err(Fault::Refused);
        }
        let file = file.ok_or(Fault::BadReply)?;
        if file.is_trusted() {
            Ok(file)
        } else {
            Err(Fault::FileNotTrusted)
        }
    }
}
