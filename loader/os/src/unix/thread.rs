//! IDs of the current thread and of the process.

/// Returns an ID that no other running thread has; never zero.
#[allow(clippy::unnecessary_cast, reason = "the type differs between systems")]
pub fn current_thread() -> usize {
    // SAFETY: `pthread_self` takes nothing and never fails.
    unsafe { libc::pthread_self() as usize }
}

/// Returns the ID of this process.
pub fn current_process() -> u32 {
    // SAFETY: `getpid` takes nothing and never fails.
    unsafe { libc::getpid() }.cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thread_has_a_number() {
        let other = std::thread::scope(|scope| scope.spawn(current_thread).join().unwrap());
        assert_ne!(current_thread(), other);
        assert_ne!(current_thread(), 0);
    }
}
