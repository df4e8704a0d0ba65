//! Delay of the cancellation of a thread by another thread (`pthread_cancel`).
//!
//! A cancelled thread unwinds through the frames of the loader without running their cleanup, so its locks would stay taken. While a thread
//! holds something that others wait for, cancellation is delayed: it takes effect at the thread's next cancellation point afterwards.

use core::marker::PhantomData;

/// Guard that delays the cancellation of its thread while the value exists. Guards may be nested.
pub struct CancellationOff {
    previous: imp::State,
    /// The value belongs to the thread that created it.
    not_send: PhantomData<*const ()>,
}

impl CancellationOff {
    /// Delays cancellation of this thread from now on.
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
        // SAFETY: the call changes only this thread, and writes the old state only to `previous`.
        unsafe { pthread_setcancelstate(DISABLE, &mut previous) };
        previous
    }

    pub(super) fn restore(previous: State) {
        // SAFETY: `previous` came from `pthread_setcancelstate`; a null old state is allowed.
        unsafe { pthread_setcancelstate(previous, null_mut()) };
    }
}

/// Replacement for other systems and other C libraries: these functions do nothing.
#[cfg(not(all(target_os = "linux", any(target_env = "gnu", target_env = "musl"))))]
mod imp {
    pub(super) type State = ();

    pub(super) fn disable() -> State {}

    pub(super) fn restore((): State) {}
}
