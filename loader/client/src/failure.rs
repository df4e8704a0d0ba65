//! The reasons why a request has no usable answer.

use discovery::journal::reason::ServiceReason;
use os::memory::{OutOfMemory, shortage};

/// The reason why a request has no usable answer.
#[derive(Debug, PartialEq, Eq)]
pub enum Failure {
    /// The service cannot be used; the journal records the reason.
    Because(ServiceReason),
    /// The thread waited for the service until the time limit.
    Silent,
    /// Memory ran out, so the API call fails.
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
    /// Returns the reason for the journal.
    ///
    /// # Errors
    /// Memory ran out.
    pub(crate) fn reason(self) -> Result<ServiceReason, OutOfMemory> {
        match self {
            Self::Because(reason) => Ok(reason),
            Self::Silent => Ok(ServiceReason::TimedOut),
            Self::OutOfMemory => Err(OutOfMemory),
        }
    }

    /// Returns the reason for the journal. If memory ran out, notes the shortage, so that the API call fails.
    pub(crate) fn noted(self) -> ServiceReason {
        self.reason().unwrap_or_else(|OutOfMemory| {
            shortage::note();
            ServiceReason::Lost
        })
    }
}
