//! A connection to a server on this machine, over which both ends send packets.

use crate::system::errno::retried;
use crate::{Errno, File, since_start};
use core::ffi::{c_int, c_short};
use core::mem::{MaybeUninit, offset_of, zeroed};
use core::time::Duration;

/// Nanoseconds in a millisecond.
const MILLISECOND: u64 = 1_000_000;

/// Nanoseconds after which a wait begins anew. If the process is stopped while it waits, at most this time is lost.
const LONGEST_WAIT: u64 = 1_000_000_000;

/// Time for which a client still waits for a server, in nanoseconds. Only the time of waiting counts. Therefore, a client loses nothing if
/// it works or is stopped between two requests.
#[derive(Debug)]
pub struct Patience(u64);

impl Patience {
    /// Returns the patience for waits of `limit` in all.
    #[inline(always)]
    pub fn of(limit: Duration) -> Self {
        // The cast would truncate only a limit of more than 500 years.
        Self(limit.as_nanos() as u64)
    }

    /// Waits for some milliseconds, or until the patience is over if that is earlier. Returns `false` if the patience is over.
    pub fn pause(&mut self, milliseconds: u32) -> bool {
        let length = self.0.min(u64::from(milliseconds) * MILLISECOND);
        let mut pause = Self(length);
        // The system ignores a negative descriptor, so the call only waits. A signal ends one call, and the loop then calls again.
        while pause.wait_for(-1) {}
        self.0 = self.0.saturating_sub(length);
        self.0 > 0
    }

    /// Waits until a descriptor can be read, for at most [`LONGEST_WAIT`]. Returns `false` if the patience is over.
    fn wait_for(&mut self, descriptor: c_int) -> bool {
        let mut one = libc::pollfd {
            fd: descriptor,
            events: libc::POLLIN as c_short,
            revents: 0,
        };
        // SAFETY: `one` is a writable array of one element. A signal can end the call early, which does no harm.
        self.spend(|wait| unsafe { libc::poll(&mut one, 1, wait as c_int) });
        self.0 > 0
    }

    /// Calls a function that waits for at most the given number of milliseconds, and subtracts the time of the call. Rounds the number up,
    /// so that a short wait does not become zero.
    fn spend<T>(&mut self, wait: impl FnOnce(u64) -> T) -> T {
        let most = self.0.min(LONGEST_WAIT);
        let began = since_start();
        let result = wait(most.div_ceil(MILLISECOND));
        // A longer time means that the process was stopped, or did not get a processor.
        self.0 -= since_start().saturating_sub(began).min(most);
        result
    }
}

/// A connection. Programs that this process starts do not inherit it.
#[derive(Debug)]
pub struct Connection(File);

/// A received packet.
#[derive(Debug)]
pub struct Received {
    /// Number of bytes in the buffer; zero if the connection ended. Further bytes of a longer packet are lost.
    pub length: usize,
    /// The file that came with the packet; `None` if the packet came without a file, or with several files, which are closed.
    pub file: Option<File>,
}

impl Errno {
    /// Returns `true` if the patience was over before the connection was made, or before a packet came.
    pub fn is_lack_of_time(self) -> bool {
        self.0 == libc::EAGAIN
    }
}

impl Connection {
    /// Connects to the server whose socket is at a path.
    ///
    /// # Errors
    /// The error of the system. If the patience is over, `is_lack_of_time` returns `true` for the error.
    // If the function were inlined, the address would enlarge the caller's stack frame, and accesses to the frame would need longer
    // instructions.
    #[inline(never)]
    pub fn to(path: &[u8], patience: &mut Patience) -> Result<Self, Errno> {
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
        let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC;
        // SAFETY: `socket` takes numbers only, and returns a new descriptor, which this function owns.
        let connection = Self(File(retried(|| unsafe { libc::socket(libc::AF_UNIX, kind, 0) })?));
        // If the server's queue is full, the system makes the waiting processes connect in turn. A process that only tries again from time
        // to time could find the queue full each time.
        loop {
            let error = patience.spend(|wait| {
                // A process may be forbidden to set the limit, and must then not wait without one.
                let is_limited = connection.limit(wait) == 0;
                // SAFETY: `address` is a valid address, of which `length` bytes are used.
                let connect = || unsafe { libc::connect(connection.0.0, (&raw const address).cast(), length) };
                let is_connected = is_limited && connect() == 0;
                (!is_connected).then(Errno::last)
            });
            match error {
                None => return Ok(connection),
                Some(error) if error.is_interruption() || error.is_lack_of_time() && patience.0 > 0 => {}
                Some(error) => return Err(error),
            }
        }
    }

