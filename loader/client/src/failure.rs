//! The reasons why a request has no usable answer.

use discovery::journal::reason::{Fault, Problem, ServiceReason};
use discovery::text::Text;
use os::memory::{OutOfMemory, shortage};

/// The reason why a request has no usable answer. The value is small, because each step of a request passes it on; a text that belongs to it
/// is in the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Memory ran out, so the API call fails.
    OutOfMemory,
    /// The thread waited for the service until the time limit.
    Silent,
    /// The service cannot be used; the journal records the reason.
    Because(Fault),
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Self::Because(fault)
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Fault::BadReply(problem).into()
    }
}

impl From<OutOfMemory> for Failure {
    fn from(OutOfMemory: OutOfMemory) -> Self {
        Self::OutOfMemory
    }
}

impl Failure {
    /// Returns the reason for the journal, with the text that the failure left in the session. If memory ran out, notes the shortage, so
    /// that the API call fails.
    pub(crate) fn reason(self, words: Text) -> ServiceReason {
        let fault = match self {
            Self::Because(fault) => fault,
            Self::Silent => Fault::TimedOut,
            Self::OutOfMemory => {
                shortage::note();
                Fault::Lost
            }
        };
        ServiceReason { fault, words }
    }
}
