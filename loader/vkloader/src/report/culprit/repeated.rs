//! Crashes of processes that a program started. Programs such as `timeout` then end themselves by the same signal, and others report a failure.

use crate::child::{Ending, Finished};
use crate::crash::Crash;
use crate::report::{Dropped, codes};

/// Returns the crashes that need an explanation of their own. Leaves out each process that opened no loader and sent itself the signal of an
/// earlier crash. `is_traced` returns `true` for processes that wrote a trace.
pub(super) fn without(crashes: &[Crash], is_traced: impl Fn(u32) -> bool) -> Vec<&Crash> {
    let is_repeated = |at: usize, crash: &Crash| {
        let is_earlier = crashes[..at].iter().any(|earlier| earlier.signal == crash.signal);
        crash.is_raised && is_earlier && !is_traced(crash.process)
    };
    let all = crashes.iter().enumerate();
    all.filter(|(at, crash)| !is_repeated(*at, crash))
        .map(|(_, crash)| crash)
        .collect()
}

/// Returns the finding about a process that crashed, that opened no loader, and after which the program ended with a failure of its own.
pub(in crate::report) fn child(finished: &Finished) -> Option<Dropped> {
    let is_failure = matches!(finished.ending, Ending::Status(1..));
    if !is_failure || super::judged(finished).is_some() {
        return None;
    }
    let crash = super::judge(finished.crashes.last()?, &finished.records);
    let found = crash.finding();
    Some(Dropped {
        reason: format!(
            "A process that the program started crashed, and the program failed afterwards. {}",
            found.reason
        ),
        findings: found.findings,
        file: found.file,
        ..codes::PROGRAM_CHILD_CRASHED.about(found.name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_that_a_wrapper_raises_after_its_program_is_left_out() {
        let crash = |process, signal, is_raised| Crash {
            process,
            signal,
            is_raised,
            ..Crash::default()
        };
        let game = crash(1, libc::SIGSEGV, false);
        for (last, is_kept) in [
            (crash(2, libc::SIGSEGV, true), false),
            (crash(2, libc::SIGSEGV, false), true),
            (crash(2, libc::SIGABRT, true), true),
            (crash(3, libc::SIGSEGV, true), true),
        ] {
            let crashes = [game.clone(), last];
            let left = without(&crashes, |process| process == 3);
            assert_eq!(left.len(), 1 + usize::from(is_kept), "{crashes:?}");
        }
    }
}
