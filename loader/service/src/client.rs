//! The socket of a client: receives and sends packets without blocking (LSV-46).

use crate::accounts::{Account, Accounts};
use crate::drivers::Handed;
use crate::library::Library;
use crate::memory::{self, Group, Text};
use crate::protocol::Reply;
use nix::sched::CloneFlags;
use nix::sys::socket::sockopt::PeerCredentials;
use nix::sys::socket::{MsgFlags, UnixCredentials};
use rustix::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvFlags, ReturnFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sockopt,
};
use std::ffi::c_int;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::rc::Rc;
use std::sync::mpsc::sync_channel;
use std::time::Instant;
use tracing::{info, warn};
use wire::{HEADER_BYTES, Header, MOST_IN_REQUEST, Packet, PacketError, status};

/// Size of the buffer for a request: one byte more than the longest request, so that the service can detect a longer one.
const BUFFER: usize = HEADER_BYTES + MOST_IN_REQUEST + 1;
/// Requested size of the socket's buffer for replies. The system doubles the size, which is enough for the longest reply.
const SEND_BUFFER: usize = wire::MOST_IN_REPLY / 2 + 4096;
/// Size of the stack of a thread that closes a connection.
const CLOSING_STACK: usize = 128 << 10;

/// The attachment of a packet. The descriptor of the attachment is created when the packet is sent.
#[derive(Clone, Debug)]
pub enum Attachment {
    /// There is no attachment.
    None,
    /// The attachment is a library.
    Library(Rc<Handed<Library>>),
    /// The attachment is a text that the service sends to several clients.
    Shared(Rc<Text>),
    /// The attachment is a text that the service sends only to this client.
    Text(Vec<u8>),
}

impl Attachment {
    fn descriptor(&self, group: Group) -> io::Result<Option<OwnedFd>> {
        match self {
            Self::None => Ok(None),
            Self::Library(handed) => handed.library.for_client(group).map(Some),
            Self::Shared(text) => text.for_client(group).map(Some),
            Self::Text(text) => memory::text_file(text).map(Some),
        }
    }
}

/// The reason why a connection ended.
#[derive(Debug)]
pub enum End {
    /// The client closed the connection, perhaps before it had read all replies. An empty packet from the client looks the same to the
    /// service.
    Closed,
    /// The client sent a malformed packet (LSV-59), or a packet of another version, which the service answered (LSV-35).
    Garbage(PacketError),
    /// The client sent descriptors (LSV-61).
    Descriptors,
    /// The service closed the connection to accept a new connection.
    Displaced,
    /// A system call failed with this error.
    Failed(io::Error),
}

/// Buffer for one packet.
pub struct Buffer([u8; BUFFER]);

impl Default for Buffer {
    fn default() -> Self {
        Self([0; BUFFER])
    }
}

/// A connected client.
#[derive(Debug)]
pub struct Client {
    socket: OwnedFd,
    /// User ID of the client in the namespace of this process.
    pub user: u32,
    /// The account whose limits apply to the client.
    pub account: Account,
    /// ID of the process that connected, in the namespace of this process; 0 for a process outside of it.
    pub process: i32,
    /// Time of the client's last packet.
    pub heard: Instant,
    /// The condition for the service's next step.
    pub waits: Waits,
}

/// The condition for the next step in the exchange with a client. A request stays in the socket until the service sends its answer, so a
/// client has at most one request whose answer is pending, and at most one unread answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waits {
    /// The client must send a request.
    ForRequest,
    /// The client's user must not exceed the rate of requests.
    ForRate,
    /// The service must find out the answer, at the latest at this time.
    ForAnswer(Instant),
    /// The client must read the last answer. A client that never reads thus keeps the descriptor of only one answer on its way.
    ForReading,
    /// The service has shut the connection down, and the client must read the answer or close its end. A descriptor on its way to a client
    /// counts against the descriptor limit of this process until then, even if the service closes its end.
    ForEnd,
}

