//! How much clients may have and ask for (LSV-46). Limits are per user and per time: neither more connections nor more processes give a
//! user more.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Clients in all.
pub const CLIENTS: usize = 512;
/// Clients of one user.
pub const CLIENTS_OF_USER: usize = 128;
/// Requests of a user whose answers are held back.
pub const OUTSTANDING: usize = 128;
/// Requests of a user in a second.
pub const REQUESTS_A_SECOND: u32 = 2000;
/// Packets that wait for a client to read others.
pub const QUEUE: usize = 64;

/// The period of [`REQUESTS_A_SECOND`].
const SECOND: Duration = Duration::from_secs(1);

/// A connection, as far as it matters for who has to make room.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The number of the client.
    pub client: u64,
    /// The client's user.
    pub user: u32,
    /// Whether the client waits for an answer.
    pub is_waiting: bool,
    /// The last time at which the client was heard.
    pub heard: Instant,
}

/// Returns the client that has to make room, if one more connection of `user` is too many. It is the one of this user that was silent
/// for longest, or of the user with most connections if there are too many in all.
pub fn displaced(places: &[Place], user: u32) -> Option<u64> {
    let mut counts = BTreeMap::<u32, usize>::new();
    for place in places {
        *counts.entry(place.user).or_default() += 1;
    }
    if counts.get(&user).is_some_and(|count| *count >= CLIENTS_OF_USER) {
        return most_silent(places, user);
    }
    if places.len() >= CLIENTS { largest(places) } else { None }
}

/// Returns the client of the user with most connections that was silent for longest.
pub fn largest(places: &[Place]) -> Option<u64> {
    let mut counts = BTreeMap::<u32, (usize, Instant)>::new();
    for place in places {
        let (count, heard) = counts.entry(place.user).or_insert((0, place.heard));
        *count += 1;
        *heard = place.heard.min(*heard);
    }
    // Root comes last: a user may own many numbers, with one connection each.
    let largest = counts
        .into_iter()
        .max_by_key(|(user, (count, heard))| (*user != 0, *count, Reverse(*heard)));
    most_silent(places, largest?.0)
}

fn most_silent(places: &[Place], user: u32) -> Option<u64> {
    let of_user = places.iter().filter(|place| place.user == user);
    Some(of_user.min_by_key(|place| (place.is_waiting, place.heard))?.client)
}

/// Something that may happen so often in a period, and as often at once.
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    most: u32,
    each: Duration,
    left: u32,
    since: Instant,
}

impl Rate {
    /// Nothing happened yet.
    pub fn new(most: u32, period: Duration, now: Instant) -> Self {
        Self {
            most,
            each: period / most,
            left: most,
            since: now,
        }
    }

    /// Returns `true` if once more is within the limit.
    pub fn admits(&mut self, now: Instant) -> bool {
        let passed = now.saturating_duration_since(self.since);
        let more = u32::try_from(passed.as_nanos() / self.each.as_nanos()).unwrap_or(u32::MAX);
        self.left = self.left.saturating_add(more).min(self.most);
        // Time that is not yet worth one more counts for the next one.
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

/// The rate of each user.
#[derive(Debug)]
pub struct Rates {
    users: BTreeMap<u32, Rate>,
    forgotten: Instant,
}

impl Rates {
    /// Nobody asked for anything yet.
    pub fn new(now: Instant) -> Self {
        Self {
            users: BTreeMap::new(),
            forgotten: now,
        }
    }

    /// Returns `true` if one more request of a user is within the limit.
    pub fn admit(&mut self, user: u32, now: Instant) -> bool {
        if now.saturating_duration_since(self.forgotten) >= SECOND {
            // A user who asked for nothing in a second has the whole rate again.
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
            user,
            is_waiting: false,
            heard: now + Duration::from_millis(number),
        };
        (0..).zip(all).map(place).collect()
    }

    #[test]
    fn lsv_46_one_connection_too_many_takes_the_place_of_a_silent_one() {
        let now = Instant::now();
        assert_eq!(displaced(&places([(1000, CLIENTS_OF_USER - 1)], now), 1000), None);
        let mut full = places([(7, 1), (1000, CLIENTS_OF_USER)], now);
        assert_eq!((displaced(&full, 1000), displaced(&full, 1001)), (Some(1), None));
        full[1].is_waiting = true;
        full[2].heard = now + Duration::from_secs(60);
        assert_eq!(displaced(&full, 1000), Some(3));
    }

    #[test]
    fn lsv_46_the_user_with_most_connections_makes_room_for_others() {
        let now = Instant::now();
        let users = [(0, 100), (1, 100), (2, 100), (3, 112), (4, 100)];
        assert_eq!(displaced(&places(users, now), 5), Some(300));
        // Many users with one connection each do not displace root's.
        let crowd = places((0..).map(|user| (user, 1)).take(CLIENTS), now);
        assert_eq!(displaced(&crowd, 9999), Some(1));
        assert_eq!(displaced(&[], 0), None);
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
        // A flood that never pauses gets its hundred in the next second and no more.
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
