//! Explains programs that fail where the loader sees no calls: after they created a device, or before they use one.

use super::instance::update;
use crate::events::{Event, Record};
use crate::names::OF_SHELL;
use crate::report::{Crashed, DISCRETE, Device, Dropped, Fact, Kind, READ, Report, codes, rank};

/// Remedy for a program that created a device and then failed.
const AFTER_DEVICE: &str = "Read the last lines that the program printed: Vulkan worked up to the creation of a device, so the reason may be \
     another one, such as a missing file.";

/// Remedy for a program that printed the result of a failed call after it had created a device.
const LOST: &str = "Only if the lines have VK_ERROR_DEVICE_LOST (-4), the driver gave up the card: look in dmesg for its reset or hang (ring timeout, GPU HANG, Xid), and update the \
     driver and the kernel. With VK_ERROR_OUT_OF_DEVICE_MEMORY (-2), the memory of the card is short: close programs that use it.";

/// Remedy for a program with windows that failed before it created a device, if the X server does not say whether it has DRI3.
const BEFORE_DEVICE: &str = "Read the last lines that the program and its driver printed. If the driver reports there that DRI3 is missing, permit DRI3 in \
     the configuration of the X server (for Xorg, remove Option \"DRI\" \"2\"), or start the program in a local session.";

/// Adds to the finding about the failure of a program which of its calls the loader saw, if the program created a device before.
pub(super) fn after_device(report: &mut Report, records: &[&Record]) {
    if !has_device(records) {
        return;
    }
    if report.crash.as_ref().is_some_and(Crashed::is_abort_of_program) {
        let crashed = report
            .dropped
            .iter_mut()
            .find(|one| one.code == codes::PROGRAM_CRASHED.name);
        if let Some(crashed) = crashed.filter(|one| one.advice.ends_with(READ)) {
            crashed.advice += &format!(" {LOST}");
        }
    }
    if let Some(failed) = failure(report) {
        failed.findings.push(Fact::new(
            Kind::HadDevice,
            "no call that the loader saw failed: the program had created a device, and later calls, such as vkQueueSubmit, do not pass the loader",
        ));
        failed.advice = format!("{AFTER_DEVICE} {LOST}");
    }
}

/// Replaces the finding about the failure of a program by one with the devices that the program listed, if it did not try to create one of them.
pub(super) fn chose_none(report: &mut Report, records: &[&Record]) {
    const EXPLAINING: [&codes::Row; 5] = [
        codes::PROGRAM_CALL_FAILED,
        codes::DISPLAY_MISSING,
        codes::DISPLAY_WITHOUT_DRI3,
        codes::DEVICE_CANNOT_PRESENT,
        codes::VARIABLE_WINDOW_SYSTEM,
    ];
    let is_explained = |one: &Dropped| EXPLAINING.iter().any(|row| row.name == one.code);
    if has_called(records, "vkCreateDevice") || !has_listed(records) || report.dropped.iter().any(is_explained) {
        return;
    }
    let drivers: Vec<String> = report.devices.iter().map(|device| device.driver.clone()).collect();
    let drivers: Vec<&str> = drivers.iter().map(String::as_str).collect();
    let facts: Vec<String> = report
        .devices
        .iter()
        .map(|device| {
            format!(
                "it saw {} ({}, Vulkan {})",
                device.name, device.kind, device.api_version
            )
        })
        .collect();
    let is_software = report.devices.iter().all(Device::is_software);
    let is_without_swapchain = report.dropped.iter().any(Dropped::is_without_swapchain);
    let Some(failed) = failure(report) else { return };
    let mut found = codes::PROGRAM_CHOSE_NONE.about_any("the program");
    let ended = failed.reason.trim_end_matches('.');
    found.reason = format!("{ended}: it listed the devices, and did not try to create one of them.");
    found.findings = facts.into();
    let rest = if is_software {
        "There are only software devices: a program that needs a graphics card cannot run here.".into()
    } else {
        format!(
            "{}, or use another version or other settings of the program.",
            update(&drivers)
        )
    };
    found.advice = if is_without_swapchain {
        format!(
            "{}, or install the driver of the card that shows pictures.",
            update(&drivers)
        )
    } else {
        format!("{} vulkaninfo lists what each device has. {rest}", found.advice)
    };
    found.findings.splice(0..0, std::mem::take(&mut failed.findings));
    *failed = found;
}

