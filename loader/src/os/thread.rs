//! Threads, and what each has its own of.

use core::ffi::c_void;
use core::ptr::without_provenance;
use core::sync::atomic::{AtomicUsize, Ordering};

/// A number that no other running thread has.
#[allow(clippy::unnecessary_cast, reason = "the type differs between systems")]
pub fn current_thread() -> usize {
    // SAFETY: takes nothing, and never fails.
    unsafe { libc::pthread_self() as usize }
}

/// A word that each thread has its own of, zero at first. Nothing happens to it when its thread ends.
///
/// The system has a bounded number of keys for such words. This takes one when the first word is set, and keeps it until
/// [`PerThread::release`].
#[derive(Debug)]
pub struct PerThread {
    /// The key and one; zero while there is none.
    key: AtomicUsize,
}

impl PerThread {
    /// Zero in all threads.
    pub const fn new() -> Self {
        Self {
            key: AtomicUsize::new(0),
        }
    }

    #[allow(clippy::cast_possible_truncation, reason = "it was made from a key")]
    fn key(&self) -> Option<libc::pthread_key_t> {
        let known = self.key.load(Ordering::Acquire);
        Some(known.checked_sub(1)? as libc::pthread_key_t)
    }

    /// The word of this thread.
    pub fn get(&self) -> usize {
        // SAFETY: a key that was made and not given back.
        self.key()
            .map_or(0, |key| unsafe { libc::pthread_getspecific(key) }.addr())
    }

    /// Sets the word of this thread. Returns whether there was room for it; there is for good once it was set.
    pub fn set(&self, word: usize) -> bool {
        let Some(key) = self.key().or_else(|| self.make_key()) else {
            return false;
        };
        // SAFETY: a key that was made and not given back; what looks like an address is never followed.
        unsafe { libc::pthread_setspecific(key, without_provenance::<c_void>(word)) == 0 }
    }

    /// Makes the key, unless another thread just did.
    #[cold]
    fn make_key(&self) -> Option<libc::pthread_key_t> {
        let mut key = 0;
        // SAFETY: room for the key; no destructor, so this library may leave before the threads do.
        if unsafe { libc::pthread_key_create(&mut key, None) } != 0 {
            return None;
        }
        let made = (key as usize).checked_add(1)?;
        if let Err(_earlier) = self.key.compare_exchange(0, made, Ordering::AcqRel, Ordering::Acquire) {
            // SAFETY: nobody else knows this key.
            unsafe { libc::pthread_key_delete(key) };
        }
        self.key()
    }

    /// Gives the key back. No other thread may use the word any more, or be using it now.
    pub fn release(&self) {
        if let Some(key) = self.key() {
            self.key.store(0, Ordering::Release);
            // SAFETY: made once, and from now on unknown.
            unsafe { libc::pthread_key_delete(key) };
        }
    }
}

impl Default for PerThread {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thread_has_a_word_and_a_number() {
        let word = PerThread::new();
        assert_eq!(word.get(), 0);
        std::thread::scope(|scope| {
            for number in 1..=4 {
                let word = &word;
                scope.spawn(move || {
                    assert_eq!(word.get(), 0);
                    assert!(word.set(number));
                    std::thread::yield_now();
                    assert_eq!(word.get(), number);
                });
            }
        });
        assert_eq!(word.get(), 0);
        assert!(word.set(9));
        word.release();
        assert_eq!(word.get(), 0);
        assert!(word.set(8));
        assert_eq!(word.get(), 8);
        word.release();
        let other = std::thread::scope(|scope| scope.spawn(current_thread).join().unwrap());
        assert_ne!(current_thread(), other);
    }
}
