//! A connection to a server on this machine, over which both ends send packets.

use crate::system::errno::retried;
use crate::{Errno, File, since_start};
use core::ffi::c_int;
use core::mem::{MaybeUninit, offset_of, zeroed};
use core::time::Duration;

/// Nanoseconds in a millisecond.
const MILLISECOND: u64 = 1_000_000;

/// A point in time at which an operation must be complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deadline(u64);

impl Deadline {
    /// Returns the deadline that is `limit` from now.
    #[inline(always)]
    pub fn after(limit: Duration) -> Self {
        // The cast would truncate only a limit of more than 500 years.
        Self(since_start().saturating_add(limit.as_nanos() as u64))
    }

    /// Returns the milliseconds until the deadline. Rounds up, so that a short wait does not become zero.
    fn left(self) -> u64 {
        self.0.saturating_sub(since_start()).div_ceil(MILLISECOND)
    }

    /// Waits for some milliseconds, or until the deadline if that is earlier. Returns `false` if the deadline has passed.
    pub fn pause(self, milliseconds: u32) -> bool {
        let wait = self.left().min(milliseconds.into()) as c_int;
        // SAFETY: a count of 0 needs no array, so the call only waits. A signal can end it early, which does no harm.
        unsafe { libc::poll(core::ptr::null_mut(), 0, wait) };
        self.left() > 0
    }
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiveError {
    /// No packet came before the time limit.
    TimedOut,
    /// The connection ended, or the system reported an error.
    Closed,
    /// The packet was longer than the buffer.
    TooLong,
    /// The packet had more than one file.
    Surplus,
}

impl Errno {
    /// Returns `true` if the time limit passed before the connection was made.
    pub fn is_lack_of_time(self) -> bool {
        matches!(self.0, libc::EAGAIN | libc::EINTR)
    }
}

impl Connection {
    /// Connects to the server whose socket is at a path.
    ///
    /// # Errors
    /// The error of the system. If the time limit passed, `is_lack_of_time` returns `true` for the error.
    pub fn to(path: &[u8], deadline: Deadline) -> Result<Self, Errno> {
        const FOLDERS: usize = offset_of!(libc::sockaddr_un, sun_path);
        // SAFETY: all fields of the structure are numbers, for which zero is valid.
        let mut address: libc::sockaddr_un = unsafe { zeroed() };
        address.sun_family = libc::AF_UNIX as libc::sa_family_t;
        // The path in the address needs a terminating zero.
        if path.len() >= address.sun_path.len() {
            return Err(Errno(libc::ENAMETOOLONG));
        }
        for (place, &byte) in address.sun_path.iter_mut().zip(path) {
            *place = byte.cast_signed() as core::ffi::c_char;
        }
        let length = (FOLDERS + path.len() + 1) as libc::socklen_t;
        // SAFETY: `socket` takes numbers only, and returns a new descriptor, which this function owns.
        let made = retried(|| unsafe { libc::socket(libc::AF_UNIX, libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC, 0) })?;
        let connection = Self(File(made));
        loop {
            // While a server accepts no connection, `connect` waits for at most the time that the socket allows for sending.
            connection.limit(libc::SO_SNDTIMEO, deadline)?;
            // SAFETY: `address` is a valid address, of which `length` bytes are used.
            let connected = unsafe { libc::connect(made, (&raw const address).cast(), length) };
            let error = match connected {
                0 => return Ok(connection),
                _ => Errno::last(),
            };
            // Several signals may interrupt the call in a row.
            if !error.is_interruption() || deadline.left() == 0 {
                return Err(error);
            }
        }
    }

    /// Returns the ID of the user whose process listens on the socket.
    ///
    /// # Errors
    /// The error of the system.
    pub fn peer(&self) -> Result<u32, Errno> {
        let mut peer = MaybeUninit::<libc::ucred>::zeroed();
        let mut size = size_of::<libc::ucred>() as libc::socklen_t;
        let (level, option) = (libc::SOL_SOCKET, libc::SO_PEERCRED);
        // SAFETY: `peer` is writable memory of this size.
        match unsafe { libc::getsockopt(self.0.0, level, option, peer.as_mut_ptr().cast(), &mut size) } {
            // SAFETY: the structure consists of numbers, which the call wrote or which are still zero.
            0 => Ok(unsafe { peer.assume_init() }.uid),
            _ => Err(Errno::last()),
        }
    }

