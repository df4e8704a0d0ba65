//! Accepts and closes connections.

use super::{EventSource, PAUSE, Server};
use crate::accounts::Account;
use crate::client::{self, Client, End, Waits, is_harmless};
use crate::limits::{self, Admission, Place};
use crate::socket::BACKLOG;
use rustix::event::epoll;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::SocketFlags;
use std::time::{Duration, Instant};
use tracing::{debug, info, warn};

/// Time between two checks of the closed connections with an unread reply.
const BETWEEN_SWEEPS: Duration = Duration::from_millis(100);
/// Upper bound on the sockets to close late with which the loop still accepts connections.
const MOST_CLOSING: usize = 512;
/// Account of a connection whose user is unknown. No user has this ID.
const NOBODY: Account = Account::of_user(u32::MAX);

impl Server {
    /// Accepts the waiting connections. All users share the queue, so the loop empties it in each turn.
    pub(super) fn accept(&mut self, now: Instant) {
        if self.closing.len() > MOST_CLOSING {
            // Each socket here keeps a descriptor. New connections wait in the queue, whose length is limited.
            self.listen(epoll::EventFlags::empty());
            self.resume_at.get_or_insert(now + PAUSE);
            return;
        }
        for _ in 0..BACKLOG {
            let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
            let socket = match rustix::net::accept_with(&self.listener.socket, flags) {
                Ok(socket) => socket,
                Err(Errno::INTR | Errno::CONNABORTED) => continue,
                Err(Errno::AGAIN) => return,
                Err(error) => {
                    warn!("a connection cannot be accepted: {error}");
                    return self.make_room(now);
                }
            };
            match Client::new(socket, &self.accounts, now) {
                Ok(client) => self.admit(client, now),
                Err((socket, error)) => {
                    info!("a client is refused: {error}");
                    self.discard(NOBODY, socket);
                    if error.raw_os_error() == Some(libc::EMFILE) {
                        return self.make_room(now);
                    }
                }
            }
        }
    }

    /// Closes a connection of the user with the most connections, and accepts connections again after a short time.
    fn make_room(&mut self, now: Instant) {
        if let Some(client) = limits::largest(&self.places(now)) {
            self.close(client, &End::Displaced, now);
        }
        self.listen(epoll::EventFlags::empty());
        self.resume_at.get_or_insert(now + PAUSE);
    }

    /// Adds a client. If there are too many clients, closes the connection of another client or rejects the new client.
    fn admit(&mut self, client: Client, now: Instant) {
        let account = client.account;
        match limits::admission(&self.places(now), account, client.process) {
            Admission::Free => {}
            Admission::AfterClosing(other) => self.close(other, &End::Displaced, now),
            Admission::Rejected => {
                info!("a client is refused: its user has left too many replies unread");
                return self.discard(account, client.into());
            }
        }
        let number = self.next_client;
        if let Err(error) = self.add(&client, EventSource::Client(number)) {
            warn!("a client is refused: {error}");
            return self.discard(account, client.into());
        }
        debug!("client {number}: user {}", client.user);
        self.next_client += 1;
        self.clients.insert(number, client);
        self.write_soon(now);
    }

    fn places(&self, now: Instant) -> Vec<Place> {
        let place = |(number, client): (&u64, &Client)| Place {
            client: *number,
            account: client.account,
            process: client.process,
            is_waiting: matches!(client.waits, Waits::ForAnswer(_) | Waits::ForRate),
            is_closed: client.waits == Waits::ForEnd,
            heard: client.heard,
        };
        let closing = self.closing.iter().map(|(account, _)| Place {
            client: u64::MAX,
            account: *account,
            process: 0,
            is_waiting: false,
            is_closed: true,
            heard: now,
        });
        self.clients.iter().map(place).chain(closing).collect()
    }

    /// Closes the connection of a client.
    pub(super) fn close(&mut self, number: u64, end: &End, now: Instant) {
        match end {
            End::Closed => debug!("client {number} is gone"),
            End::Garbage(error) => info!("client {number} is closed: it sent {error}"),
            End::Descriptors => info!("client {number} is closed: it sent descriptors"),
            End::Displaced => info!("client {number} is closed: it makes room for another connection"),
            End::Failed(error) => info!("client {number} is closed: {error}"),
        }
        if let Some(client) = self.clients.get_mut(&number) {
            // Another thread may keep a copy of the descriptor for a short time, so closing the descriptor may not end its events. The
            // events are therefore removed first.
            if let Err(error) = epoll::delete(&self.epoll, &*client) {
                warn!("client {number}: {error}");
            }
            if client.shut_down() {
                self.sweep_at.get_or_insert(now + BETWEEN_SWEEPS);
            } else {
                self.remove(number);
            }
        }
        self.write_soon(now);
    }

    fn remove(&mut self, number: u64) {
        if let Some(client) = self.clients.remove(&number) {
            self.discard(client.account, client.into());
        }
    }

    /// Closes a socket immediately, or at the end of the loop's turn if closing could take a long time.
    fn discard(&mut self, account: Account, socket: OwnedFd) {
        if !is_harmless(&socket) {
            self.closing.push((account, socket));
        }
    }

    /// Closes the sockets that could take a long time. Tries again later if the system cannot start a thread.
    pub(super) fn close_all(&mut self) {
        self.closing = client::close(std::mem::take(&mut self.closing));
        if !self.closing.is_empty() {
            self.sweep_at.get_or_insert(Instant::now() + BETWEEN_SWEEPS);
        }
    }

    /// Closes the connections whose clients have read the last reply, or have closed their end.
    pub(super) fn sweep(&mut self, now: Instant) {
        if self.sweep_at.is_none_or(|at| at > now) {
            return;
        }
        let closed = self.clients.iter().filter(|(_, client)| client.waits == Waits::ForEnd);
        let (unread, read): (Vec<_>, Vec<_>) = closed.partition(|(_, client)| client.has_unread());
        self.sweep_at = (!unread.is_empty()).then(|| now + BETWEEN_SWEEPS);
        for number in read.into_iter().map(|(number, _)| *number).collect::<Vec<_>>() {
            self.remove(number);
        }
    }
}