impl Client {
    /// Creates a client from an accepted connection.
    ///
    /// # Errors
    /// Returns the socket, and the error that the system reported for the query of the client's user.
    pub fn new(socket: OwnedFd, accounts: &Accounts, now: Instant) -> Result<Self, (OwnedFd, io::Error)> {
        // A process outside of this PID namespace has the process ID 0, which `UCred` of rustix cannot represent.
        let peer = nix::sys::socket::getsockopt(&socket, PeerCredentials).map_err(io::Error::from);
        let prepared = sockopt::set_socket_send_buffer_size(&socket, SEND_BUFFER).map_err(io::Error::from);
        let account = peer.and_then(|peer| Ok((peer, accounts.of(peer.uid(), &socket)?)));
        match account.and_then(|peer| prepared.map(|()| peer)) {
            Ok((peer, account)) => Ok(Self {
                account,
                socket,
                user: peer.uid(),
                process: peer.pid(),
                heard: now,
                waits: Waits::ForRequest,
            }),
            Err(error) => Err((socket, error)),
        }
    }

    /// Returns the next packet without removing it, or `None` if no packet has arrived. The packet stays in the socket, because closing a
    /// descriptor in the packet can take a long time. Another reason is that the service postpones its answer to a client that exceeds a
    /// limit.
    ///
    /// # Errors
    /// Returns the reason why the connection is over.
    pub fn peek<'a>(&self, buffer: &'a mut Buffer) -> Result<Option<Result<Packet<'a>, PacketError>>, End> {
        // The call provides no space for control data. Therefore, the system passes no descriptor, but reports that the packet contained
        // one.
        let mut control = RecvAncillaryBuffer::default();
        let mut parts = [IoSliceMut::new(&mut buffer.0)];
        let flags = RecvFlags::DONTWAIT | RecvFlags::PEEK;
        let received = match rustix::net::recvmsg(&self.socket, &mut parts, &mut control, flags) {
            Ok(received) => received,
            Err(Errno::AGAIN | Errno::INTR) => return Ok(None),
            Err(Errno::CONNRESET | Errno::PIPE) => return Err(End::Closed),
            Err(error) => return Err(End::Failed(error.into())),
        };
        if received.flags.contains(ReturnFlags::CTRUNC) {
            return Err(End::Descriptors);
        }
        if received.bytes == 0 {
            return Err(End::Closed);
        }
        Ok(Some(Packet::read(&buffer.0[..received.bytes], MOST_IN_REQUEST)))
    }

    /// Removes the packet that [`peek`](Self::peek) returned, which must not contain a descriptor.
    pub fn take(&self) {
        discard(&self.socket);
    }

    /// Returns `true` if the client has not read its last reply. After a client has closed its end, no reply is unread.
    #[allow(unsafe_code, reason = "no library has a safe function for this")]
    pub fn has_unread(&self) -> bool {
        let mut bytes: c_int = 0;
        // SAFETY: `TIOCOUTQ` writes one integer through the third argument. The argument points to an integer that outlives the call. The
        // client owns the descriptor, so it is open.
        let result = unsafe { libc::ioctl(self.socket.as_raw_fd(), libc::TIOCOUTQ, &raw mut bytes) };
        // If the system does not support the query, all replies count as read, because the service would otherwise keep every closed
        // connection for ever. The system reports that the connection has room before it subtracts the last byte of a packet, so a single
        // byte counts as read. Each packet counts for hundreds of bytes.
        result == 0 && bytes > 1
    }

    /// Shuts the connection down in both directions. Returns `true` if the service must wait for the client ([`Waits::ForEnd`]).
    pub fn shut_down(&mut self) -> bool {
        let is_over = rustix::net::shutdown(&self.socket, rustix::net::Shutdown::Both).is_ok();
        self.waits = Waits::ForEnd;
        is_over && self.has_unread()
    }

    /// Sends the answer to a packet.
    ///
    /// # Errors
    /// Returns the reason why the connection is over.
    pub fn send(&self, asked: Header, reply: &Reply, attachment: &Attachment) -> Result<(), End> {
        let sent = send(
            self.socket.as_fd(),
            &reply.packet(asked),
            attachment.descriptor(Group::of(self.user, self.account.is_elsewhere)),
        );
        sent.or_else(|error| match (Errno::from_io_error(&error), attachment) {
            (Some(Errno::PIPE | Errno::CONNRESET), _) => Err(End::Closed),
            (_, Attachment::None) => Err(End::Failed(error)),
            _ => {
                info!("a client is asked to wait: {error}");
                self.send(asked, &Reply::status(status::BUSY), &Attachment::None)
            }
        })
    }
}

impl From<Client> for OwnedFd {
    fn from(client: Client) -> Self {
        client.socket
    }
}

