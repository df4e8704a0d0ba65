//! Limits for clients (LSV-46). Most limits apply to a user, so that more connections or processes of the user do not raise these limits.
//! All user IDs that belong to one user share the limits: [`accounts`](crate::accounts).

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Upper bound on the number of clients.
pub const CLIENTS: usize = 512;
/// Upper bound on the number of clients of one user.
pub const CLIENTS_OF_USER: usize = 128;
/// Limit on closed connections with unread replies, of all users together. At the limit, a user who has a closed connection with unread
/// replies cannot connect. Each closed connection uses about six of the descriptors that `harden::DESCRIPTORS` limits.
pub const UNREAD: usize = 2048;
/// Upper bound on the requests of a user per second.
pub const REQUESTS_A_SECOND: u32 = 2000;

/// Period to which the limit [`REQUESTS_A_SECOND`] applies.
const SECOND: Duration = Duration::from_secs(1);

/// Facts about a connection, from which [`admission`] chooses the connection to close.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The number of the client.
    pub client: u64,
    /// The account of the client.
    pub account: u32,
    /// `true` if the client waits for an answer.
    pub is_waiting: bool,
    /// Time of the client's last packet.
    pub heard: Instant,
    /// `true` if the service has closed the connection, but the client has not read all replies.
    pub is_closed: bool,
}

/// The decision about one more connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// The connection can be accepted.
    Free,
    /// The connection can be accepted after the connection of this client is closed.
    AfterClosing(u64),
    /// The connection is rejected, because too many replies to its account are unread.
    Rejected,
}

/// Decides about one more connection of an account. `has_unread` returns `true` for a client that has not read all replies, because closing
/// that connection would free no descriptors.
///
/// If the account has too many connections, its longest silent connection without unread replies is closed. If all accounts together have
/// too many connections, a connection of the account with the most connections is closed.
pub fn admission(places: &[Place], account: u32, has_unread: impl Fn(u64) -> bool) -> Admission {
    let own = || places.iter().filter(|place| place.account == account);
    let closed = places.iter().filter(|place| place.is_closed).count();
    if closed >= UNREAD && own().any(|place| place.is_closed) {
        return Admission::Rejected;
    }
    if own().count() >= CLIENTS_OF_USER {
        return most_silent(own().filter(|place| !place.is_closed && !has_unread(place.client)))
            .map_or(Admission::Rejected, Admission::AfterClosing);
    }
    let is_full = places.len() - closed >= CLIENTS;
    let other = if is_full { largest(places) } else { None };
    other.map_or(Admission::Free, Admission::AfterClosing)
}

/// Returns a client of the account with the most connections: the client that was silent for longest.
pub fn largest(places: &[Place]) -> Option<u64> {
    let mut counts = BTreeMap::<u32, (usize, Instant)>::new();
    let open = || places.iter().filter(|place| !place.is_closed);
    for place in open() {
        let (count, heard) = counts.entry(place.account).or_insert((0, place.heard));
        *count += 1;
        *heard = place.heard.min(*heard);
    }
    // A connection of root is closed last, regardless of the number of root's connections.
    let largest = counts
        .into_iter()
        .max_by_key(|(account, (count, heard))| (*account != 0, *count, Reverse(*heard)));
    let (largest, _) = largest?;
    most_silent(open().filter(|place| place.account == largest))
}

/// Returns the client that was silent for longest. Prefers clients that do not wait for an answer.
fn most_silent<'a>(places: impl Iterator<Item = &'a Place>) -> Option<u64> {
    Some(places.min_by_key(|place| (place.is_waiting, place.heard))?.client)
}

/// A limit on the number of events in a period. The events may happen all at once.
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    most: u32,
    each: Duration,
    left: u32,
    since: Instant,
}

impl Rate {
    /// Creates a limit of `most` events in each `period`. No event has happened yet.
    pub fn new(most: u32, period: Duration, now: Instant) -> Self {
        Self {
            most,
            each: period / most,
            left: most,
            since: now,
        }
    }

    /// Returns `true` if one more event is within the limit, and counts that event.
    pub fn admits(&mut self, now: Instant) -> bool {
        let passed = now.saturating_duration_since(self.since);
        let more = u32::try_from(passed.as_nanos() / self.each.as_nanos()).unwrap_or(u32::MAX);
        self.left = self.left.saturating_add(more).min(self.most);
        // Keeps the remainder of the time, which is too short for a further event, so that the remainder counts towards the next event.
        self.since = if self.left == self.most {
            now
        } else {
            self.since + self.each * more
        };
        let admits = self.left > 0;
        self.left -= u32::from(admits);
        admits
    }
}

/// The request rate of each user.
#[derive(Debug)]
pub struct Rates {
    users: BTreeMap<u32, Rate>,
    forgotten: Instant,
}

