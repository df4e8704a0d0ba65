//! A connection to a driver service, with one request at a time.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, retry_on_intr};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendFlags, SocketAddrUnix,
    SocketFlags, SocketType, connect, recvmsg, send, socket_with, sockopt,
};
use std::fmt;
use std::io::{self, IoSliceMut, Read};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};
use wire::{HEADER_BYTES, Header, MOST_IN_REPLY, Operation, Packet, PacketError, REPLY_LIMIT};

/// Upper bound on the number of packets of other kinds that are skipped before the reply arrives.
const MOST_OTHERS: usize = 100;
/// Upper bound on the size of a memory file in bytes. The file has the manifests or the state of a service.
const MOST_IN_FILE: u64 = 16 << 20;

/// Reasons why a service did not answer.
#[derive(Debug)]
pub(super) enum Failed {
    /// The socket does not exist, or no process listens on it.
    Nobody(io::Error),
    /// A system call failed. The text names the failed action.
    System(&'static str, io::Error),
    /// No packet arrived within this time limit.
    Silent(Duration),
    /// The service closed the connection.
    Closed,
    /// An invalid packet arrived.
    Packet(PacketError),
    /// The packet that arrived is not a reply to the request.
    Other(&'static str),
    /// The payload of the reply is invalid.
    Payload(String),
}

impl fmt::Display for Failed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nobody(error) => write!(out, "no driver service: {error}"),
            Self::System(step, error) => write!(out, "{step}: {error}"),
            Self::Silent(limit) => write!(out, "the service did not answer within {} s", limit.as_secs()),
            Self::Closed => out.write_str("the service closed the connection without an answer"),
            Self::Packet(error) => write!(
                out,
                "the process that listens there is not a driver service of this version: {error}"
            ),
            Self::Other(what) => write!(out, "the process that listens there is not a driver service: {what}"),
            Self::Payload(what) => write!(out, "the service sent an answer that cannot be read: {what}"),
        }
    }
}

pub(super) struct Reply {
    pub(super) payload: serde_json::Value,
    file: Option<OwnedFd>,
}

impl Reply {
    /// Reads the memory file of the reply as JSON.
    pub(super) fn json(self) -> Result<serde_json::Value, Failed> {
        serde_json::from_slice(&self.file()?).map_err(|error| Failed::Payload(error.to_string()))
    }

    /// Reads the memory file of the reply.
    pub(super) fn file(self) -> Result<Vec<u8>, Failed> {
        let file = self
            .file
            .ok_or(Failed::Other("a file should have come with the reply"))?;
        let mut text = Vec::new();
        let length = rustix::fs::fstat(&file).map_or(0, |status| u64::try_from(status.st_size).unwrap_or(0));
        if length > MOST_IN_FILE {
            return Err(Failed::Payload(format!("a file of {length} bytes")));
        }
        let is_file = rustix::fs::fstat(&file).is_ok_and(|status| {
            rustix::fs::FileType::from_raw_mode(status.st_mode) == rustix::fs::FileType::RegularFile
        });
        if !is_file {
            // Reading another kind of file, for example a pipe or socket, could block.
            return Err(Failed::Other("the attachment of the reply is not a file"));
        }
        // The service may have left the file offset at any position.
        rustix::fs::seek(&file, rustix::fs::SeekFrom::Start(0))
            .map_err(|error| Failed::System("seek", error.into()))?;
        let file = std::fs::File::from(file);
        let read = file.take(MOST_IN_FILE).read_to_end(&mut text);
        read.map_err(|error| Failed::System("read", error))?;
        Ok(text)
    }
}

/// A connection to a service.
pub(super) struct Connection {
    socket: OwnedFd,
    asked: u32,
}

impl Connection {
    pub(super) fn new(path: &Path) -> Result<Self, Failed> {
        let failed = |error: Errno| Failed::System("socket", error.into());
        let socket =
            socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).map_err(failed)?;
        // Limits the time for which `connect` waits while the queue is full of other clients.
        sockopt::set_socket_timeout(&socket, sockopt::Timeout::Send, Some(REPLY_LIMIT)).map_err(failed)?;
        let address = SocketAddrUnix::new(path).map_err(|error| Failed::Nobody(error.into()))?;
        match retry_on_intr(|| connect(&socket, &address)) {
            Ok(()) => Ok(Self { socket, asked: 0 }),
            Err(Errno::AGAIN) => Err(Failed::Silent(REPLY_LIMIT)),
            Err(error) => Err(Failed::Nobody(error.into())),
        }
    }

    /// Sends a request and waits for the reply.
    pub(super) fn ask(&mut self, operation: Operation, payload: &str) -> Result<Reply, Failed> {
        self.asked += 1;
        let header = Header::request(operation, self.asked);
        let length = u32::try_from(payload.len()).map_err(|error| Failed::Payload(error.to_string()))?;
        let packet = [&header.bytes(length)[..], payload.as_bytes()].concat();
        match send(&self.socket, &packet, SendFlags::NOSIGNAL) {
            Ok(_) => {}
            Err(Errno::PIPE | Errno::CONNRESET) => return Err(Failed::Closed),
            Err(error) => return Err(Failed::System("send", error.into())),
        }
        let until = Instant::now() + REPLY_LIMIT;
        for _ in 0..MOST_OTHERS {
            self.wait(until)?;
            if let Some(reply) = self.receive(header.reply())? {
                return Ok(reply);
            }
        }
        Err(Failed::Other("many packets came, and none was the reply"))
    }

    fn wait(&self, until: Instant) -> Result<(), Failed> {
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let left = Timespec::try_from(left).map_err(|error| Failed::System("poll", io::Error::other(error)))?;
            let mut one = [PollFd::new(&self.socket, PollFlags::IN)];
            match poll(&mut one, Some(&left)) {
                Ok(0) => return Err(Failed::Silent(REPLY_LIMIT)),
                Ok(_) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(error) => return Err(Failed::System("poll", error.into())),
            }
        }
    }

    /// Receives one packet; returns `None` if it is not the awaited reply.
    fn receive(&self, awaited: Header) -> Result<Option<Reply>, Failed> {
        let mut bytes = vec![0; HEADER_BYTES + MOST_IN_REPLY];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT;
        let received = match recvmsg(&self.socket, &mut [IoSliceMut::new(&mut bytes)], &mut control, flags) {
            Ok(received) if received.bytes == 0 => return Err(Failed::Closed),
            Ok(received) => received,
            Err(Errno::CONNRESET) => return Err(Failed::Closed),
            Err(Errno::AGAIN | Errno::INTR) => return Ok(None),
            Err(error) => return Err(Failed::System("recvmsg", error.into())),
        };
        // All descriptors are received before any check, so that an error closes them.
        let mut descriptors: Vec<OwnedFd> = Vec::new();
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(more) = message {
                descriptors.extend(more);
            }
        }
        if received.flags.contains(ReturnFlags::TRUNC) {
            return Err(Failed::Other("a packet that is longer than allowed"));
        }
        if received.flags.contains(ReturnFlags::CTRUNC) || descriptors.len() > 1 {
            return Err(Failed::Other("a packet with more than one file"));
        }
        let packet = Packet::read(&bytes[..received.bytes], MOST_IN_REPLY).map_err(Failed::Packet)?;
        if packet.header != awaited {
            return Ok(None);
        }
        let payload = serde_json::from_slice(packet.payload).map_err(|error| Failed::Payload(error.to_string()))?;
        Ok(Some(Reply {
            payload,
            file: descriptors.pop(),
        }))
    }
}