impl AsFd for Client {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Closes connections without waiting for descriptors that the clients sent. Returns the connections, with the accounts of their users, if no
/// thread can be started, or if the thread cannot copy the descriptors.
///
/// A packet may contain descriptors. Closing the last copy of a descriptor can take hours, for example for a TCP socket with `SO_LINGER`.
/// The system does not linger when a thread ends. Therefore, this function starts a thread with its own copies of all open descriptors, and
/// closes `sockets` first. After that, the copies in the thread are the last ones, and the system closes those copies when the thread ends.
#[must_use]
pub fn close(sockets: Vec<(Account, OwnedFd)>) -> Vec<(Account, OwnedFd)> {
    if sockets.is_empty() {
        return sockets;
    }
    let (copied, has_copied) = sync_channel(0);
    let (until_closed, closing) = sync_channel::<()>(0);
    let thread = std::thread::Builder::new()
        .name("closing".to_owned())
        .stack_size(CLOSING_STACK);
    let started = thread.spawn(move || {
        let _ = copied.send(copy_descriptors());
        // This call returns when the calling thread drops `until_closed`, after it has closed its descriptors.
        let _ = closing.recv();
    });
    let ready = started.and_then(|_| has_copied.recv().map_err(io::Error::other)?);
    let left = match ready {
        Ok(()) => {
            drop(sockets);
            Vec::new()
        }
        Err(error) => {
            warn!("connections stay open for now, as no thread can close them: {error}");
            sockets
        }
    };
    drop(until_closed);
    left
}

/// Gives the calling thread its own copies of all open descriptors. Many containers forbid `unshare`, and systems before Linux 5.9 have no
/// `close_range`.
#[allow(unsafe_code, reason = "no library has a safe function for this")]
fn copy_descriptors() -> io::Result<()> {
    // SAFETY: the call takes numbers only. It would close the descriptor of this number, which no descriptor can have.
    let result = unsafe { libc::syscall(libc::SYS_close_range, u32::MAX, u32::MAX, libc::CLOSE_RANGE_UNSHARE) };
    if result == 0 {
        return Ok(());
    }
    Ok(nix::sched::unshare(CloneFlags::CLONE_FILES)?)
}

/// Returns `true` if a connection can be closed without waiting. The condition is that no unread packet has descriptors and no further
/// packet can arrive.
pub fn is_harmless(socket: &OwnedFd) -> bool {
    // With `SO_PASSCRED`, each packet has the credentials of its sender, even an empty packet. Therefore, a message without credentials
    // means the end of the connection.
    let prepared = sockopt::set_socket_passcred(socket, true)
        .and_then(|()| rustix::net::shutdown(socket, rustix::net::Shutdown::Both));
    if prepared.is_err() {
        return false;
    }
    loop {
        // The credentials of a process outside of this PID namespace have the process ID 0, which the types of rustix cannot represent.
        let mut space = nix::cmsg_space!(UnixCredentials);
        let mut byte = [0];
        let mut parts = [IoSliceMut::new(&mut byte)];
        let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_PEEK;
        match nix::sys::socket::recvmsg::<()>(socket.as_raw_fd(), &mut parts, Some(&mut space), flags) {
            Ok(received) => match received.cmsgs().map(|mut messages| messages.next()) {
                Ok(None) => return true,
                Ok(Some(_)) => discard(socket),
                // Besides the credentials, the packet has further control data, for example descriptors, for which the buffer has no space.
                Err(_) => return false,
            },
            // The socket reports `ECONNRESET` only once, so the next attempt can succeed.
            Err(nix::Error::EINTR | nix::Error::ECONNRESET) => {}
            Err(_) => return false,
        }
    }
}

/// Removes the next packet from the socket.
fn discard(socket: &OwnedFd) {
    // If there is no packet, the connection has ended, and the next call of `peek` reports the end.
    let _ = rustix::io::retry_on_intr(|| rustix::net::recv(socket, &mut [0; 1], RecvFlags::DONTWAIT));
}

fn send(socket: BorrowedFd<'_>, bytes: &[u8], descriptor: io::Result<Option<OwnedFd>>) -> io::Result<()> {
    let descriptor = descriptor?;
    let descriptors: Vec<_> = descriptor.iter().map(AsFd::as_fd).collect();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() && !control.push(SendAncillaryMessage::ScmRights(&descriptors)) {
        return Err(io::Error::other("there is no room for a descriptor"));
    }
    let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
    rustix::io::retry_on_intr(|| rustix::net::sendmsg(socket, &[IoSlice::new(bytes)], &mut control, flags))?;
    Ok(())
}
