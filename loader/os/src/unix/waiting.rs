//! The C library's lock and condition, where threads wait.

use super::CancellationOff;
use core::cell::UnsafeCell;

/// The place where threads wait, one for the process. Each change wakes all of them to look again, since few ever do: locks
/// are held for the length of a look-up.
pub(crate) struct Waiting {
    gate: UnsafeCell<libc::pthread_mutex_t>,
    change: UnsafeCell<libc::pthread_cond_t>,
}

// SAFETY: both are made to be used by many threads.
unsafe impl Sync for Waiting {}

impl Waiting {
    /// No thread waits. It stays where it is from its first use on.
    pub(crate) const fn new() -> Self {
        Self {
            gate: UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER),
            change: UnsafeCell::new(libc::PTHREAD_COND_INITIALIZER),
        }
    }

    /// Takes the gate. No lock is taken by who has it.
    pub(crate) fn enter(&'static self) -> Waiter {
        // SAFETY: initialised when it was made, and never moved. A lock of the usual kind has no way to fail.
        unsafe { libc::pthread_mutex_lock(self.gate.get()) };
        Waiter(self)
    }
}

/// The gate is this thread's until this is dropped.
pub(crate) struct Waiter(&'static Waiting);

impl Waiter {
    /// Lets the gate go until something changes, or for no reason.
    pub(crate) fn wait(&mut self) {
        // A thread that ended in the wait would take the gate with it.
        let _uncancelled = CancellationOff::begin();
        // SAFETY: both were initialised when they were made, and never moved; this thread has the gate, and has it afterwards.
        unsafe { libc::pthread_cond_wait(self.0.change.get(), self.0.gate.get()) };
    }

    pub(crate) fn wake_all(&self) {
        // SAFETY: initialised when it was made, and never moved.
        unsafe { libc::pthread_cond_broadcast(self.0.change.get()) };
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        // SAFETY: this thread took it.
        unsafe { libc::pthread_mutex_unlock(self.0.gate.get()) };
    }
}
