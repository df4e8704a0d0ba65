//! Adds the graphics hardware and the environments around a program to a report.

use super::CONTAINERS;
use super::machine::Machine;
use super::places::POD;
use crate::causes::Snap;
use crate::report::Report;
use std::path::Path;

/// Adds the graphics hardware and the environments around the program to a report.
pub(in crate::causes) fn survey(report: &mut Report) {
    below(report, Path::new("/"));
}

/// Adds the graphics hardware and the environments of the system whose root folder is `root`.
pub(super) fn below(report: &mut Report, root: &Path) {
    let machine = system(report, root);
    report.hardware = machine.cards();
    report.snap = Snap::of(root, |name| report.variables.get(name));
    let is_snap = report.snap.as_ref().is_some_and(Snap::is_sandbox);
    let mut surroundings = machine.surroundings(is_snap);
    // The files of some pods do not show that they are in a container.
    let is_known = surroundings.iter().any(|word| CONTAINERS.contains(word));
    if report.variables.get(POD).is_some() && !is_known {
        surroundings.push("container");
    }
    report.surroundings = surroundings.into_iter().map(String::from).collect();
}

/// Returns the system with the root folder `root`, as the program sees it.
pub(super) fn system(report: &Report, root: &Path) -> Machine {
    Machine::seen_from(root, report.inside.as_ref())
}
