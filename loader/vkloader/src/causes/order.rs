//! Orders findings that follow from each other, so that the finding that most likely explains a missing device comes first.

use super::display;
use crate::events::Record;
use crate::report::{Dropped, Report, codes, rank};
use reasons::rank::OTHER;

/// Ranks the finding that a program ended with a failure after all causes if no device can be used, because the failure follows from that. The devices
/// of a program that got an instance and listed no devices are unknown, so they explain nothing.
pub(super) fn follow_from_devices(report: &mut Report, records: &[&Record]) {
    const OF_DEVICES: [&str; 4] = ["driver", "layer", "hardware", "device"];
    let is_failure = |one: &Dropped| one.code == codes::PROGRAM_FAILED.name;
    // The devices of another process do not show what the program had.
    if report.is_usable() && !report.is_unasked || !report.dropped.iter().any(is_failure) {
        return;
    }
    if !display::has_not_listed(records) {
        let found = report.dropped.iter_mut().filter(|one| is_failure(one));
        return found.for_each(|one| one.rank = rank::CONSEQUENCE + 1);
    }
    let is_variable =
        |one: &Dropped| [codes::SEARCH_REPLACED.name, codes::VARIABLE_NO_MATCH.name].contains(&one.code.as_str());
    // A call that fails because of a layer is one of the program's own.
    let is_call = |one: &Dropped| one.code == codes::LAYER_CALL_FAILED.name;
    let is_of_devices =
        |one: &Dropped| !is_call(one) && OF_DEVICES.iter().any(|subject| one.subject.starts_with(subject));
    let others = report
        .dropped
        .iter_mut()
        .filter(|one| is_of_devices(one) || is_variable(one));
    others.for_each(|one| one.rank = one.rank.max(rank::STATUS + 1));
}

/// Ranks the crash of a process that a driver started before the failed call of this driver, which follows from the crash.
pub(super) fn put_crashed_children_first(report: &mut Report) {
    const FAILED: [&str; 2] = ["driver.creation-failed", "device.enumeration-failed"];
    let is_child = |one: &&mut Dropped| one.code == codes::PROGRAM_CHILD_CRASHED.name;
    let failed: Vec<(String, u8)> = report
        .dropped
        .iter()
        .filter(|one| FAILED.contains(&one.code.as_str()))
        .map(|one| (one.name.clone(), one.rank))
        .collect();
    for child in report.dropped.iter_mut().filter(is_child) {
        let own = failed.iter().filter(|(name, _)| *name == child.name);
        if let Some(rank) = own.map(|(_, rank)| *rank).min() {
            child.rank = rank.saturating_sub(1);
        }
    }
}

/// Ranks layers whose libraries or manifests are broken after drivers if no device can be used, because only the drivers explain that.
pub(super) fn put_drivers_first(report: &mut Report) {
    let is_broken = |one: &Dropped, subject| one.subject.starts_with(subject) && one.rank < OTHER;
    if report.is_usable() || !report.dropped.iter().any(|one| is_broken(one, "driver")) {
        return;
    }
    let layers = report.dropped.iter_mut().filter(|one| is_broken(one, "layer"));
    let broken = layers.filter(|one| one.rank >= rank::BROKEN);
    broken.for_each(|one| one.rank = OTHER);
}

/// Ranks broken software drivers after other broken drivers and manifests on a machine with a card, because a repaired software driver leaves the
/// card unused.
pub(super) fn put_software_last(report: &mut Report) {
    let is_broken = |one: &Dropped| one.subject.starts_with("driver") && (rank::BROKEN..OTHER).contains(&one.rank);
    let is_software = |one: &Dropped| {
        let driver = catalogue::hardware::of(one.name.as_bytes());
        driver.is_some_and(|row| row.is_software)
    };
    let mut others = report.dropped.iter().filter(|one| is_broken(one) && !is_software(one));
    if report.hardware.is_empty() || others.next().is_none() {
        return;
    }
    let software = report
        .dropped
        .iter_mut()
        .filter(|one| is_broken(one) && is_software(one));
    software.for_each(|one| one.rank = OTHER - 1);
}

#[cfg(test)]
mod tests {
    use super::*;
    use reasons::rank::BROKEN;

    /// A driver whose helper process crashes reports a failure.
    #[test]
    fn the_crash_of_a_process_comes_before_the_failure_of_its_driver() {
        let failed = |name: &str| Dropped {
            code: "driver.creation-failed".into(),
            rank: BROKEN,
            ..codes::DEVICE_NOT_CREATED.about(name)
        };
        let rank_of_child = |driver: &str| {
            let mut report = Report {
                dropped: vec![failed(driver), codes::PROGRAM_CHILD_CRASHED.about("/lib/libdriver.so")],
                ..Report::default()
            };
            put_crashed_children_first(&mut report);
            report.dropped[1].rank
        };
        assert!(rank_of_child("/lib/libdriver.so") < BROKEN);
        assert_eq!(rank_of_child("/lib/libother.so"), codes::PROGRAM_CHILD_CRASHED.rank());
    }
}
