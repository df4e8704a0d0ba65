//! Follows processes that continue after the end of the program, for example a game that a launcher starts.

use super::processes::{self, Processes};
use crate::signals;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

/// Delay between two checks of the processes.
const PAUSE: Duration = Duration::from_millis(50);
/// Time after the end of the first process within which another process must use Vulkan.
const GRACE: Duration = Duration::from_secs(2);
/// Beginning of the member with the process ID in a record.
const MEMBER: &[u8] = b"\"process\":";

/// Processes that use Vulkan, and the time since the end of the first process.
#[derive(Default)]
pub(super) struct Background {
    since: Option<Instant>,
    looked: Option<(Instant, bool)>,
    /// Length of the part of the trace that was read. The next field, `users`, has the processes that wrote this part.
    length: u64,
    users: BTreeSet<u32>,
    is_told: bool,
}

impl Background {
    /// Looks for processes that use Vulkan in the trace, at most once in each [`PAUSE`]. Returns `true` if such a process is running, or if
    /// a further process may still start to use Vulkan. Must be called only after the end of the first process.
    pub(super) fn goes_on(&mut self, trace: &Path) -> bool {
        if let Some((at, answer)) = self.looked
            && at.elapsed() < PAUSE
        {
            return answer;
        }
        let answer = !signals::is_interrupted() && self.look(trace);
        self.looked = Some((Instant::now(), answer));
        answer
    }

    fn look(&mut self, trace: &Path) -> bool {
        let since = *self.since.get_or_insert_with(Instant::now);
        let length = std::fs::metadata(trace).map_or(0, |status| status.len());
        if length != self.length {
            self.length = length;
            self.users = users(&std::fs::read(trace).unwrap_or_default());
        }
        let running = running(&self.users);
        if let Some(process) = running.filter(|_| !self.is_told) {
            self.is_told = true;
            anstream::eprintln!(
                "vkloader: the program continues in the background as process {process}; the report follows when it ends, or after Ctrl-C"
            );
        }
        running.is_some() || since.elapsed() < GRACE
    }
}

/// Returns the processes that wrote records to a trace.
fn users(trace: &[u8]) -> BTreeSet<u32> {
    let lines = trace.split(|&byte| byte == b'\n');
    let number = |line: &[u8]| {
        let at = line.windows(MEMBER.len()).position(|part| part == MEMBER)?;
        let digits = line[at + MEMBER.len()..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit());
        String::from_utf8(digits.copied().collect()).ok()?.parse().ok()
    };
    lines.filter_map(number).collect()
}

/// Returns the first of the processes `users` that has not ended, as the process ID that `/proc` has for it. A process in a sandbox may have the same
/// number as an unrelated process, so only descendants of this process count.
fn running(users: &BTreeSet<u32>) -> Option<u32> {
    let own = processes::own_number().filter(|_| !users.is_empty())?;
    let is_user = |numbers: &Vec<u32>| numbers.last().is_some_and(|number| users.contains(number));
    Processes::all().descendant(own, is_user)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processes_of_a_trace_are_found_in_its_records() {
        let trace = b"{\"event\":\"begin\",\"time\":1,\"process\":12,\"thread\":\"1\"}\nnoise\n{\"process\":7}\n{\"process\":12}\n{\"process\":";
        assert_eq!(users(trace), BTreeSet::from([7, 12]));
    }
}
