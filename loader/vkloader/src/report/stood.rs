//! Describes where a program stood that was ended from outside: in a driver, in a layer, or in its own code.

use super::culprit::standing;
use super::sent::OF_TIMEOUT;
use super::{Device, Dropped, Fact, Kind, codes, ended, rank};
use crate::child::{Ending, Finished};
use crate::crash::Stand;
use crate::events::Record;
use crate::{installed, names};
use std::time::Duration;

/// Shortest time for which a call that does not return counts as the reason why a user ended the program.
const LONG: Duration = Duration::from_secs(4);

/// Shortest time for which a call that does not return counts as the reason why time ran out.
const LONG_WITH_LIMIT: Duration = Duration::from_secs(1);

/// Codes of findings about a program that was ended from outside.
const ENDED: [&codes::Row; 3] = [codes::PROGRAM_ENDED, codes::PROGRAM_HUNG, codes::PROGRAM_KILLED];

/// Text in the reason of a finding whose place is not known from the trace.
const OUTSIDE: &str = " outside the loader";

/// Another reason for a call about windows that does not return.
const FOR_WINDOW: &str =
    " A program also waits for its next picture while its window is hidden, minimised or on a locked screen.";

/// Returns the last process with a trace that a signal asked to end.
fn traced(finished: &Finished) -> Option<&Stand> {
    let is_traced = |process: u32| finished.records.iter().any(|record| record.process == process);
    let mut stands = finished.stands.iter().rev();
    stands.find(|stand| is_traced(stand.stack.process))
}

/// Returns the finding about a program that `timeout` ended because time ran out.
pub(super) fn out_of_time(finished: &Finished, records: &[&Record]) -> Option<Dropped> {
    let is_it = finished.ending == Ending::Status(OF_TIMEOUT);
    let stack = &traced(finished).filter(|_| is_it)?.stack;
    if !ended::is_outside(records) {
        return ended::finding(Ending::Signal(stack.signal), records);
    }
    let executable = stack.executable.as_deref().unwrap_or("a process");
    let mut found = codes::PROGRAM_HUNG.about_any("the program");
    found.reason = format!(
        "{executable}, which the program started, did not end in time: {} ended it{OUTSIDE}.",
        names::signal(stack.signal)
    );
    found.advice = "Give the program more time, or examine where it waits in a debugger.".into();
    Some(found)
}

/// Adds to the finding about the end of a program the call of a driver or layer, or the file, in which the program stood.
pub(super) fn explain(found: &mut Dropped, finished: &Finished, devices: &[Device]) {
    let Some((stand, at)) =
        traced(finished).and_then(|stand| Some((stand, standing(&stand.stack, &finished.records)?)))
    else {
        return;
    };
    if !ENDED.iter().any(|row| row.name == found.code) {
        return;
    }
    let is_of_window = |call: &String| {
        ["vkAcquireNext", "vkQueuePresent", "vkWaitForPresent"]
            .iter()
            .any(|name| call.starts_with(name))
    };
    let may_wait_for_window = at.call.as_ref().is_none_or(is_of_window);
    let call = at.call.map_or(String::new(), |call| format!("{call} of "));
    let has_limit = finished.ending == Ending::Status(OF_TIMEOUT);
    let is_long = stand.still >= if has_limit { LONG_WITH_LIMIT } else { LONG };
    let since = if is_long {
        format!(", which had not returned for {} s", stand.still.as_secs())
    } else {
        String::new()
    };
    let reason = found.reason.trim_end_matches('.').replace(OUTSIDE, "");
    let is_long = is_long && !at.is_of_program;
    found.reason = if at.is_of_program {
        format!(
            "{reason} in its own code, {}: no driver or layer was running.",
            at.library
        )
    } else {
        format!("{reason} in {call}{}{since}.", at.library)
    };
    let stack: Vec<String> = at.stack;
    found.findings.push(Fact::new(
        Kind::Stack,
        format!("on the stack, innermost first: {}", stack.join(", ")),
    ));
    if !is_long {
        return;
    }
    found.rank = rank::FIRST;
    found.file = Some(at.library.clone());
    let owner = installed::owner(&at.library).map_or(String::new(), |owner| format!(" ({owner})"));
    let mut own = devices.iter().filter(|device| device.driver == at.library);
    let is_software = own.clone().next().is_some() && own.all(Device::is_software);
    let first = if is_software {
        format!("Update the driver{owner}.")
    } else {
        format!(
            "Look in dmesg for a hang or reset of the card (ring timeout, GPU HANG, Xid), and update the driver{owner}."
        )
    };
    found.advice = format!(
        "{first} A program that waits for work which it never submitted hangs too: VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation PROGRAM reports \
         that.{}",
        if may_wait_for_window { FOR_WINDOW } else { "" }
    );
}
