//! Closed connections whose clients have not read all replies (LSV-46).
//!
//! A descriptor on its way to a client counts against the descriptor limit of this process until the client reads it or closes the client's
//! end. Closing the service's end does not change this. The service therefore shuts down both directions of a connection with unread
//! replies, but keeps the socket open. The connection counts against its user's limit until the client has read the replies or closed its
//! end.

use crate::limits::Closed;
use rustix::fd::{AsFd, AsRawFd, OwnedFd};
use std::ffi::c_int;

/// Returns `true` if the client has not read all sent data. After a client has closed its end, no sent data is unread.
#[allow(unsafe_code, reason = "no library has a safe function for this")]
pub fn has_unread(socket: impl AsFd) -> bool {
    let mut bytes: c_int = 0;
    // SAFETY: `TIOCOUTQ` writes one integer through the third argument. The argument points to an integer that outlives the call. The
    // descriptor is borrowed, so it is open.
    let result = unsafe { libc::ioctl(socket.as_fd().as_raw_fd(), libc::TIOCOUTQ, &raw mut bytes) };
    // If the system does not support the query, all replies count as read, because the service would otherwise keep every closed connection
    // for ever.
    result == 0 && bytes > 0
}

/// The closed connections whose clients have not read all replies.
#[derive(Debug, Default)]
pub struct Unread(Vec<(u32, OwnedFd)>);

impl Unread {
    /// Adds a connection of an account. The caller must have shut the connection down in both directions.
    pub fn push(&mut self, account: u32, socket: OwnedFd) {
        self.0.push((account, socket));
    }

    /// Removes and returns the connections whose clients have read all replies or have closed their end.
    pub fn take_read(&mut self) -> impl Iterator<Item = OwnedFd> + use<> {
        let (unread, read): (Vec<_>, Vec<_>) = self.0.drain(..).partition(|(_, socket)| has_unread(socket));
        self.0 = unread;
        read.into_iter().map(|(_, socket)| socket)
    }

    /// Returns the number of closed connections with unread replies, for an account and for all accounts together.
    pub fn count(&self, account: u32) -> Closed {
        Closed {
            own: self.0.iter().filter(|(of, _)| *of == account).count(),
            all: self.0.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};

    #[test]
    fn lsv_46_a_reply_is_unread_until_it_is_read_or_its_client_is_gone() {
        let pair = || {
            let flags = SocketFlags::CLOEXEC;
            rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None).unwrap()
        };
        let send = |socket: &OwnedFd| rustix::net::send(socket, b"x", SendFlags::empty()).unwrap();
        let [(service, client), (other, gone)] = [pair(), pair()];
        assert!(!has_unread(&service));
        for socket in [&service, &other] {
            send(socket);
            rustix::net::shutdown(socket, rustix::net::Shutdown::Both).unwrap();
            assert!(has_unread(socket));
        }
        let mut unread = Unread::default();
        unread.push(1, service);
        unread.push(2, other);
        let counts = |unread: &mut Unread, account| {
            let read = unread.take_read().count();
            let Closed { own, all } = unread.count(account);
            [read, own, all]
        };
        assert_eq!(counts(&mut unread, 1), [0, 1, 2]);
        drop(gone);
        assert_eq!(counts(&mut unread, 2), [1, 0, 1]);
        rustix::net::recv(&client, &mut [0; 1], RecvFlags::empty()).unwrap();
        assert_eq!(counts(&mut unread, 1), [1, 0, 0]);
    }
}