/// Ranks findings about cards that a program cannot use before the finding that it created none of the devices, because the program may want one of
/// these cards. A card that is only unused counts if the program saw no discrete device, unless the user reserved the card.
pub(super) fn cards_first(report: &mut Report) {
    let chosen = report
        .dropped
        .iter()
        .find(|one| one.code == codes::PROGRAM_CHOSE_NONE.name);
    let Some(rank) = chosen.map(|one| one.rank) else { return };
    let has_discrete = report
        .devices
        .iter()
        .any(|device| device.is_usable && device.kind == DISCRETE);
    let is_idle = |one: &Dropped| {
        let is_reserved = one.code == codes::HARDWARE_FOR_GUESTS.name;
        one.subject == "hardware" && one.rank == rank::ASIDE && !has_discrete && !is_reserved
    };
    let is_missed = |one: &&mut Dropped| one.is_about_missed_card() || is_idle(one);
    let cards = report.dropped.iter_mut().filter(is_missed);
    cards.for_each(|one| one.rank = one.rank.min(rank.saturating_sub(1)));
}

/// Adds to the finding about the failure of a program the message of drivers about DRI3, if the program created no device.
pub(super) fn before_device(report: &mut Report, records: &[&Record]) {
    if has_device(records) {
        return;
    }
    if let Some(failed) = failure(report) {
        failed.advice = BEFORE_DEVICE.into();
    }
}

/// Returns the finding that a program failed although a device is usable. Returns `None` if the finding has a special remedy already, or if
/// the status stands for a signal.
fn failure(report: &mut Report) -> Option<&mut Dropped> {
    if report.ending.number.is_none_or(|status| status >= OF_SHELL) {
        return None;
    }
    let row = codes::PROGRAM_FAILED;
    let is_it = |one: &&mut Dropped| (one.code.as_str(), one.advice.as_str()) == (row.name, row.remedy);
    let is_usable = report.is_usable();
    report.dropped.iter_mut().find(is_it).filter(|_| is_usable)
}

/// Returns `true` if a program called a function whose name begins with `wanted`.
fn has_called(records: &[&Record], wanted: &str) -> bool {
    let mut names = records.iter().filter_map(|record| match &record.event {
        Event::Begin(step) if step.step == "call" => Some(step.name.as_str()),
        _ => None,
    });
    names.any(|name| name.starts_with(wanted))
}

/// Returns `true` if a program asked for the devices, or for their groups.
pub(super) fn has_listed(records: &[&Record]) -> bool {
    has_called(records, "vkEnumeratePhysicalDevice")
}

/// Returns `true` if the last attempt of a program to create a device succeeded.
pub(super) fn has_device(records: &[&Record]) -> bool {
    let mut ends = records.iter().rev().filter_map(|record| match &record.event {
        Event::End(step) if step.step == "call" && step.name == "vkCreateDevice" => Some(step.failure().is_none()),
        _ => None,
    });
    ends.next() == Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Verdict;

    #[test]
    fn a_card_that_a_program_misses_comes_before_its_choice_of_no_device() {
        let card = |row: &codes::Row, rank| Dropped {
            rank,
            ..row.about("card")
        };
        let none = codes::HARDWARE_NO_NODE;
        for (row, rank, kind, first) in [
            (codes::HARDWARE_FOR_GUESTS, rank::CONSEQUENCE, DISCRETE, "card"),
            (codes::HARDWARE_FOR_GUESTS, rank::ASIDE, "integrated", "the program"),
            (none, rank::ASIDE, "integrated", "card"),
            (none, rank::ASIDE, DISCRETE, "the program"),
        ] {
            let seen = crate::probe::Device {
                kind: kind.into(),
                created: Some(0),
                ..crate::probe::Device::default()
            };
            let mut report = Report {
                verdict: Verdict::Hardware,
                dropped: vec![codes::PROGRAM_CHOSE_NONE.about("the program"), card(row, rank)],
                devices: vec![crate::report::of_other(&seen, "")],
                ..Report::default()
            };
            cards_first(&mut report);
            report.dropped.sort_by_key(|one| one.rank);
            assert_eq!(report.first_cause().map(|one| one.name.as_str()), Some(first));
        }
    }
}
