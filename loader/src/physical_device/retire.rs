//! Release of drivers that have no device (DRV-131, APP-122).

use crate::driver::PreloadedDrivers;
use crate::instance::{self, Instance, InstanceDriver};
use discovery::journal::reason::DriverLibraryReason;
use discovery::journal::{Decision, Journal, Reason, Source, Subject, Verdict};
use discovery::text::Text;

/// Destroys the instances of drivers that were asked for their devices and never had any, and closes the libraries of these drivers. Keeps
/// all drivers if no driver would remain.
///
/// A driver that ever reported a device stays: its handles are valid until the instance is destroyed, even if later enumerations do not
/// report the devices. A driver that another thread is asking now is left for a later call.
pub(super) fn release_idle_drivers(instance: &Instance, journal: &mut Journal<'_>) {
    let any_with_devices = instance.drivers().any(|driver| driver.devices.ever_any());
    if !any_with_devices {
        return;
    }
    for driver in instance.drivers() {
        if driver.devices.none_yet() && driver.claim() {
            release(instance, driver, journal);
        }
    }
}

fn release(instance: &Instance, driver: &InstanceDriver, journal: &mut Journal<'_>) {
    // SAFETY: the caller has claimed the driver, and the instance keeps a copy of valid callbacks.
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
