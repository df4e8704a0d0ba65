//! Counts of threads that use a device or driver. The device or driver is destroyed only when no thread uses it.

use super::{Condvar, Mutex};
use core::sync::atomic::{AtomicU32, Ordering};

/// Number of uses of an object, and the bit [`CLOSED`].
#[derive(Default)]
pub struct UseCount(AtomicU32);

/// Bit that is set permanently before the object is destroyed. Afterwards, no thread may start to use the object.
const CLOSED: u32 = 1 << 31;

/// Wakes threads that wait for the last use of an object. The process has one value of this type: an object may be freed as soon as its
/// last use ends, so nothing in the object can announce the end.
struct UseEnds {
    gate: Mutex<()>,
    ended: Condvar,
}

/// Place where the destruction of an object waits for threads that use it.
static USE_ENDS: UseEnds = UseEnds {
    gate: Mutex::new(()),
    ended: Condvar::new(),
};

impl UseEnds {
    #[cold]
    #[inline(never)]
    fn announce(&self) {
        // A thread that held `gate` and found the object in use waits by now, so the notification reaches that thread.
        drop(self.gate.lock());
        self.ended.notify_all();
    }

    fn wait_while(&self, busy: impl Fn() -> bool) {
        drop(self.ended.wait_while(self.gate.lock(), |()| busy()));
    }
}

impl UseCount {
    /// Starts a use and returns `true`, unless the object is about to be destroyed. A refused use does not change the count, because many
    /// refused uses would overflow into [`CLOSED`].
    #[inline]
    pub fn acquire(&self) -> bool {
        let open = |uses| (uses & CLOSED == 0).then_some(uses + 1);
        self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, open).is_ok()
    }

    /// Adds a use for a thread that already has one.
    pub fn acquire_again(&self) {
        self.0.fetch_add(1, Ordering::AcqRel);
    }

    /// Ends a use. The object may already be freed when this function returns.
    #[inline]
    pub fn release(&self) {
        if self.0.fetch_sub(1, Ordering::AcqRel) == CLOSED | 1 {
            USE_ENDS.announce();
        }
    }

    /// Refuses new uses from now on and returns `true`, unless the object is in use or new uses were refused before.
    pub fn try_close(&self) -> bool {
        self.0
            .compare_exchange(0, CLOSED, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
    }

    /// Returns `true` if new uses are refused.
    pub fn is_closed(&self) -> bool {
        self.0.load(Ordering::Acquire) & CLOSED != 0
    }

    /// Refuses new uses, and waits until all uses have ended.
    pub fn close(&self) {
        if self.0.fetch_or(CLOSED, Ordering::AcqRel) & !CLOSED != 0 {
            USE_ENDS.wait_while(|| self.0.load(Ordering::Acquire) != CLOSED);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::time_limit::ends_in_time;
    use core::sync::atomic::AtomicBool;

    #[test]
    fn app_270_closing_waits_for_every_use() {
        ends_in_time(|| {
            let (uses, closed) = (UseCount::default(), AtomicBool::new(false));
            assert!(uses.acquire());
            uses.acquire_again();
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    uses.close();
                    closed.store(true, Ordering::SeqCst);
                });
                while uses.acquire() {
                    uses.release();
                }
                uses.release();
                assert!(!closed.load(Ordering::SeqCst));
                uses.release();
            });
            assert!(closed.load(Ordering::SeqCst));
            assert!(!uses.acquire());
        });
    }

    #[test]
    fn app_270_no_end_of_a_use_is_missed() {
        ends_in_time(|| {
            for _ in 0..500 {
                let uses = UseCount::default();
                assert!(uses.acquire());
                std::thread::scope(|scope| {
                    scope.spawn(|| uses.release());
                    uses.close();
                });
            }
        });
    }
}
