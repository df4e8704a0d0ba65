//! Explains programs that run in a sandbox where they cannot write the file of the trace.

use crate::crash::Environment;

/// Returns the reason why a program wrote no trace, if one of its processes ran in a sandbox that hides the file of the trace, or made it read-only.
pub(crate) fn hides_trace(environments: &[Environment]) -> Option<String> {
    let hidden = environments.iter().find(|one| one.is_trace_closed)?;
    Some(format!(
        "process {} ran in a sandbox where it could not write the file of the trace, so the program wrote no trace; pass the trace as an open descriptor: vkloader \
         explain --descriptor -- PROGRAM",
        hidden.process
    ))
}
