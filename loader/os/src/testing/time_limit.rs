//! A time limit for tests that would never end if the tested code is wrong.

use core::time::Duration;
use std::panic::resume_unwind;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;

/// Time limit of a test, far longer than any test of this crate takes on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

/// Runs `body` on a thread of its own. Fails if `body` fails or still runs at the limit; a thread that hangs ends with the process.
#[track_caller]
pub(crate) fn ends_in_time(body: impl FnOnce() + Send + 'static) {
    let (running, end) = channel::<()>();
    let thread = thread::spawn(move || {
        let _until_the_end = running;
        body();
    });
    // Nothing is ever sent: the channel closes when the body returns or panics.
    assert!(
        end.recv_timeout(LIMIT) != Err(RecvTimeoutError::Timeout),
        "still running after {} s: a thread waits for ever, or a loop does not end",
        LIMIT.as_secs()
    );
    if let Err(panic) = thread.join() {
        resume_unwind(panic);
    }
}
