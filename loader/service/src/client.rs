//! A client's socket: packets in, packets out, and never a wait (LSV-46).

use crate::drivers::Driver;
use crate::library::{Library, Text};
use crate::limits::{self, Rate};
use crate::package::Class;
use nix::sys::socket::sockopt::PeerCredentials;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvFlags, ReturnFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sockopt,
};
use std::collections::VecDeque;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;
use wire::{HEADER_BYTES, MOST_IN_REQUEST, Packet, PacketError};

/// Bytes of a packet that is too long for a request, so that such a one is noticed.
const BUFFER: usize = HEADER_BYTES + MOST_IN_REQUEST + 1;
/// Bytes that may wait in the socket: a longest reply, and room for what the system adds. The system takes twice as much. What
/// a client has not read holds descriptors, of which there are limits for all clients together.
const SEND_BUFFER: usize = wire::MOST_IN_REPLY + 4096;

/// Who is at the other end, as the system vouches for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    /// The user, as this process sees the number.
    pub user: u32,
    /// The process; none if it is not visible here.
    pub process: Option<i32>,
}

/// What a client can load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It is being found out; until then answers that depend on it are held back.
    Asked,
    /// What its program is, or nothing if that is unknown.
    Known(Option<Class>),
}

/// What comes with a packet. The descriptor is made when the packet is sent.
#[derive(Clone, Debug)]
pub enum Attachment {
    /// Nothing.
    None,
    /// A library.
    Library(Rc<Driver<Library>>),
    /// A text.
    Text(Rc<Text>),
}

impl Attachment {
    fn descriptor(&self) -> io::Result<Option<OwnedFd>> {
        match self {
            Self::None => Ok(None),
            Self::Library(driver) => driver.library.reopened().map(Some),
            Self::Text(text) => text.reopened().map(Some),
        }
    }
}

/// Why a connection ended.
#[derive(Debug)]
pub enum End {
    /// The client closed it, or sent a packet without a byte, which looks the same.
    Closed,
    /// The client closed it and left something unread.
    Reset,
    /// It sent what is no packet (LSV-35).
    Garbage(PacketError),
    /// It reads too slowly.
    Slow,
    /// The system says so.
    Failed(io::Error),
}

