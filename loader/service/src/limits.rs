//! Limits for clients (LSV-46). Most limits apply to a user, so that more connections or processes of the user do not raise these limits.
//! All user IDs that belong to one user share the limits: [`accounts`](crate::accounts).

use crate::accounts::Account;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Upper bound on the number of clients.
pub const CLIENTS: usize = 512;
/// Upper bound on the number of clients of one user.
pub const CLIENTS_OF_USER: usize = 128;
/// Limit on closed connections with an unread reply, of all users together. At the limit, a user who has such a connection cannot connect.
pub const UNREAD: usize = 2048;
/// Limit on closed connections with an unread reply, of one user. At the limit, the user cannot connect. At half of the limit, a process that
/// has such a connection cannot connect, so that one process never uses up the limit.
pub const UNREAD_OF_USER: usize = 512;
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
    pub account: Account,
    /// The process that connected; 0 if it is unknown.
    pub process: i32,
    /// `true` if the client waits for an answer, or for the rate of its user's requests.
    pub is_waiting: bool,
    /// Time of the client's last packet.
    pub heard: Instant,
    /// `true` if the service has closed the connection, but the client has not read its last reply.
    pub is_closed: bool,
}

/// The decision about one more connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// The connection can be accepted.
    Free,
    /// The connection can be accepted after the connection of this client is closed.
    AfterClosing(u64),
    /// The connection is rejected, because too many replies to its account or process are unread.
    Rejected,
}

/// Decides about one more connection of a process and its account.
///
/// If the account has too many connections, one of them is closed. If all accounts together have too many connections, a connection of the
/// account with the most connections is closed. In both cases, the process with the most connections of the account loses the connection
/// that was silent for longest.
pub fn admission(places: &[Place], account: Account, process: i32) -> Admission {
    let (closed, open): (Vec<_>, Vec<_>) = places.iter().partition(|place| place.is_closed);
    let is_own = |place: &&Place| place.account == account;
    let own_closed: Vec<_> = closed.iter().copied().filter(is_own).collect();
    let own_open: Vec<_> = open.iter().copied().filter(is_own).collect();
    let is_to_blame = own_closed.iter().any(|place| process != 0 && place.process == process);
    let is_rejected = own_closed.len() >= UNREAD_OF_USER
        || own_closed.len() >= UNREAD_OF_USER / 2 && is_to_blame
        || closed.len() >= UNREAD && !own_closed.is_empty();
    if is_rejected {
        return Admission::Rejected;
    }
    let other = if own_open.len() >= CLIENTS_OF_USER {
        most_silent(&own_open)
    } else if open.len() >= CLIENTS {
        largest(places)
    } else {
        None
    };
    other.map_or(Admission::Free, Admission::AfterClosing)
}

/// Returns the client whose connection is closed if there are too many: a client of the account with the most connections.
pub fn largest(places: &[Place]) -> Option<u64> {
    let mut open: Vec<_> = places.iter().filter(|place| !place.is_closed).collect();
    // A connection of root is closed last, regardless of the number of root's connections.
    if open.iter().any(|place| place.account != Account::ROOT) {
        open.retain(|place| place.account != Account::ROOT);
    }
    most_silent(&largest_group(&open, |place| place.account))
}

/// Returns the client of the process with the most connections that was silent for longest.
fn most_silent(places: &[&Place]) -> Option<u64> {
    let process = |place: &Place| {
        if place.process == 0 {
            Err(place.client)
        } else {
            Ok(place.process)
        }
    };
    let of_process = largest_group(places, process);
    Some(of_process.into_iter().min_by_key(silence)?.client)
}

/// Returns the connections of the largest group. Of several groups with this size, chooses the one with the connection that was silent for
/// longest.
fn largest_group<'a, G: Ord>(places: &[&'a Place], group: impl Fn(&Place) -> G) -> Vec<&'a Place> {
    let mut groups = BTreeMap::<G, Vec<&Place>>::new();
    for &place in places {
        groups.entry(group(place)).or_default().push(place);
    }
    let largest = groups
        .into_values()
        .max_by_key(|places| (places.len(), Reverse(places.iter().map(silence).min())));
    largest.unwrap_or_default()
}

/// Returns a key by which clients that do not wait come first, and of these the one that was silent for longest. Of the waiting clients, the
/// one that would be served last comes first.
fn silence(place: &&Place) -> (bool, Option<Instant>, Reverse<Option<Instant>>) {
    if place.is_waiting {
        (true, None, Reverse(Some(place.heard)))
    } else {
        (false, Some(place.heard), Reverse(None))
    }
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
    accounts: BTreeMap<Account, Rate>,
    forgotten: Instant,
}

impl Rates {
    /// Creates the rates before any user has sent a request.
    pub fn new(now: Instant) -> Self {
        Self {
            accounts: BTreeMap::new(),
            forgotten: now,
        }
    }

