//! What the catalogue is asked and says, in the same words where there is none.

use super::Known;
use discovery::env::device_select::DeviceWords;
use discovery::settings::DriverPolicies;

/// What drivers are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Their instance extensions.
    Query,
    /// An instance.
    Creation,
}

/// Further choices about the drivers to open.
#[derive(Default)]
#[cfg_attr(
    not(all(feature = "catalogue", target_os = "linux")),
    expect(dead_code, reason = "all drivers are opened without a catalogue")
)]
pub(crate) struct Wishes {
    /// The policies that are on.
    pub policies: DriverPolicies,
    /// The words for the only devices that are shown.
    pub visible: Option<DeviceWords>,
}

/// What to do with a driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    not(all(feature = "catalogue", target_os = "linux")),
    expect(dead_code, reason = "all drivers are opened without a catalogue")
)]
pub(crate) enum Advice {
    /// To open it. An entry that counts is held against what it says.
    Open(Option<Known>),
    /// Its extensions are known.
    Answered(Known),
    /// It is not needed while others are opened: it has no device here, or what a policy does not want.
    Aside(Known, Reserve),
    /// It is left out.
    Broken,
}

/// Why a driver is kept in reserve, which decides when it is opened after all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reserve {
    /// It has no device, or none that is shown. It is opened where no other driver is open.
    NoDevice,
    /// Its devices sleep. It is opened where no other driver is open, or none of those reports a device.
    Asleep,
    /// It is software. It is opened where no other driver is known to have a device, or none of those that are reports one.
    Software,
}
