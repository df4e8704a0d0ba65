//! Walks over devices or drivers hold the one they look at; it goes only when nobody holds it.

use crate::os::{Condvar, Mutex};
use crate::state::WALKS;
use core::sync::atomic::{AtomicU32, Ordering};

/// How many walks hold an object, and [`CLOSED`].
#[derive(Default)]
pub struct Walks(AtomicU32);

/// Set once the object is about to go, and for good: nobody may hold it anew.
const CLOSED: u32 = 1 << 31;

/// Wakes threads that wait for a walk to let its object go. One for the process: the object may be freed as soon as its
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

    #[cold]
    #[inline(never)]
    fn announce(&self) {
        // A thread that still saw the walk under the lock is waiting by now.
        drop(self.gate.lock());
        self.ended.notify_all();
    }

    fn wait_while(&self, busy: impl Fn() -> bool) {
        drop(self.ended.wait_while(self.gate.lock(), |()| busy()));
    }
}

impl Walks {
    /// A new hold, unless the object is about to go. A refused one leaves no count behind: enough of them would carry into
    /// the mark.
    #[inline]
    pub fn enter(&self) -> bool {
        let open = |walks| (walks & CLOSED == 0).then_some(walks + 1);
        self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, open).is_ok()
    }

    /// One hold more for somebody who has one.
    pub fn again(&self) {
        self.0.fetch_add(1, Ordering::AcqRel);
    }

    /// Gives a hold back. The object may be gone when this returns.
    #[inline]
    pub fn leave(&self) {
        if self.0.fetch_sub(1, Ordering::AcqRel) == CLOSED | 1 {
            WALKS.announce();
        }
    }

    /// Refuses new holds from now on, unless somebody has one or they were refused before.
    pub fn claim(&self) -> bool {
        self.0
            .compare_exchange(0, CLOSED, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
    }

    /// Whether new holds are refused.
    pub fn is_closed(&self) -> bool {
        self.0.load(Ordering::Acquire) & CLOSED != 0
    }

    /// Refuses new holds, and waits until nobody has one.
    pub fn close(&self) {
        if self.0.fetch_or(CLOSED, Ordering::AcqRel) & !CLOSED != 0 {
            WALKS.wait_while(|| self.0.load(Ordering::Acquire) != CLOSED);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::AtomicBool;

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
