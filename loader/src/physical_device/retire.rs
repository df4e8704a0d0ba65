//! Releasing drivers that turned out to have no device (DRV-131, APP-122).

use crate::device::Device;
use crate::driver::PreloadedDrivers;
use crate::instance::{self, Instance, InstanceDriver};
use crate::journal::reason::DriverLibraryReason;
use crate::journal::{Decision, Journal, Reason, Source, Subject, Verdict};
use crate::manifest::Text;
use crate::state;
use core::sync::atomic::Ordering;

/// Destroys the instances of drivers whose last enumeration found nothing, and closes their libraries, unless that
/// would leave no driver at all.
///
/// A driver that another thread is asking right now is left for a later call, and so is one that still has a device of
/// the application: its enumeration may only have failed.
pub(super) fn release_idle_drivers(instance: &Instance, journal: &mut Journal<'_>) {
    let counts = || instance.drivers().filter(|driver| !driver.is_retired()).map(count_of);
    if !counts().any(|count| count > 0) {
        return;
    }
    for driver in instance.drivers() {
        if count_of(driver) == 0 && claim_without_devices(driver) {
            release(instance, driver, journal);
        }
    }
}

fn count_of(driver: &InstanceDriver) -> u32 {
    driver.device_count.load(Ordering::Relaxed)
}

/// Claims a driver without a device. One that is being made keeps the driver pinned until it is in the list of devices,
/// which no other thread can enter between the look and the claim.
fn claim_without_devices(driver: &InstanceDriver) -> bool {
    let owns = |device: &Device| device.driver().is_some_and(|owner| core::ptr::eq(owner, driver));
    state::DEVICES.unless_any(owns, || driver.claim()).unwrap_or(false)
}

fn release(instance: &Instance, driver: &InstanceDriver, journal: &mut Journal<'_>) {
    // SAFETY: claimed by the caller; the instance's own copy of valid callbacks.
    unsafe { instance::retire(instance, driver, instance.allocator.as_ptr()) };
    driver.close();
    PreloadedDrivers::release_one(driver.path());
    journal.decide(Decision {
        subject: Subject::DriverInstance,
        name: driver.name().resolve().into(),
        path: Text::default(),
        verdict: Verdict::Dropped(Reason::from(DriverLibraryReason::NoDevices)),
        source: Source::Driver,
    });
}
