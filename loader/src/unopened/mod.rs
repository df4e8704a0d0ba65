//! Drivers that are not open: facts about these drivers, further sources of drivers, and stand-ins that answer for drivers.
//!
//! The core uses the modules below this one only through this module; nothing else can import them:
//!
//! | module | source of its data | written by |
//! |---|---|---|
//! | `catalogue` | a file with the answers of each driver | `vkloader catalogue update` |
//! | `recorded`, `lazy` | a file with the devices of one driver, which stays closed | `vkloader catalogue update` |
//! | `service` | manifests and libraries that come through a socket | a driver service |
//!
//! The core asks [`BeforeOpening::consider`] about each manifest, and follows the [`Answer`]. The core asks [`Elsewhere::deliver`] for
//! drivers that no folder has. A driver that answers without being open has a [`StandIn`], and [`StandIns`] finds the driver of a stand-in.
//! `nothing` has the replacement for each module that a build lacks.

mod answer;
#[cfg(all(feature = "catalogue", target_os = "linux"))]
mod catalogue;
mod door;
#[cfg(all(
    feature = "lazy",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod lazy;
mod left_out;
#[cfg(not(all(
    feature = "lazy",
    feature = "service",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
#[allow(dead_code, reason = "a build that lacks one module needs a part of it")]
mod nothing;
#[cfg(all(
    feature = "lazy",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod recorded;
#[cfg(all(feature = "service", target_os = "linux"))]
mod service;

pub(crate) use answer::{Answer, Purpose, Reserve, Wishes};
#[cfg(all(feature = "catalogue", target_os = "linux"))]
pub(crate) use catalogue::{Known, KnownDrivers};
pub(crate) use door::{BeforeOpening, Elsewhere, Published, StandIn, StandIns};
#[cfg(all(
    feature = "lazy",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
pub(crate) use lazy::{ClosedDrivers, Late, stub};
pub(crate) use left_out::{Answered, Reserves, Told};
#[cfg(not(all(
    feature = "lazy",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
pub(crate) use nothing::Nothing as ClosedDrivers;
#[cfg(not(all(feature = "catalogue", target_os = "linux")))]
pub(crate) use nothing::{Known, Nothing as KnownDrivers};
#[cfg(not(all(feature = "service", target_os = "linux")))]
pub(crate) use nothing::{Nothing as Service, Sent, open_sent};
#[cfg(all(feature = "service", target_os = "linux"))]
pub(crate) use service::{Sent, Service, open_sent};

#[cfg(fuzzing)]
pub(crate) use catalogue::{Content, parse};
#[cfg(fuzzing)]
pub(crate) use lazy::Stand;

/// Frees the facts and libraries that the process keeps.
pub(crate) fn forget() {
    <KnownDrivers as BeforeOpening>::forget();
    <Service as Elsewhere>::forget();
}