    /// Sends a packet that consists of four parts. Never waits and never causes a signal. Returns `false` if the server does not read, or
    /// the system reported another error.
    pub fn send(&self, parts: [&[u8]; 4]) -> bool {
        let mut parts = parts.map(|part| libc::iovec {
            iov_base: part.as_ptr().cast_mut().cast(),
            iov_len: part.len(),
        });
        // SAFETY: all fields are numbers, or pointers that may be null, so zero is valid.
        let mut message: libc::msghdr = unsafe { zeroed() };
        message.msg_iov = parts.as_mut_ptr();
        message.msg_iovlen = parts.len() as _;
        let flags = libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT;
        // SAFETY: the message has four readable parts, and `sendmsg` only reads them. The system sends a packet whole or not at all.
        retried(|| unsafe { libc::sendmsg(self.0.0, &message, flags) } as c_int).is_ok()
    }

    /// Waits for a packet and writes it to `room`. Also receives the file that may come with the packet.
    ///
    /// # Errors
    /// The reason why no packet was received.
    pub fn receive(&self, room: &mut [u8], deadline: Deadline) -> Result<Received, ReceiveError> {
        /// Control data with room for one file. The system closes further files itself.
        #[repr(C)]
        struct Control {
            header: libc::cmsghdr,
            file: c_int,
        }
        const CONTROL: usize = offset_of!(Control, file) + size_of::<c_int>();
        let mut control = MaybeUninit::<Control>::zeroed();
        let mut part = libc::iovec {
            iov_base: room.as_mut_ptr().cast(),
            iov_len: room.len(),
        };
        // SAFETY: all fields are numbers, or pointers that may be null, so zero is valid.
        let mut message: libc::msghdr = unsafe { zeroed() };
        message.msg_iov = &mut part;
        message.msg_iovlen = 1;
        message.msg_control = control.as_mut_ptr().cast();
        let length = loop {
            // `recvmsg` waits for at most `SO_RCVTIMEO`, so the option is set to the time that is left.
            self.limit(libc::SO_RCVTIMEO, deadline)
                .map_err(|_| ReceiveError::Closed)?;
            message.msg_controllen = CONTROL as _;
            // SAFETY: the buffers are writable and have these lengths. No slice is longer than the call can take.
            let length = unsafe { libc::recvmsg(self.0.0, &mut message, libc::MSG_CMSG_CLOEXEC) };
            if let Ok(length) = usize::try_from(length) {
                break length;
            }
            match Errno::last().0 {
                libc::EINTR if deadline.left() > 0 => {}
                libc::EINTR | libc::EAGAIN => return Err(ReceiveError::TimedOut),
                _ => return Err(ReceiveError::Closed),
            }
        };
        // SAFETY: all fields are numbers, which the system wrote or which are still zero.
        let Control { header, file } = unsafe { control.assume_init() };
        let has_file = (header.cmsg_level, header.cmsg_type) == (libc::SOL_SOCKET, libc::SCM_RIGHTS);
        // The kernel created the descriptor for this message, so nothing else in this process closes it.
        let file = has_file.then(|| File(file));
        match length {
            _ if message.msg_flags & libc::MSG_CTRUNC != 0 => Err(ReceiveError::Surplus),
            0 => Err(ReceiveError::Closed),
            _ if message.msg_flags & libc::MSG_TRUNC != 0 => Err(ReceiveError::TooLong),
            _ => Ok(Received { length, file }),
        }
    }

    /// Limits the time for which a call that receives, or that sends or connects, waits.
    fn limit(&self, option: c_int, deadline: Deadline) -> Result<(), Errno> {
        // A limit of zero would mean that there is no limit.
        let left = deadline.left().max(1);
        let limit = libc::timeval {
            tv_sec: (left / 1000) as _,
            tv_usec: (left % 1000 * 1000) as _,
        };
        let size = size_of::<libc::timeval>() as libc::socklen_t;
        // SAFETY: the pointer refers to a structure of this size, and the call only reads it.
        match unsafe { libc::setsockopt(self.0.0, libc::SOL_SOCKET, option, (&raw const limit).cast(), size) } {
            0 => Ok(()),
            _ => Err(Errno::last()),
        }
    }
}