impl Rates {
    /// Creates the rates before any user has sent a request.
    pub fn new(now: Instant) -> Self {
        Self {
            users: BTreeMap::new(),
            forgotten: now,
        }
    }

    /// Returns `true` if one more request of a user is within the limit, and counts that request.
    pub fn admit(&mut self, user: u32, now: Instant) -> bool {
        if now.saturating_duration_since(self.forgotten) >= SECOND {
            // A user who sent no request in the last second has the full rate again.
            self.users
                .retain(|_, rate| now.saturating_duration_since(rate.since) < SECOND);
            self.forgotten = now;
        }
        let new = || Rate::new(REQUESTS_A_SECOND, SECOND, now);
        self.users.entry(user).or_insert_with(new).admits(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(users: impl IntoIterator<Item = (u32, usize)>, now: Instant) -> Vec<Place> {
        let all = users
            .into_iter()
            .flat_map(|(user, count)| std::iter::repeat_n(user, count));
        let place = |(number, user)| Place {
            client: number,
            account: user,
            is_waiting: false,
            heard: now + Duration::from_millis(number),
            is_closed: false,
        };
        (0..).zip(all).map(place).collect()
    }

    #[test]
    fn lsv_46_one_connection_too_many_takes_the_place_of_a_silent_one() {
        let now = Instant::now();
        let admitted = |places: &[Place], account| admission(places, account, |_| false);
        assert_eq!(
            admitted(&places([(1000, CLIENTS_OF_USER - 1)], now), 1000),
            Admission::Free
        );
        let mut full = places([(7, 1), (1000, CLIENTS_OF_USER)], now);
        assert_eq!(
            (admitted(&full, 1000), admitted(&full, 1001)),
            (Admission::AfterClosing(1), Admission::Free)
        );
        full[1].is_waiting = true;
        full[2].heard = now + Duration::from_secs(60);
        assert_eq!(admitted(&full, 1000), Admission::AfterClosing(3));
    }

    #[test]
    fn lsv_46_unread_replies_keep_the_place_of_their_user() {
        let now = Instant::now();
        // The first two connections are open, and the others are closed.
        let with = |account, own, others, unread: &[u64]| {
            let mut all = places([(1000, 2), (1000, own), (2000, others)], now);
            all[2..].iter_mut().for_each(|place| place.is_closed = true);
            admission(&all, account, |client| unread.contains(&client))
        };
        assert_eq!(with(1000, CLIENTS_OF_USER - 3, 0, &[]), Admission::Free);
        for (unread, expected) in [
            (&[][..], Admission::AfterClosing(0)),
            (&[0], Admission::AfterClosing(1)),
            (&[0, 1], Admission::Rejected),
        ] {
            assert_eq!(with(1000, CLIENTS_OF_USER - 2, 0, unread), expected);
        }
        assert_eq!(with(1001, 0, UNREAD, &[0, 1]), Admission::Free);
        assert_eq!(with(1000, 1, UNREAD - 1, &[]), Admission::Rejected);
        assert_eq!(with(1000, 1, UNREAD - 2, &[]), Admission::Free);
    }

    #[test]
    fn lsv_46_the_user_with_most_connections_makes_room_for_others() {
        let now = Instant::now();
        let users = [(0, 100), (1, 100), (2, 100), (3, 112), (4, 100)];
        let admitted = |places: &[Place], account| admission(places, account, |_| false);
        assert_eq!(admitted(&places(users, now), 5), Admission::AfterClosing(300));
        // Many users with one connection each do not cause the connection of root to be closed.
        let crowd = places((0..).map(|user| (user, 1)).take(CLIENTS), now);
        assert_eq!(admitted(&crowd, 9999), Admission::AfterClosing(1));
        assert_eq!(admitted(&[], 0), Admission::Free);
    }

    #[test]
    fn lsv_46_requests_have_a_rate() {
        let start = Instant::now();
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        let mut rate = Rate::new(100, SECOND, start);
        let count = |rate: &mut Rate, now| (0..1000).filter(|_| rate.admits(now)).count();
        assert_eq!(count(&mut rate, start), 100);
        assert_eq!(count(&mut rate, at(9)), 0);
        assert_eq!(count(&mut rate, at(10)), 1);
        // The requests at the start used up the limit, so the next second admits only a hundred more.
        let admitted: usize = (11..=1010).map(|now| count(&mut rate, at(now))).sum();
        assert_eq!(admitted, 100);
        assert_eq!(count(&mut rate, at(100_000)), 100);
    }

    #[test]
    fn lsv_46_each_user_has_a_rate() {
        let now = Instant::now();
        let mut rates = Rates::new(now);
        let flood = (0..10_000).filter(|_| rates.admit(1, now)).count();
        assert_eq!(flood, REQUESTS_A_SECOND as usize);
        assert!((2..10_000).all(|user| rates.admit(user, now)));
        assert!(rates.admit(1, now + SECOND) && rates.users.len() == 1);
    }
}
