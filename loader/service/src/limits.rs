//! How much clients may have and ask for (LSV-46).

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Clients in all.
pub const CLIENTS: usize = 256;
/// Clients of one user.
pub const CLIENTS_OF_USER: usize = 32;
/// Requests of a client whose answers are held back.
pub const OUTSTANDING: usize = 64;
/// Requests of a client in a second.
pub const REQUESTS_A_SECOND: u32 = 100;
/// Packets that wait for a client to read others.
pub const QUEUE: usize = 64;

/// Whether a client of this user may be one more, when these users have clients already.
pub fn admits(users: impl Iterator<Item = u32>, user: u32) -> bool {
    let mut count = BTreeMap::<u32, usize>::new();
    for user in users {
        *count.entry(user).or_default() += 1;
    }
    count.values().sum::<usize>() < CLIENTS && count.get(&user).is_none_or(|of_user| *of_user < CLIENTS_OF_USER)
}

/// The requests of one client in the last second: at most so many at once, and so many a second in the long run.
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    left: u32,
    since: Instant,
}

impl Rate {
    /// Nothing was asked yet.
    pub fn new(now: Instant) -> Self {
        Self {
            left: REQUESTS_A_SECOND,
            since: now,
        }
    }

    /// Whether one more request is within the limit.
    pub fn admits(&mut self, now: Instant) -> bool {
        const EACH: Duration = Duration::from_nanos(1_000_000_000 / REQUESTS_A_SECOND as u64);
        let passed = now.saturating_duration_since(self.since);
        let more = u32::try_from(passed.as_nanos() / EACH.as_nanos()).unwrap_or(u32::MAX);
        self.left = self.left.saturating_add(more).min(REQUESTS_A_SECOND);
        // What is not yet worth a request counts for the next one.
        self.since = if self.left == REQUESTS_A_SECOND {
            now
        } else {
            self.since + EACH * more
        };
        let admits = self.left > 0;
        self.left -= u32::from(admits);
        admits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lsv_46_clients_have_limits() {
        let users = |count: usize, user: u32| std::iter::repeat_n(user, count);
        assert!(admits(users(31, 1000), 1000));
        assert!(!admits(users(32, 1000), 1000));
        assert!(admits(users(32, 1000), 1001));
        let many = |count: usize| (0..count).map(|number| u32::try_from(number / 32).unwrap());
        assert!(admits(many(255), 99) && !admits(many(256), 99));
    }

    #[test]
    fn lsv_46_requests_have_a_rate() {
        let start = Instant::now();
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        let mut rate = Rate::new(start);
        let count = |rate: &mut Rate, now| (0..1000).filter(|_| rate.admits(now)).count();
        assert_eq!(count(&mut rate, start), 100);
        assert_eq!(count(&mut rate, at(9)), 0);
        assert_eq!(count(&mut rate, at(10)), 1);
        // A flood that never pauses gets its hundred in the next second and no more.
        let admitted: usize = (11..=1010).map(|now| count(&mut rate, at(now))).sum();
        assert_eq!(admitted, 100);
        assert_eq!(count(&mut rate, at(100_000)), 100);
    }
}
