//! Locks, and waiting for changes under a lock.
//!
//! A lock is one word; locking and unlocking need no call while no thread waits. All threads that wait, for a lock or for a change of a
//! locked value, wait in one place of the process, [`Waiting`]. That place has a lock and a condition variable of the system, which never
//! move.

use crate::system::Waiting;
use core::cell::UnsafeCell;
use core::fmt;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};
use core::sync::atomic::{AtomicU32, Ordering};

/// Place where all threads of the process wait.
static WAITING: Waiting = Waiting::new();

const FREE: u32 = 0;
const TAKEN: u32 = 1;
/// State of a lock that is taken and for which some thread may wait.
const AWAITED: u32 = 2;

/// A value that one thread uses at a time. If a thread that holds the lock locks the value again, the call never returns.
pub struct Mutex<T> {
    state: AtomicU32,
    value: UnsafeCell<T>,
}

// SAFETY: only the thread that holds the lock accesses the value.
unsafe impl<T: Send> Sync for Mutex<T> {}

impl<T> Mutex<T> {
    /// Returns an unlocked value.
    pub const fn new(value: T) -> Self {
        Self {
            state: AtomicU32::new(FREE),
            value: UnsafeCell::new(value),
        }
    }

    /// Waits until no other thread has the lock, and takes it.
    #[inline]
    pub fn lock(&self) -> Guard<'_, T> {
        self.try_lock().unwrap_or_else(|| {
            wait_for(&self.state);
            Guard::of(self)
        })
    }

    /// Takes the lock if no thread holds it. After a fork, the holder may be a thread that does not exist in this process.
    #[inline]
    pub fn try_lock(&self) -> Option<Guard<'_, T>> {
        let taken = self
            .state
            .compare_exchange(FREE, TAKEN, Ordering::Acquire, Ordering::Relaxed);
        taken.is_ok().then(|| Guard::of(self))
    }
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> fmt::Debug for Mutex<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Mutex").finish_non_exhaustive()
    }
}

/// Waits until another thread releases a lock, and takes it.
#[cold]
#[inline(never)]
fn wait_for(state: &AtomicU32) {
    let mut gate = WAITING.enter();
    // A thread that releases the lock from here on sees `AWAITED`, and enters the gate to announce the release.
    while state.swap(AWAITED, Ordering::Acquire) != FREE {
        gate.wait();
    }
}

/// Wakes all threads that wait, after a lock was released or a locked value was changed.
#[cold]
#[inline(never)]
fn announce() {
    WAITING.enter().wake_all();
}

/// Access to the value of a [`Mutex`]; dropping it releases the lock.
pub struct Guard<'a, T> {
    mutex: &'a Mutex<T>,
    /// The thread that took a lock must release it.
    not_send: PhantomData<*const ()>,
}

// SAFETY: a shared guard only gives shared access to the value.
unsafe impl<T: Sync> Sync for Guard<'_, T> {}

impl<'a, T> Guard<'a, T> {
    /// Returns the guard of a thread that just took the lock.
    fn of(mutex: &'a Mutex<T>) -> Self {
        Self {
            mutex,
            not_send: PhantomData,
        }
    }
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: this thread holds the lock, as the guard proves.
        unsafe { &*self.mutex.value.get() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this thread holds the lock, and `&mut self` excludes another use of the guard.
        unsafe { &mut *self.mutex.value.get() }
    }
}

impl<T> Drop for Guard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        // After this swap, another thread may free the object that contains the lock.
        if self.mutex.state.swap(FREE, Ordering::Release) == AWAITED {
            announce();
        }
    }
}

/// Condition variable for changes of the value in a [`Mutex`].
#[derive(Debug, Default)]
pub struct Condvar(());

impl Condvar {
    /// Returns a condition variable for which no thread waits.
    pub const fn new() -> Self {
        Self(())
    }

