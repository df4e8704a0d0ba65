//! Why there is no answer.

use discovery::journal::reason::ServiceReason;
use os::memory::OutOfMemory;

/// Why there is no answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// Something about the service.
    Because(ServiceReason),
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
