//! One thread at a time does something that calls out, without a lock held meanwhile.
//!
//! Whoever comes second waits: queries of a surface may run on several threads, and the first one on each driver makes
//! the driver's surface, since a second surface for the same window can fail (DRV-177); and threads may make devices of
//! one chain of structures, in which one is replaced for the length of the call (APP-144). A thread that comes back here
//! in its own turn, from a callback or a layer, passes.

use crate::os::{Condvar, Mutex, current_thread};

/// Whose turn it is.
#[derive(Default)]
pub struct Turns {
    owner: Mutex<Option<Thread>>,
    free: Condvar,
}

/// Identifies a running thread.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Thread(usize);

impl Thread {
    fn current() -> Self {
        Self(current_thread())
    }
}

impl Turns {
    /// Nobody's turn yet.
    pub const fn new() -> Self {
        Self {
            owner: Mutex::new(None),
            free: Condvar::new(),
        }
    }

    /// Waits until it is no other thread's turn. `None` when it is this one's already.
    pub fn enter(&self) -> Option<Turn<'_>> {
        let thread = Thread::current();
        let is_other = |owner: &mut Option<Thread>| owner.is_some_and(|owner| owner != thread);
        let mut owner = self.free.wait_while(self.owner.lock(), is_other);
        match owner.replace(thread) {
            Some(_) => None,
            None => Some(Turn(self)),
        }
    }
}

/// A thread's turn; it ends when this is dropped.
pub struct Turn<'a>(&'a Turns);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        *self.0.owner.lock() = None;
        self.0.free.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn drv_177_one_thread_at_a_time_and_itself_again() {
        let turns = Turns::new();
        let (inside, entered) = (AtomicU32::new(0), AtomicU32::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..100 {
                        let turn = turns.enter();
                        assert!(turn.is_some());
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                        assert!(turns.enter().is_none());
                        entered.fetch_add(1, Ordering::SeqCst);
                        inside.fetch_sub(1, Ordering::SeqCst);
                    }
                });
            }
        });
        assert_eq!(entered.into_inner(), 400);
    }
}
