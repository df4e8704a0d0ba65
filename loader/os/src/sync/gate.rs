//! Locks that are held while a layer or a driver runs.
//!
//! A [`ReentrantGate`] lets one thread pass at a time, and lets that thread pass again. A layer or a callback that calls the loader on the
//! same thread therefore never waits for itself.
//!
//! A thread cannot be cancelled while it holds a gate, because the code of a driver has cancellation points.

use super::{Guard, Mutex};
use crate::system::{CancellationOff, current_thread};
use core::sync::atomic::{AtomicUsize, Ordering};

/// A lock that its holder may take again.
#[derive(Default)]
pub struct ReentrantGate {
    lock: Mutex<()>,
    /// ID of the thread that holds the lock; zero if no thread holds the lock. This ID is written only under the lock.
    holder: AtomicUsize,
}

impl ReentrantGate {
    /// Returns a gate that no thread holds.
    pub const fn new() -> Self {
        Self {
            lock: Mutex::new(()),
            holder: AtomicUsize::new(0),
        }
    }

    /// Waits until no other thread is inside the gate. This thread is then inside until the returned passage is dropped, and may enter the
    /// gate again meanwhile.
    pub fn enter(&self) -> Passage<'_> {
        let thread = current_thread();
        // Only this thread writes its own number here, so the result cannot change meanwhile.
        if self.holder.load(Ordering::Relaxed) == thread {
            return Passage { _outermost: None };
        }
        let uncancelled = CancellationOff::begin();
        let locked = self.lock.lock();
        self.holder.store(thread, Ordering::Relaxed);
        Passage {
            _outermost: Some(Outermost {
                gate: self,
                _locked: locked,
                _uncancelled: uncancelled,
            }),
        }
    }
}

/// Proof that this thread is inside a gate.
#[must_use]
pub struct Passage<'a> {
    /// State to restore; `None` if the thread was already inside the gate when it entered.
    _outermost: Option<Outermost<'a>>,
}

/// State that a thread restores when it leaves the gate: the lock, and then cancellation.
struct Outermost<'a> {
    gate: &'a ReentrantGate,
    _locked: Guard<'a, ()>,
    _uncancelled: CancellationOff,
}

impl Drop for Outermost<'_> {
    fn drop(&mut self) {
        self.gate.holder.store(0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::time_limit::ends_in_time;
    use core::sync::atomic::AtomicU32;

    #[test]
    fn drv_168_one_thread_at_a_time_and_itself_again() {
        ends_in_time(|| {
            let gate = ReentrantGate::new();
            let (inside, entered) = (AtomicU32::new(0), AtomicU32::new(0));
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        for _ in 0..100 {
                            let passage = gate.enter();
                            assert!(passage._outermost.is_some());
                            assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                            let again = gate.enter();
                            assert!(again._outermost.is_none());
                            drop(again);
                            std::thread::yield_now();
                            entered.fetch_add(1, Ordering::SeqCst);
                            inside.fetch_sub(1, Ordering::SeqCst);
                            drop(passage);
                        }
                    });
                }
            });
            assert_eq!(entered.into_inner(), 400);
        });
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn drv_168_a_thread_that_is_cancelled_within_leaves_first() {
        ends_in_time(|| {
            use core::ffi::{c_int, c_void};
            use core::ptr::{from_ref, null, null_mut};

            unsafe extern "C" {
                fn pthread_setcancelstate(state: c_int, previous: *mut c_int) -> c_int;
            }

            struct Shared {
                gate: ReentrantGate,
                within: AtomicU32,
            }
            extern "C" fn stay(shared: *mut c_void) -> *mut c_void {
                // SAFETY: the value belongs to the test and outlives this thread.
                let shared = unsafe { &*shared.cast::<Shared>() };
                let passage = shared.gate.enter();
                shared.within.store(1, Ordering::SeqCst);
                // This call is a cancellation point, as a driver's code may contain. SAFETY: the function only takes a number.
                unsafe { libc::usleep(50_000) };
                shared.within.store(2, Ordering::SeqCst);
                drop(passage);
                // The unwinding of a cancelled thread must not pass this frame, so cancellation is off from here on. The test checks
                // whether cancellation was on before.
                let mut before = -1;
                // SAFETY: the call changes only this thread, and writes the old state only to `before`.
                unsafe { pthread_setcancelstate(1, &mut before) };
                shared.within.store(3 + u32::from(before != 0), Ordering::SeqCst);
                null_mut()
            }
            let shared = Shared {
                gate: ReentrantGate::new(),
                within: AtomicU32::new(0),
            };
            let mut thread = 0;
            // SAFETY: the call writes the thread's ID only to `thread`, and the argument outlives the thread, which is joined below.
            let failed =
                unsafe { libc::pthread_create(&mut thread, null(), stay, from_ref(&shared).cast_mut().cast()) };
            assert_eq!(failed, 0);
            while shared.within.load(Ordering::SeqCst) == 0 {
                std::thread::yield_now();
            }
            // SAFETY: the thread runs and has not been joined.
            assert_eq!(unsafe { libc::pthread_cancel(thread) }, 0);
            let passage = shared.gate.enter();
            assert!(shared.within.load(Ordering::SeqCst) >= 2);
            drop(passage);
            // SAFETY: the thread is joined only here.
            assert_eq!(unsafe { libc::pthread_join(thread, null_mut()) }, 0);
            assert_eq!(
                shared.within.load(Ordering::SeqCst),
                3,
                "a thread inside the gate cannot be cancelled"
            );
        });
    }
}
