//! Access to drivers that are not open, for the fuzz target of records.

use super::open::Opened;
use super::request::Request;
use super::table::TABLE;
use super::testing::Quiet;
use super::{Sleeper, compare, destroy, find};
use crate::alloc::{HostAllocator, HostBox};
use crate::driver_interface::{GetProcAddr, lookup_known};
use crate::generated::dispatch::DriverTable;
use crate::generated::types::VkInstanceCreateInfo;
use crate::handle::{Driver, InstanceHandle, PhysicalDeviceHandle};
use crate::lookup::ROWS;
use crate::table::Slots as _;
use crate::unopened::recorded::Closed;
use core::ptr::null;
use discovery::journal::Journal;
use discovery::log::LogSink;
use rust_alloc::sync::Arc;
use rust_alloc::vec::Vec;

/// Stand-in for the instance of a driver with any record. The library of the driver does not exist.
pub(crate) struct Stand(InstanceHandle<Driver>);

impl Stand {
    /// Creates the stand-in as the creation of an instance does, after the checks of the record; `None` if memory ran out.
    pub(crate) fn of(record: Vec<u8>) -> Option<Self> {
        let closed = Closed::of_any(record);
        let _ = closed.check_names([b"a program", b"an engine"]);
        closed.is_current();
        let info = VkInstanceCreateInfo {
            sType: VkInstanceCreateInfo::STRUCTURE_TYPE,
            // SAFETY: the structure consists of numbers and pointers, for which zero is valid.
            ..unsafe { core::mem::zeroed() }
        };
        let system = HostAllocator::system();
        // SAFETY: `info` is zero except for its type, which is a valid create info without names and chain.
        let request = unsafe { Request::copy(&info, system) }.ok()?;
        let made = Sleeper::new(&Arc::new(closed), (&Quiet, system), request).ok()?;
        let (made, _) = made.into_raw();
        Some(Self(InstanceHandle::from_raw(made.cast())))
    }

    /// Returns the handle of the instance.
    pub(crate) fn handle(&self) -> InstanceHandle<Driver> {
        self.0
    }

    fn sleeper(&self) -> &Sleeper {
        // SAFETY: the handle lives as long as this object.
        unsafe { Sleeper::of(self.0) }
    }

    /// Returns the handles of the recorded devices.
    pub(crate) fn devices(&self) -> Vec<PhysicalDeviceHandle<Driver>> {
        self.sleeper().devices.iter().map(|device| device.handle()).collect()
    }

    /// Returns the functions of drivers that are not open.
    pub(crate) fn table() -> &'static DriverTable {
        &TABLE
    }

    /// Looks up a command through the stand-in. `number` may exceed the number of commands.
    pub(crate) fn look_up(&self, number: usize) {
        let row = &ROWS[number % ROWS.len()];
        // SAFETY: the handle is live, and the name is terminated.
        unsafe { find::look_up(self.0, row.name().as_ptr()) };
    }

    /// Makes the stand-in use an imitated driver with the functions that `look_up` returns, even after a failed attempt to open the driver.
    /// Compares the imitated driver's answers with the answers that the record gave.
    pub(crate) fn open(&self, look_up: GetProcAddr) {
        let sleeper = self.sleeper();
        // SAFETY: the slots of a `DriverTable` may be null, so a missing function is allowed.
        let table = unsafe { DriverTable::build(|row| lookup_known(look_up, InstanceHandle::NULL, row)) };
        let opened = HostBox::try_new(Opened::of(table, look_up), HostAllocator::system());
        let Ok(mut opened) = opened else { return };
        if let Ok(real) = opened.devices(sleeper) {
            opened.lists_recorded = sleeper.assign(&opened, &real);
        }
        sleeper.publish(opened);
        let sink = LogSink(Some(&Quiet));
        compare::all(sleeper, &Journal::of_call(&sink));
    }
}

impl Drop for Stand {
    fn drop(&mut self) {
        // SAFETY: nothing else refers to the instance, and null callbacks are allowed.
        unsafe { destroy(self.0, null()) };
    }
}