    /// Returns `true` if one more request of a user is within the limit, and counts that request.
    pub fn admit(&mut self, account: Account, now: Instant) -> bool {
        if now.saturating_duration_since(self.forgotten) >= SECOND {
            // A user who sent no request in the last second has the full rate again.
            self.accounts
                .retain(|_, rate| now.saturating_duration_since(rate.since) < SECOND);
            self.forgotten = now;
        }
        let new = || Rate::new(REQUESTS_A_SECOND, SECOND, now);
        self.accounts.entry(account).or_insert_with(new).admits(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn of(user: u32) -> Account {
        Account::of_user(user)
    }

    /// Returns connections of some users, each of whom has one process.
    fn places(users: impl IntoIterator<Item = (u32, usize)>, now: Instant) -> Vec<Place> {
        let all = users
            .into_iter()
            .flat_map(|(user, count)| std::iter::repeat_n(user, count));
        let place = |(number, user)| Place {
            client: number,
            account: of(user),
            process: user as i32,
            is_waiting: false,
            heard: now + Duration::from_millis(number),
            is_closed: false,
        };
        (0..).zip(all).map(place).collect()
    }

    #[test]
    fn lsv_46_one_connection_too_many_takes_the_place_of_a_silent_one() {
        let now = Instant::now();
        assert_eq!(
            admission(&places([(1000, CLIENTS_OF_USER - 1)], now), of(1000), 1),
            Admission::Free
        );
        let mut full = places([(7, 1), (1000, CLIENTS_OF_USER)], now);
        assert_eq!(
            (admission(&full, of(1000), 1), admission(&full, of(1001), 1)),
            (Admission::AfterClosing(1), Admission::Free)
        );
        full[1].is_waiting = true;
        full[2].heard = now + Duration::from_secs(60);
        assert_eq!(admission(&full, of(1000), 1), Admission::AfterClosing(3));
        // If all wait, the one that would be served first stays.
        let mut waiting = full.clone();
        waiting.iter_mut().for_each(|place| place.is_waiting = true);
        assert_eq!(admission(&waiting, of(1000), 1), Admission::AfterClosing(2));
        // Processes that are unknown count as different ones.
        let mut unknown = full.clone();
        unknown[3..].iter_mut().for_each(|place| place.process = 0);
        assert_eq!(admission(&unknown, of(1000), 0), Admission::AfterClosing(2));
        // A process with several connections makes room for the others, even if they were silent for longer.
        full[1..]
            .iter_mut()
            .zip(0..)
            .for_each(|(place, process)| place.process = process);
        full[100].process = full[50].process;
        assert_eq!(admission(&full, of(1000), 1), Admission::AfterClosing(50));
    }

    #[test]
    fn lsv_46_unread_replies_keep_the_place_of_their_user() {
        let now = Instant::now();
        // The first connection is open, and the others are closed. One half of those of the first user belongs to another process.
        let with = |account, process, own, others| {
            let mut all = places([(1000, 1), (1000, own), (2000, others)], now);
            all[1..].iter_mut().for_each(|place| place.is_closed = true);
            all[1..].iter_mut().take(own / 2).for_each(|place| place.process = 1);
            admission(&all, of(account), process)
        };
        let half = UNREAD_OF_USER / 2;
        for (account, process, own, others, expected) in [
            (1000, 1, half - 1, 0, Admission::Free),
            (1000, 1, half, 0, Admission::Rejected),
            (1000, 1000, half, 0, Admission::Rejected),
            (1000, 2, half, 0, Admission::Free),
            (1000, 2, UNREAD_OF_USER - 1, 0, Admission::Free),
            (1000, 2, UNREAD_OF_USER, 0, Admission::Rejected),
            (1000, 0, half, 0, Admission::Free),
            (1001, 1, UNREAD_OF_USER, UNREAD, Admission::Free),
            (1000, 2, 1, UNREAD - 1, Admission::Rejected),
            (1000, 2, 1, UNREAD - 2, Admission::Free),
        ] {
            assert_eq!(
                with(account, process, own, others),
                expected,
                "{account} {process} {own} {others}"
            );
        }
    }

    #[test]
    fn lsv_46_the_user_with_most_connections_makes_room_for_others() {
        let now = Instant::now();
        let users = [(0, 100), (1, 100), (2, 100), (3, 112), (4, 100)];
        assert_eq!(admission(&places(users, now), of(5), 5), Admission::AfterClosing(300));
        // Many users with one connection each do not cause the connection of root to be closed.
        let crowd = places((0..).map(|user| (user, 1)).take(CLIENTS), now);
        assert_eq!(admission(&crowd, of(9999), 1), Admission::AfterClosing(1));
        assert_eq!(admission(&[], of(0), 0), Admission::Free);
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
        let flood = (0..10_000).filter(|_| rates.admit(of(1), now)).count();
        assert_eq!(flood, REQUESTS_A_SECOND as usize);
        assert!((2..10_000).all(|user| rates.admit(of(user), now)));
        assert!(rates.admit(of(1), now + SECOND) && rates.accounts.len() == 1);
    }
}
