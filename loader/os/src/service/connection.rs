//! A connection to a server on this machine, over which both ends send packets.

use crate::system::errno::retried;
use crate::{Errno, File, since_start, with_terminated};
use core::ffi::c_int;
use core::mem::{MaybeUninit, offset_of, zeroed};
use core::time::Duration;

/// Upper bound on the files that are received with a packet. The system closes further files itself.
const MOST_FILES: usize = 8;
/// Size of the buffer for the control data of a packet, such as descriptors.
const CONTROL_BYTES: usize = 128;

/// A point in time at which an operation must be complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deadline(u64);

impl Deadline {
    /// Returns the deadline that is `limit` from now.
    pub fn after(limit: Duration) -> Self {
        let limit = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
        Self(since_start().saturating_add(limit))
    }

    /// Returns the rest of the time limit, which may be zero.
    fn left(self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(since_start()))
    }

    /// Waits for `limit`, or until the deadline if that is earlier. Returns `false` if the deadline has passed.
    pub fn pause(self, limit: Duration) -> bool {
        let milliseconds = milliseconds(self.left().min(limit));
        // SAFETY: a count of 0 needs no array, so the call only waits. A signal can end it early, which does no harm.
        unsafe { libc::poll(core::ptr::null_mut(), 0, milliseconds) };
        !self.left().is_zero()
    }
}

/// Returns a duration in milliseconds for system calls that wait. Rounds up, so that a short wait does not become zero.
fn milliseconds(limit: Duration) -> c_int {
    let rest = u64::from(limit.subsec_nanos().div_ceil(1_000_000));
    c_int::try_from(limit.as_secs().saturating_mul(1000).saturating_add(rest)).unwrap_or(c_int::MAX)
}

/// A connection. Programs that this process starts do not inherit it.
///
/// Dropping the value ends the connection for the server as well, even if a forked copy of the process still has the descriptor.
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
    /// Number of bytes in the packet, never zero.
    pub length: usize,
    /// The file that came with the packet.
    pub file: Option<File>,
}

/// The reason why no packet was received. Files that came with a faulty packet are closed.
#[derive(Debug, PartialEq, Eq)]
pub enum ReceiveError {
    /// No packet came before the time limit.
    TimedOut,
    /// The server ended the connection.
    Closed,
    /// The packet was longer than the buffer.
    TooLong,
    /// The packet had more than one file, or control data other than files.
    Surplus,
    /// The system reported an error.
    Failed(Errno),
}

impl Errno {
    /// Returns `true` if the time limit passed before the connection was made.
    pub fn is_lack_of_time(self) -> bool {
        matches!(self.0, libc::EAGAIN | libc::EINTR)
    }
}

impl Connection {
    /// Connects to the server whose socket is at a path, and waits for at most `limit`.
    ///
    /// # Errors
    /// The error of the system. If the time limit passed, `is_lack_of_time` returns `true` for the error.
    pub fn to(path: &[u8], limit: Duration) -> Result<Self, Errno> {
        with_terminated(path, |path| Self::to_terminated(path.to_bytes_with_nul(), limit))
    }

    fn to_terminated(path: &[u8], limit: Duration) -> Result<Self, Errno> {
        const FOLDERS: usize = offset_of!(libc::sockaddr_un, sun_path);
        // SAFETY: all fields of the structure are numbers, for which zero is valid.
        let mut address: libc::sockaddr_un = unsafe { zeroed() };
        address.sun_family = libc::AF_UNIX as libc::sa_family_t;
        if path.len() > address.sun_path.len() {
            return Err(Errno(libc::ENAMETOOLONG));
        }
        for (place, &byte) in address.sun_path.iter_mut().zip(path) {
            *place = byte.cast_signed() as core::ffi::c_char;
        }
        let length = (FOLDERS + path.len()) as libc::socklen_t;
        // SAFETY: `socket` takes numbers only, and returns a new descriptor, which this function owns.
        let made = retried(|| unsafe { libc::socket(libc::AF_UNIX, libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC, 0) })?;
        let connection = Self(File(made));
        let deadline = Deadline::after(limit);
        loop {
            // While a server accepts no connection, `connect` waits for at most the time that the socket allows for sending.
            connection.limit_sending(deadline.left().max(Duration::from_millis(1)))?;
            // SAFETY: `address` is a valid address, of which `length` bytes are used.
            let connected = unsafe { libc::connect(made, (&raw const address).cast(), length) };
            let error = match connected {
                0 => return Ok(connection),
                _ => Errno::last(),
            };
            // Several signals may interrupt the call in a row.
            if !error.is_interruption() || deadline.left().is_zero() {
                return Err(error);
            }
        }
    }

    /// Returns the number of the user whose process listens on the socket.
    ///
    /// # Errors
    /// The error of the system.
    pub fn peer(&self) -> Result<u32, Errno> {
        self.option::<libc::ucred>(libc::SO_PEERCRED).map(|peer| peer.uid)
    }

    /// Sends a packet that consists of two parts. Never waits and never causes a signal: if the server does not read, the call fails.
    ///
    /// # Errors
    /// The error of the system.
    pub fn send(&self, header: &[u8], payload: &[u8]) -> Result<(), Errno> {
        let mut parts = [header, payload].map(|part| libc::iovec {
            iov_base: part.as_ptr().cast_mut().cast(),
            iov_len: part.len(),
        });
        // SAFETY: all fields are numbers, or pointers that may be null, so zero is valid.
        let mut message: libc::msghdr = unsafe { zeroed() };
        message.msg_iov = parts.as_mut_ptr();
        message.msg_iovlen = parts.len() as _;
        loop {
            // SAFETY: the message has two readable parts, and `sendmsg` only reads them.
            let sent = unsafe { libc::sendmsg(self.0.0, &message, libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT) };
            // The system sends a packet whole or not at all.
            if sent >= 0 {
                return Ok(());
            }
            let error = Errno::last();
            if !error.is_interruption() {
                return Err(error);
            }
        }
    }

