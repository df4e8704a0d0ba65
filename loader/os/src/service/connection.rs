//! A connection of packets to a server of this machine.

use crate::system::errno::retried;
use crate::{Errno, File, since_start, with_terminated};
use core::ffi::c_int;
use core::mem::{MaybeUninit, offset_of, zeroed};
use core::time::Duration;

/// Files that may come with a packet and are looked at, if only to be closed. With more the system closes what there is no room for.
const MOST_FILES: usize = 8;
/// Bytes of what comes beside a packet.
const CONTROL_BYTES: usize = 128;

/// A moment until which something may last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deadline(u64);

impl Deadline {
    /// So long from now on.
    pub fn after(limit: Duration) -> Self {
        let limit = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
        Self(since_start().saturating_add(limit))
    }

    /// Returns the rest of the time limit, which may be zero.
    fn left(self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(since_start()))
    }

    /// Waits for a while, or until the deadline. Returns `false` if that is over.
    pub fn pause(self, limit: Duration) -> bool {
        let milliseconds = milliseconds(self.left().min(limit));
        // SAFETY: no structures, so the call only waits. A signal makes it shorter, which does no harm.
        unsafe { libc::poll(core::ptr::null_mut(), 0, milliseconds) };
        !self.left().is_zero()
    }
}

/// A duration as calls that wait take it, rounded up, so that none is shorter than the clock can tell.
fn milliseconds(limit: Duration) -> c_int {
    c_int::try_from(limit.as_micros().div_ceil(1000)).unwrap_or(c_int::MAX)
}

/// A connection. Programs that this one starts do not get it.
///
/// Dropping it ends it for the server as well, even if a copy of the process has the descriptor too.
#[derive(Debug)]
pub struct Connection(File);

impl Drop for Connection {
    fn drop(&mut self) {
        // SAFETY: the call takes numbers only.
        unsafe { libc::shutdown(self.0.0, libc::SHUT_RDWR) };
    }
}

/// The content of one packet.
#[derive(Debug)]
pub struct Received {
    /// Bytes of the packet; no packet is empty.
    pub length: usize,
    /// The file that came with it.
    pub file: Option<File>,
}

/// The reason why no packet was received. Files that came with a faulty packet are closed.
#[derive(Debug, PartialEq, Eq)]
pub enum ReceiveError {
    /// No packet came before the time limit.
    TimedOut,
    /// The server ended the connection.
    Closed,
    /// The packet was longer than the room for it.
    TooLong,
    /// More than one file came, or something that is no file.
    Surplus,
    /// The system's.
    Failed(Errno),
}

impl Errno {
    /// Returns `true` if the time limit passed before the connection was made.
    pub fn is_lack_of_time(self) -> bool {
        matches!(self.0, libc::EAGAIN | libc::EINTR)
    }
}

impl Connection {
    /// Connects to the server whose socket lies at a path, and waits no longer than `limit` for it.
    ///
    /// # Errors
    /// The system's; that it would have to wait where the time was not enough.
    pub fn to(path: &[u8], limit: Duration) -> Result<Self, Errno> {
        with_terminated(path, |path| Self::to_terminated(path.to_bytes_with_nul(), limit))
    }

