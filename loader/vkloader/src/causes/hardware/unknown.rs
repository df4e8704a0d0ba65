//! Drivers whose cards are not known here, such as those of the makers of cards.

use super::drivers::{is_driver, known};
use crate::report::{Dropped, Report, codes};

/// Returns the library of a driver that lists no device, and that this program does not know. Mesa's gfxstream is only for guests of the Android
/// emulator.
fn idle(report: &Report) -> Option<&str> {
    let is_it = |one: &&Dropped| {
        let is_idle = is_driver(one) && one.is_noise() && one.name.contains(".so");
        is_idle && known(&one.name).is_none() && !one.name.contains("gfxstream")
    };
    report.dropped.iter().find(is_it).map(|one| one.name.as_str())
}

/// Adds to the finding about a missing driver a driver that may be for the card.
pub(super) fn explain(missing: &mut Dropped, report: &Report) {
    if let Some(library) = idle(report).filter(|_| missing.code == codes::HARDWARE_NO_DRIVER.name) {
        missing.reason = format!(
            "No Vulkan driver that is known for the graphics card is installed, and the driver {library}, whose cards are not known here, lists no device."
        );
    }
}
