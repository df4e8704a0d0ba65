//! The lock and condition variable of the C library with which threads wait.

use super::CancellationOff;
use core::cell::UnsafeCell;

/// Place where all threads of the process wait. Each change wakes all these threads, and each thread checks again whether it must wait.
/// Few threads ever wait, because locks are only held during a look-up.
pub(crate) struct Waiting {
    gate: UnsafeCell<libc::pthread_mutex_t>,
    change: UnsafeCell<libc::pthread_cond_t>,
}

// SAFETY: the lock and the condition variable of the C library are made for use by many threads.
unsafe impl Sync for Waiting {}

impl Waiting {
    /// Returns the initial state. The value must not move after its first use.
    pub(crate) const fn new() -> Self {
        Self {
            gate: UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER),
            change: UnsafeCell::new(libc::PTHREAD_COND_INITIALIZER),
        }
    }

    /// Acquires the gate. A thread that holds the gate must not acquire another lock.
    pub(crate) fn enter(&'static self) -> Waiter {
        // SAFETY: the lock is initialised and never moves. Locking a mutex of the normal kind cannot fail.
        unsafe { libc::pthread_mutex_lock(self.gate.get()) };
        Waiter(self)
    }
}

/// Proof that this thread holds the gate; dropping it releases the gate.
pub(crate) struct Waiter(&'static Waiting);

impl Waiter {
    /// Releases the gate, waits for a change, and acquires the gate again. May return without a change.
    pub(crate) fn wait(&mut self) {
        // A thread that is cancelled while it waits would keep the gate.
        let _uncancelled = CancellationOff::begin();
        // SAFETY: lock and condition variable are initialised and never move; this thread holds the gate, and holds it again afterwards.
        unsafe { libc::pthread_cond_wait(self.0.change.get(), self.0.gate.get()) };
    }

    pub(crate) fn wake_all(&self) {
        // SAFETY: the condition variable is part of a static variable, so it is initialised and never moves.
        unsafe { libc::pthread_cond_broadcast(self.0.change.get()) };
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        // SAFETY: a `Waiter` exists only while its thread holds the gate, and `drop` runs once.
        unsafe { libc::pthread_mutex_unlock(self.0.gate.get()) };
    }
}