    fn to_terminated(path: &[u8], limit: Duration) -> Result<Self, Errno> {
        const FOLDERS: usize = offset_of!(libc::sockaddr_un, sun_path);
        // SAFETY: a structure of numbers, for all of which zero is a value.
        let mut address: libc::sockaddr_un = unsafe { zeroed() };
        address.sun_family = libc::AF_UNIX as libc::sa_family_t;
        if path.len() > address.sun_path.len() {
            return Err(Errno(libc::ENAMETOOLONG));
        }
        for (place, &byte) in address.sun_path.iter_mut().zip(path) {
            *place = byte.cast_signed() as core::ffi::c_char;
        }
        let length = (FOLDERS + path.len()) as libc::socklen_t;
        // SAFETY: makes a descriptor.
        let made = retried(|| unsafe { libc::socket(libc::AF_UNIX, libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC, 0) })?;
        let connection = Self(File(made));
        let deadline = Deadline::after(limit);
        loop {
            // A server that takes no connection lets others wait for as long as they may take to send.
            connection.limit_sending(deadline.left().max(Duration::from_millis(1)))?;
            // SAFETY: an address of this length.
            let connected = unsafe { libc::connect(made, (&raw const address).cast(), length) };
            let error = match connected {
                0 => return Ok(connection),
                _ => Errno::last(),
            };
            // Signals may come one after the other.
            if !error.is_interruption() || deadline.left().is_zero() {
                return Err(error);
            }
        }
    }

    /// The user who listens there.
    ///
    /// # Errors
    /// The system's.
    pub fn peer(&self) -> Result<u32, Errno> {
        self.option::<libc::ucred>(libc::SO_PEERCRED).map(|peer| peer.uid)
    }

    /// Sends a packet made of two parts, without ever waiting: a server that does not read is none. No signal comes of it.
    ///
    /// # Errors
    /// The system's.
    pub fn send(&self, header: &[u8], payload: &[u8]) -> Result<(), Errno> {
        let mut parts = [header, payload].map(|part| libc::iovec {
            iov_base: part.as_ptr().cast_mut().cast(),
            iov_len: part.len(),
        });
        // SAFETY: a structure of numbers and pointers that may be null.
        let mut message: libc::msghdr = unsafe { zeroed() };
        message.msg_iov = parts.as_mut_ptr();
        message.msg_iovlen = parts.len() as _;
        loop {
            // SAFETY: a message of two parts that are readable, which is all that sending does with them.
            let sent = unsafe { libc::sendmsg(self.0.0, &message, libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT) };
            // Packets are sent whole or not at all.
            if sent >= 0 {
                return Ok(());
            }
            let error = Errno::last();
            if !error.is_interruption() {
                return Err(error);
            }
        }
    }

    /// Waits for a packet, which is written to `room`, and takes the one file that may come with it.
    ///
    /// # Errors
    /// Why there is none.
    pub fn receive(&self, room: &mut [u8], deadline: Deadline) -> Result<Received, ReceiveError> {
        loop {
            self.wait(deadline)?;
            match self.take(room) {
                Err(ReceiveError::Failed(Errno(libc::EAGAIN | libc::EINTR))) => {}
                taken => return taken,
            }
        }
    }

    /// Waits until there is something to receive.
    fn wait(&self, deadline: Deadline) -> Result<(), ReceiveError> {
        loop {
            let mut waited = libc::pollfd {
                fd: self.0.0,
                events: libc::POLLIN,
                revents: 0,
            };
            // SAFETY: one structure, which is writable.
            match unsafe { libc::poll(&mut waited, 1, milliseconds(deadline.left())) } {
                0 => return Err(ReceiveError::TimedOut),
                1.. => return Ok(()),
                _ if Errno::last().is_interruption() => {}
                _ => return Err(ReceiveError::Failed(Errno::last())),
            }
        }
    }

