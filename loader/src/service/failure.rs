//! The reasons why a request has no usable answer.

use discovery::journal::reason::ServiceReason;
use os::memory::{OutOfMemory, shortage};

/// The reason why a request has no usable answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// Something about the service.
    Because(ServiceReason),
    /// The service kept the thread waiting in vain.
    Silent,
    /// Memory ran out, which ends the API call.
    OutOfMemory,
}

impl From<ServiceReason> for Failure {
    fn from(reason: ServiceReason) -> Self {
        Self::Because(reason)
    }
}

impl From<OutOfMemory> for Failure {
    fn from(OutOfMemory: OutOfMemory) -> Self {
        Self::OutOfMemory
    }
}

impl Failure {
    /// The reason for the journal.
    ///
    /// # Errors
    /// Memory ran out.
    pub(super) fn reason(self) -> Result<ServiceReason, OutOfMemory> {
        match self {
            Self::Because(reason) => Ok(reason),
            Self::Silent => Ok(ServiceReason::TimedOut),
            Self::OutOfMemory => Err(OutOfMemory),
        }
    }

    /// The reason for the journal. Memory that ran out is noted, which ends the API call.
    pub(super) fn noted(self) -> ServiceReason {
        self.reason().unwrap_or_else(|OutOfMemory| {
            shortage::note();
            ServiceReason::Lost
        })
    }
}
