//! Questions about drivers that are not open, and the answers.

use super::{Known, StandIn};
use discovery::env::device_select::DeviceWords;
use discovery::settings::DriverPolicies;
use rust_alloc::sync::Arc;

/// Purpose for which drivers are needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A query for the drivers' instance extensions.
    Query,
    /// The creation of an instance.
    Creation,
}

/// Choices of the user that decide which drivers are opened: policies, and the devices to show.
#[derive(Default)]
#[cfg_attr(
    not(all(feature = "catalogue", target_os = "linux")),
    expect(dead_code, reason = "all drivers are opened without a catalogue")
)]
pub(crate) struct Wishes {
    /// Policies that are enabled.
    pub policies: DriverPolicies,
    /// Words that select the only devices to show.
    pub visible: Option<DeviceWords>,
}

/// Answer about a driver that is not open.
#[cfg_attr(
    not(all(feature = "catalogue", target_os = "linux")),
    expect(dead_code, reason = "all drivers are opened without a catalogue")
)]
pub(crate) enum Answer {
    /// The driver must be opened. The driver's answers are compared with the known facts, if there are any.
    Open(Option<Known>),
    /// The driver stays closed, and the stand-in answers for it.
    #[cfg_attr(
        not(all(feature = "lazy", any(target_arch = "x86_64", target_arch = "aarch64"))),
        allow(dead_code, reason = "no driver stays closed without records")
    )]
    Closed(Known, Arc<dyn StandIn>),
    /// The driver's extensions are known, so the driver need not be opened.
    Answered(Known),
    /// The driver is opened only if it turns out to be needed, because it has no device on this machine or a policy excludes it.
    Aside(Known, Reserve),
    /// The driver is left out, because it crashed or hung when it was asked.
    Skip,
}

/// Reason why a driver is kept in reserve. The reason decides when the driver is opened after all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reserve {
    /// The driver has no device, or no device that is shown. The driver is opened if no other driver is open.
    NoDevice,
    /// The driver's devices are suspended. The driver is opened if no other driver is open, or if no open driver reports a device.
    Asleep,
    /// The driver is software. The driver is opened if no other driver is known to have a device, or if none of the drivers with known
    /// devices reports a device.
    Software,
}

impl Reserve {
    /// The order in which drivers in reserve are opened. Drivers without devices come last.
    pub(crate) const ORDER: [Self; 3] = [Self::Software, Self::Asleep, Self::NoDevice];
}
