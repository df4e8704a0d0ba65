//! Describes signals that end a program although its code has no fault: requests to end, limits, and closed pipes.

use super::ended::is_outside;
use super::{Dropped, codes, rank};
use crate::child::{Ending, Finished};
use crate::events::{Event, Record};
use crate::names::{self, OF_SHELL};

/// Status of `timeout` if it ended the program that it started.
pub(super) const OF_TIMEOUT: i32 = 124;

/// A signal that ends programs without a fault in their code.
struct Sent {
    number: i32,
    /// `true` if only other processes, the kernel for a terminal, or the user send the signal.
    is_request: bool,
    remedy: &'static str,
}

const SENT: [Sent; 10] = [
    Sent {
        number: libc::SIGHUP,
        is_request: true,
        remedy: "Find out what sent the signal: a terminal or session that closed (start the program apart from it: setsid PROGRAM), or another process.",
    },
    Sent {
        number: libc::SIGINT,
        is_request: true,
        remedy: "Find out what sent the signal: Ctrl-C on the terminal, or another process.",
    },
    Sent {
        number: libc::SIGQUIT,
        is_request: true,
        remedy: "Find out what sent the signal: Ctrl-\\ on the terminal, or another process.",
    },
    Sent {
        number: libc::SIGTERM,
        is_request: true,
        remedy: "Find out what sent the signal: kill, timeout, or a service, container or session that was stopped.",
    },
    Sent {
        number: libc::SIGUSR1,
        is_request: true,
        remedy: "Find out which process sent the signal.",
    },
    Sent {
        number: libc::SIGUSR2,
        is_request: true,
        remedy: "Find out which process sent the signal.",
    },
    Sent {
        number: libc::SIGPIPE,
        is_request: true,
        remedy: "The program wrote to a pipe or socket whose other end was closed: look at what reads its output, or at the server that it talks to.",
    },
    Sent {
        number: libc::SIGALRM,
        is_request: false,
        remedy: "A timer ran out, which the program or what starts it had set: look there for a time limit.",
    },
    Sent {
        number: libc::SIGXCPU,
        is_request: false,
        remedy: "Raise the limit on processor time (RLIMIT_CPU): ulimit -t unlimited, or LimitCPU=infinity in a service of systemd, or ask the batch \
             system for more time.",
    },
    Sent {
        number: libc::SIGXFSZ,
        is_request: false,
        remedy: "Raise the limit on the size of files (RLIMIT_FSIZE): ulimit -f unlimited, or LimitFSIZE=infinity in a service of systemd.",
    },
];

fn of(signal: i32) -> Option<&'static Sent> {
    SENT.iter().find(|sent| sent.number == signal)
}

/// Returns the remedy for a signal that ends programs without a fault in their code; `None` for other signals.
pub(super) fn remedy(signal: i32) -> Option<&'static str> {
    of(signal).map(|sent| sent.remedy)
}

/// Returns `true` for a signal that asks a program to end.
pub(super) fn is_request(signal: i32) -> bool {
    of(signal).is_some_and(|sent| sent.is_request)
}

/// Returns the finding about a program that a signal without a fault ended outside of all steps of the trace. Returns `None` for other signals.
pub(super) fn finding(signal: i32, records: &[&Record]) -> Option<Dropped> {
    let sent = of(signal).filter(|_| is_outside(records))?;
    let mut found = codes::PROGRAM_ENDED.about_any("the program");
    let from = if sent.is_request && signal != libc::SIGPIPE {
        " from outside"
    } else {
        ""
    };
    found.reason = format!("The program was ended{from} by {}.", names::signal(signal));
    found.advice = sent.remedy.into();
    if !sent.is_request {
        found.rank = rank::STATUS;
    }
    if is_before_devices(records) {
        found.rank = rank::FIRST;
        found
            .findings
            .push("it had not listed the devices, so its devices are unknown");
        found.advice = format!(
            "{} vkloader explain without a program tells which devices there are.",
            found.advice
        );
    }
    Some(found)
}

/// Returns `true` if a program ended before it listed devices, and no call had failed. The missing devices then explain nothing.
fn is_before_devices(records: &[&Record]) -> bool {
    !records.iter().any(|record| match &record.event {
        Event::Begin(step) => step.step == "call" && step.name.starts_with("vkEnumeratePhysicalDevice"),
        Event::End(step) => step.step == "call" && step.failure().is_some(),
        _ => false,
    })
}

/// Remedy for a program that timeout may have ended.
const MORE_TIME: &str = "If timeout started the program, give it more time, or examine where it waits in a debugger. Otherwise read its output.";
/// Remedy for a program that ended a command which SIGKILL had ended.
const KILLED: &str = "Check in dmesg whether the kernel ended the command because memory ran short. Otherwise another process ran kill -9, or the container \
    was stopped.";

/// Returns the remedy for an exit status that stands for a signal without a fault, or for a limit on the time. Returns `None` for other statuses.
pub(super) fn of_status(status: i32) -> Option<&'static str> {
    match status {
        OF_TIMEOUT => Some(MORE_TIME),
        _ if status - OF_SHELL == libc::SIGKILL => Some(KILLED),
        _ => remedy(status - OF_SHELL),
    }
}

/// Returns the end of a program in a few words, and the remedy, if a signal without a fault ended the program or what it started. Returns `None` for
/// other ends.
pub(crate) fn cut_short(finished: &Finished) -> Option<(String, &'static str)> {
    match finished.ending {
        Ending::Signal(libc::SIGKILL) => Some(("was ended by SIGKILL".into(), KILLED)),
        Ending::Signal(signal) => Some((format!("was ended by {}", names::signal(signal)), remedy(signal)?)),
        Ending::Status(OF_TIMEOUT) if finished.stands.is_empty() => None,
        Ending::Status(status) => Some((format!("ended with {}", names::status(status)), of_status(status)?)),
        Ending::TooLong(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_no_requests() {
        for signal in [libc::SIGSEGV, libc::SIGABRT, libc::SIGSYS] {
            assert!(remedy(signal).is_none() && !is_request(signal));
        }
        assert!(is_request(libc::SIGTERM) && !is_request(libc::SIGXCPU));
    }
}
