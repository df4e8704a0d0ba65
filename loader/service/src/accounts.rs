//! The account of a client's user (LSV-46). The limits for clients apply to each account.
//!
//! A user may own a range of further user IDs, for containers. All IDs of the range belong to one account, so that a user cannot exceed a
//! limit by using several IDs.

use std::fs;

/// File with the ranges of further user IDs. Each line has the owner of a range, the first ID and the number of IDs, separated by colons.
const RANGES: &str = "/etc/subuid";
/// Smallest ID that can be in a range of `/etc/subuid`, on all systems. Smaller IDs belong to people and to the system.
const FIRST_IN_RANGES: u32 = 65536;

/// Returns the account of a user: the first ID of the range that contains the user, or else the user's own ID.
pub fn account_of(user: u32) -> u32 {
    if user < FIRST_IN_RANGES {
        return user;
    }
    account_in(&fs::read_to_string(RANGES).unwrap_or_default(), user)
}

/// Returns the account of a user according to `ranges`, the text of `/etc/subuid`.
fn account_in(ranges: &str, user: u32) -> u32 {
    let first_of = |line: &str| {
        let mut numbers = line.trim().split(':').skip(1).map(str::parse::<u32>);
        let (first, count) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
        let is_in = user.checked_sub(first).is_some_and(|place| place < count);
        is_in.then_some(first)
    };
    ranges.lines().find_map(first_of).unwrap_or(user)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lsv_46_all_numbers_of_a_range_are_one_account() {
        let ranges = "one:100000:65536\n\nx\ny:z:1\ntwo:165536:65536\nthree:4294967295:2\n";
        for (user, account) in [
            (99_999, 99_999),
            (100_000, 100_000),
            (165_535, 100_000),
            (165_536, 165_536),
            (231_072, 231_072),
            (u32::MAX, u32::MAX),
        ] {
            assert_eq!(account_in(ranges, user), account, "{user}");
            assert_eq!(account_in("", user), user);
        }
        assert_eq!(account_of(1000), 1000);
    }
}
