//! Passes SIGINT on to the processes of a program, as a terminal does for Ctrl-C.

use crate::signals;
use rustix::process::{Pid, Signal, getpid, kill_process};
use std::time::{Duration, Instant};

/// Time in which the program may end by itself, because the sender may have sent the signal to the program too.
const DELAY: Duration = Duration::from_millis(100);
/// Time in which further signals belong to the first one. Some senders signal a process and then its group.
const SAME: Duration = Duration::from_secs(1);

/// State of a SIGINT that another process sent to this process.
#[derive(Default)]
pub(crate) struct Interrupt {
    since: Option<Instant>,
    is_passed: bool,
}

impl Interrupt {
    /// Passes a first SIGINT on to the program. Returns `true` if this process must end: the signal is a later one, or the command is not the
    /// program of the user.
    pub(crate) fn is_final(&mut self, is_program: bool) -> bool {
        let is_new = signals::takes_interrupt();
        match self.since {
            None if is_program && is_new => self.since = Some(Instant::now()),
            None => return is_new,
            Some(since) if is_new && since.elapsed() > SAME => return true,
            Some(since) if !self.is_passed && since.elapsed() >= DELAY => {
                self.is_passed = true;
                pass_on();
            }
            Some(_) => {}
        }
        false
    }
}

/// Sends SIGINT to the descendants of this process that are in its process group, which are those that a terminal would interrupt.
fn pass_on() {
    let own = getpid().as_raw_nonzero().get();
    let all = processes();
    // In a PID namespace, the group may be 0, because its first process is outside.
    let Some(group) = all.iter().find(|one| one.number == own).map(|one| one.group) else {
        return;
    };
    let mut known = vec![own];
    let mut next = 0;
    while let Some(parent) = known.get(next).copied() {
        known.extend(all.iter().filter(|one| one.parent == parent).map(|one| one.number));
        next += 1;
    }
    let is_of_program = |number: &i32| known[1..].contains(number);
    for one in all
        .iter()
        .filter(|one| one.group == group && is_of_program(&one.number))
    {
        if let Some(process) = Pid::from_raw(one.number) {
            // The process may already have ended.
            let _ = kill_process(process, Signal::INT);
        }
    }
}

/// A process of the system.
struct Process {
    number: i32,
    parent: i32,
    group: i32,
}

fn processes() -> Vec<Process> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    numbers
        .filter_map(|number| {
            let text = std::fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
            // The name of the program is in parentheses, and may contain spaces.
            let mut fields = text.rsplit_once(')')?.1.split_whitespace().skip(1);
            let mut field = || fields.next()?.parse().ok();
            Some(Process {
                number,
                parent: field()?,
                group: field()?,
            })
        })
        .collect()
}
