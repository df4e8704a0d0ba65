//! Where threads wait.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The place where threads wait, one for the process. Each change wakes all of them to look again, since few ever do: locks
/// are held for the length of a look-up.
pub(crate) struct Waiting {
    gate: Mutex<()>,
    change: Condvar,
}

impl Waiting {
    /// No thread waits.
    pub(crate) const fn new() -> Self {
        Self {
            gate: Mutex::new(()),
            change: Condvar::new(),
        }
    }

    /// Takes the gate. No lock is taken by who has it.
    pub(crate) fn enter(&'static self) -> Waiter {
        Waiter {
            place: self,
            guard: Some(self.gate.lock().unwrap_or_else(PoisonError::into_inner)),
        }
    }
}

/// The gate is this thread's until this is dropped.
pub(crate) struct Waiter {
    place: &'static Waiting,
    guard: Option<MutexGuard<'static, ()>>,
}

impl Waiter {
    /// Lets the gate go until something changes, or for no reason.
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
