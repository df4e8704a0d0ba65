//! Cases that turn out not to be possible here after they have begun.

use std::any::Any;
use std::panic::resume_unwind;

/// The reason, as what unwinds.
struct Skipped(&'static str);

/// Leaves a case, which reports the reason.
pub(crate) fn leave(reason: &'static str) -> ! {
    resume_unwind(Box::new(Skipped(reason)))
}

/// The reason, if a case was left by [`leave`].
pub(crate) fn reason(payload: &(dyn Any + Send)) -> Option<&'static str> {
    payload.downcast_ref().map(|Skipped(reason)| *reason)
}
