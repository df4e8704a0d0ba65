//! Accepts and closes connections.

use super::{EventSource, Server};
use crate::client::{Client, End, is_harmless};
use crate::limits::{self, Admission, Place};
use crate::socket::BACKLOG;
use rustix::event::epoll;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::SocketFlags;
use std::time::{Duration, Instant};
use tracing::{debug, info, warn};

/// Time between two checks of the closed connections with unread replies.
const BETWEEN_SWEEPS: Duration = Duration::from_millis(100);

impl Server {
    /// Accepts the waiting connections. All users share the queue, so the loop empties it in each turn.
    pub(super) fn accept(&mut self, now: Instant) {
        for _ in 0..BACKLOG {
            let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
            let socket = match rustix::net::accept_with(&self.listener.socket, flags) {
                Ok(socket) => socket,
                Err(Errno::INTR | Errno::CONNABORTED) => continue,
                Err(Errno::AGAIN) => return,
                Err(error) => {
                    warn!("a connection cannot be accepted: {error}");
                    if let Some(client) = limits::largest(&self.places()) {
                        self.close(client, &End::Displaced, now);
                    }
                    return self.pause(EventSource::Listener, now);
                }
            };
            match Client::new(socket, now) {
                Ok(client) => self.admit(client, now),
                Err((socket, error)) => {
                    info!("a client is refused: {error}");
                    self.discard(socket);
                }
            }
        }
    }

    /// Adds a client. If there are too many clients, closes the connection of another client or rejects the new client.
    fn admit(&mut self, client: Client, now: Instant) {
        let account = client.account;
        let has_unread = |number| self.clients.get(&number).is_some_and(Client::has_unread);
        match limits::admission(&self.places(), account, self.unread.count(account), has_unread) {
            Admission::Free => {}
            Admission::AfterClosing(other) => self.close(other, &End::Displaced, now),
            Admission::Rejected => {
                info!("a client is refused: its user has left too many replies unread");
                return self.end(client, now);
            }
        }
        let number = self.next_client;
        if let Err(error) = self.add(&client, EventSource::Client(number)) {
            warn!("a client is refused: {error}");
            return self.end(client, now);
        }
        debug!("client {number}: user {}", client.user);
        self.next_client += 1;
        self.clients.insert(number, client);
        self.write_soon(now);
    }

    fn places(&self) -> Vec<Place> {
        let place = |(number, client): (&u64, &Client)| Place {
            client: *number,
            account: client.account,
            is_waiting: self.held.iter().any(|held| held.client == *number),
            heard: client.heard,
        };
        self.clients.iter().map(place).collect()
    }

    /// Closes the connection of a client.
    pub(super) fn close(&mut self, number: u64, end: &End, now: Instant) {
        match end {
            End::Closed | End::Reset => debug!("client {number} is gone"),
            End::Garbage(error) => info!("client {number} is closed: it sent {error}"),
            End::Descriptors => info!("client {number} is closed: it sent descriptors"),
            End::Slow => info!("client {number} is closed: it does not read what it is sent"),
            End::Displaced => info!("client {number} is closed: it makes room for another connection"),
            End::Failed(error) => info!("client {number} is closed: {error}"),
        }
        if let Some(client) = self.clients.remove(&number) {
            // Another thread may keep a copy of the descriptor for a short time, so closing the descriptor may not end its events. The
            // events are therefore removed first.
            if let Err(error) = epoll::delete(&self.epoll, &client) {
                warn!("client {number}: {error}");
            }
            self.end(client, now);
        }
        self.held.retain(|held| held.client != number);
        self.paused.retain(|source| *source != EventSource::Client(number));
        self.write_soon(now);
    }

    /// Closes a connection immediately, or after the client has read all replies.
    fn end(&mut self, client: Client, now: Instant) {
        let account = client.account;
        match client.shut_down() {
            (socket, false) => self.discard(socket),
            (socket, true) => {
                self.unread.push(account, socket);
                self.sweep_at.get_or_insert(now + BETWEEN_SWEEPS);
            }
        }
    }

    /// Closes a socket immediately, or at the end of the loop's turn if closing could take a long time.
    fn discard(&mut self, socket: OwnedFd) {
        if !is_harmless(&socket) {
            self.closing.push(socket);
        }
    }

    /// Closes the connections whose clients have read all replies.
    pub(super) fn sweep(&mut self, now: Instant) {
        if self.sweep_at.is_none_or(|at| at > now) {
            return;
        }
        for socket in self.unread.take_read() {
            self.discard(socket);
        }
        self.sweep_at = (self.unread.count(0).all > 0).then(|| now + BETWEEN_SWEEPS);
    }
}
