//! A value that is set once.

use super::Mutex;
use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicBool, Ordering};

/// Storage for a value that one thread sets; afterwards any thread may read the value without a lock.
pub struct SetOnce<T> {
    is_set: AtomicBool,
    /// Lock that is held by the thread that sets the value. Other threads that want to set the value wait.
    setting: Mutex<()>,
    value: UnsafeCell<MaybeUninit<T>>,
}

// SAFETY: the value is written under the lock before `is_set` becomes `true`. References to the value are returned only after that, and the
// value never changes again.
unsafe impl<T: Send + Sync> Sync for SetOnce<T> {}

impl<T> SetOnce<T> {
    /// Returns storage without a value.
    pub const fn new() -> Self {
        Self {
            is_set: AtomicBool::new(false),
            setting: Mutex::new(()),
            value: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    /// Sets the value, unless it is already set.
    ///
    /// # Errors
    /// A value is already set; returns `value`.
    pub fn set(&self, value: T) -> Result<(), T> {
        let _locked = self.setting.lock();
        if self.is_set.load(Ordering::Relaxed) {
            return Err(value);
        }
        // SAFETY: this thread holds the lock, so no other thread writes; no thread reads before `is_set`.
        unsafe { (*self.value.get()).write(value) };
        self.is_set.store(true, Ordering::Release);
        Ok(())
    }

    /// Returns the value; sets it to `value` if it is not set.
    pub fn get_or_set(&self, value: T) -> &T {
        // If a value is already set, `set` returns `value`, which is dropped here, after the lock was released.
        drop(self.set(value));
        // SAFETY: the value was written under the lock that this thread has just taken.
        unsafe { (*self.value.get()).assume_init_ref() }
    }

    /// Returns the value for exclusive access, if it is set.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        // SAFETY: `is_set` becomes `true` only after the value was written.
        (*self.is_set.get_mut()).then(|| unsafe { self.value.get_mut().assume_init_mut() })
    }

    /// Returns the value, if it is set.
    pub fn get(&self) -> Option<&T> {
        let is_set = self.is_set.load(Ordering::Acquire);
        // SAFETY: `is_set` becomes `true` only after the value was written, and the value never changes again.
        is_set.then(|| unsafe { (*self.value.get()).assume_init_ref() })
    }
}

impl<T> Default for SetOnce<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Drop for SetOnce<T> {
    fn drop(&mut self) {
        if *self.is_set.get_mut() {
            // SAFETY: the value is set, and only this `drop` drops it.
            unsafe { self.value.get_mut().assume_init_drop() };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::time_limit::ends_in_time;
    use alloc::sync::Arc;

    #[test]
    fn the_first_value_stays_until_the_end() {
        ends_in_time(|| {
            let value = Arc::new(7);
            let once = SetOnce::new();
            assert!(once.get().is_none());
            assert_eq!(once.set(value.clone()), Ok(()));
            assert_eq!(once.set(Arc::new(8)), Err(Arc::new(8)));
            assert_eq!(once.get_or_set(Arc::new(9)), &value);
            assert_eq!(once.get(), Some(&value));
            assert_eq!(Arc::strong_count(&value), 2);
            drop(once);
            assert_eq!(Arc::strong_count(&value), 1);
            drop(SetOnce::<Arc<u8>>::new());
        });
    }

    #[test]
    fn all_threads_get_the_value_of_one() {
        ends_in_time(|| {
            let once = SetOnce::new();
            std::thread::scope(|scope| {
                let get = |number: u32| {
                    let once = &once;
                    scope.spawn(move || *once.get_or_set(number))
                };
                let threads = [1, 2, 3, 4].map(get);
                let values = threads.map(|thread| thread.join().unwrap());
                assert_eq!(values, [once.get().copied().unwrap(); 4]);
            });
        });
    }
}