/// What came in.
#[derive(Debug)]
pub enum Incoming<'a> {
    /// Nothing more for now.
    Nothing,
    /// A packet.
    Packet(Packet<'a>),
    /// A packet that carries descriptors. It is still there: see [`discard()`].
    WithDescriptors(Packet<'a>),
}

/// Space for a packet.
pub struct Buffer([u8; BUFFER]);

impl Default for Buffer {
    fn default() -> Self {
        Self([0; BUFFER])
    }
}

/// A client.
#[derive(Debug)]
pub struct Client {
    socket: Arc<OwnedFd>,
    /// Who it is.
    pub peer: Peer,
    /// What it can load.
    pub kind: Kind,
    /// Until when `kind` is waited for.
    pub kind_until: Instant,
    /// How much it asked lately.
    pub rate: Rate,
    /// Whether it wants to know of changes.
    pub watches: bool,
    /// Whether another thread takes a packet with descriptors away.
    pub is_discarding: bool,
    queue: VecDeque<(Vec<u8>, Attachment)>,
}

impl Client {
    /// A connection that was accepted.
    ///
    /// # Errors
    /// The system does not say who it is.
    pub fn new(socket: OwnedFd, now: Instant, kind_until: Instant) -> io::Result<Self> {
        let peer = peer(&socket)?;
        sockopt::set_socket_send_buffer_size(&socket, SEND_BUFFER)?;
        Ok(Self {
            socket: Arc::new(socket),
            peer,
            kind: Kind::Asked,
            kind_until,
            rate: Rate::new(now),
            watches: false,
            is_discarding: false,
            queue: VecDeque::new(),
        })
    }

    /// Whether packets wait to be sent.
    pub fn has_queue(&self) -> bool {
        !self.queue.is_empty()
    }

    /// What came in. A packet with descriptors is looked at and left where it is: the last one to close a file may have to wait for
    /// it, a socket that lingers for example, and that must not be this thread.
    ///
    /// # Errors
    /// The connection is over.
    pub fn receive<'a>(&self, buffer: &'a mut Buffer) -> Result<Incoming<'a>, End> {
        // Without space for control data the system hands out no descriptor, and says that there were some.
        let mut control = RecvAncillaryBuffer::default();
        let mut parts = [IoSliceMut::new(&mut buffer.0)];
        let flags = RecvFlags::DONTWAIT | RecvFlags::PEEK;
        let received = match rustix::net::recvmsg(&self.socket, &mut parts, &mut control, flags) {
            Ok(received) => received,
            Err(Errno::AGAIN | Errno::INTR) => return Ok(Incoming::Nothing),
            Err(Errno::CONNRESET | Errno::PIPE) => return Err(End::Reset),
            Err(error) => return Err(End::Failed(error.into())),
        };
        if received.bytes == 0 {
            return Err(End::Closed);
        }
        let packet = Packet::read(&buffer.0[..received.bytes], MOST_IN_REQUEST).map_err(End::Garbage)?;
        if received.flags.contains(ReturnFlags::CTRUNC) {
            return Ok(Incoming::WithDescriptors(packet));
        }
        discard(&self.socket);
        Ok(Incoming::Packet(packet))
    }

    /// The socket, for a thread that may wait to [`discard()`] what carries descriptors, or to close it.
    pub fn socket(&self) -> Arc<OwnedFd> {
        self.socket.clone()
    }

    /// The socket alone, to be closed elsewhere.
    pub fn into_socket(self) -> Arc<OwnedFd> {
        self.socket
    }

    /// Sends a packet, now or when the client has read others.
    ///
    /// # Errors
    /// The connection is over.
    pub fn send(&mut self, bytes: Vec<u8>, attachment: Attachment) -> Result<(), End> {
        self.queue.push_back((bytes, attachment));
        self.flush()?;
        if self.queue.len() > limits::QUEUE {
            Err(End::Slow)
        } else {
            Ok(())
        }
    }

    /// Sends what waits, as far as the client takes it.
    ///
    /// # Errors
    /// The connection is over.
    pub fn flush(&mut self) -> Result<(), End> {
        while let Some((bytes, attachment)) = self.queue.front() {
            match send(self.socket.as_fd(), bytes, attachment) {
                Ok(()) => drop(self.queue.pop_front()),
                Err(error) => match Errno::from_io_error(&error) {
                    Some(Errno::AGAIN) => return Ok(()),
                    Some(Errno::PIPE | Errno::CONNRESET) => return Err(End::Reset),
                    // Too many descriptors are on their way to this user's clients.
                    Some(Errno::TOOMANYREFS) => return Err(End::Slow),
                    _ => return Err(End::Failed(error)),
                },
            }
        }
        Ok(())
    }
}

impl AsFd for Client {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Whether a connection can be closed without waiting: nothing more is received, and no descriptor is in what was.
pub fn is_harmless(socket: &OwnedFd) -> bool {
    // With this each packet says who sent it, so that an empty one is told from the end.
    let prepared = sockopt::set_socket_passcred(socket, true)
        .and_then(|()| rustix::net::shutdown(socket, rustix::net::Shutdown::Read));
    if prepared.is_err() {
        return false;
    }
    loop {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmCredentials(1))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut byte = [0];
        let flags = RecvFlags::DONTWAIT | RecvFlags::PEEK;
        match rustix::net::recvmsg(socket, &mut [IoSliceMut::new(&mut byte)], &mut control, flags) {
            Ok(received) if received.flags.contains(ReturnFlags::CTRUNC) => return false,
            Ok(_) if control.drain().next().is_none() => return true,
            Ok(_) => discard(socket),
            Err(Errno::INTR) => {}
            // An error that the other end left is told once.
            Err(Errno::CONNRESET) => {}
            Err(_) => return false,
        }
    }
}

/// Takes the next packet away, and closes the descriptors in it.
pub fn discard(socket: &OwnedFd) {
    // There is one, or the connection is over, which the next look tells.
    let _ = rustix::io::retry_on_intr(|| rustix::net::recv(socket, &mut [0; 1], RecvFlags::DONTWAIT));
}

fn send(socket: BorrowedFd<'_>, bytes: &[u8], attachment: &Attachment) -> io::Result<()> {
    let descriptor = attachment.descriptor()?;
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

/// Who is at the other end of a connection. A process outside of this one's namespace has the number 0, which is why this does not
/// come from rustix: its type cannot hold that.
fn peer(socket: &OwnedFd) -> io::Result<Peer> {
    let credentials = nix::sys::socket::getsockopt(socket, PeerCredentials)?;
    Ok(Peer {
        user: credentials.uid(),
        process: Some(credentials.pid()).filter(|process| *process > 0),
    })
}
