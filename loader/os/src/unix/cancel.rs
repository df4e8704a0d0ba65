//! Putting off that another thread ends this one (`pthread_cancel`).
//!
//! A thread that is cancelled unwinds through the frames of the loader without running their clean-up, so what it had
//! taken would stay taken. Where a thread holds something that others wait for, cancellation is put off instead: it takes
//! effect at the thread's next cancellation point after that.

use core::marker::PhantomData;

/// While this lives, its thread cannot be cancelled. May be nested.
pub struct CancellationOff {
    previous: imp::State,
    /// Concerns the thread that made it.
    not_send: PhantomData<*const ()>,
}

impl CancellationOff {
    /// From here on the thread is not cancelled.
    #[inline]
    pub fn begin() -> Self {
        Self {
            previous: imp::disable(),
            not_send: PhantomData,
        }
    }
}

impl Drop for CancellationOff {
    #[inline]
    fn drop(&mut self) {
        imp::restore(self.previous);
    }
}

#[cfg(all(target_os = "linux", any(target_env = "gnu", target_env = "musl")))]
mod imp {
    use core::ffi::c_int;
    use core::ptr::null_mut;

    pub(super) type State = c_int;

    const DISABLE: c_int = 1;

    unsafe extern "C" {
        fn pthread_setcancelstate(state: c_int, previous: *mut c_int) -> c_int;
    }

    pub(super) fn disable() -> State {
        let mut previous = 0;
        // SAFETY: concerns this thread only; room for the answer.
        unsafe { pthread_setcancelstate(DISABLE, &mut previous) };
        previous
    }

    pub(super) fn restore(previous: State) {
        // SAFETY: a state that the system gave; it needs no answer.
        unsafe { pthread_setcancelstate(previous, null_mut()) };
    }
}

/// Elsewhere threads are left as they are.
#[cfg(not(all(target_os = "linux", any(target_env = "gnu", target_env = "musl"))))]
mod imp {
    pub(super) type State = ();

    pub(super) fn disable() -> State {}

    pub(super) fn restore((): State) {}
}