    /// Sets the milliseconds for which `connect` waits for a place in the server's queue. Returns zero, or a negative number after an error.
    fn limit(&self, wait: u64) -> c_int {
        // Zero would mean that there is no limit.
        let wait = wait.max(1);
        let limit = libc::timeval {
            tv_sec: (wait / 1000) as _,
            tv_usec: (wait % 1000 * 1000) as _,
        };
        let size = size_of::<libc::timeval>() as libc::socklen_t;
        // SAFETY: `limit` is readable memory of this size.
        unsafe {
            libc::setsockopt(
                self.0.0,
                libc::SOL_SOCKET,
                libc::SO_SNDTIMEO,
                (&raw const limit).cast(),
                size,
            )
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

    /// Sends a packet that consists of six parts. Never waits, and never causes a signal. Returns `false` if the server does not read, or
    /// the system reported another error.
    pub fn send(&self, parts: [&[u8]; 6]) -> bool {
        let mut parts = parts.map(|part| libc::iovec {
            iov_base: part.as_ptr().cast_mut().cast(),
            iov_len: part.len(),
        });
        // SAFETY: all fields are numbers, or pointers that may be null, so zero is valid.
        let mut message: libc::msghdr = unsafe { zeroed() };
        message.msg_iov = parts.as_mut_ptr();
        message.msg_iovlen = parts.len() as _;
        let flags = libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT;
        // SAFETY: the message has six readable parts, and `sendmsg` only reads them. The system sends a packet whole or not at all.
        retried(|| unsafe { libc::sendmsg(self.0.0, &message, flags) } as c_int).is_ok()
    }

    /// Waits for a packet and writes it to `room`. Also receives the file that may come with the packet.
    ///
    /// # Errors
    /// The error of the system. If the patience is over, `is_lack_of_time` returns `true` for the error.
    #[inline(never)]
    pub fn receive(&self, room: &mut [u8], patience: &mut Patience) -> Result<Received, Errno> {
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
        let flags = libc::MSG_CMSG_CLOEXEC | libc::MSG_DONTWAIT;
        let mut is_in_time = true;
        let length = loop {
            message.msg_controllen = CONTROL as _;
            // SAFETY: the buffers are writable and have these lengths. No slice is longer than the call can take.
            let received = retried(|| unsafe { libc::recvmsg(self.0.0, &mut message, flags) } as c_int);
            match received {
                // The call after the wait is made in any case: a packet can have come in time although this process was stopped until later.
                Err(error) if error.is_lack_of_time() && is_in_time => {
                    is_in_time = patience.wait_for(self.0.0);
                }
                Err(error) => return Err(error),
                // The length is not negative after a success, and `recvmsg` never returns more than the size of the buffer.
                Ok(length) => break length as usize,
            }
        };
        // SAFETY: all fields are numbers, which the system wrote or which are still zero.
        let Control { header, file } = unsafe { control.assume_init() };
        let has_file = (header.cmsg_level, header.cmsg_type) == (libc::SOL_SOCKET, libc::SCM_RIGHTS);
        // The kernel created the descriptor for this message, so nothing else in this process closes it.
        let file = has_file.then(|| File(file));
        let is_only_file = message.msg_flags & libc::MSG_CTRUNC == 0;
        Ok(Received {
            length,
            file: file.filter(|_| is_only_file),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::{AtomicI32, AtomicU32, Ordering};
    use std::thread;

    /// Time after which the test sends a packet.
    const SOON: Duration = Duration::from_millis(250);

    /// The end of the connection that the signal handler writes to.
    static OTHER: AtomicI32 = AtomicI32::new(-1);
    /// Time in seconds for which the signal handler holds the thread up.
    static HELD_UP: AtomicU32 = AtomicU32::new(0);

    /// Sends a packet, and holds the thread up for longer than its patience.
    extern "C" fn send_and_sleep(_: c_int) {
        // SAFETY: the call reads one byte of a constant.
        unsafe { libc::send(OTHER.load(Ordering::SeqCst), c"x".as_ptr().cast(), 1, 0) };
        thread::sleep(Duration::from_secs(HELD_UP.load(Ordering::SeqCst).into()));
    }

    #[test]
    fn lsv_42_a_pause_ends_with_the_patience() {
        let began = std::time::Instant::now();
        // The pause would take an hour.
        assert!(!Patience::of(SOON).pause(3_600_000));
        assert!((SOON..steady::HANG).contains(&began.elapsed()), "{:?}", began.elapsed());
    }

    #[test]
    fn lsv_42_a_process_that_was_stopped_still_receives_packets() {
        steady::with_more_time(|factor| receive_while_stopped(3 * factor));
    }

    /// Receives packets with a patience of `limit` seconds, which is shorter than the time for which the thread is held up.
    fn receive_while_stopped(limit: u32) {
        let mut ends = [-1; 2];
        // SAFETY: `ends` has room for two descriptors.
        let result = unsafe { libc::socketpair(libc::AF_UNIX, libc::SOCK_SEQPACKET, 0, ends.as_mut_ptr()) };
        assert_eq!(result, 0);
        let [own, other] = ends.map(File);
        OTHER.store(other.0, Ordering::SeqCst);
        HELD_UP.store(limit, Ordering::SeqCst);
        // SAFETY: the handler calls only functions that a signal handler may call.
        unsafe { libc::signal(libc::SIGUSR1, send_and_sleep as *const () as libc::sighandler_t) };
        // SAFETY: the function has no preconditions.
        let receiver = unsafe { libc::pthread_self() };
        let connection = Connection(own);
        let mut patience = Patience::of(Duration::from_secs(limit.into()));
        let whole = patience.0;
        thread::scope(|scope| {
            scope.spawn(move || {
                thread::sleep(SOON);
                // SAFETY: the thread exists, because it waits for this one at the end of the scope.
                unsafe { libc::pthread_kill(receiver, libc::SIGUSR1) };
            });
            let receive = |patience: &mut Patience| {
                connection
                    .receive(&mut [0; 4], patience)
                    .map(|received| received.length)
            };
            assert_eq!(receive(&mut patience), Ok(1));
            scope.spawn(move || {
                thread::sleep(SOON);
                // SAFETY: the call reads one byte of a constant.
                unsafe { libc::send(OTHER.load(Ordering::SeqCst), c"x".as_ptr().cast(), 1, 0) };
            });
            assert_eq!(receive(&mut patience), Ok(1));
            // The last wait has only the time that the earlier waits left.
            assert!(patience.0 < whole);
            assert!(receive(&mut patience).is_err_and(Errno::is_lack_of_time));
            assert_eq!(patience.0, 0);
        });
    }
}
