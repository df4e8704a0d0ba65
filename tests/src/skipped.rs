//! Tests that skip themselves after they have begun, because this machine cannot run them.

use std::any::Any;
use std::panic::resume_unwind;

/// Reason for skipping a test, as the payload of a panic.
struct Skipped(&'static str);

/// Ends a test with a panic. The test is then reported as skipped for this reason.
pub(crate) fn leave(reason: &'static str) -> ! {
    resume_unwind(Box::new(Skipped(reason)))
}

/// Returns the reason if [`leave`] raised the panic.
pub(crate) fn reason(payload: &(dyn Any + Send)) -> Option<&'static str> {
    payload.downcast_ref().map(|Skipped(reason)| *reason)
}
