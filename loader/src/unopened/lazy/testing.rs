//! Helpers for tests of closed drivers.

use crate::generated::types::VkResult;
use crate::handle::{Driver, InstanceHandle};
use crate::late::{LateHost, Real};
use crate::table::Slot;
#[cfg(fuzzing)]
use crate::unopened::StandIn;
#[cfg(fuzzing)]
use crate::unopened::recorded::Closed;
use core::ffi::CStr;
use discovery::journal::LogBits;
use discovery::log::Listener;
#[cfg(fuzzing)]
use rust_alloc::{sync::Arc, vec::Vec};

/// Returns a closed driver with this record, which may be invalid. The library of the driver does not exist.
#[cfg(fuzzing)]
pub(crate) fn closed(record: Vec<u8>) -> Arc<dyn StandIn> {
    Arc::new(Closed::of_any(record))
}

/// An instance that takes no messages and has no callbacks.
pub(crate) struct Quiet;

impl Listener for Quiet {
    fn settings_mask(&self) -> LogBits {
        LogBits::from_word(0)
    }

    fn hears(&self) -> bool {
        false
    }

    fn deliver(&self, _: LogBits, _: &CStr) {}
}

impl LateHost for Quiet {
    fn hand_over(&self, _: InstanceHandle<Driver>, _: Real<'_>) -> Result<(), VkResult> {
        Ok(())
    }

    fn take_back(&self, _: InstanceHandle<Driver>, _: Real<'_>) {}

    fn thunk(&self, _: usize) -> Slot {
        None
    }
}