    /// Takes the packet that is there.
    fn take(&self, room: &mut [u8]) -> Result<Received, ReceiveError> {
        #[repr(C, align(8))]
        struct Control([MaybeUninit<u8>; CONTROL_BYTES]);
        let mut control = Control([MaybeUninit::uninit(); CONTROL_BYTES]);
        let mut part = libc::iovec {
            iov_base: room.as_mut_ptr().cast(),
            iov_len: room.len(),
        };
        // SAFETY: a structure of numbers and pointers that may be null.
        let mut message: libc::msghdr = unsafe { zeroed() };
        message.msg_iov = &mut part;
        message.msg_iovlen = 1;
        message.msg_control = control.0.as_mut_ptr().cast();
        message.msg_controllen = CONTROL_BYTES as _;
        // SAFETY: writable memory of these lengths, which no slice lets exceed what the call takes.
        let length = unsafe { libc::recvmsg(self.0.0, &mut message, libc::MSG_DONTWAIT | libc::MSG_CMSG_CLOEXEC) };
        let Ok(length) = usize::try_from(length) else {
            return Err(match Errno::last() {
                Errno(libc::ECONNRESET) => ReceiveError::Closed,
                error => ReceiveError::Failed(error),
            });
        };
        // SAFETY: the call above filled the message.
        let (mut files, mut is_odd) = unsafe { files_of(&message) };
        is_odd |= message.msg_flags & libc::MSG_CTRUNC != 0 || files.iter().skip(1).any(Option::is_some);
        match length {
            _ if is_odd => Err(ReceiveError::Surplus),
            0 => Err(ReceiveError::Closed),
            _ if message.msg_flags & libc::MSG_TRUNC != 0 => Err(ReceiveError::TooLong),
            _ => Ok(Received {
                length: length.min(room.len()),
                file: files[0].take(),
            }),
        }
    }

    /// Limits the time of each call that sends or connects.
    fn limit_sending(&self, limit: Duration) -> Result<(), Errno> {
        let limit = libc::timeval {
            tv_sec: limit.as_secs() as _,
            tv_usec: limit.subsec_micros() as _,
        };
        let (level, option) = (libc::SOL_SOCKET, libc::SO_SNDTIMEO);
        let size = size_of::<libc::timeval>() as libc::socklen_t;
        // SAFETY: a structure of this size, which is only read.
        retried(|| unsafe { libc::setsockopt(self.0.0, level, option, (&raw const limit).cast(), size) }).map(drop)
    }

    /// Returns an option of the socket, which is a structure of numbers.
    fn option<T: Copy>(&self, option: c_int) -> Result<T, Errno> {
        let mut value = MaybeUninit::<T>::zeroed();
        let mut size = size_of::<T>() as libc::socklen_t;
        let room = value.as_mut_ptr().cast();
        // SAFETY: writable memory of this size.
        retried(|| unsafe { libc::getsockopt(self.0.0, libc::SOL_SOCKET, option, room, &mut size) })?;
        // SAFETY: numbers, which the call wrote or which are zero.
        Ok(unsafe { value.assume_init() })
    }
}

/// The files that came with a packet, and whether something else did, or more than there is room for, which is closed.
///
/// # Safety
/// The message was filled by a successful call of `recvmsg`.
unsafe fn files_of(message: &libc::msghdr) -> ([Option<File>; MOST_FILES], bool) {
    let mut files = [const { None }; MOST_FILES];
    let (mut count, mut is_odd) = (0, false);
    // SAFETY: by this function's contract.
    let mut header = unsafe { libc::CMSG_FIRSTHDR(message) };
    while !header.is_null() {
        // SAFETY: one that the system wrote.
        let found = unsafe { &*header };
        if (found.cmsg_level, found.cmsg_type) == (libc::SOL_SOCKET, libc::SCM_RIGHTS) {
            // SAFETY: a plain number.
            let ahead = unsafe { libc::CMSG_LEN(0) } as usize;
            // SAFETY: the data lies behind the header.
            let data: *const c_int = unsafe { libc::CMSG_DATA(header) }.cast();
            for index in 0..(found.cmsg_len as usize).saturating_sub(ahead) / size_of::<c_int>() {
                // SAFETY: within the data; it need not be aligned. Each is a descriptor that nobody else has.
                let file = File(unsafe { data.add(index).read_unaligned() });
                match files.get_mut(count) {
                    Some(place) => *place = Some(file),
                    None => is_odd = true,
                }
                count += 1;
            }
        } else {
            is_odd = true;
        }
        // SAFETY: as above, behind one that the system wrote.
        header = unsafe { libc::CMSG_NXTHDR(message, header) };
    }
    (files, is_odd)
}
