//! Helpers for tests of drivers that are not open yet.

use crate::generated::types::VkResult;
use crate::handle::{Driver, InstanceHandle};
use crate::late::{LateHost, Real};
use crate::table::Slot;
use core::ffi::CStr;
use discovery::journal::LogBits;
use discovery::log::Listener;

/// An instance that receives no messages and has no callbacks.
pub(super) struct Quiet;

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
