//! Table of the Vulkan calls in progress that can report a shortage of memory, each with the number of shortages before the call.
//!
//! A call is identified by its thread, in a few words of static memory. The table uses no thread-local keys: the system has only a few,
//! and a program may have used all of them.

use crate::system::current_thread;
use core::sync::atomic::{AtomicUsize, Ordering};

/// Number of entries in the table [`Calls`], each for the calls of one thread.
const PLACES: usize = 64;
/// Number of entries in the table that one thread may use.
const TRIED: usize = 8;

/// Entry of the table, for the innermost Vulkan call in progress of one thread.
struct Call {
    /// ID of the call's thread; zero if the entry is free.
    thread: AtomicUsize,
    /// Number of shortages before the call began. Only the call's thread reads this number.
    began: AtomicUsize,
}

/// Table of the calls in progress, of all threads.
pub(super) struct Calls([Call; PLACES]);

/// Use of a table entry by a call in progress; dropping this value ends the use. If a layer calls the loader, the call may be inside
/// another call of the same thread.
pub(super) struct Noted<'a> {
    /// Entry of the call in the table; `None` if no entry was free.
    call: Option<&'a Call>,
    /// Number of shortages before the enclosing call; `None` if no call encloses this one.
    outer: Option<usize>,
}

impl Calls {
    /// Returns a table without calls.
    pub(super) const fn new() -> Self {
        Self(
            [const {
                Call {
                    thread: AtomicUsize::new(0),
                    began: AtomicUsize::new(0),
                }
            }; PLACES],
        )
    }

    /// Returns the table entries that a thread may use. A hash of the thread's ID selects these entries.
    fn places(&self, thread: usize) -> &[Call] {
        let first = super::hash_of_address(thread) % (PLACES - TRIED + 1);
        self.0.get(first..first + TRIED).unwrap_or_default()
    }

    fn of(&self, thread: usize) -> Option<&Call> {
        self.places(thread)
            .iter()
            .find(|call| call.thread.load(Ordering::Relaxed) == thread)
    }

    /// Records that a call of this thread begins. `shortages` is the number of shortages of memory up to now.
    pub(super) fn begin(&self, shortages: usize) -> Noted<'_> {
        let thread = current_thread();
        if let Some(call) = self.of(thread) {
            let outer = call.began.swap(shortages, Ordering::Relaxed);
            return Noted {
                call: Some(call),
                outer: Some(outer),
            };
        }
        let is_free = |call: &&Call| {
            call.thread
                .compare_exchange(0, thread, Ordering::Acquire, Ordering::Relaxed)
                .is_ok()
        };
        let call = self.places(thread).iter().find(is_free);
        if let Some(call) = call {
            call.began.store(shortages, Ordering::Relaxed);
        }
        Noted { call, outer: None }
    }

    /// Returns the number of shortages before the innermost call of this thread. Returns zero if the table had no free entry for the call;
    /// every earlier shortage is then attributed to the call.
    pub(super) fn began(&self) -> usize {
        let call = self.of(current_thread());
        call.map_or(0, |call| call.began.load(Ordering::Relaxed))
    }
}

impl Drop for Noted<'_> {
    fn drop(&mut self) {
        let Some(call) = self.call else { return };
        match self.outer {
            Some(outer) => call.began.store(outer, Ordering::Relaxed),
            None => call.thread.store(0, Ordering::Release),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::time_limit::ends_in_time;
    use std::sync::Barrier;

    #[test]
    fn app_174_each_thread_has_places_to_try() {
        let calls = Calls::new();
        for thread in 0..10_000_usize {
            assert_eq!(calls.places(thread << 12).len(), TRIED, "{thread}");
        }
    }

    #[test]
    fn app_174_each_call_has_its_own_beginning() {
        let calls = Calls::new();
        assert_eq!(calls.began(), 0);
        let outer = calls.begin(3);
        assert_eq!(calls.began(), 3);
        let inner = calls.begin(5);
        assert_eq!(calls.began(), 5);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                assert_eq!(calls.began(), 0);
                let _own = calls.begin(7);
                assert_eq!(calls.began(), 7);
            });
        });
        assert_eq!(calls.began(), 5);
        drop(inner);
        assert_eq!(calls.began(), 3);
        drop(outer);
        assert_eq!(calls.began(), 0);
        assert!(calls.0.iter().all(|call| call.thread.load(Ordering::Relaxed) == 0));
    }

    #[test]
    fn app_174_all_places_are_used_and_each_thread_tries_as_many() {
        let calls = Calls::new();
        let mut used = [false; PLACES];
        for thread in 1..10_000 {
            let tried = calls.places(thread * 64);
            assert_eq!(tried.len(), TRIED, "{thread}");
            for call in tried {
                let place = calls.0.iter().position(|known| core::ptr::eq(known, call));
                used[place.unwrap()] = true;
            }
        }
        assert_eq!(used, [true; PLACES]);
    }

    #[test]
    fn app_174_calls_beyond_the_most_count_every_shortage() {
        ends_in_time(|| {
            const THREADS: usize = PLACES + 1;
            let (calls, all_began, all_looked) = (Calls::new(), Barrier::new(THREADS), Barrier::new(THREADS));
            let without_place = AtomicUsize::new(0);
            std::thread::scope(|scope| {
                for _ in 0..THREADS {
                    scope.spawn(|| {
                        let own = calls.begin(9);
                        all_began.wait();
                        assert_eq!(calls.began(), if own.call.is_some() { 9 } else { 0 });
                        without_place.fetch_add(usize::from(own.call.is_none()), Ordering::Relaxed);
                        all_looked.wait();
                    });
                }
            });
            assert!(without_place.into_inner() >= 1);
        });
    }
}
