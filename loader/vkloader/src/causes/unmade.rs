//! Finds drivers whose `vkCreateDevice` returned `VK_SUCCESS` without a device.

use crate::events::{Event, Record};
use crate::report::{self, Dropped, Report, codes};

/// Part of the message of the loader about a driver that created no device.
const FAILED: &str = "terminator_CreateDevice: Failed in ICD ";

/// Blames drivers that returned no device although their call succeeded, in the findings about devices that were not created.
pub(super) fn explain(report: &mut Report, records: &[&Record]) {
    let Some(driver) = of(records).map(String::from) else {
        return;
    };
    let is_of_device = |one: &Dropped| match one.code.as_str() {
        code if code == codes::PROGRAM_CALL_FAILED.name => one.name == "vkCreateDevice",
        code => code == codes::DEVICE_NOT_CREATED.name && one.file.as_deref() == Some(&driver),
    };
    for found in report.dropped.iter_mut().filter(|one| is_of_device(one)) {
        found.reason = format!("The driver {driver} is faulty: its vkCreateDevice returned VK_SUCCESS, but no device.");
        report::leave_out(found, &driver, records);
    }
}

/// Returns the last driver that returned no device although its call succeeded.
fn of<'a>(records: &[&'a Record]) -> Option<&'a str> {
    let is_failure = |record: &Record| match &record.event {
        Event::Message(message) => message.is_error() && message.text.contains(FAILED),
        _ => false,
    };
    let mut pairs = records.windows(2).rev();
    pairs.find_map(|pair| match &pair[0].event {
        Event::End(step) if is_failure(pair[1]) && step.name == "vkCreateDevice" && step.result == Some(0) => {
            step.library.as_deref()
        }
        _ => None,
    })
}
