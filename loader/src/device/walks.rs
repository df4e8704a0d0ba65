//! Walks over the devices of an instance hold the one they look at; its destruction waits for them.

use crate::state::{WALKS, lock};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

/// How many walks hold a device, and [`CLOSED`].
#[derive(Default)]
pub(super) struct Walks(AtomicU32);

/// Set once the device is about to go: nobody may hold it anew.
const CLOSED: u32 = 1 << 31;

/// Wakes threads that wait for a walk to let its device go. One for the process: the device may be freed as soon as its
/// last walk has gone, so nothing of it can be used to say so.
#[derive(Default)]
pub struct WalkEnds {
    gate: Mutex<()>,
    ended: Condvar,
}

impl WalkEnds {
    /// Nobody waits.
    pub const fn new() -> Self {
        Self {
            gate: Mutex::new(()),
            ended: Condvar::new(),
        }
    }

    fn announce(&self) {
        // A thread that still saw the walk under the lock is waiting by now.
        drop(lock(&self.gate));
        self.ended.notify_all();
    }

    fn wait_while(&self, busy: impl Fn() -> bool) {
        let waited = self.ended.wait_while(lock(&self.gate), |()| busy());
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }
}

impl Walks {
    /// A new hold, unless the device is about to go.
    pub(super) fn enter(&self) -> bool {
        let open = |walks| (walks & CLOSED == 0).then_some(walks + 1);
        self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, open).is_ok()
    }

    /// One hold more for somebody who has one.
    pub(super) fn again(&self) {
        self.0.fetch_add(1, Ordering::AcqRel);
    }

    /// Gives a hold back. The device may be gone when this returns.
    pub(super) fn leave(&self) {
        if self.0.fetch_sub(1, Ordering::AcqRel) == CLOSED | 1 {
            WALKS.announce();
        }
    }

    /// Refuses new holds, and waits until nobody has one.
    pub(super) fn close(&self) {
        if self.0.fetch_or(CLOSED, Ordering::AcqRel) & !CLOSED != 0 {
            WALKS.wait_while(|| self.0.load(Ordering::Acquire) != CLOSED);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn app_270_closing_waits_for_every_hold() {
        let (walks, closed) = (Walks::default(), AtomicBool::new(false));
        assert!(walks.enter());
        walks.again();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                walks.close();
                closed.store(true, Ordering::SeqCst);
            });
            while walks.enter() {
                walks.leave();
            }
            walks.leave();
            assert!(!closed.load(Ordering::SeqCst));
            walks.leave();
        });
        assert!(closed.load(Ordering::SeqCst));
        assert!(!walks.enter());
    }

    #[test]
    fn app_270_no_end_of_a_walk_is_missed() {
        for _ in 0..500 {
            let walks = Walks::default();
            assert!(walks.enter());
            std::thread::scope(|scope| {
                scope.spawn(|| walks.leave());
                walks.close();
            });
        }
    }
}
