//! Questions to the catalogue and its answers. Builds without a catalogue use the same types.

use super::Known;
use discovery::env::device_select::DeviceWords;
use discovery::settings::DriverPolicies;

/// Purpose for which drivers are needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A query for their instance extensions.
    Query,
    /// The creation of an instance.
    Creation,
}

/// Further choices about the drivers to open.
#[derive(Default)]
#[cfg_attr(
    not(all(feature = "catalogue", target_os = "linux")),
    expect(dead_code, reason = "all drivers are opened without a catalogue")
)]
pub(crate) struct Wishes {
    /// Policies that are on.
    pub policies: DriverPolicies,
    /// Words for the only devices to show.
    pub visible: Option<DeviceWords>,
}

/// Answer of the catalogue about a driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    not(all(feature = "catalogue", target_os = "linux")),
    expect(dead_code, reason = "all drivers are opened without a catalogue")
)]
pub(crate) enum Advice {
    /// The driver must be opened. If its entry is valid, the driver's answers are compared with the entry.
    Open(Option<Known>),
    /// The driver's extensions are known, so the driver need not be opened.
    Answered(Known),
    /// The driver is opened only if it turns out to be needed, because it has no device here or a policy excludes it.
    Aside(Known, Reserve),
    /// The driver is left out.
    Broken,
}

/// Reason why a driver is kept in reserve. It decides when the driver is opened after all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reserve {
    /// The driver has no device, or none that is shown. It is opened if no other driver is open.
    NoDevice,
    /// The driver's devices are suspended. It is opened if no other driver is open, or if no open driver reports a device.
    Asleep,
    /// The driver is software. It is opened if no other driver is known to have a device, or if none of those reports one.
    Software,
}
