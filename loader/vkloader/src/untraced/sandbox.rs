//! Explains programs that run in a sandbox where they cannot write the file of the trace.

use super::launched;
use crate::crash::Environment;

/// Returns the reason why a program wrote no trace, if one of its processes ran in a sandbox that hides the file of the trace, or made it read-only.
pub(crate) fn hides_trace(environments: &[Environment]) -> Option<String> {
    // The program that makes the sandbox is in it before it starts another program.
    let makes_it = |one: &&Environment| one.executable.as_deref().is_some_and(launched::is_sandbox);
    let hidden = environments.iter().find(|one| one.is_trace_closed && !makes_it(one))?;
    Some(format!(
        "process {} ran in a sandbox where it could not write the file of the trace, so the program wrote no trace; pass the trace as an open descriptor: vkloader \
         explain --descriptor -- PROGRAM",
        hidden.process
    ))
}
