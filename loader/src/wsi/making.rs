//! One thread at a time asks a driver for surfaces.
//!
//! Queries of a surface may run on several threads, and the first one on each driver makes the driver's surface. A
//! second surface for the same window can fail, so whoever comes second waits and finds the first one's. No lock is held
//! meanwhile: a thread that comes back here while it asks, from a callback, passes.

use crate::state::lock;
use std::sync::{Condvar, Mutex, PoisonError};

/// Which thread asks the driver right now.
#[derive(Default)]
pub struct Making {
    owner: Mutex<Option<Thread>>,
    free: Condvar,
}

/// Identifies a running thread.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Thread(usize);

impl Thread {
    /// The address of a variable that each thread has its own of; it has no destructor, so the library can be unloaded.
    fn current() -> Self {
        thread_local! { static MARK: u8 = const { 0 } }
        Self(MARK.with(|mark| std::ptr::from_ref(mark).addr()))
    }
}

impl Making {
    /// Nobody asks yet.
    pub const fn new() -> Self {
        Self {
            owner: Mutex::new(None),
            free: Condvar::new(),
        }
    }

    /// Waits until no other thread asks. `None` when this thread is the one.
    pub fn enter(&self) -> Option<Asking<'_>> {
        let thread = Thread::current();
        let mut owner = lock(&self.owner);
        while let Some(other) = *owner {
            if other == thread {
                return None;
            }
            owner = self.free.wait(owner).unwrap_or_else(PoisonError::into_inner);
        }
        *owner = Some(thread);
        Some(Asking(self))
    }
}

/// Proof that this thread is the one that asks.
pub struct Asking<'a>(&'a Making);

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        *lock(&self.0.owner) = None;
        self.0.free.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn drv_177_one_thread_at_a_time_and_itself_again() {
        let making = Making::new();
        let (inside, entered) = (AtomicU32::new(0), AtomicU32::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..100 {
                        let asking = making.enter();
                        assert!(asking.is_some());
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                        assert!(making.enter().is_none());
                        entered.fetch_add(1, Ordering::SeqCst);
                        inside.fetch_sub(1, Ordering::SeqCst);
                    }
                });
            }
        });
        assert_eq!(entered.into_inner(), 400);
    }
}