    /// Waits for a packet and writes it to `room`. Also receives the file that may come with the packet.
    ///
    /// # Errors
    /// The reason why no packet was received.
    pub fn receive(&self, room: &mut [u8], deadline: Deadline) -> Result<Received, ReceiveError> {
        loop {
            self.wait(deadline)?;
            match self.take(room) {
                Err(ReceiveError::Failed(Errno(libc::EAGAIN | libc::EINTR))) => {}
                taken => return taken,
            }
        }
    }

    /// Waits until a packet can be received.
    fn wait(&self, deadline: Deadline) -> Result<(), ReceiveError> {
        loop {
            let mut waited = libc::pollfd {
                fd: self.0.0,
                events: libc::POLLIN,
                revents: 0,
            };
            // SAFETY: `waited` is one writable structure, and the count is 1.
            match unsafe { libc::poll(&mut waited, 1, milliseconds(deadline.left())) } {
                0 => return Err(ReceiveError::TimedOut),
                1.. => return Ok(()),
                _ if Errno::last().is_interruption() => {}
                _ => return Err(ReceiveError::Failed(Errno::last())),
            }
        }
    }

    /// Receives the next packet without waiting.
    fn take(&self, room: &mut [u8]) -> Result<Received, ReceiveError> {
        #[repr(C, align(8))]
        struct Control([MaybeUninit<u8>; CONTROL_BYTES]);
        let mut control = Control([MaybeUninit::uninit(); CONTROL_BYTES]);
        let mut part = libc::iovec {
            iov_base: room.as_mut_ptr().cast(),
            iov_len: room.len(),
        };
        // SAFETY: all fields are numbers, or pointers that may be null, so zero is valid.
        let mut message: libc::msghdr = unsafe { zeroed() };
        message.msg_iov = &mut part;
        message.msg_iovlen = 1;
        message.msg_control = control.0.as_mut_ptr().cast();
        message.msg_controllen = CONTROL_BYTES as _;
        // SAFETY: the buffers are writable and have these lengths. No slice is longer than the call can take.
        let length = unsafe { libc::recvmsg(self.0.0, &mut message, libc::MSG_DONTWAIT | libc::MSG_CMSG_CLOEXEC) };
        let Ok(length) = usize::try_from(length) else {
            return Err(match Errno::last() {
                Errno(libc::ECONNRESET) => ReceiveError::Closed,
                error => ReceiveError::Failed(error),
            });
        };
        // SAFETY: the call above succeeded, so it filled the message.
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

    /// Limits the time for which each call that sends or connects waits.
    fn limit_sending(&self, limit: Duration) -> Result<(), Errno> {
        let limit = libc::timeval {
            tv_sec: limit.as_secs() as _,
            tv_usec: limit.subsec_micros() as _,
        };
        let (level, option) = (libc::SOL_SOCKET, libc::SO_SNDTIMEO);
        let size = size_of::<libc::timeval>() as libc::socklen_t;
        // SAFETY: the pointer refers to a structure of this size, and the call only reads it.
        retried(|| unsafe { libc::setsockopt(self.0.0, level, option, (&raw const limit).cast(), size) }).map(drop)
    }

    /// Returns the value of an option of the socket. `T` is a structure of numbers.
    fn option<T: Copy>(&self, option: c_int) -> Result<T, Errno> {
        let mut value = MaybeUninit::<T>::zeroed();
        let mut size = size_of::<T>() as libc::socklen_t;
        let room = value.as_mut_ptr().cast();
        // SAFETY: `room` is writable memory of this size.
        retried(|| unsafe { libc::getsockopt(self.0.0, libc::SOL_SOCKET, option, room, &mut size) })?;
        // SAFETY: the type consists of numbers, which the call wrote or which are still zero.
        Ok(unsafe { value.assume_init() })
    }
}

/// Returns the files that came with a packet. The second value is `true` if the packet also had other control data, or more files than fit;
/// these files are closed.
///
/// # Safety
/// A successful call of `recvmsg` filled the message.
unsafe fn files_of(message: &libc::msghdr) -> ([Option<File>; MOST_FILES], bool) {
    let mut files = [const { None }; MOST_FILES];
    let (mut count, mut is_odd) = (0, false);
    // SAFETY: `recvmsg` filled the message, as the caller promises.
    let mut header = unsafe { libc::CMSG_FIRSTHDR(message) };
    while !header.is_null() {
        // SAFETY: the pointer is not null, and the system wrote the header that it refers to.
        let found = unsafe { &*header };
        if (found.cmsg_level, found.cmsg_type) == (libc::SOL_SOCKET, libc::SCM_RIGHTS) {
            // SAFETY: `CMSG_LEN` only computes a number.
            let ahead = unsafe { libc::CMSG_LEN(0) } as usize;
            // SAFETY: the system wrote the header, and its data follows it.
            let data: *const c_int = unsafe { libc::CMSG_DATA(header) }.cast();
            for index in 0..(found.cmsg_len as usize).saturating_sub(ahead) / size_of::<c_int>() {
                // SAFETY: the index is within the data, and the read needs no alignment. The system made each descriptor for this process,
                // so nobody else owns it.
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
        // SAFETY: the system wrote both the message and this header.
        header = unsafe { libc::CMSG_NXTHDR(message, header) };
    }
    (files, is_odd)
}
