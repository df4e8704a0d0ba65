//! Helpers for tests of drivers that are not open yet.

#[cfg(test)]
use super::{Sleeper, destroy, request::Request};
#[cfg(test)]
use crate::alloc::{HostAllocator, HostBox};
#[cfg(test)]
use crate::generated::types::VkInstanceCreateInfo;
use crate::generated::types::VkResult;
use crate::handle::{Driver, InstanceHandle};
use crate::late::{LateHost, Real};
use crate::library::Library;
use crate::table::Slot;
#[cfg(test)]
use crate::unopened::recorded::Closed;
use core::ffi::CStr;
use discovery::journal::LogBits;
use discovery::log::Listener;
use discovery::text::Text;
#[cfg(test)]
use record::Key;
#[cfg(test)]
use rust_alloc::sync::Arc;

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

    fn keep(&self, _: &Text, _: Option<&Library>) {}

    fn thunk(&self, _: usize) -> Slot {
        None
    }
}

/// Returns the instance of a closed driver, whose record has one device and the rows `rows`. The caller sorts `rows` by key.
#[cfg(test)]
pub(super) fn sleeper_of(rows: &[(Key, Vec<u8>)]) -> HostBox<Sleeper> {
    let (mut heads, mut data) = (Vec::new(), Vec::new());
    for (key, value) in rows {
        heads.extend([key.device.to_le_bytes(), key.query.to_le_bytes()].concat());
        let start = 32 + 20 * rows.len() + data.len();
        for number in [key.index, key.kind, start as u32, value.len() as u32] {
            heads.extend(number.to_le_bytes());
        }
        data.extend(value);
    }
    let counts = [(rows.len() as u32).to_le_bytes(), 1_u32.to_le_bytes()].concat();
    let content = [counts, heads, data].concat();
    let sum = record::checksum(&content).to_le_bytes();
    let head = [&b"VKLRECRD"[..], &record::FORM.to_le_bytes(), &[0; 4], &sum].concat();
    let info = VkInstanceCreateInfo {
        sType: VkInstanceCreateInfo::STRUCTURE_TYPE,
        // SAFETY: the structure consists of numbers and pointers, for which zero is valid.
        ..unsafe { core::mem::zeroed() }
    };
    let system = HostAllocator::system();
    // SAFETY: `info` is zero except for its type, which is a valid create info without names and chain.
    let request = unsafe { Request::copy(&info, system) }.expect("memory");
    let closed = Arc::new(Closed::of_any([head, content].concat()));
    let made = Sleeper::new(&closed, (&Quiet, system), request);
    made.unwrap_or_else(|error| panic!("{error:?}"))
}

/// Destroys an instance that [`sleeper_of`] returned.
#[cfg(test)]
pub(super) fn end(made: HostBox<Sleeper>) {
    let (made, _) = made.into_raw();
    // SAFETY: nothing else refers to the instance, and null callbacks are allowed.
    unsafe { destroy(InstanceHandle::from_raw(made.cast()), core::ptr::null()) };
}
