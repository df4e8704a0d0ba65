//! The lock and condition variable with which threads wait.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Place where all threads of the process wait. Each change wakes all these threads, and each thread checks again whether it must wait.
/// Few threads ever wait, because locks are only held during a look-up.
pub(crate) struct Waiting {
    gate: Mutex<()>,
    change: Condvar,
}

impl Waiting {
    /// Returns the initial state.
    pub(crate) const fn new() -> Self {
        Self {
            gate: Mutex::new(()),
            change: Condvar::new(),
        }
    }

    /// Acquires the gate. A thread that holds the gate must not acquire another lock.
    pub(crate) fn enter(&'static self) -> Waiter {
        Waiter {
            place: self,
            guard: Some(self.gate.lock().unwrap_or_else(PoisonError::into_inner)),
        }
    }
}

/// Proof that this thread holds the gate; dropping it releases the gate.
pub(crate) struct Waiter {
    place: &'static Waiting,
    guard: Option<MutexGuard<'static, ()>>,
}

impl Waiter {
    /// Releases the gate, waits for a change, and acquires the gate again. May return without a change.
    pub(crate) fn wait(&mut self) {
        if let Some(guard) = self.guard.take() {
            let guard = self.place.change.wait(guard);
            self.guard = Some(guard.unwrap_or_else(PoisonError::into_inner));
        }
    }

    pub(crate) fn wake_all(&self) {
        self.place.change.notify_all();
    }
}
