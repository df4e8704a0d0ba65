//! Clients that send the packets that a test chooses.

use rustix::fd::{AsFd, OwnedFd};
use rustix::io::retry_on_intr;
use rustix::net::sockopt::{self, Timeout};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, SocketAddrUnix, SocketFlags, SocketType,
};
use serde_json::Value;
use std::fs;
use std::io::{self, IoSlice, IoSliceMut, Read};
use std::mem::MaybeUninit;
use std::path::Path;
use std::time::Instant;
use steady::HANG;
use wire::{Header, Listed, Operation, Packet};

/// Connection of a client.
pub(crate) struct Connection {
    /// Socket of the connection.
    pub(crate) socket: OwnedFd,
    next: u32,
}

/// Makes `count` connections as a user. Does not check that the connections stay open.
pub(crate) fn connections(socket: &Path, user: u32, count: usize) -> Vec<Connection> {
    let socket = socket.to_owned();
    let thread = std::thread::spawn(move || {
        let user = rustix::fs::Uid::from_raw(user);
        // The system call changes only the user of this thread, which the system reports to the service.
        rustix::thread::set_thread_res_uid(user, user, user).expect("root may be anybody");
        (0..count)
            .map(|_| Connection::try_new(&socket).expect("the service listens"))
            .collect()
    });
    thread.join().expect("the thread does not fail")
}

/// A packet from the service.
#[derive(Debug)]
pub(crate) struct Reply {
    /// Header of the packet.
    pub(crate) header: Header,
    /// Payload of the packet.
    pub(crate) payload: Value,
    /// The descriptors that came with the packet.
    pub(crate) descriptors: Vec<OwnedFd>,
}

impl Reply {
    /// Returns the value of the member `status`.
    pub(crate) fn status(&self) -> &str {
        self.payload.get("status").and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns the bytes of the only file that came with the packet.
    pub(crate) fn attached(&mut self) -> Vec<u8> {
        assert_eq!(self.descriptors.len(), 1, "{self:?}");
        let mut bytes = Vec::new();
        fs::File::from(self.descriptors.remove(0))
            .read_to_end(&mut bytes)
            .unwrap();
        bytes
    }
}

impl Connection {
    /// Connects to the service.
    pub(crate) fn try_new(path: &Path) -> io::Result<Self> {
        let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        let address = SocketAddrUnix::new(path)?;
        retry_on_intr(|| rustix::net::connect(&socket, &address))?;
        for timeout in [Timeout::Recv, Timeout::Send] {
            sockopt::set_socket_timeout(&socket, timeout, Some(HANG))?;
        }
        Ok(Self { socket, next: 1 })
    }

    /// Sends bytes, together with copies of descriptors.
    pub(crate) fn send_raw(&self, bytes: &[u8], descriptors: &[OwnedFd]) -> io::Result<()> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(8))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        let descriptors: Vec<_> = descriptors.iter().map(AsFd::as_fd).collect();
        if !descriptors.is_empty() {
            assert!(control.push(SendAncillaryMessage::ScmRights(&descriptors)));
        }
        let parts = [IoSlice::new(bytes)];
        retry_on_intr(|| rustix::net::sendmsg(&self.socket, &parts, &mut control, SendFlags::NOSIGNAL))?;
        Ok(())
    }

    /// Returns a packet with a request. The number in its header is the next one of this connection.
    pub(crate) fn packet(&mut self, operation: Operation, payload: &str) -> Vec<u8> {
        let header = Header::request(operation, self.next);
        self.next += 1;
        [&header.bytes(payload.len() as u32)[..], payload.as_bytes()].concat()
    }

    /// Sends a request.
    pub(crate) fn send(&mut self, operation: Operation, payload: &str) {
        let bytes = self.packet(operation, payload);
        self.send_raw(&bytes, &[]).expect("the service takes it");
    }

    /// Returns the next packet, or `None` if the service closed the connection.
    pub(crate) fn receive(&self) -> Option<Reply> {
        let mut bytes = vec![0; wire::HEADER_BYTES + wire::MOST_IN_REPLY + 1];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(8))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut parts = [IoSliceMut::new(&mut bytes)];
        let flags = RecvFlags::CMSG_CLOEXEC;
        let received = retry_on_intr(|| rustix::net::recvmsg(&self.socket, &mut parts, &mut control, flags));
        let received = match received {
            Ok(received) if received.bytes > 0 => received,
            Ok(_) | Err(rustix::io::Errno::CONNRESET) => return None,
            Err(error) => panic!("no answer: {error}"),
        };
        let mut descriptors = Vec::new();
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(rights) = message {
                descriptors.extend(rights);
            }
        }
        let packet = Packet::read(&bytes[..received.bytes], wire::MOST_IN_REPLY).expect("it is a packet");
        assert!(packet.header.is_reply);
        Some(Reply {
            header: packet.header,
            payload: serde_json::from_slice::<Value>(packet.payload).expect("it is JSON"),
            descriptors,
        })
    }

    /// Sends a request and returns the answer.
    pub(crate) fn ask(&mut self, operation: Operation, payload: &str) -> Reply {
        self.send(operation, payload);
        let reply = self.receive().expect("the connection stays");
        assert_eq!(reply.header.operation, operation as u16);
        assert_eq!(reply.header.request, self.next - 1);
        reply
    }

    /// Requests the library with a key and returns the answer.
    pub(crate) fn get(&mut self, key: &str) -> Reply {
        self.ask(Operation::Get, &format!(r#"{{"name":"{key}"}}"#))
    }

    /// Returns the names and texts of the manifests. Repeats the request if the service answers that the time limit is over, which can
    /// happen on a busy machine.
    pub(crate) fn manifests(&mut self, wait_for_idle: bool) -> Vec<(String, String)> {
        let payload = format!(r#"{{"wait_for_idle":{wait_for_idle}}}"#);
        let begin = Instant::now();
        let mut reply = self.ask(Operation::Manifests, &payload);
        while reply.status() == "timeout" && begin.elapsed() < HANG {
            reply = self.ask(Operation::Manifests, &payload);
        }
        let list = reply.attached();
        let mut rest = &list[..];
        let libraries = std::iter::from_fn(|| Listed::take(&mut rest));
        let text = |bytes: &[u8]| String::from_utf8(bytes.into()).unwrap();
        let drivers = libraries.filter(Listed::is_driver);
        let drivers: Vec<_> = drivers
            .map(|driver| (text(driver.key) + ".json", text(driver.manifest)))
            .collect();
        assert!(rest.is_empty() && reply.status() == "ok", "{reply:?}");
        let count = reply.payload.get("count").and_then(Value::as_u64);
        assert_eq!(count, Some(drivers.len() as u64));
        drivers
    }

    /// Returns `true` if no reply has arrived.
    pub(crate) fn waits(&self) -> bool {
        let flags = RecvFlags::PEEK | RecvFlags::DONTWAIT;
        let looked = retry_on_intr(|| rustix::net::recv(&self.socket, &mut [0; 1], flags));
        looked == Err(rustix::io::Errno::AGAIN)
    }

    /// Returns `true` if the service answers on this connection.
    pub(crate) fn is_alive(&mut self) -> bool {
        let bytes = self.packet(Operation::Features, "{}");
        self.send_raw(&bytes, &[]).is_ok() && self.receive().is_some()
    }
}
