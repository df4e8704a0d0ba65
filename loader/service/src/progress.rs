//! The progress of the work that a request waits for.

use crate::drivers::{Drivers, Lookup};
use crate::protocol::Request;
use std::time::Instant;

/// The progress of the work that an answer needs (LSV-3, LSV-35).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The work is not finished.
    Pending,
    /// The work is not finished, and the time limit of the request has passed.
    Late,
    /// The answer is known.
    Finished,
}

impl Progress {
    /// Returns the progress of the work for a request whose time limit is `until`.
    pub fn of<L>(request: &Request, drivers: &Drivers<L>, until: Instant, now: Instant) -> Self {
        let is_pending = match request {
            Request::Get(key, _) => matches!(drivers.look_up(now, key), Lookup::Pending),
            Request::Manifests { wait_for_idle, .. } => *wait_for_idle && drivers.is_pending(now),
            _ => false,
        };
        if !is_pending {
            Self::Finished
        } else if now < until {
            Self::Pending
        } else {
            Self::Late
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drivers::{Rules, Seen};

    #[test]
    fn lsv_35_what_is_held_back_is_answered_in_time() {
        let start = Instant::now();
        let until = start + wire::HELD_BACK;
        let mut drivers = Drivers::<()>::new(Rules {
            allow_fallback: false,
            ..Rules::default()
        });
        let manifests = |wait_for_idle| Request::Manifests {
            wait_for_idle,
            class: None,
        };
        let library = Request::Get("0-a.so".into(), None);
        for request in [&library, &manifests(true)] {
            assert_eq!(Progress::of(request, &drivers, until, start), Progress::Pending);
            assert_eq!(Progress::of(request, &drivers, until, until), Progress::Late);
        }
        assert_eq!(
            Progress::of(&manifests(false), &drivers, until, start),
            Progress::Finished
        );
        drivers.devices_seen(start, Vec::<Seen>::new());
        for request in [&library, &manifests(true)] {
            assert_eq!(Progress::of(request, &drivers, until, start), Progress::Finished);
        }
    }
}