    /// Releases the lock and waits until `busy` returns `false`; `busy` is called under the lock.
    pub fn wait_while<'a, T>(&self, mut guard: Guard<'a, T>, mut busy: impl FnMut(&mut T) -> bool) -> Guard<'a, T> {
        while busy(&mut guard) {
            let mutex = guard.mutex;
            core::mem::forget(guard);
            // This thread releases the lock inside the gate. A thread that changes the value afterwards must enter the gate to announce the
            // change, and can enter it only when this thread waits. So no wake-up is lost.
            let mut gate = WAITING.enter();
            if mutex.state.swap(FREE, Ordering::Release) == AWAITED {
                gate.wake_all();
            }
            gate.wait();
            drop(gate);
            guard = mutex.lock();
        }
        guard
    }

    /// Wakes all threads that wait, after a change that was made under the lock.
    pub fn notify_all(&self) {
        announce();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::time_limit::ends_in_time;
    use core::ffi::c_void;
    use core::ptr::{from_ref, null, null_mut};
    use core::time::Duration;

    #[test]
    fn one_thread_at_a_time_has_the_value() {
        ends_in_time(|| {
            let mutex = Mutex::new(0_u64);
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        for _ in 0..10_000 {
                            let mut value = mutex.lock();
                            let before = *value;
                            // A thread that yields here makes the other threads wait for the lock.
                            if before.is_multiple_of(64) {
                                std::thread::yield_now();
                            }
                            *value = before + 1;
                        }
                    });
                }
            });
            assert_eq!(*mutex.lock(), 40_000);
        });
    }

    #[test]
    fn a_held_lock_is_refused_and_a_free_one_is_not() {
        ends_in_time(|| {
            let mutex = Mutex::new(());
            let held = mutex.lock();
            std::thread::scope(|scope| {
                let other = scope.spawn(|| mutex.try_lock().is_some());
                assert!(!other.join().unwrap());
            });
            drop(held);
            assert!(mutex.try_lock().is_some());
            assert!(mutex.try_lock().is_some());
        });
    }

    #[test]
    fn a_waiting_thread_wakes_and_holds_the_lock() {
        ends_in_time(|| {
            let (mutex, changed) = (Mutex::new(0_u32), Condvar::new());
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    for _ in 0..1000 {
                        *changed.wait_while(mutex.lock(), |value| value.is_multiple_of(2)) += 1;
                        changed.notify_all();
                    }
                });
                for _ in 0..1000 {
                    *changed.wait_while(mutex.lock(), |value| !value.is_multiple_of(2)) += 1;
                    changed.notify_all();
                }
            });
            assert_eq!(*mutex.lock(), 2000);
        });
    }

    /// All values of [`Condvar`] share one condition variable of the system, so each wake-up must reach all threads.
    #[test]
    fn threads_with_different_locks_and_changes_all_come_through() {
        ends_in_time(|| {
            const THREADS: usize = 6;
            const ROUNDS: usize = 300;
            let (turn, passed) = (Mutex::new(0), Condvar::new());
            let counts = [const { Mutex::new(0_usize) }; 2];
            std::thread::scope(|scope| {
                for own in 0..THREADS {
                    let (turn, passed, counts) = (&turn, &passed, &counts);
                    scope.spawn(move || {
                        for round in 0..ROUNDS {
                            let count = &counts[(own + round) % counts.len()];
                            let mut held = count.lock();
                            if round.is_multiple_of(8) {
                                std::thread::yield_now();
                            }
                            *held += 1;
                            drop(held);
                            *passed.wait_while(turn.lock(), |turn| *turn % THREADS != own) += 1;
                            passed.notify_all();
                        }
                    });
                }
            });
            assert_eq!(*turn.lock(), THREADS * ROUNDS);
            assert_eq!(*counts[0].lock() + *counts[1].lock(), THREADS * ROUNDS);
        });
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_thread_that_is_cancelled_while_it_waits_gets_the_lock_and_leaves_the_gate() {
        ends_in_time(|| {
            extern "C" fn take(mutex: *mut c_void) -> *mut c_void {
                // SAFETY: the lock belongs to the test and outlives this thread.
                let mutex = unsafe { &*mutex.cast::<Mutex<u32>>() };
                *mutex.lock() += 1;
                null_mut()
            }
            let mutex = Mutex::new(0_u32);
            let held = mutex.lock();
            let mut thread = 0;
            // SAFETY: the call writes the thread's ID only to `thread`, and the argument outlives the thread, which is joined below.
            let failed = unsafe { libc::pthread_create(&mut thread, null(), take, from_ref(&mutex).cast_mut().cast()) };
            assert_eq!(failed, 0);
            while mutex.state.load(Ordering::Relaxed) != AWAITED {
                std::thread::yield_now();
            }
            // Entering succeeds only after the thread has released the gate, and the thread releases the gate only to wait.
            drop(WAITING.enter());
            // SAFETY: the thread runs and has not been joined.
            assert_eq!(unsafe { libc::pthread_cancel(thread) }, 0);
            std::thread::sleep(Duration::from_millis(20));
            drop(held);
            // SAFETY: the thread is joined only here.
            assert_eq!(unsafe { libc::pthread_join(thread, null_mut()) }, 0);
            assert_eq!(*mutex.lock(), 1);
        });
    }
}
