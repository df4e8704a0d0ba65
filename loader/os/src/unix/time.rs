//! The wall clock, and a clock that never steps back.

use core::mem::MaybeUninit;

/// Returns the time since 1970 in seconds and nanoseconds; zero if the clock is set to an earlier time.
#[allow(
    clippy::useless_conversion,
    reason = "the types of the fields differ between systems"
)]
pub fn now() -> (i64, i64) {
    let mut found = MaybeUninit::<libc::timespec>::uninit();
    // SAFETY: the call writes only to `found`, which has the size of a `timespec`.
    if unsafe { libc::clock_gettime(libc::CLOCK_REALTIME, found.as_mut_ptr()) } != 0 {
        return (0, 0);
    }
    // SAFETY: the call succeeded, so it has filled the structure.
    let found = unsafe { found.assume_init() };
    if found.tv_sec < 0 {
        return (0, 0);
    }
    (i64::from(found.tv_sec), i64::from(found.tv_nsec))
}

/// Returns the nanoseconds since some moment before this process started, from the monotonic clock; zero if the system has no such clock.
#[allow(
    clippy::useless_conversion,
    reason = "the types of the fields differ between systems"
)]
pub fn since_start() -> u64 {
    let mut found = MaybeUninit::<libc::timespec>::uninit();
    // SAFETY: the call writes only to `found`, which has the size of a `timespec`.
    if unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, found.as_mut_ptr()) } != 0 {
        return 0;
    }
    // SAFETY: the call succeeded, so it has filled the structure.
    let found = unsafe { found.assume_init() };
    let part = |number: i64| u64::try_from(number).unwrap_or_default();
    part(found.tv_sec.into())
        .saturating_mul(1_000_000_000)
        .saturating_add(part(found.tv_nsec.into()))
}

#[cfg(test)]
mod tests {
    use core::time::Duration;
    use std::time::SystemTime;

    #[test]
    fn the_clock_is_that_of_the_system() {
        let (seconds, nanoseconds) = super::now();
        let since = Duration::new(seconds.try_into().unwrap(), nanoseconds.try_into().unwrap());
        let shown = SystemTime::UNIX_EPOCH + since;
        assert!(shown.elapsed().unwrap() < Duration::from_secs(60));
    }
}
